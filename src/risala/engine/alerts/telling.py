"""Tells of alerts: mails to operators and calls to their addresses, owed where they turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Final

from risala.config.alerts import AlertsSection
from risala.engine.journal.alerts import alerts, calls
from risala.engine.journal.people import mails, users
from risala.engine.journal.people.mails import MailKind, NewMail
from risala.engine.model.people import Language
from risala.engine.rules.alerts.alert import Alert
from risala.engine.rules.alerts.holding import AlertTurn

TOLD_AN_HOUR: Final = 10
"""Of one kind at most: what befalls a hundred organizations, or beginnings of numbers, at once is
no hundred mails. The others are listed, and told of later where they go on."""
HOUR_MS: Final = 3_600_000


class Telling:
    """
    Args:
        operator: the address of the settings, beside those of operators.
        has_mailer: whether mails can be sent at all.
        rings: told that a mail or a call may leave.
    """

    def __init__(
        self,
        limits: AlertsSection,
        operator: str | None,
        rings: Iterable[Callable[[], None]],
        *,
        has_mailer: bool,
    ) -> None:
        self._limits = limits
        self._has_mailer = has_mailer
        self._operator = operator
        self._rings = tuple(rings)

    def retune(self, limits: AlertsSection) -> None:
        self._limits = limits

    def ring(self) -> None:
        for each in self._rings:
            each()

    def is_owed(self, opened: Iterable[Alert]) -> bool:
        """Whether somebody may have to be told of an alert that was muted before."""
        return any(self._is_untold(each) for each in opened)

    def _is_untold(self, alert: Alert) -> bool:
        return alert.told_at is None and alert.kind.value not in self._limits.page_only

    def owe_raised(self, conn: sqlite3.Connection, now_ms: int) -> None:
        """Owe what is to be told of all alerts that are open, of which nobody was told, and which
        are not muted."""
        mutes = alerts.mutes(conn, now_ms)
        told = alerts.told_since(conn, now_ms - HOUR_MS)
        for each in alerts.opened(conn):
            if not self._is_untold(each) or told[each.kind] >= TOLD_AN_HOUR:
                continue
            if not any(mute.covers(each.kind, each.subject, now_ms) for mute in mutes):
                told[each.kind] += 1
                alerts.note_told(conn, each.seq, now_ms)
                self._owe(conn, each, AlertTurn.RAISED, now_ms)

    def owe_over(self, conn: sqlite3.Connection, over: Alert, now_ms: int) -> None:
        """Owe the word that an alert is over, to whom it was told of."""
        mutes = alerts.mutes(conn, now_ms)
        if over.told_at is None:
            return
        if not any(mute.covers(over.kind, over.subject, now_ms) for mute in mutes):
            self._owe(conn, over, AlertTurn.OVER, now_ms)

    def _owe(self, conn: sqlite3.Connection, alert: Alert, turn: AlertTurn, now_ms: int) -> None:
        calls.owe(conn, alert.seq, turn, self._limits.webhook_url, now_ms)
        if not (self._has_mailer and self._limits.mail):
            return
        kind = MailKind.ALERT_RAISED if turn is AlertTurn.RAISED else MailKind.ALERT_OVER
        for email, language in self._readers(conn):
            mails.owe(conn, NewMail(kind, email, language, {"alert": alert.seq}), now_ms)

    def _readers(self, conn: sqlite3.Connection) -> list[tuple[str, Language]]:
        found = [(user.email, user.language) for user in users.operators(conn)]
        also = (self._operator or "").lower()
        if also and also not in {email.lower() for email, _ in found}:
            known = users.by_email(conn, also)
            found.append((also, Language.FRENCH if known is None else known.language))
        return found
