"""Incoming messages: stored once even if the carrier repeats them, and routed.

A routed message is an event of its organization (``sms.received``), in the same unit.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, field, replace
from typing import Final

from risala.dataclass import dataclass
from risala.engine.actors.broadcast import Broadcast
from risala.engine.journal import carrier_secrets
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.store.named import Rows, text_or_none
from risala.engine.journal.store.pages import Walk, page_by_time, page_of_walks
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan
from risala.engine.journal.store.searching import NumberIndex, containing, numbers_with
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import outbox
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty, features
from risala.engine.model.ids import first_id
from risala.engine.model.records.asks import CursorPage, Steps
from risala.engine.model.records.inbound import (
    InboundRoute,
    OptOut,
    OptOutFilter,
    Received,
    ReceivedFilter,
)
from risala.engine.model.records.messages import Stamp, StoreArrival
from risala.engine.rules.keywords import keyword_ways
from risala.engine.rules.receiptgroups import Groups, alone
from risala.sms.evident import read_label
from risala.sms.message import Inbound

ROUTES_MAX: Final = 1000


def receive(
    conn: sqlite3.Connection,
    message_id: str,
    carrier: str,
    message: Inbound,
    ways: Ways,
    stamp: Stamp,
    accounts: Groups = alone,
    parts: Sequence[StoreArrival] = (),
) -> bool:
    """Store a message, give it to its organization, and apply it if it is an opt-out.

    False if the carrier had brought it before, or it answers the operator. ``ways`` are those in
    which its recipient may be written; ``accounts`` gives the carriers of one account; ``parts`` is
    what features do with it.
    """
    keep_own = duty(Duty.OWN_ANSWERS)
    if keep_own is not None and keep_own(conn, accounts(carrier), message):
        return False
    if not store(conn, message_id, carrier, message):
        return False
    opt_outs.apply_text(conn, accounts(carrier), message_id, message, stamp)
    organization_id = _organization_for(conn, message, ways)
    if organization_id is not None:
        conn.execute(
            "UPDATE inbound SET organization_id = ? WHERE id = ?", (organization_id, message_id)
        )
        outbox.received_event(conn, organization_id, message_id, message, stamp)
        for feature in features():
            if feature.received is not None:
                feature.received()(conn, organization_id, message_id, message, stamp)
    for part in parts:
        part(conn, stamp)
    return True


def store(conn: sqlite3.Connection, message_id: str, carrier: str, message: Inbound) -> bool:
    """Store one; False if the carrier had brought it before."""
    label = read_label(message.label)
    stored = conn.execute(
        "INSERT INTO inbound (id, carrier, sender, recipient, body, carrier_ids, received_at,"
        " sent_at, label) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *(message_id, carrier, message.sender, message.recipient, message.text),
            *(" ".join(message.carrier_ids), message.received_at_ms, message.believed_sent_ms),
            None if label is None else str(label),
        ),
    )
    return stored.rowcount > 0


def _organization_for(conn: sqlite3.Connection, message: Inbound, ways: Ways) -> str | None:
    """By number and word, by word, by number, else the default."""
    organization_id: str | None = value_of(
        conn,
        f"SELECT organization_id FROM inbound_routes WHERE recipient IN ({_WAYS}, '')"  # noqa: S608 -- a constant
        " AND keyword IN (?, ?, ?, '') ORDER BY keyword = '', recipient = '' LIMIT 1",
        (*ways, *keyword_ways(message.text)),
    )
    return organization_id


Ways = tuple[str, str, str, str]
"""A number as :meth:`risala.sms.numbering.plan.NumberingPlan.ways_to_write` has it."""
_WAYS: Final = "?, ?, ?, ?"
"""The ways in which a route may write a number: routes may be older than the present form, and a
carrier may be configured to leave numbers as they come."""


# -- routes ------------------------------------------------------------------------------------


_ROUTES: Final = Rows(
    InboundRoute, {"number": "recipient"}, number=text_or_none, keyword=text_or_none
)


def routes(conn: sqlite3.Connection) -> list[InboundRoute]:
    """All routes, in the order in which they are tried."""
    order = "keyword = '', recipient = '', keyword, recipient"
    return _ROUTES.find(table(conn, "inbound_routes"), order_by=order)


def route_image(conn: sqlite3.Connection, route_id: str) -> Seen | None:
    """What the audit trail shows of a route."""
    route = next((each for each in routes(conn) if each.id == route_id), None)
    if route is None:
        return None
    return Seen(
        route.organization_id, {"number": route.number or "", "keyword": route.keyword or ""}
    )


def add_route(conn: sqlite3.Connection, new: InboundRoute, ways: Ways) -> InboundRoute:
    """Make a route.

    Raises:
        Conflict: the number and the word lead to somebody already, or there are too many.
    """
    taken = _ROUTES.find(
        table(conn, "inbound_routes"),
        f"recipient IN ({_WAYS}) AND keyword = ?",
        (*ways, new.keyword or ""),
        limit=1,
    )
    if taken:
        owner = taken[0].organization_id
        raise Conflict(f"A route already gives these messages to {owner}. Remove that route first.")
    if len(routes(conn)) >= ROUTES_MAX:
        raise Conflict(f"There can be at most {ROUTES_MAX} routes. Remove one first.")
    row = asdict(new)
    row |= {"recipient": row.pop("number") or "", "keyword": new.keyword or ""}
    writable(conn, "inbound_routes").insert(row)
    return new


def remove_route(conn: sqlite3.Connection, route_id: str) -> InboundRoute:
    """End a route.

    Raises:
        NotFound: the id is unknown.
    """
    removed = _ROUTES.one(table(conn, "inbound_routes"), route_id, "There is no route {}.")
    writable(conn, "inbound_routes").delete(route_id)
    return removed


# -- pages, the latest first


NOTED_MS: Final = 3_600_000
"""How much later than a message its row may have been made, if the disk failed meanwhile."""
_ID: Final = ("id",)
_IN_LIST: Final = " (SELECT value FROM json_each(?))"
_RECEIVED: Final = Rows(Received)
_OPT_OUTS: Final = Rows(OptOut, {"number": "recipient"}, carrier=text_or_none)


def _hit(filters: ReceivedFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted message, in addition to those of the index."""
    terms = {
        "recipient = ?": filters.recipient,
        "received_at >= ?": filters.since,
        "received_at < ?": filters.until,
    }
    kept = {term: value for term, value in terms.items() if value is not None}
    hits, values = [*kept], [*kept.values()]
    if filters.contains is not None:
        hit, patterns = containing(
            ("sender", "body") if filters.searches_texts else ("sender",), filters.contains
        )
        hits.append(hit)
        values += patterns
    return " AND ".join(hits) or "1", tuple(values)


