"""What a carrier's answer to a submit means for the message and its timeline."""

from __future__ import annotations

from typing import Final

from risala.config.model import CarrierSection, RetrySection
from risala.dataclass import dataclass
from risala.engine.delivery.worker.parts import WorkerHooks
from risala.engine.model.records.attempts import Attempt, Decision, SubmitAnswer
from risala.engine.model.records.messages import DueRow, Stamp
from risala.engine.rules.retry import Circumstances, after_acceptance, decide
from risala.engine.rules.router import pinned
from risala.sms.message import Segment
from risala.sms.outcome import Accepted, Outcome, Refused
from risala.sms.values import quickly

_attempt: Final = quickly(Attempt)
_submit_answer: Final = quickly(SubmitAnswer)


@dataclass(frozen=True, slots=True)
class Consequences:
    """The consequences of one worker's answers."""

    carrier: CarrierSection
    retry: RetrySection
    hooks: WorkerHooks

    def answer(
        self,
        row: DueRow,
        segment: Segment,
        outcome: Outcome,
        stamp: Stamp,
        *,
        partly_accepted: bool,
        gives_receipts: bool,
        live: bool,
    ) -> SubmitAnswer:
        """What to write about a submit's outcome.

        Args:
            partly_accepted: the carrier has already accepted a part of the message.
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
        gives_receipts: bool,
    ) -> Decision:
        """The decision of the retry table."""
        carrier, next_route = self.carrier, None
        if isinstance(outcome, Refused):  # only a refusal sends a message elsewhere
            tried = (*row.tried_carriers, carrier.name)
            next_route = self.hooks.next_route(row.recipient, tried)
        is_code = row.kind == "code"
        at = Circumstances(
            now_ms=now_ms,
            valid_until=row.valid_until,
            refusals=row.refusals,
            pinned_route=pinned(carrier.name),
            partly_accepted=partly_accepted,
            next_route=next_route,
            on_uncertain=carrier.on_uncertain_code if is_code else carrier.on_uncertain_message,
            retry=self.retry,
            gives_receipts=gives_receipts,
        )
        return decide(outcome, at)
