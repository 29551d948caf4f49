"""Poisoned rows: what no operation of ours writes, put straight into the tables that loops for
everybody read.

Each must be set aside and named, and nobody else's turn may end by it. Tables are strict: SQLite
itself refuses NaN, and numbers of more than 64 bits. A text that is no UTF-8 is not here: to the
journal it is a damaged page, which concerns everybody.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

LARGEST: Final = 2**63 - 1
"""As a time: some 292 million years."""
HUGE: Final = "x" * 1_000_000
DEEP: Final = "[" * 100_000
"""JSON of so many brackets is refused by its reader as a recursion."""
MAIL = {"kind": "audit_head", "recipient": "a@shop.example", "language": "en"}
DUE = {"due_at": 0, "tries": 0, "useless_at": LARGEST, "created_at": 0}


@dataclass(frozen=True)
class Poison:
    """A kind of poisoned row."""

    name: str
    loop: str
    """The loop that must name it."""
    table: str
    plant: Callable[[sqlite3.Connection, str, str], object]
    """Writes one, for an organization and with a name that no other has; returns its id."""
    by_start: bool = False
    """Its loop meets it at its start, or when something rings; others look by themselves."""


def insert(conn: sqlite3.Connection, table: str, **values: Any) -> int:
    names = ", ".join(values)
    holes = ", ".join("?" for _ in values)
    statement = f"INSERT INTO {table} ({names}) VALUES ({holes})"
    return conn.execute(statement, [*values.values()]).lastrowid or 0


def number_of(conn: sqlite3.Connection, organization: str) -> int:
    known = "SELECT no FROM organizations WHERE id = ?"
    (found,) = conn.execute(known, (organization,)).fetchone()
    return int(found)


def mail(**wrong: Any) -> Callable[[sqlite3.Connection, str, str], object]:
    return lambda conn, _, __: insert(conn, "mails", **{**MAIL, "details": "{}", **DUE, **wrong})


def erasure(**wrong: Any) -> Callable[[sqlite3.Connection, str, str], object]:
    def plant(conn: sqlite3.Connection, organization: str, name: str) -> str:
        given = {"id": name, "organization_id": organization, "asked_by": "a", "created_at": 0}
        insert(conn, "erasures", **{**given, "number": "+22230000000", **wrong})
        return name

    return plant


def payment(**wrong: Any) -> Callable[[sqlite3.Connection, str, str], object]:
    def plant(conn: sqlite3.Connection, organization: str, name: str) -> str:
        given = {"id": name, "organization_id": organization, "method": "till", "amount": 1}
        about = {"currency": "MRU", "language": "en", "begun_by": "a", "begun_at": 0}
        insert(conn, "payments", **{**given, **about, **wrong})
        return name

    return plant


def mailing(**wrong: Any) -> Callable[[sqlite3.Connection, str, str], object]:
    def plant(conn: sqlite3.Connection, organization: str, name: str) -> str:
        given = {"id": name, "organization_id": organization, "mode": "live", "name": "x"}
        read = {"source": "numbers", "sheets": "[]", "has_header": 0, "columns": "[]"}
        hours = {"number_column": 0, "from_hour": 0, "to_hour": 24, "created_at": 0}
        about = {"created_by": "a", "text": "Hello {{1}}"}
        insert(conn, "mailings", **{**given, **read, **hours, **about, **wrong})
        return name

    return plant


def mailing_row(conn: sqlite3.Connection, organization: str, name: str) -> str:
    mailing(state="sending", rows=1, ready=1, segments=1)(conn, organization, name)
    (key,) = conn.execute("SELECT key FROM mailings WHERE id = ?", (name,)).fetchone()
    known = {"mailing": key, "row": 1, "number": "+22236000000", "cells": DEEP}
    insert(conn, "mailing_rows", **known, state=0, segments=1, price=0)
    return name


def endpoint(conn: sqlite3.Connection, organization: str, name: str, **wrong: Any) -> str:
    given = {"id": name, "organization_id": organization, "mode": "live", "url": "https://x/"}
    times = {"created_at": 0, "updated_at": 0}
    known = {"types": '["webhook.test"]', "secret": "", "enabled": 0}
    insert(conn, "webhook_endpoints", **{**given, **times, **known, **wrong})
    return name


def notice(conn: sqlite3.Connection, organization: str, name: str) -> str:
    return endpoint(conn, organization, name, types="{", notice_due_at=0, disabled_reason="gone")


def delivery(conn: sqlite3.Connection, organization: str, name: str) -> int | None:
    (event,) = conn.execute("SELECT max(key) FROM event").fetchone()
    if event is None:
        return None
    endpoint(conn, organization, name, headers=DEEP, enabled=1)
    known = {"endpoint_id": name, "event": event, "state": "pending", "due_at": 0}
    return insert(conn, "webhook_delivery", **known, created_at=0, updated_at=0)


def storm(conn: sqlite3.Connection, organization: str, name: str) -> str:
    given = {"id": name, "organization_id": organization, "preset": "plain", "mode": "live"}
    proof = {"proof": "address", "secret": b"", "last4": "", "numbers": "["}
    insert(conn, "hooks", **given, **proof, created_at=0, created_by="a")
    insert(conn, "hook_storms", hook=name, ends_at=0, passed=1, held=LARGEST, text=HUGE)
    return name


def message(**wrong: Any) -> Callable[[sqlite3.Connection, str, str], object]:
    """A pending message in the queue of its organization, on the route of its other messages."""

    def plant(conn: sqlite3.Connection, organization: str, name: str) -> str:
        own = number_of(conn, organization)
        (key,) = conn.execute("SELECT coalesce(max(key), 0) + 1 FROM message").fetchone()
        route = conn.execute("SELECT route FROM message WHERE organization = ?", (own,)).fetchone()
        given = {"key": key, "id": name, "organization": own, "mode": 0, "kind": 0, "encoding": 0}
        about = {"priority": 1, "status": 0, "recipient": 22236000000, "sender": 1, "segments": 1}
        paid = {"price": 0, "currency": "MRU", "body": "Hello"}
        times = {"due_at": 0, "valid_until": LARGEST, "route": route[0] if route else 1}
        insert(conn, "message", **{**given, **about, **paid, **times, **wrong})
        return name

    return plant


def event(**wrong: Any) -> Callable[[sqlite3.Connection, str, str], object]:
    def plant(conn: sqlite3.Connection, organization: str, name: str) -> int:
        own = number_of(conn, organization)
        (key,) = conn.execute("SELECT coalesce(max(key), 0) + 1 FROM event").fetchone()
        given = {"key": key, "type": 7, "organization": own, "mode": 0, "subject": name}
        return insert(conn, "event", **{**given, **wrong})

    return plant


def alert_call(conn: sqlite3.Connection, _: str, __: str) -> int:
    given = {"alert": 1, "what": "no_such_turn", "url": "", "created_at": 0, "due_at": 0}
    return insert(conn, "alert_calls", **given)


def alert(conn: sqlite3.Connection, _: str, name: str) -> int:
    given = {"kind": "no_such_kind", "subject": name + HUGE, "facts": "", "raised_at": -LARGEST}
    return insert(conn, "alerts", **given)


def waiting(name: str, loop: str = "messages", **wrong: Any) -> Poison:
    return Poison(name, loop, "message", message(**wrong), by_start=True)


POISONS = (
    Poison("mail of no kind", "mails", "mails", mail(kind="")),
    Poison("mail with broken details", "mails", "mails", mail(details='{"head":')),
    Poison("mail with deep details", "mails", "mails", mail(details=DEEP)),
    Poison("mail without its details", "mails", "mails", mail()),
    Poison("erasure with broken counts", "erasures", "erasures", erasure(gone="[")),
    Poison("erasure at no step", "erasures", "erasures", erasure(step=-LARGEST)),
    Poison("begun payment", "payments", "payments", payment(state="begun", entered=""), True),
    Poison(
        "polled payment",
        "payment_polls",
        "payments",
        payment(state="waiting", poll_at=-LARGEST, instructions=DEEP),
    ),
    Poison(
        "checked mailing", "mailing_rows", "mailings", mailing(state="checking", columns=""), True
    ),
    Poison(
        "sending mailing",
        "mailings",
        "mailings",
        mailing(state="sending", sheets="{"),
        by_start=True,
    ),
    Poison("row of a mailing", "mailings", "mailings", mailing_row, by_start=True),
    Poison("notice", "webhook_notices", "webhook_endpoints", notice),
    Poison("delivery", "webhooks", "webhook_delivery", delivery, True),
    Poison("storm", "hook_alerts", "hooks", storm),
    waiting("message of no kind", kind=LARGEST),
    waiting("message of octets", recipient=b"\xff"),
    waiting("message in no encoding", encoding=-LARGEST),
    waiting("message from nobody", sender=LARGEST),
    waiting("message on no route", route=LARGEST),
    waiting("message under way", loop="recovery", kind=LARGEST, status=1),
    Poison("alert call", "alert_calls", "alert_calls", alert_call),
    Poison("alert", "alerts", "alerts", alert, by_start=True),
)

BROKEN_EVENTS = (
    Poison("event of no type", "feed", "event", event(type=LARGEST)),
    Poison("event with broken values", "feed", "event", event(frozen="[")),
    Poison("event with deep values", "feed", "event", event(frozen=DEEP)),
    Poison("event about octets", "feed", "event", event(subject=b"\xff", type=0)),
    Poison("event about no message", "feed", "event", event(subject=-LARGEST, type=1)),
)
"""Rows of events. Who follows them meets one as it is written, and reads on behind it."""
