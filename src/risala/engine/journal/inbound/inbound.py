"""Incoming messages: stored once even if the carrier repeats them, and routed.

A routed message is an event of its organization (``sms.received``), in the same unit.
"""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Final

from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.store.named import Rows, text_or_none
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import outbox
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.records.inbound import InboundRoute
from risala.engine.model.records.messages import Stamp
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
) -> bool:
    """Store a message, give it to its organization, and apply it if it is an opt-out.

    False if the carrier had brought it before. ``ways`` are those in which its recipient may be
    written; ``accounts`` gives the carriers of one account.
    """
    if not store(conn, message_id, carrier, message):
        return False
    organization_id = _organization_for(conn, message, ways)
    if organization_id is not None:
        conn.execute(
            "UPDATE inbound SET organization_id = ? WHERE id = ?", (organization_id, message_id)
        )
        outbox.received_event(conn, organization_id, message_id, message, stamp)
    opt_outs.apply_keyword(conn, accounts(carrier), message, stamp.now_ms)
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
    found: str | None = value_of(
        conn,
        f"SELECT organization_id FROM inbound_routes WHERE recipient IN ({_WAYS}, '')"  # noqa: S608 -- a constant
        " AND keyword IN (?, ?, ?, '') ORDER BY keyword = '', recipient = '' LIMIT 1",
        (*ways, *keyword_ways(message.text)),
    )
    return found


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
    found = next((each for each in routes(conn) if each.id == route_id), None)
    if found is None:
        return None
    return Seen(
        found.organization_id, {"number": found.number or "", "keyword": found.keyword or ""}
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
    found = _ROUTES.find(table(conn, "inbound_routes"), "id = ?", (route_id,))
    if not found:
        raise NotFound(f"There is no route {route_id}.")
    writable(conn, "inbound_routes").delete(route_id)
    return found[0]