def _ids(filters: ReceivedFilter) -> tuple[str | None, str | None]:
    """The ids of messages received then are between these: an id is made after that."""
    since = None if filters.since is None else first_id("mo", max(0, filters.since))
    until = None if filters.until is None else first_id("mo", max(0, filters.until + NOTED_MS))
    return since, until


def received(
    conn: sqlite3.Connection, filters: ReceivedFilter, steps: Steps
) -> CursorPage[Received]:
    """Received messages, of one organization or of all, from one number or from any.

    Raises:
        TooManyNumbersError: too many numbers have the digits.
    """
    if filters.part is not None and filters.organization_id is not None:
        source, mine = "inbound INDEXED BY inbound_by_writer", (filters.organization_id,)
        index = NumberIndex(source, "sender", "organization_id = ?", mine)
        numbers = numbers_with(conn, index, filters.part)
        ways = [_way(replace(filters, sender=each)) for each in numbers]
        return page_of_walks(conn, _RECEIVED, ways, steps, lambda one: (one.id,))
    return page_by_time(conn, _RECEIVED, _way(filters), steps, lambda one: (one.id,))


def _way(filters: ReceivedFilter) -> Walk:
    (hit, values), ids = _hit(filters), _ids(filters)
    organization_id, sender = filters.organization_id, filters.sender
    if sender is not None:
        if organization_id is not None:
            hit, values = f"{hit} AND organization_id = ?", (*values, organization_id)
        source, where, mine = "inbound INDEXED BY inbound_by_sender", "sender = ?", sender
    elif organization_id is not None:
        source, where = "inbound INDEXED BY inbound_by_organization", "organization_id = ?"
        mine = organization_id
    else:
        # The least id of a time is never used: "after" it means from it on.
        source, where, mine = "inbound", "id > ?", ids[0] or ""
    return Walk(source, where, (mine,), hit, values, _ID, ids=ids)


