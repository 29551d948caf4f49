"""The alerts that turn at one check, and who gets them."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.rules.alerts.alert import Alert
from risala.engine.rules.alerts.holding import AlertTurn, Reading


@dataclass(frozen=True, slots=True)
class Turning:
    """A problem begins, or is over."""

    reading: Reading
    turn: AlertTurn
    seq: int | None = None
    """The number of the alert that is over; None: none was raised."""


@dataclass(frozen=True, slots=True)
class AlertAudience:
    """Who gets alerts, and which."""

    urls: tuple[str, ...]
    """Addresses that are called."""
    by_mail: bool
    """Whether operators get mails."""
    operator: str | None
    """An additional address that gets them."""
    page_only: frozenset[str]
    """Kinds that are only listed, and not sent."""

    def misses(self, alert: Alert) -> bool:
        """Whether someone must get it and has not yet."""
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
