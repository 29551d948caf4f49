"""The state of a worker: its driver's reports on the link, whether the driver is trusted, the
operator's gate, and the lines noted about them."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final

from risala.engine.model.clock import Clock
from risala.engine.model.records.carriers.state import LastError, TraceLine
from risala.engine.model.states import Gate
from risala.plugins.contract import Capabilities, Health, HealthState
from risala.sms.cause import Cause

TRACE_MAX: Final = 100
"""Lines that are kept about a link, for the operator."""
TRUST_AGAIN_S: Final = 30.0
"""After a failure of the driver, other carriers take its messages for this time, if there are any,
and the worker counts as sick."""


class CarrierLink:
    """The link of one worker, as its driver reports it."""

    def __init__(self, can: Capabilities, clock: Clock) -> None:
        self.health = Health(HealthState.DOWN, "Not connected yet.")
        """As the driver last reported it."""
        self.is_up = False
        self.since_ms = clock.now_ms()
        """Since when its link is up, or down; UTC epoch milliseconds."""
        self.gate = Gate.OPEN
        self.fault: str | None = None
        """The driver's latest fault, as a sentence for the operator."""
        self.trace: deque[TraceLine] = deque(maxlen=TRACE_MAX)
        self.last_error: LastError | None = None
        self._is_heard = False
        self._lost_until_s = 0.0
        self._can = can
        self._clock = clock

    @property
    def gives_receipts(self) -> bool:
        """False if its messages get no delivery reports."""
        return self._can.receipts and self.health.receipts

    @property
    def own_number(self) -> str | None:
        """The number that the line always sends from; empty if it is unknown, None if the line uses
        the requested sender."""
        if self._can.alphanumeric_sender:
            return None
        return str(self.health.details.get("number") or "")

    def note(self, text: str) -> None:
        """Add a line for the operator."""
        self.trace.append(TraceLine(self._clock.now_ms(), text))

    def note_error(self, cause: Cause, raw: str, text: str) -> None:
        """Remember an error until the next one."""
        self.last_error = LastError(self._clock.now_ms(), cause.value, raw, text)

    def begin(self) -> None:
        """The driver starts: its first report is no error."""
        self._is_heard = False

    def hear(self, health: Health) -> bool:
        """Take over the driver's report on its link. Returns whether it is news."""
        is_news = (health.state, health.text) != (self.health.state, self.health.text)
        if health.state is not self.health.state:
            self.since_ms = self._clock.now_ms()
        # The first report is that it connects, which is no error.
        was_heard, self._is_heard = self._is_heard, True
        self.health = health
        self.is_up = health.state is HealthState.UP
        if not self.is_up and is_news and was_heard:
            raw = str(health.details.get("command_status") or "")
            self.note_error(Cause.LINK_DOWN, raw, health.text)
        if is_news:
            self.note(f"{health.state}: {health.text}")
        return is_news

    def obey(self, gate: Gate) -> None:
        """Set the operator's gate."""
        self.gate = gate
        self.note(f"the operator set it to {gate}")

    def distrust(self, fault: str, now_s: float) -> None:
        """The driver failed in this way."""
        if self.fault != fault:
            self.note(fault)
        self.fault = fault
        self._lost_until_s = now_s + TRUST_AGAIN_S

    def is_distrusted(self, now_s: float) -> bool:
        """True for a while after a fault: then the driver may try again."""
        return self.fault is not None and now_s < self._lost_until_s

    def health_at(self, now_s: float, late: int) -> Health:
        """The driver's report on its link, unless the driver itself is at fault.

        Args:
            late: its calls that have not returned long after their time.
        """
        health = self.health
        if not self.is_up or self.fault is None:
            return health
        health = replace(health, details={**health.details, "attention": self.fault})
        if late or self.is_distrusted(now_s):
            return replace(health, state=HealthState.SICK, text=self.fault)
        return health
