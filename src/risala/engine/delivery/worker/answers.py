"""The answers to the submits of one worker: what is learned from them, and how they are kept.

An answer is written down before the next part of its message leaves. One that comes after its
submit was given up, or none at all, is written down too: no message hangs on a driver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from typing import Protocol

import structlog
import trio

from risala.config.model import CarrierSection
from risala.engine.delivery.attempt_writer import AttemptWriter
from risala.engine.delivery.worker.awaited import Awaited
from risala.engine.delivery.worker.calls import Calls, SubmitCall
from risala.engine.delivery.worker.consequences import Consequences, Learning
from risala.engine.delivery.worker.link import CarrierLink
from risala.engine.delivery.worker.offers import Offers
from risala.engine.delivery.worker.parts import Job, tell_unwritten
from risala.engine.journal.recorder import Recorder
from risala.engine.model.errors import Failed
from risala.engine.model.records.attempts import Repeat, Step, SubmitAnswer
from risala.engine.model.records.messages import DueRow
from risala.plugins.contract import Driver, Segment
from risala.sms.cause import Cause
from risala.sms.outcome import Accepted, Outcome, Uncertain, Unsent

log = structlog.get_logger(__name__)


class AnswersOwner(Protocol):
    """The worker whose submits are answered."""

    def finished(self, job: Job, *, goes_on: bool) -> None:
        """A submit has ended: only the journal counts again, or the next part follows."""

    def made_room(self) -> None:
        """A message is accepted whole: another may leave before that is on disk."""

    def room_settled(self, job: Job) -> None:
        """A message that made room is on disk, or will never be."""


@dataclass(slots=True, eq=False)
class Answers:
    """The answers to one worker's submits. Everything here runs on the loop's thread."""

    driver: InitVar[Driver]
    recorder: Recorder
    scribe: AttemptWriter
    fence: Callable[[], None]
    """See :class:`~risala.engine.delivery.worker.worker.CarrierWorker`."""
    standing: CarrierLink
    awaited: Awaited
    consequences: Consequences
    learning: Learning
    owner: AnswersOwner = field(repr=False)
    calls: Calls = field(init=False)
    """The submits without an answer."""
    offers: Offers = field(init=False)
    """The segments that the carrier has not fetched yet; none, unless it fetches."""

    def __post_init__(self, driver: Driver) -> None:
        self.calls = Calls(self.consequences.carrier.name, driver, self)
        self.offers = Offers(self.calls, self.scribe, self)

    @property
    def _name(self) -> str:
        return self.consequences.carrier.name

    def retune(self, carrier: CarrierSection) -> None:
        """Apply other settings of the same carrier."""
        self.consequences = replace(self.consequences, carrier=carrier)

    def heard(self, call: SubmitCall, outcome: Outcome | None) -> None:
        """See :class:`~risala.engine.delivery.worker.calls.CallsOwner`."""
        if call.is_dropped:
            return
        if outcome is None:
            if not call.given_up:
                fault = "Its driver failed while submitting a message. See the log for the cause."
                self._distrust(fault)
            unknown = Uncertain if call.offer is None else Unsent
            outcome = unknown("", cause=Cause.DRIVER_FAULT)
        else:
            self.standing.fault = None
            self.learning.counts.latency.add(self.calls.took_s(call))
        if call.offer is not None:
            self.offers.answered(call, outcome)
        elif call.given_up:
            self._settle_late(call, outcome)
        else:
            self.settle(call, outcome)

    def overdue(self, call: SubmitCall) -> None:
        """See :class:`~risala.engine.delivery.worker.calls.CallsOwner`."""
        limit_s = self.calls.limit_s
        log.error(
            "driver.silent",
            carrier=self._name,
            message_id=call.segment.message_id,
            limit_s=limit_s,
        )
        self._distrust(f"Its driver has not answered a submit within {limit_s:g} s.")
        if call.offer is not None:
            self.offers.withdraw(call)
            return
        text = "The driver did not report what happened to the message."
        self.settle(call, Uncertain("", text, cause=Cause.DRIVER_FAULT))

    def _distrust(self, fault: str) -> None:
        self.standing.distrust(fault, trio.current_time())
        self.consequences.hooks.changed()

    def cut_off(self, call: SubmitCall) -> None:
        """See :class:`~risala.engine.delivery.worker.calls.CallsOwner`."""
        if not (call.given_up or call.is_dropped):
            self.owner.finished(call.job, goes_on=False)

    def fetched_one(self, call: SubmitCall) -> None:
        """See :class:`~risala.engine.delivery.worker.offers.OffersOwner`."""
        self.fence()
        self.learning.counts.submitted += 1
        self.calls.renew(call)

    def take_back(self, call: SubmitCall, outcome: Outcome | None) -> None:
        """See :class:`~risala.engine.delivery.worker.offers.OffersOwner`."""
        if outcome is None:
            self.learning.breaker.withdrew()
            self.learning.throttle.give_back()
        else:
            self.learning.learn(outcome)
        self.owner.finished(call.job, goes_on=False)
        if call.job.repeat is None:  # else it is uncertain, and handed over again
            self.consequences.hooks.put_back(call.job.row)

    def settle(self, call: SubmitCall, outcome: Outcome) -> None:
        """Write down the result, and continue once it is on disk.

        A message that the carrier has accepted whole frees room in the window at once: the commit
        that writes this answer also writes the start of the next message.
        """
        job = call.job
        call.outcome = outcome
        call.makes_room = (
            isinstance(outcome, Accepted) and len(job.remaining) == 1 and not job.row.goes_alone
        )
        lesson = self.learning.learn(outcome)
        if lesson is not None:
            self.standing.note(lesson)
        if not isinstance(outcome, Accepted):
            self.standing.note_error(outcome.cause, outcome.raw, outcome.text)
        self.scribe.finish(self._of_call(call, outcome), partial(self._settled, call))
        if call.makes_room:
            self.owner.made_room()

    def _settled(self, call: SubmitCall, failed: Failed | None) -> None:
        """The result is on disk: more parts of the message may follow at once."""
        job, outcome, goes_on = call.job, call.outcome, False
        if failed is not None:  # the next start finds that it was under way
            tell_unwritten(self._name, job.row.id, failed.error)
        elif isinstance(outcome, Accepted):
            self.awaited.expect(job.row.id, call.segment.number, outcome.carrier_id)
            job.partly_accepted = True
            job.remaining.popleft()
            job.repeat = None
            goes_on = bool(job.remaining)
        if call.makes_room:  # that was reported at once
            self.owner.room_settled(job)
        else:
            self.owner.finished(job, goes_on=goes_on)

    def _settle_late(self, call: SubmitCall, outcome: Outcome) -> None:
        """Use an answer that came after its deadline; first the uncertain outcome is written."""
        manners = self.consequences.manners
        can_be_resolved = manners.same_id_is_safe or manners.is_asked
        if isinstance(outcome, Uncertain) and not can_be_resolved:
            return  # no news; else that the submit has ended is news
        self.learning.counts.late += 1
        self.calls.note_unended(call.job.row.id)

        def done(failed: Failed | None) -> None:
            self.calls.unended.discard(call.job.row.id)
            if failed is not None:  # it stays uncertain
                tell_unwritten(self._name, call.job.row.id, failed.error)
            elif isinstance(outcome, Accepted):
                self.awaited.expect(call.job.row.id, call.segment.number, outcome.carrier_id)

        self.scribe.finish(self._of_call(call, outcome, live=False), done)

    def of(
        self,
        row: DueRow,
        segment: Segment,
        outcome: Outcome,
        *,
        partly_accepted: bool,
        repeat: Repeat | None = None,
        live: bool = True,
    ) -> SubmitAnswer:
        """What to write about a submit's outcome: see :meth:`Consequences.answer`."""
        return self.consequences.answer(
            row,
            segment,
            outcome,
            self.recorder.stamp(),
            partly_accepted=partly_accepted,
            repeat=repeat,
            gives_receipts=self.standing.gives_receipts,
            live=live,
        )

    def _of_call(self, call: SubmitCall, outcome: Outcome, *, live: bool = True) -> SubmitAnswer:
        job = call.job
        answer = self.of(
            job.row,
            call.segment,
            outcome,
            partly_accepted=job.partly_accepted,
            repeat=job.repeat,
            live=live,
        )
        if answer.decision.step is Step.AWAIT and (call.lost_link or not self.standing.is_up):
            return replace(answer, decision=replace(answer.decision, lost_link=True))
        return answer
