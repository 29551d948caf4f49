"""Stores turns of alerts together with the mails and calls that are owed for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from risala.engine.journal.alerts import alerts, calls
from risala.engine.journal.people import mails, users
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.rules.alerts.alert import Alert
from risala.engine.rules.alerts.holding import AlertTurn
from risala.engine.rules.alerts.turning import AlertAudience, Turning

TOLD_AN_HOUR: Final = 10
"""The most of one kind at once: a problem of a hundred organizations, or prefixes, must not be a
hundred mails. The others are listed, and reported later if they last."""
HOUR_MS: Final = 3_600_000


def write(
    conn: sqlite3.Connection, turning: Iterable[Turning], audience: AlertAudience, now_ms: int
) -> None:
    """Raise alerts and end others. Those already raised, or over, stay as they are."""
    for each in turning:
        reading = each.reading
        if each.turn is AlertTurn.RAISED:
            alerts.raise_one(conn, reading.kind, reading.subject, reading.facts, now_ms)
        elif each.seq is not None:
            over = alerts.end(conn, each.seq, reading.facts, now_ms)
            if over is not None:
                _owe_over(conn, over, audience, now_ms)
    _owe_raised(conn, audience, now_ms)


def _owe_raised(conn: sqlite3.Connection, audience: AlertAudience, now_ms: int) -> None:
    """Owe the reports of all open alerts that were not reported yet and are not muted."""
    mutes = alerts.mutes(conn, now_ms)
    told = alerts.notified_since(conn, now_ms - HOUR_MS)
    for each in alerts.opened(conn, alerts.pass_over):
        if not audience.misses(each) or told[each.kind] >= TOLD_AN_HOUR:
            continue
        if not any(mute.covers(each.kind, each.subject, now_ms) for mute in mutes):
            told[each.kind] += 1
            alerts.note_notified(conn, each.seq, now_ms)
            _owe(conn, each, AlertTurn.RAISED, audience, now_ms)


def _owe_over(conn: sqlite3.Connection, over: Alert, audience: AlertAudience, now_ms: int) -> None:
    """Owe the report that an alert is over, to those who were notified of it."""
    mutes = alerts.mutes(conn, now_ms)
    if over.told_at is None:
        return
    if not any(mute.covers(over.kind, over.subject, now_ms) for mute in mutes):
        _owe(conn, over, AlertTurn.OVER, audience, now_ms)


def _owe(
    conn: sqlite3.Connection, alert: Alert, turn: AlertTurn, audience: AlertAudience, now_ms: int
) -> None:
    calls.owe(conn, alert.seq, turn, audience.urls, now_ms)
    if not audience.by_mail:
        return
    kind = MailKind.ALERT_RAISED if turn is AlertTurn.RAISED else MailKind.ALERT_OVER
    for email, language in users.operators_and(conn, audience.operator):
        mails.owe(conn, NewMail(kind, email, language, {"alert": alert.seq}), now_ms)
