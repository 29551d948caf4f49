"""Messages that came in: stored once however often the carrier brings them, and routed.

One that is routed is an event of its organization (``sms.received``), in the same unit.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.rows import Stamp
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.rules.keywords import keyword_of
from risala.engine.rules.receiptgroups import Groups, alone
from risala.sms.address import COUNTRY_CODE, is_number, with_country
from risala.sms.message import Inbound

ROUTES_MAX: Final = 1000


@dataclass(frozen=True, slots=True)
class Route:
    """To whom messages go that come to a number, or begin with a word."""

    id: str
    organization_id: str
    recipient: str
    """Empty: any number of ours."""
    keyword: str
    """Folded; empty: any first word."""
    created_at: int


@dataclass(frozen=True, slots=True)
class Received:
    id: str
    organization_id: str | None
    carrier: str
    sender: str
    recipient: str | None
    body: str
    received_at: int


def receive(
    conn: sqlite3.Connection,
    message_id: str,
    carrier: str,
    message: Inbound,
    stamp: Stamp,
    accounts: Groups = alone,
) -> bool:
    """Store a message, give it to its organization, and heed it if it is an opt-out.

    False where the carrier had brought it before. ``accounts`` tells the carriers of one account.
    """
    if not store(conn, message_id, carrier, message):
        return False
    organization_id = _organization_for(conn, message)
    if organization_id is not None:
        conn.execute(
            "UPDATE inbound SET organization_id = ? WHERE id = ?", (organization_id, message_id)
        )
        outbox.received_event(conn, organization_id, message_id, message, stamp)
    opt_outs.heed(conn, accounts(carrier), message, stamp.now_ms)
    return True


def store(conn: sqlite3.Connection, message_id: str, carrier: str, message: Inbound) -> bool:
    """Store one; False where the carrier had brought it before."""
    stored = conn.execute(
        "INSERT INTO inbound (id, carrier, sender, recipient, body, carrier_ids, received_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *(message_id, carrier, message.sender, message.recipient, message.text),
            *(" ".join(message.carrier_ids), message.received_at_ms),
        ),
    )
    return stored.rowcount > 0


def _organization_for(conn: sqlite3.Connection, message: Inbound) -> str | None:
    """By number and word, by word, by number, else the default."""
    row = conn.execute(
        f"SELECT organization_id FROM inbound_routes WHERE recipient IN ({_WAYS}, '')"  # noqa: S608 -- a constant
        " AND keyword IN (?, '') ORDER BY keyword = '', recipient = '' LIMIT 1",
        (*_ways_to_write(message.recipient or ""), keyword_of(message.text)),
    ).fetchone()
    return None if row is None else row[0]


_WAYS: Final = "?, ?, ?, ?"


def _ways_to_write(number: str) -> tuple[str, str, str, str]:
    """How a route may name a number: routes may be older than the rule by which they are written,
    and a carrier may be told to leave numbers as they come."""
    whole = with_country(number, f"+{COUNTRY_CODE}")
    digits = whole.removeprefix("+")
    local = digits.removeprefix(COUNTRY_CODE) if is_number(whole) else digits
    return number, whole, digits, local


# -- routes ------------------------------------------------------------------------------------


_ROUTE: Final = "SELECT id, organization_id, recipient, keyword, created_at FROM inbound_routes"


def routes(conn: sqlite3.Connection) -> list[Route]:
    """All routes, in the order in which they are looked at."""
    order = " ORDER BY keyword = '', recipient = '', keyword, recipient"
    return [Route(*row) for row in conn.execute(f"{_ROUTE}{order}")]


def add_route(conn: sqlite3.Connection, new: Route) -> Route:
    """Make a route.

    Raises:
        Conflict: the number and the word lead to somebody already, or there are too many.
    """
    taken = conn.execute(
        f"SELECT organization_id FROM inbound_routes WHERE recipient IN ({_WAYS})"  # noqa: S608 -- a constant
        " AND keyword = ?",
        (*_ways_to_write(new.recipient), new.keyword),
    ).fetchone()
    if taken is not None:
        raise Conflict(f"These messages go to {taken[0]} already; remove that route first.")
    if len(routes(conn)) >= ROUTES_MAX:
        raise Conflict(f"There are at most {ROUTES_MAX} routes.")
    conn.execute(
        "INSERT INTO inbound_routes (id, organization_id, recipient, keyword, created_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (new.id, new.organization_id, new.recipient, new.keyword, new.created_at),
    )
    return new


def remove_route(conn: sqlite3.Connection, route_id: str) -> Route:
    """Raises NotFound."""
    row = conn.execute(f"{_ROUTE} WHERE id = ?", (route_id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no route {route_id}.")
    conn.execute("DELETE FROM inbound_routes WHERE id = ?", (route_id,))
    return Route(*row)


def received(conn: sqlite3.Connection, organization_id: str | None, limit: int) -> list[Received]:
    """The latest messages that came in, of one organization or all."""
    where = "" if organization_id is None else " WHERE organization_id = ?"
    arguments = () if organization_id is None else (organization_id,)
    rows = conn.execute(
        "SELECT id, organization_id, carrier, sender, recipient, body, received_at"  # noqa: S608 -- constants
        f" FROM inbound{where} ORDER BY id DESC LIMIT ?",
        (*arguments, limit),
    )
    return [Received(*row) for row in rows]
