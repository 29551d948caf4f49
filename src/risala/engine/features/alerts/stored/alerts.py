"""Alerts as rows: raised once, over once, and kept for a while after that; their mutes, and the
calls and mails that are owed for them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from risala.dataclass import dataclass
from risala.engine.features.alerts.records import Alert, AlertKind, AlertMute, Facts, is_muted
from risala.engine.features.alerts.rules import (
    AlertAudience,
    AlertCall,
    AlertTurn,
    Turning,
    flaps_of,
)
from risala.engine.features.alerts.stored import facts
from risala.engine.journal.people import mails, users
from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.findings import Finding, Grade, Patient
from risala.engine.model.people_records import MailKind, NewMail
from risala.engine.model.times import iso

KEPT_MAX: Final = 2000
"""Alerts that are over, kept at most: some hundred kilobytes."""
OPEN_MAX: Final = 500
"""Alerts that may be open together: more would add nothing, and each is a mail to each operator."""
MUTES_MAX: Final = 200
SHIFTS: Final = (
    "UPDATE alert_calls SET due_at = due_at - :by WHERE settled_at IS NULL AND due_at > :now",
    "UPDATE alert_mutes SET until = until - :by WHERE until > :now",
)
"""Move the times of waits back with the clock."""
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
    alerts = table(conn, _TABLE)
    return alerts.count_where("over_at IS NULL") if alerts.exists() else 0


def examine(conn: sqlite3.Connection, _: Patient) -> Iterator[Finding]:
    """What the doctor says of open alerts."""
    count = open_count(conn)
    if not count:
        yield Finding("alerts", Grade.OK, "No alert is open.")
        return
    are = "1 is open" if count == 1 else f"{count} are open"
    text = f"{are}. `risala alerts` says since when, and what to do."
    yield Finding("alerts", Grade.WARN, text)


def open_counts(conn: sqlite3.Connection) -> Counter[AlertKind]:
    """The number of open alerts, by kind."""
    return Counter(each.kind for each in opened(conn, pass_over))


def pass_over(_: str, __: Exception) -> None:
    """Leave out a row that is no alert: the task that measures them has set it aside by name, and
    it must not keep the others from being raised."""


def find(conn: sqlite3.Connection, seq: int) -> Alert | None:
    rows = _ALERTS.find(table(conn, _TABLE), "seq = ?", (seq,))
    return rows[0] if rows else None


def alert(conn: sqlite3.Connection, seq: int) -> Alert:
    """
    Raises:
        NotFound: the number is unknown.
    """
    stored = find(conn, seq)
    if stored is None:
        raise NotFound(f"There is no alert {seq}.")
    return stored


def page(
    conn: sqlite3.Connection,
    limit: int,
    *,
    before: int | None = None,
    is_open: bool | None = None,
    kind: str | None = None,
) -> list[Alert]:
    """Alerts, the newest first."""
    where, values = ["1"], dict[str, Any]()
    if before is not None:
        where.append("seq < :before")
        values["before"] = before
    if is_open is not None:
        where.append("over_at IS NULL" if is_open else "over_at IS NOT NULL")
    if kind is not None:
        where.append("kind = :kind")
        values["kind"] = kind
    rows = table(conn, _TABLE)
    return _ALERTS.find(rows, " AND ".join(where), values, order_by="seq DESC", limit=limit)


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
    current = alert(conn, seq)
    if not current.is_open:
        return None
    at = max(now_ms, current.raised_at)
    values = {"over_at": at, "over_facts": json.dumps(facts, ensure_ascii=False)}
    writable(conn, _TABLE).update(seq, values)
    return replace(current, over_at=at, over_facts=facts)


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
    current = alert(conn, seq)
    if current.acknowledged_at is None:
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
    rows = _MUTE.find(table(conn, _MUTES), "seq = ?", (seq,))
    return rows[0] if rows else None


def unmute(conn: sqlite3.Connection, seq: int) -> AlertMute:
    """End a mute.

    Raises:
        NotFound: the mute does not exist.
    """
    mute = find_mute(conn, seq)
    if mute is None:
        raise NotFound(f"There is no mute {seq}.")
    writable(conn, _MUTES).delete(seq)
    return mute


# -- what the audit trail shows


def seen(conn: sqlite3.Connection, alert_id: str) -> Seen | None:
    """What the audit trail shows of an alert; None: it does not exist."""
    current = find(conn, int(alert_id.rpartition("_")[2]))
    if current is None:
        return None
    values = {
        "kind": current.kind.value,
        "subject": current.subject,
        "acknowledgedBy": current.acknowledged_by,
    }
    return Seen(None, values)


def seen_mute(conn: sqlite3.Connection, mute_id: str) -> Seen | None:
    """What the audit trail shows of a mute; None: it does not exist."""
    mute = find_mute(conn, int(mute_id.rpartition("_")[2]))
    if mute is None:
        return None
    values = {"kind": mute.kind.value, "subject": mute.subject, "until": iso(mute.until)}
    return Seen(None, values)


# -- calls to the operator's addresses: a row is owed until it is settled, so that none is lost


CALLS_KEPT_MS: Final = 7 * 86_400_000
"""How long the result of a call is kept."""
_CALLS_TABLE: Final = "alert_calls"
_CALLS: Final = Rows(AlertCall, what=AlertTurn)


def owe_calls(
    conn: sqlite3.Connection, alert: int, what: AlertTurn, urls: Iterable[str], now_ms: int
) -> None:
    """Owe a call to each address, in the unit that is the reason for it."""
    stored = writable(conn, _CALLS_TABLE)
    for url in urls:
        stored.insert(
            {
                "alert": alert,
                "what": what.value,
                "url": url,
                "created_at": now_ms,
                "due_at": now_ms,
            }
        )


def first_call(
    conn: sqlite3.Connection, besides: Collection[str] = (), broken: BrokenRow | None = None
) -> AlertCall | None:
    """The call that is due first, but for those with these numbers."""
    rows, limit, order = table(conn, _CALLS_TABLE), 1 + len(besides), "due_at, seq"
    calls = _CALLS.find(rows, "settled_at IS NULL", order_by=order, limit=limit, broken=broken)
    return next((each for each in calls if str(each.seq) not in besides), None)


def begin_call(conn: sqlite3.Connection, seq: int) -> int:
    """An attempt begins; returns the number of attempts, including it."""
    stored = writable(conn, _CALLS_TABLE)
    tries = int(stored.get(seq)["tries"]) + 1
    stored.update(seq, {"tries": tries})
    return tries


def put_off_call(conn: sqlite3.Connection, seq: int, due_at: int) -> None:
    """A call is tried again then."""
    writable(conn, _CALLS_TABLE).update(seq, {"due_at": due_at})


def settle_call(conn: sqlite3.Connection, seq: int, outcome: str, now_ms: int) -> None:
    """A call is owed no longer."""
    writable(conn, _CALLS_TABLE).update(seq, {"settled_at": now_ms, "outcome": outcome})


def forget_settled(conn: sqlite3.Connection, now_ms: int) -> None:
    writable(conn, _CALLS_TABLE).delete_where("settled_at <= ?", (now_ms - CALLS_KEPT_MS,))


# -- turns, stored with the mails and calls that are owed for them


TOLD_AN_HOUR: Final = 10
"""The most of one kind at once: a problem of a hundred organizations, or prefixes, must not be a
hundred mails. The others are listed, and reported later if they last."""
HOUR_MS: Final = 3_600_000


def write_turns(
    conn: sqlite3.Connection, turning: Iterable[Turning], audience: AlertAudience, now_ms: int
) -> None:
    """Raise alerts and end others. Those already raised, or over, stay as they are."""
    for each in turning:
        reading = each.reading
        if each.turn is AlertTurn.RAISED:
            raise_one(conn, reading.kind, reading.subject, reading.facts, now_ms)
        elif each.seq is not None:
            over = end(conn, each.seq, reading.facts, now_ms)
            if over is not None:
                _owe_over(conn, over, audience, now_ms)
    _owe_raised(conn, audience, now_ms)


def _owe_raised(conn: sqlite3.Connection, audience: AlertAudience, now_ms: int) -> None:
    """Owe the reports of all open alerts that were not reported yet and are not muted."""
    in_force = mutes(conn, now_ms)
    counts = notified_since(conn, now_ms - HOUR_MS)
    for each in opened(conn, pass_over):
        if not audience.misses(each) or counts[each.kind] >= TOLD_AN_HOUR:
            continue
        if not is_muted(each, in_force, now_ms):
            counts[each.kind] += 1
            note_notified(conn, each.seq, now_ms)
            _owe(conn, each, AlertTurn.RAISED, audience, now_ms)


def _owe_over(conn: sqlite3.Connection, over: Alert, audience: AlertAudience, now_ms: int) -> None:
    """Owe the report that an alert is over, to those who were notified of it."""
    if over.told_at is not None and not is_muted(over, mutes(conn, now_ms), now_ms):
        _owe(conn, over, AlertTurn.OVER, audience, now_ms)


def _owe(
    conn: sqlite3.Connection, alert: Alert, turn: AlertTurn, audience: AlertAudience, now_ms: int
) -> None:
    owe_calls(conn, alert.seq, turn, audience.urls, now_ms)
    if not audience.by_mail:
        return
    kind = MailKind.ALERT_RAISED if turn is AlertTurn.RAISED else MailKind.ALERT_OVER
    for email, language in users.operators_and(conn, audience.operator):
        mails.owe(conn, NewMail(kind, email, language, {"alert": alert.seq}), now_ms)


def tidy(
    conn: sqlite3.Connection,
    carriers: Mapping[str, bool],
    *,
    alerts_before: int,
    receipts_before: int,
    now_ms: int,
) -> None:
    """Note which carriers give receipts, and forget what is old.

    Args:
        alerts_before: alerts that were over then.
        receipts_before: carriers that were last known then to give receipts.
    """
    facts.note_receipts(conn, carriers, now_ms)
    facts.forget_receipts(conn, receipts_before)
    forget_old(conn, alerts_before, now_ms)
    forget_settled(conn, now_ms)


@dataclass(frozen=True, slots=True)
class AlertRepository:
    """Alerts, mutes, and calls that are owed. All reads are on the loop's thread: alerts and mutes
    are bounded by number.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    opened = read(opened)
    open_count = read(open_count)
    open_counts = read(open_counts)
    alert = read(alert)
    page = read(page)
    mutes = read(mutes)
    first_call = read(first_call)
    receipts_seen = read(facts.receipts_seen)
    ends_seen = read(facts.ends_seen)

    # -- commands

    write = command(write_turns)
    note_receipts = command(facts.note_receipts)
    tidy = command(tidy)

    acknowledge = audited_command(acknowledge)
    mute = audited_command(mute)
    unmute = audited_command(unmute)
    begin_call = command(begin_call)
    put_off_call = command(put_off_call)
    settle_call = command(settle_call)
