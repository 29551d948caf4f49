"""What follows from an outcome: the one table that says retry, move on, wait or give up. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from risala.config.model import OnUncertain, RetrySection
from risala.engine.journal.rows import SegmentState
from risala.sms.outcome import Accepted, Outcome, Refused, Scope, Throttled, Uncertain, Unsent


class Step(StrEnum):
    """What the message does next."""

    ADVANCE = "advance"
    """The segment is taken: on to the next one, or the message is sent."""
    REQUEUE = "requeue"
    """Back to pending, to be due at ``due_at`` (its old place where that is None)."""
    FAIL = "fail"
    """It is over: refund and tell."""
    AWAIT = "await"
    """The outcome is uncertain: see ``resolve_at``."""


@dataclass(frozen=True, slots=True)
class Decision:
    step: Step
    segment_state: SegmentState
    text: str
    raw: str
    carrier_id: str | None = None
    due_at: int | None = None
    route: str | None = None
    """A new route, or None to keep the one it has."""
    counts_as_refusal: bool = False
    refused_by: str | None = None
    error_code: str | None = None
    error_text: str | None = None
    resolve_at: int | None = None
    resolve_action: str | None = None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the table must know of the message and its carrier."""

    now_ms: int
    valid_until: int
    refusals: int
    """Refusals for now so far."""
    pinned_route: str
    """The route that only this carrier serves."""
    partly_accepted: bool
    """Some segment is with this carrier already: the others must follow it."""
    next_route: str | None
    """Where a message goes that this carrier will not take; None where nowhere."""
    on_uncertain: OnUncertain
    retry: RetrySection


EXHAUSTED: Final = "RETRIES_EXHAUSTED"
EXPIRED: Final = "EXPIRED"
UNCERTAIN: Final = "UNCERTAIN"


def wait_ms(retry: RetrySection, refusals: int) -> int:
    """The wait before the attempt that follows the ``refusals``-th refusal, in milliseconds."""
    wait_s = retry.first_wait_s * retry.factor ** (refusals - 1)
    return round(min(wait_s, retry.wait_max_s) * 1000)


def decide(outcome: Outcome, at: Circumstances) -> Decision:
    """Apply the table."""
    match outcome:
        case Accepted(carrier_id, raw):
            return Decision(
                Step.ADVANCE,
                SegmentState.ACCEPTED,
                "The carrier accepted it.",
                raw,
                carrier_id=carrier_id,
            )
        case Throttled(raw, text) | Unsent(raw, text):
            return Decision(
                Step.REQUEUE,
                SegmentState.WAITING,
                text,
                raw,
                route=at.pinned_route if at.partly_accepted else None,
            )
        case Uncertain(raw, text, carrier_id):
            return Decision(
                Step.AWAIT,
                SegmentState.UNCERTAIN,
                text,
                raw,
                carrier_id=carrier_id,
                resolve_at=at.now_ms + round(at.on_uncertain.after_s * 1000),
                resolve_action=at.on_uncertain.action,
            )
        case Refused(Scope.NOW | Scope.RECIPIENT, raw, text):
            return _refused_for_now(raw, text, at)
        case Refused(Scope.CARRIER, raw, text) if at.next_route and not at.partly_accepted:
            return Decision(
                Step.REQUEUE,
                SegmentState.REFUSED,
                f"{text} Another carrier will be tried.",
                raw,
                due_at=at.now_ms,
                route=at.next_route,
            )
        case Refused(_, raw, text):
            return _failed(raw, text, raw)


def _refused_for_now(raw: str, text: str, at: Circumstances) -> Decision:
    refusals = at.refusals + 1
    if refusals >= at.retry.attempts_max:
        return _failed(
            raw, f"The carrier refused it {refusals} times; the last time: {text}", EXHAUSTED
        )
    due_at = at.now_ms + wait_ms(at.retry, refusals)
    if due_at >= at.valid_until:
        return _failed(raw, f"{text} No time is left for another attempt.", EXPIRED)
    return Decision(
        Step.REQUEUE,
        SegmentState.WAITING,
        f"{text} It will be tried again in {(due_at - at.now_ms) / 1000:g} s.",
        raw,
        due_at=due_at,
        route=at.pinned_route if at.partly_accepted else None,
        counts_as_refusal=True,
    )


def _failed(raw: str, text: str, code: str) -> Decision:
    return Decision(Step.FAIL, SegmentState.REFUSED, text, raw, error_code=code, error_text=text)
