"""Alerts as rows: raised once, over once, and kept for a while after that."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import replace
from typing import Any, Final, cast

from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.times import iso
from risala.engine.rules.alerts.alert import Alert, AlertKind, AlertMute, Facts
from risala.engine.rules.alerts.holding import flaps_of

KEPT_MAX: Final = 2000
"""Alerts that are over, kept at most: some hundred kilobytes."""
OPEN_MAX: Final = 500
"""Alerts that may be open together: more would add nothing, and each is a mail to each operator."""
MUTES_MAX: Final = 200
_TABLE: Final = "alerts"
_MUTES: Final = "alert_mutes"
_ALERTS: Final = Rows(Alert, kind=AlertKind, facts=json.loads, over_facts=json.loads)
_MUTE: Final = Rows(AlertMute, kind=AlertKind)
_EARLIER: Final = "kind = ? AND subject = ? AND over_at IS NOT NULL"


def opened(conn: sqlite3.Connection, broken: BrokenRow | None = None) -> list[Alert]:
    """The open alerts, the oldest first."""
    rows, where = table(conn, _TABLE), "over_at IS NULL"
    return _ALERTS.find(rows, where, order_by="seq", limit=OPEN_MAX, broken=broken)


def open_count(conn: sqlite3.Connection) -> int:
    """The number of open alerts; 0 in a file from before alerts existed."""
    found = table(conn, _TABLE)
    return found.count_where("over_at IS NULL") if found.exists() else 0


def open_counts(conn: sqlite3.Connection) -> Counter[AlertKind]:
    """The number of open alerts, by kind."""
    return Counter(each.kind for each in opened(conn, pass_over))


def pass_over(_: str, __: Exception) -> None:
    """Leave out a row that is no alert: the task that measures them has set it aside by name, and
    it must not keep the others from being raised."""


def find(conn: sqlite3.Connection, seq: int) -> Alert | None:
    found = _ALERTS.find(table(conn, _TABLE), "seq = ?", (seq,))
    return found[0] if found else None


def alert(conn: sqlite3.Connection, seq: int) -> Alert:
    """
    Raises:
        NotFound: the number is unknown.
    """
    found = find(conn, seq)
    if found is None:
        raise NotFound(f"There is no alert {seq}.")
    return found


def page(
    conn: sqlite3.Connection,
    limit: int,
    *,
    before: int | None = None,
    is_open: bool | None = None,
    kind: str | None = None,
) -> list[Alert]:
    """Alerts, the newest first."""
    where, given = ["1"], dict[str, Any]()
    if before is not None:
        where.append("seq < :before")
        given["before"] = before
    if is_open is not None:
        where.append("over_at IS NULL" if is_open else "over_at IS NOT NULL")
    if kind is not None:
        where.append("kind = :kind")
        given["kind"] = kind
    rows = table(conn, _TABLE)
    return _ALERTS.find(rows, " AND ".join(where), given, order_by="seq DESC", limit=limit)


def raise_one(
    conn: sqlite3.Connection, kind: AlertKind, subject: str, facts: Facts, now_ms: int
) -> Alert | None:
    """Raise an alert; None if it is already raised, or too many are."""
    rows = table(conn, _TABLE)
    if rows.count_where("over_at IS NULL") >= OPEN_MAX:
        return None
    if rows.count_where("kind = ? AND subject = ? AND over_at IS NULL", (kind.value, subject)):
        return None
    earlier = _ALERTS.find(rows, _EARLIER, (kind.value, subject), order_by="seq DESC", limit=1)
    flaps = flaps_of(earlier[0].flaps, earlier[0].over_at, now_ms) if earlier else 0
    stored = writable(conn, _TABLE).insert(
        {
            "kind": kind.value,
            "subject": subject,
            "facts": json.dumps(facts, ensure_ascii=False),
            "raised_at": now_ms,
            "flaps": flaps,
        }
    )
    return alert(conn, cast(int, stored.last_pk))


def end(conn: sqlite3.Connection, seq: int, facts: Facts, now_ms: int) -> Alert | None:
    """End an alert; None if it was already over."""
    found = alert(conn, seq)
    if not found.is_open:
        return None
    at = max(now_ms, found.raised_at)
    values = {"over_at": at, "over_facts": json.dumps(facts, ensure_ascii=False)}
    writable(conn, _TABLE).update(seq, values)
    return replace(found, over_at=at, over_facts=facts)


def notified_since(conn: sqlite3.Connection, since_ms: int) -> Counter[AlertKind]:
    """How many were notified since then, by kind."""
    rows = table(conn, _TABLE).rows_where("told_at > ?", (since_ms,), select="kind")
    return Counter(AlertKind(row["kind"]) for row in rows)


def note_notified(conn: sqlite3.Connection, seq: int, now_ms: int) -> None:
    """Mails and calls are owed for it."""
    writable(conn, _TABLE).update(seq, {"told_at": now_ms})


def acknowledge(conn: sqlite3.Connection, seq: int, by: str, now_ms: int) -> Alert:
    """Note who takes care of it. The first name stays.

    Raises:
        NotFound: the number is unknown.
    """
    found = alert(conn, seq)
    if found.acknowledged_at is None:
        writable(conn, _TABLE).update(seq, {"acknowledged_at": now_ms, "acknowledged_by": by})
    return alert(conn, seq)


def forget_old(conn: sqlite3.Connection, before_ms: int, now_ms: int) -> None:
    """Delete what has long been over, and mutes that have ended."""
    stored = writable(conn, _TABLE)
    stored.delete_where("over_at < ?", (before_ms,))
    over = "over_at IS NOT NULL"
    surplus = stored.count_where(over) - KEPT_MAX
    if surplus > 0:
        last = [*stored.rows_where(over, order_by="over_at, seq", limit=surplus)][-1]
        stored.delete_where(f"{over} AND (over_at, seq) <= (?, ?)", (last["over_at"], last["seq"]))
    writable(conn, _MUTES).delete_where("until <= ?", (now_ms,))


# -- mutes -------------------------------------------------------------------------------------


def mutes(conn: sqlite3.Connection, now_ms: int) -> list[AlertMute]:
    """The mutes in force, the newest first."""
    rows = table(conn, _MUTES)
    return _MUTE.find(rows, "until > ?", (now_ms,), order_by="seq DESC", limit=MUTES_MAX)


def mute(
    conn: sqlite3.Connection,
    kind: AlertKind,
    subject: str | None,
    until: int,
    by: str,
    now_ms: int,
) -> AlertMute:
    """Mute alerts for a time, in the place of an earlier mute of the same ones.

    Raises:
        Conflict: there are too many.
    """
    stored = writable(conn, _MUTES)
    stored.delete_where("kind = ? AND subject IS ?", (kind.value, subject))
    if stored.count_where("until > ?", (now_ms,)) >= MUTES_MAX:
        raise Conflict(f"There can be at most {MUTES_MAX} mutes. Remove one first.")
    values = {"kind": kind.value, "subject": subject, "until": until, "by": by, "at": now_ms}
    seq = cast(int, stored.insert(values).last_pk)
    return AlertMute(seq, kind, subject, until, by, now_ms)


def find_mute(conn: sqlite3.Connection, seq: int) -> AlertMute | None:
    found = _MUTE.find(table(conn, _MUTES), "seq = ?", (seq,))
    return found[0] if found else None


def unmute(conn: sqlite3.Connection, seq: int) -> AlertMute:
    """End a mute.

    Raises:
        NotFound: the mute does not exist.
    """
    found = find_mute(conn, seq)
    if found is None:
        raise NotFound(f"There is no mute {seq}.")
    writable(conn, _MUTES).delete(seq)
    return found


# -- what the audit trail shows


def seen(conn: sqlite3.Connection, alert_id: str) -> Seen | None:
    """Of an alert; None: it does not exist."""
    found = find(conn, int(alert_id.rpartition("_")[2]))
    if found is None:
        return None
    values = {
        "kind": found.kind.value,
        "subject": found.subject,
        "acknowledgedBy": found.acknowledged_by,
    }
    return Seen(None, values)


def seen_mute(conn: sqlite3.Connection, mute_id: str) -> Seen | None:
    """Of a mute; None: it does not exist."""
    found = find_mute(conn, int(mute_id.rpartition("_")[2]))
    if found is None:
        return None
    values = {"kind": found.kind.value, "subject": found.subject, "until": iso(found.until)}
    return Seen(None, values)
