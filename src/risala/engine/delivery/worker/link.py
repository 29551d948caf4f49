"""How a lane stands: what its driver tells of the link, whether the driver is to be trusted, the
operator's word, and the lines that were noted of all that."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Final

from risala.engine.delivery.worker.parts import Gate
from risala.engine.model.clock import Clock
from risala.engine.model.times import iso
from risala.plugins.contract import Capabilities, Health, HealthState
from risala.sms.cause import Cause

TRACE_MAX: Final = 100
"""Lines of a link's life kept for the operator."""
TRUST_AGAIN_S: Final = 30.0
"""For so long other carriers take the messages of a driver that failed, where there are any, and
it counts as sick."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a link's life."""

    at: str
    """ISO 8601, UTC."""
    text: str


@dataclass(frozen=True, slots=True)
class LastError:
    """What went wrong last: an answer of the carrier, or the link itself."""

    at_ms: int
    """UTC epoch milliseconds."""
    code: str
    """A word of :class:`~risala.sms.cause.Cause`: each has a sentence in every language."""
    raw: str
    """The carrier's own word; empty where there is none."""
    text: str
    """The driver's sentence where it says more than the code."""


class CarrierLink:
    """Of one lane."""

    def __init__(self, can: Capabilities, clock: Clock) -> None:
        self.health = Health(HealthState.DOWN, "Not connected yet.")
        """As the driver told it last."""
        self.is_up = False
        self.since_ms = clock.now_ms()
        """Since when its link is up, or not; UTC epoch milliseconds."""
        self.gate = Gate.OPEN
        self.fault: str | None = None
        """What the driver did wrong the last time, as a sentence for the operator."""
        self.trace: deque[TraceLine] = deque(maxlen=TRACE_MAX)
        self.last_error: LastError | None = None
        self._is_heard = False
        self._lost_until_s = 0.0
        self._can = can
        self._clock = clock

    @property
    def gives_receipts(self) -> bool:
        """False where nobody will know whether what it sends arrives."""
        return self._can.receipts and self.health.receipts

    @property
    def own_number(self) -> str | None:
        """The number that the line sends from whatever is asked; empty where nobody knows it, None
        where it sends as is asked."""
        if self._can.alphanumeric_sender:
            return None
        return str(self.health.details.get("number") or "")

    def note(self, text: str) -> None:
        """One line for the operator."""
        self.trace.append(TraceLine(iso(self._clock.now_ms()), text))

    def note_error(self, cause: Cause, raw: str, text: str) -> None:
        """Remember what went wrong, until something else does."""
        self.last_error = LastError(self._clock.now_ms(), cause.value, raw, text)

    def begin(self) -> None:
        """The driver begins: what it says first is no error."""
        self._is_heard = False

    def hear(self, health: Health) -> bool:
        """Take over what the driver tells of its link. Whether that is news."""
        is_news = (health.state, health.text) != (self.health.state, self.health.text)
        if health.state is not self.health.state:
            self.since_ms = self._clock.now_ms()
        # The first word is that it connects, which is no error.
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
        """The operator's word."""
        self.gate = gate
        self.note(f"the operator set it to {gate}")

    def distrust(self, fault: str, now_s: float) -> None:
        """The driver failed in this way."""
        if self.fault != fault:
            self.note(fault)
        self.fault = fault
        self._lost_until_s = now_s + TRUST_AGAIN_S

    def is_distrusted(self, now_s: float) -> bool:
        """True for a while after a fault: then the driver may have another try."""
        return self.fault is not None and now_s < self._lost_until_s

    def health_at(self, now_s: float, late: int) -> Health:
        """What the driver tells of its link, unless the driver itself is what ails.

        Args:
            late: its calls that have not come back long after their time.
        """
        told = self.health
        if not self.is_up or self.fault is None:
            return told
        told = replace(told, details={**told.details, "attention": self.fault})
        if late or self.is_distrusted(now_s):
            return replace(told, state=HealthState.SICK, text=self.fault)
        return told
