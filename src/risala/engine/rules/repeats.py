"""When an attempt with an unknown outcome is submitted again as the same attempt. Pure.

Some carriers take the same id twice and send one text, and some can say that they surely do not
have it. Then nobody has to wait for the policy of uncertain messages: the attempt is submitted
again, with the same id. What the carrier is known to do is in :class:`Manners`.
"""

from __future__ import annotations

from typing import Final

from risala.config.model import OnUncertain
from risala.dataclass import dataclass

REPEAT_AFTER_S: Final = 2.0
"""From a submit without an answer to the next one with the same id: long enough for a link that
fell to come back, short enough for somebody who waits for a code."""
REPEAT_HELD_S: Final = 60.0
"""From a repeated submit that the carrier did not take now to the next one, at first. Then the wait
is as long as the attempt is open already: each is about twice the one before, so that a day of
refusals leaves some thirty tries in the timeline."""
REPEAT_HELD_MAX_S: Final = 3600.0
"""The longest such wait, but where the carrier asks for more."""
HANDED_S: Final = 30.0
"""How long a carrier's worker may have a repeated submit in hand before it is handed over again:
the link may be down, its window full, the organization suspended."""


@dataclass(frozen=True, slots=True)
class Manners:
    """What a carrier does with submits without an answer, as its driver says."""

    same_id_is_safe: bool = False
    """Whether an attempt may be submitted again without asking."""
    is_asked: bool = False
    """Whether the carrier may answer that it surely does not have a submit."""
    settle_s: float = 0.0
    """How long after the end of a submit such an answer counts."""
    remembers_s: float = 0.0
    """How long it remembers ids."""
    submit_s: float = 0.0
    """The longest that a submit takes: it has to arrive within the time that ids are remembered."""

    def repeat_until(self, opened_at: int, valid_until: int) -> int:
        """Until when an attempt that was opened then may be submitted again, in UTC epoch
        milliseconds."""
        remembered_ms = round((self.remembers_s - self.submit_s) * 1000)
        return min(valid_until, opened_at + remembered_ms)

    def settled_at(self, ended_at: int) -> int:
        """When the carrier's word that it does not have a submit counts, in UTC epoch ms."""
        return ended_at + round(self.settle_s * 1000)


NO_MANNERS: Final = Manners()


@dataclass(frozen=True, slots=True)
class Resolution:
    """What happens with an uncertain message if no answer and no receipt comes."""

    after_s: float
    action: str | None
    """The policy's; None: first the carrier is asked, or the same attempt is submitted again."""
    then: str
    """The word for the timeline: ``resend``, ``fail``, ``repeat`` or ``ask``."""


def resolution(manners: Manners, policy: OnUncertain, *, has_id: bool = False) -> Resolution:
    """What follows from a submit without an answer.

    Args:
        has_id: the carrier can be asked about it.
    """
    if manners.same_id_is_safe:
        return Resolution(REPEAT_AFTER_S, None, "repeat")
    if manners.is_asked and has_id and manners.settle_s < policy.after_s:
        return Resolution(manners.settle_s, None, "ask")
    return Resolution(policy.after_s, policy.action, policy.action)


def declined_now(manners: Manners, wait_s: float, open_s: float, left_s: float) -> Resolution:
    """What follows from a repeated submit that the carrier did not take now: an earlier one may
    have been taken, so that the attempt stays uncertain.

    Args:
        wait_s: how long the carrier asks to be left alone.
        open_s: how long ago the attempt was first submitted.
        left_s: how long it may still be submitted again. The last time is shortly before that ends.
    """
    held_s = min(open_s, REPEAT_HELD_MAX_S, left_s - REPEAT_HELD_S)
    held_s = max(REPEAT_HELD_S, wait_s, held_s)
    if manners.same_id_is_safe:
        return Resolution(held_s, None, "repeat")
    return Resolution(max(held_s, manners.settle_s), None, "ask")


def given_up(policy: OnUncertain) -> Resolution:
    """What follows if an attempt may not be submitted again: never another attempt, since the
    carrier may have it."""
    return Resolution(policy.after_s, "fail", "fail")
