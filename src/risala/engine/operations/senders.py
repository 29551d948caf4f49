"""Senders that organizations ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from risala.engine.model.commands import Sender
from risala.engine.model.wire import sender_wire
from risala.engine.operations import owners, traces
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeText,
    OfMaybeOrganization,
    OfOrganization,
    Text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, VIEWERS
from risala.engine.rules.sender_marks import Mark
from risala.sms.address import fold_sender


class RequestSender(OfOrganization):
    """Ask for a sender in an organization's place."""

    name: Text
    description: MaybeText = None


class FindSender(Arguments):
    """Find the one request for a sender of this name."""

    name: Text


class OfSender(Arguments):
    """Names one sender."""

    sender_id: Text


class DenySender(OfSender):
    """Deny a sender, with the code of a reason."""

    reason: Text


@dataclass(frozen=True, slots=True)
class FoundSender:
    """Whose request a name means: no more of it than that, so that no line is left."""

    count: int
    sender_id: str | None
    """Where one organization has asked for it and no other."""


@dataclass(frozen=True, slots=True)
class MarkedSender:
    """A sender with the reasons to look at it twice."""

    sender: Sender
    marks: Sequence[Mark]
    """Why to look twice; none for members, because it may name other customers."""


@dataclass(frozen=True, slots=True)
class MarkedSenders:
    """Senders, each with the reasons to look at it twice."""

    senders: tuple[MarkedSender, ...]


def _wire(found: MarkedSender) -> Json:
    return {**sender_wire(found.sender), "marks": [asdict(mark) for mark in found.marks]}


def _list_wire(found: MarkedSenders) -> Json:
    return {"senders": [_wire(each) for each in found.senders]}


def _found_wire(found: FoundSender) -> Json:
    return {"count": found.count, "senderId": found.sender_id}


def _marked(call: Call[Any], *found: Sender) -> tuple[MarkedSender, ...]:
    if call.caller.is_member:
        return tuple(MarkedSender(sender, ()) for sender in found)
    marks = call.services.senders.marks(found)
    return tuple(MarkedSender(sender, of_it) for sender, of_it in zip(found, marks, strict=True))


async def _sender_request(call: Call[RequestSender]) -> MarkedSender:
    given = call.given
    sender = await call.services.senders.request(
        given.organization_id, given.name, given.description or "", by=call.sign(traces.sender)
    )
    return _marked(call, sender)[0]


async def _sender_list(call: Call[OfMaybeOrganization]) -> MarkedSenders:
    found = call.services.senders.list(call.given.organization_id)
    return MarkedSenders(_marked(call, *found))


async def _sender_find(call: Call[FindSender]) -> FoundSender:
    wanted = fold_sender(call.given.name)
    found = [
        each.id for each in call.services.senders.list(None) if fold_sender(each.name) == wanted
    ]
    return FoundSender(len(found), found[0] if len(found) == 1 else None)


async def _sender_clear(call: Call[OfSender]) -> MarkedSender:
    by = call.sign(traces.sender, call.given.sender_id)
    sender = await call.services.senders.clear(call.given.sender_id, waive=False, by=by)
    return _marked(call, sender)[0]


async def _sender_waive(call: Call[OfSender]) -> MarkedSender:
    by = call.sign(traces.sender, call.given.sender_id)
    sender = await call.services.senders.clear(call.given.sender_id, waive=True, by=by)
    return _marked(call, sender)[0]


async def _sender_deny(call: Call[DenySender]) -> MarkedSender:
    by = call.sign(traces.sender, call.given.sender_id)
    sender = await call.services.senders.deny(call.given.sender_id, call.given.reason, by=by)
    return _marked(call, sender)[0]


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="sender.request",
        arguments=RequestSender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_request,
        roles=DEVELOPERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="sender.list",
        arguments=OfMaybeOrganization,
        result=MarkedSenders,
        wire=_list_wire,
        handler=_sender_list,
        roles=VIEWERS,
        owner=owners.named,
        crosses=True,
    ),
    Operation(
        name="sender.find",
        arguments=FindSender,
        result=FoundSender,
        wire=_found_wire,
        handler=_sender_find,
        roles=OPERATORS,
    ),
    Operation(
        name="sender.clear",
        arguments=OfSender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_clear,
        roles=OPERATORS,
        owner=owners.of_sender,
        changes=True,
    ),
    Operation(
        name="sender.waive",
        arguments=OfSender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_waive,
        roles=OPERATORS,
        owner=owners.of_sender,
        changes=True,
    ),
    Operation(
        name="sender.deny",
        arguments=DenySender,
        result=MarkedSender,
        wire=_wire,
        handler=_sender_deny,
        roles=OPERATORS,
        owner=owners.of_sender,
        changes=True,
    ),
)
