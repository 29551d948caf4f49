"""What follows from a carrier's answer to a submit of a lane, for the message and its timeline."""

from __future__ import annotations

from dataclasses import dataclass

from risala.config.model import CarrierSection, RetrySection
from risala.engine.delivery.lane.parts import LaneHooks
from risala.engine.journal.rows import DueRow
from risala.engine.rules.retry import Circumstances, Decision, decide, taken
from risala.engine.rules.router import pinned
from risala.sms.outcome import Accepted, Outcome, Refused


@dataclass(frozen=True, slots=True)
class Consequences:
    """Of one lane."""

    carrier: CarrierSection
    retry: RetrySection
    hooks: LaneHooks

    def decide(
        self,
        row: DueRow,
        outcome: Outcome,
        now_ms: int,
        *,
        partly_accepted: bool,
        gives_receipts: bool,
    ) -> Decision:
        """What the retry table says.

        Args:
            partly_accepted: this carrier has accepted a part of the message already.
            gives_receipts: whether it will tell what becomes of what it takes.
        """
        if isinstance(outcome, Accepted):  # nearly every answer: no other circumstance counts
            return taken(outcome, gives_receipts=gives_receipts)
        carrier, next_route = self.carrier, None
        if isinstance(outcome, Refused):  # nothing else sends a message elsewhere
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
