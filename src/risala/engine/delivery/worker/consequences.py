"""What a carrier's answer to a submit means for the message and its timeline."""

from __future__ import annotations

from typing import Final

import structlog
import trio

from risala.config.model import CarrierSection, RetrySection
from risala.dataclass import dataclass
from risala.engine.delivery.worker.parts import Counts, Job, WorkerHooks
from risala.engine.journal.recorder import Recorder
from risala.engine.model.records.attempts import (
    Attempt,
    Decision,
    Declining,
    Repeat,
    SubmitAnswer,
)
from risala.engine.model.records.messages import DueRow, Stamp
from risala.engine.rules.repeats import Manners
from risala.engine.rules.retry import Circumstances, after_acceptance, decide
from risala.engine.rules.router import as_flash, pinned
from risala.engine.rules.throttle import Breaker, Throttle
from risala.plugins.contract import Choosy, Declined, Driver
from risala.sms.message import Segment
from risala.sms.outcome import Accepted, Outcome, Refused, Scope, Throttled, Uncertain, Unsent
from risala.sms.values import quickly

_attempt: Final = quickly(Attempt)
_submit_answer: Final = quickly(SubmitAnswer)


@dataclass(frozen=True, slots=True)
class Consequences:
    """The consequences of one worker's answers."""

    carrier: CarrierSection
    retry: RetrySection
    hooks: WorkerHooks
    manners: Manners

    def answer(
        self,
        row: DueRow,
        segment: Segment,
        outcome: Outcome,
        stamp: Stamp,
        *,
        partly_accepted: bool,
        repeat: Repeat | None,
        gives_receipts: bool,
        live: bool,
    ) -> SubmitAnswer:
        """What to write about a submit's outcome.

        Args:
            partly_accepted: the carrier has already accepted a part of the message.
            repeat: that the same attempt had a submit without an answer before.
            gives_receipts: whether it reports what becomes of the messages it takes.
            live: as in :class:`SubmitAnswer`.
        """
        if isinstance(outcome, Accepted):  # nearly every answer: nothing else matters
            decision = after_acceptance(outcome, gives_receipts=gives_receipts)
        else:
            decision = self._decide(
                row,
                outcome,
                stamp.now_ms,
                partly_accepted=partly_accepted,
                repeat=repeat,
                gives_receipts=gives_receipts,
            )
        attempt = _attempt(row.id, segment.number, segment.attempt, self.carrier.name)
        return _submit_answer(attempt, decision, stamp, live)

    def _decide(
        self,
        row: DueRow,
        outcome: Outcome,
        now_ms: int,
        *,
        partly_accepted: bool,
        repeat: Repeat | None,
        gives_receipts: bool,
    ) -> Decision:
        """The decision of the retry table."""
        carrier, next_route = self.carrier, None
        # Only a refusal sends a message elsewhere, and a channel's nowhere.
        if isinstance(outcome, Refused) and not carrier.is_channel:
            tried = (*row.tried_carriers, carrier.name)
            next_route = self.hooks.next_route(row, tried)
        is_code = row.kind == "code"
        at = Circumstances(
            now_ms=now_ms,
            valid_until=row.valid_until,
            refusals=row.refusals,
            pinned_route=as_flash(pinned(carrier.name), row.route),
            partly_accepted=partly_accepted,
            next_route=next_route,
            on_uncertain=carrier.on_uncertain_code if is_code else carrier.on_uncertain_message,
            retry=self.retry,
            gives_receipts=gives_receipts,
            manners=self.manners,
            repeat=repeat,
        )
        return decide(outcome, at)


# What a worker learns from a carrier's answers: its pace, and whether to go on.

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
            case Uncertain(is_final=is_final):
                self.counts.uncertain += 1
                if is_final:  # it says nothing against the carrier as it is now
                    self.breaker.withdrew()
                else:
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


# Messages that go out alone: the link was lost repeatedly while they were submitted.
#
# A message that makes a carrier drop the link makes every submit of that moment uncertain. So a
# message during which that happened twice gets the worker alone: then it affects no other message.


@dataclass(slots=True)
class Solo:
    """The messages of one worker that wait to go alone, and the one that does."""

    waiting: Job | None = None
    """Starts as soon as nothing is in flight; nothing else starts before it."""
    _is_out: bool = False

    def window(self, window_max: int) -> int:
        """How many may be in flight now."""
        return 1 if self._is_out or self.waiting is not None else window_max

    def may_start(self, job: Job, in_flight: int) -> bool:
        """False if it has to wait: then it is :attr:`waiting`."""
        goes_alone = job.row.goes_alone
        if goes_alone and in_flight:
            self.waiting = job
            return False
        self._is_out = goes_alone
        return True

    def take(self) -> Job | None:
        """Remove and return the waiting message, if any."""
        job, self.waiting = self.waiting, None
        return job


# Messages that a driver would not take now: no attempt is spent on them.
#
# A driver with a quota says so beforehand (:class:`~risala.plugins.contract.Choosy`). The message
# goes to a carrier that takes it, or waits and is checked again.

log = structlog.get_logger(__name__)

LOOK_AGAIN_MS: Final = 600_000
"""How often a message that waits for a quota is checked: another carrier may have come up."""


def declines(
    carrier: str, driver: Driver, recipient: str, segments: int, *, is_next: bool = False
) -> Declined | None:
    """The driver's reason; None if it has no reason, or fails to give one."""
    # One name first: checking the whole protocol takes 10 µs for each message.
    if not hasattr(driver, "declines") or not isinstance(driver, Choosy):
        return None
    if driver.capabilities.takes_whole:  # one submit, whatever its length
        segments = 1
    try:
        answer: object = driver.declines(recipient, segments, is_next=is_next)
    except Exception:  # its bug must not hold a message back: the submit shows it
        log.exception("driver.declines_failed", carrier=carrier)
        return None
    return answer if isinstance(answer, Declined) else None


async def let_wait(
    carrier: str, job: Job, declined: Declined, recorder: Recorder, hooks: WorkerHooks
) -> None:
    """Write down that the driver would not take the message: it goes elsewhere, or waits.

    Raises:
        Unavailable: that could not be written down.
    """
    row, segments = job.row, len(job.parts.texts)
    now_ms = recorder.clock.now_ms()
    route = hooks.willing_route(row, (*row.tried_carriers, carrier), segments)
    due_at = now_ms if route else _look_again_at_ms(declined, now_ms)
    await recorder.decline(Declining(row.id, carrier, declined.text, due_at, route))


def _look_again_at_ms(declined: Declined, now_ms: int) -> int:
    return max(now_ms + 1, min(declined.until_ms, now_ms + LOOK_AGAIN_MS))
