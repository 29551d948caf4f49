"""What follows from an outcome: the one table for retry, move on, wait or give up. Pure."""

from __future__ import annotations

from typing import Final

from risala.config.model import OnUncertain, RetrySection
from risala.dataclass import dataclass
from risala.engine.model.lines import SENT, SENT_UNREPORTED, Kind, Line, note, undecided
from risala.engine.model.records.attempts import Decision, Repeat, Step
from risala.engine.model.states import SegmentState
from risala.engine.rules.repeats import (
    NO_MANNERS,
    Manners,
    Resolution,
    declined_now,
    given_up,
    resolution,
)
from risala.sms.cause import Cause
from risala.sms.outcome import Accepted, Outcome, Refused, Scope, Throttled, Uncertain, Unsent
from risala.sms.values import quickly


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The facts about the message and its carrier that the table needs."""

    now_ms: int
    valid_until: int
    refusals: int
    """The number of temporary refusals of the message so far."""
    pinned_route: str
    """The route that only this carrier serves."""
    partly_accepted: bool
    """True: this carrier has already accepted a part, so the others must go through it too."""
    next_route: str | None
    """The next route of a message that this carrier refuses; None: there is no other carrier."""
    on_uncertain: OnUncertain
    retry: RetrySection
    gives_receipts: bool = True
    """False for a modem line without status reports: no further news of the message will come."""
    manners: Manners = NO_MANNERS
    """What the carrier does with submits without an answer."""
    repeat: Repeat | None = None
    """Set if it was a further submit of an attempt whose outcome is unknown."""


_TAKEN: Final = Line(Kind.PART_ACCEPTED)
_decision: Final = quickly(Decision)


def wait_ms(retry: RetrySection, refusals: int) -> int:
    """The wait before the attempt that follows the ``refusals``-th refusal, in milliseconds."""
    wait_s = retry.first_wait_s * retry.factor ** (refusals - 1)
    return round(min(wait_s, retry.wait_max_s) * 1000)


def decide(outcome: Outcome, at: Circumstances) -> Decision:
    """What follows from an outcome in these circumstances."""
    if at.repeat is not None and isinstance(outcome, Throttled | Unsent | Refused):
        return _repeat_answered(outcome, at, at.repeat)
    match outcome:
        case Accepted():
            return after_acceptance(outcome, gives_receipts=at.gives_receipts)
        case Throttled(raw, text, cause=cause) | Unsent(raw, text, cause):
            return Decision(
                Step.REQUEUE,
                SegmentState.WAITING,
                Line(Kind.HELD_BACK, cause, note(text)),
                raw,
                route=at.pinned_route if at.partly_accepted else None,
            )
        case Uncertain(raw, text, carrier_id, cause, is_final):
            policy = at.on_uncertain
            how = resolution(at.manners, policy, has_id=bool(carrier_id))
            how = given_up(policy) if is_final else how
            lost_link = cause is Cause.LINK_LOST
            return _await(at, how, cause, raw, text, carrier_id=carrier_id, lost_link=lost_link)
        case Refused(Scope.NOW | Scope.RECIPIENT):
            return _refused_for_now(outcome, at)
        case Refused(Scope.CARRIER, raw, text, cause) if at.next_route and not at.partly_accepted:
            return Decision(
                Step.REQUEUE,
                SegmentState.REFUSED,
                Line(Kind.REROUTED, cause, note(text)),
                raw,
                due_at=at.now_ms,
                route=at.next_route,
            )
        case Refused(_, raw, text, cause):
            return _failed(raw, Line(Kind.FAILED, cause, note(text)))


def _await(
    at: Circumstances,
    how: Resolution,
    cause: Cause,
    raw: str,
    text: str,
    *,
    carrier_id: str | None = None,
    lost_link: bool = False,
    is_answered: bool = False,
) -> Decision:
    resolve_at = at.now_ms + round(how.after_s * 1000)
    return Decision(
        Step.AWAIT,
        SegmentState.UNCERTAIN,
        Line(Kind.UNCERTAIN, cause, {**undecided(resolve_at, how.then), **note(text)}),
        raw,
        carrier_id=carrier_id,
        resolve_at=resolve_at,
        resolve_action=how.action,
        lost_link=lost_link,
        is_answered=is_answered,
    )


def _repeat_answered(
    outcome: Throttled | Unsent | Refused, at: Circumstances, repeat: Repeat
) -> Decision:
    """A further submit was not taken; an earlier one may have been, whatever the carrier says of
    this one: no other attempt and no refund yet."""
    if isinstance(outcome, Refused) and outcome.scope in (Scope.FINAL, Scope.CARRIER):
        how = given_up(at.on_uncertain)
    else:
        wait_s = (outcome.retry_after_s if isinstance(outcome, Throttled) else None) or 0.0
        open_s, left_s = at.now_ms - repeat.opened_at, repeat.until_ms - at.now_ms
        how = declined_now(at.manners, wait_s, open_s / 1000, left_s / 1000)
    return _await(at, how, outcome.cause, outcome.raw, outcome.text, is_answered=True)


def after_acceptance(accepted: Accepted, *, gives_receipts: bool) -> Decision:
    """What follows if the carrier accepted the segment, in all circumstances.

    Args:
        gives_receipts: as :attr:`Circumstances.gives_receipts`.
    """
    if accepted.is_delivered:
        return _decision(
            Step.ADVANCE,
            SegmentState.DELIVERED,
            _TAKEN,
            accepted.raw,
            carrier_id=accepted.carrier_id,
        )
    return _decision(
        Step.ADVANCE,
        SegmentState.ACCEPTED,
        _TAKEN,
        accepted.raw,
        carrier_id=accepted.carrier_id,
        sent=SENT if gives_receipts else SENT_UNREPORTED,
    )


def _refused_for_now(refused: Refused, at: Circumstances) -> Decision:
    refusals = at.refusals + 1
    words = note(refused.text)
    if refusals >= at.retry.attempts_max:
        values = {"refusals": refusals, "last": refused.cause.value, **words}
        return _failed(refused.raw, Line(Kind.FAILED, Cause.RETRIES_EXHAUSTED, values))
    due_at = at.now_ms + wait_ms(at.retry, refusals)
    if due_at >= at.valid_until:
        values = {"last": refused.cause.value, **words}
        return _failed(refused.raw, Line(Kind.FAILED, Cause.VALIDITY_OVER, values))
    return Decision(
        Step.REQUEUE,
        SegmentState.WAITING,
        Line(Kind.REFUSED_FOR_NOW, refused.cause, {"wait_ms": due_at - at.now_ms, **words}),
        refused.raw,
        due_at=due_at,
        route=at.pinned_route if at.partly_accepted else None,
        counts_as_refusal=True,
    )


def _failed(raw: str, line: Line) -> Decision:
    return Decision(Step.FAIL, SegmentState.REFUSED, line, raw)
