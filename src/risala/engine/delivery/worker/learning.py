"""What a worker learns from a carrier's answers: its pace, and whether to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import trio

from risala.engine.delivery.worker.parts import Counts
from risala.engine.rules.breaker import Breaker
from risala.engine.rules.throttle import Throttle
from risala.sms.outcome import Accepted, Outcome, Refused, Scope, Throttled, Uncertain, Unsent

UNSENT_PAUSE_S: Final = 0.2
"""Rest after a link turned out to be down, until the driver reports that it is up."""
UNSENT_PAUSE_MAX_S: Final = 5.0
"""The rest doubles up to this while a driver reports "up" and sends nothing: each try is a line in
a timeline and two commits."""


@dataclass(slots=True)
class Learning:
    """What one worker learns from its carrier's answers."""

    breaker: Breaker
    throttle: Throttle
    counts: Counts
    _pause_s: float = UNSENT_PAUSE_S
    _until_s: float = 0.0

    def forget_unsent(self) -> None:
        """The link was replaced."""
        self._pause_s = UNSENT_PAUSE_S

    def learn(self, outcome: Outcome) -> str | None:
        """Adjust pace and breaker to the carrier's answer; returns what the operator should
        know."""
        if isinstance(outcome, Accepted):
            self.forget_unsent()
            self.counts.accepted += 1
            self.breaker.succeeded()
            self.throttle.succeeded()
            if outcome.load_percent is not None:
                self.throttle.ease(outcome.load_percent, trio.current_time())
            return None
        return self._learn_fault(outcome, trio.current_time())

    def _learn_fault(self, outcome: Outcome, now_s: float) -> str | None:
        if not isinstance(outcome, Unsent):
            self.forget_unsent()
        match outcome:
            case Throttled(_, _, retry_after_s):
                self.counts.throttled += 1
                self.breaker.withdrew()
                self.throttle.slow_down(now_s, retry_after_s)
            case Refused(Scope.NOW, raw):
                self.counts.refused += 1
                if self.breaker.failed(now_s):
                    return f"circuit breaker opened after {raw}"
            case Refused():
                self.counts.refused += 1
                self.breaker.succeeded()
            case Uncertain():
                self.counts.uncertain += 1
                self.breaker.failed(now_s)
            case Unsent():
                self.breaker.withdrew()
                self._rest(now_s)
        return None

    def _rest(self, now_s: float) -> None:
        """Nothing left: rest, longer each time. All answers of one window count as one."""
        if now_s >= self._until_s:
            self._until_s = now_s + self._pause_s
            self.throttle.pause(now_s, self._pause_s)
            self._pause_s = min(2 * self._pause_s, UNSENT_PAUSE_MAX_S)
