"""What operations tell, in the shapes of the API's answers (contract §8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from risala.engine.model.records.inbound import Received
from risala.engine.model.records.message_lists import Listed
from risala.engine.model.records.paying.ledger import LedgerEntry
from risala.engine.model.records.record import to_json
from risala.engine.model.records.senders import Sender
from risala.engine.model.times import iso
from risala.engine.model.wire import lean, message_wire
from risala.http.api.management.cursors import ListName, written

Json = dict[str, Any]
T = TypeVar("T")


def lean_message(found: Listed) -> Json:
    """For an organization that wants seven fields and four states."""
    return lean(message_wire(found))


def inbound(found: Received) -> Json:
    return {
        "messageId": found.id,
        "id": found.id,
        "from": found.sender,
        "to": found.recipient,
        "body": found.body,
        "status": "received",
        "carrier": found.carrier,
        "receivedAt": iso(found.received_at),
        "createdAt": iso(found.received_at),
    }


def entry(told: LedgerEntry) -> Json:
    names, found = ("id", "kind", "amount", "balanceAfter", "reference"), to_json(told)
    return {**{name: found[name] for name in names}, "createdAt": iso(told.at)}


def delivery(told: Json) -> Json:
    return told


def sender(told: Sender, volume: int) -> Json:
    names = ("id", "name", "status", "reason")
    return {
        **{name: getattr(told, name) for name in names},
        "volume": volume,
        "createdAt": iso(told.created_at),
    }


def page(
    of: ListName,
    items: Sequence[T],
    shape: Callable[[T], Json],
    next_: str | int | None,
    previous: str | int | None,
) -> Json:
    """One page of a list, and the cursors of the pages beside it."""
    return {
        "items": [shape(each) for each in items],
        "next": written(of, next_),
        "previous": written(of, previous),
    }
