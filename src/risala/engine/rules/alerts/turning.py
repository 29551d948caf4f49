"""What turns at a look, and who is told of it."""

from __future__ import annotations

from dataclasses import dataclass

from risala.engine.rules.alerts.alert import Alert
from risala.engine.rules.alerts.holding import AlertTurn, Reading


@dataclass(frozen=True, slots=True)
class Turning:
    """Something is wrong from now on, or is over."""

    reading: Reading
    turn: AlertTurn
    seq: int | None = None
    """The number of the alert that is over; None: none was raised."""


@dataclass(frozen=True, slots=True)
class AlertAudience:
    """Who is told of alerts, and of which."""

    urls: tuple[str, ...]
    """Addresses that are called."""
    by_mail: bool
    """Whether operators get mails."""
    operator: str | None
    """An address that gets them too."""
    page_only: frozenset[str]
    """Kinds of which nobody is told: they are listed."""

    def misses(self, alert: Alert) -> bool:
        """Whether somebody is to be told of it and was not yet."""
        return alert.told_at is None and alert.kind.value not in self.page_only


@dataclass(frozen=True, slots=True)
class AlertCall:
    """One alert's turn, owed to one address."""

    seq: int
    alert: int
    what: AlertTurn
    url: str
    created_at: int
    due_at: int
    tries: int
