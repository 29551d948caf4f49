"""The receivers of alerts: operators by mail, and their addresses by calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from risala.config.alerts import AlertsSection
from risala.engine.rules.alerts.alert import Alert
from risala.engine.rules.alerts.turning import AlertAudience


class Telling:
    """
    Args:
        operator: the address in the settings, in addition to those of operators.
        has_mailer: whether mails can be sent.
        rings: called when a mail or a call may leave.
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

    @property
    def audience(self) -> AlertAudience:
        """Who gets alerts now, and which."""
        limits = self._limits
        return AlertAudience(
            urls=tuple(limits.webhook_url),
            by_mail=self._has_mailer and limits.mail,
            operator=self._operator,
            page_only=frozenset(limits.page_only),
        )

    def is_owed(self, opened: Iterable[Alert]) -> bool:
        """Whether a formerly muted alert may have to be sent."""
        audience = self.audience
        return any(audience.misses(each) for each in opened)