def opted_out(
    conn: sqlite3.Connection, organization_id: str, filters: OptOutFilter, steps: Steps
) -> CursorPage[OptOut]:
    """Numbers that want no messages of an organization.

    Raises:
        TooManyNumbersError: too many numbers have the digits.
    """
    where, mine = "organization_id = ?", tuple[object, ...]((organization_id,))
    numbers = None if filters.number is None else [filters.number]
    if filters.part is not None:
        numbers = numbers_with(
            conn, NumberIndex("opt_outs", "recipient", where, mine), filters.part
        )
    hit, values = "1", tuple[object, ...]()
    if filters.contains is not None:
        hit, values = containing(("keyword", "who"), filters.contains)
    source = "opt_outs INDEXED BY opt_outs_by_organization"
    if numbers is not None:
        # A number stands here once: no number has more rows than others.
        source, where = "opt_outs", "organization_id = ? AND recipient IN" + _IN_LIST
        mine = (organization_id, json.dumps(numbers))
    walk = Walk(source, where, mine, hit, values, ("at", "recipient"))
    return page_by_time(conn, _OPT_OUTS, walk, steps, lambda one: (one.at, one.number))


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class InboundRepository:
    """Inbound messages, their routes, and opt-outs. Reads are on the loop's thread: by an
    index, or of tables that stay small (routes and policies are set by hand). Searches for a part
    of a number are on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store
    came: Broadcast[str] = field(default_factory=Broadcast)
    """The ids of texts that came in, once they are on disk."""

    # -- reads

    received_by_part = scan(received)
    received = read(received)
    routes = read(routes)
    opted_out_by_part = scan(opted_out)
    opted_out = read(opted_out)
    policies = read(opt_outs.policies)
    is_out = read(opt_outs.is_out)

    # -- commands

    async def receive(
        self,
        message_id: str,
        carrier: str,
        message: Inbound,
        ways: Ways,
        stamp: Stamp,
        accounts: Groups,
        forget: Sequence[str],
        parts: Sequence[StoreArrival] = (),
    ) -> None:
        """Store a message once, give it to its organization, and apply it if it is an opt-out.

        Args:
            ways: those in which its recipient may be written.
            accounts: gives the carriers of one account.
            forget: the driver's notes, sealed ones too, to delete in the same transaction.
            parts: what features do with it.
        """

        def unit(conn: sqlite3.Connection) -> None:
            receive(conn, message_id, carrier, message, ways, stamp, accounts, parts)
            carrier_secrets.forget(conn, carrier, forget)

        await self._store.commit(unit)
        self.came.publish(message_id)

    async def take_call(self, parts: Sequence[StoreArrival], stamp: Stamp) -> None:
        """What features do with a call; nothing else is stored of it."""

        def unit(conn: sqlite3.Connection) -> None:
            for part in parts:
                part(conn, stamp)

        await self._store.commit(unit)

    add_route = audited_command(add_route)
    remove_route = audited_command(remove_route)
    set_policy = audited_command(opt_outs.set_policy)
    opt_out = audited_command(opt_outs.note)
    opt_in = audited_command(opt_outs.take_back)
    look_back = command(opt_outs.look_back)
