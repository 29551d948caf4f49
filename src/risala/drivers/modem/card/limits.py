"""The effect of a SIM's quota on a message and its carrier, in words. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from risala.drivers.modem.card.quota import Quota
from risala.plugins.contract import Cause, Declined, Outcome, Refused, Scope, Segment, Unsent


def declined(
    quota: Quota, recipient: str, segments: int, now_ms: int, *, is_next: bool
) -> Declined | None:
    """Why a message of so many segments may not begin now; None if it may.

    Args:
        is_next: True if the message would be sent now: if it exceeds the rest of the day, no other
            message begins today (:meth:`Quota.closes_day`).
    """
    if quota.month_is_over(now_ms) and not quota.knows(recipient):
        return Declined(_month(quota), now_ms + round(1000 * quota.next_month_s(now_ms)))
    if not quota.day_is_over(now_ms) and quota.fits(segments, now_ms):
        return None
    if is_next:
        quota.closes_day(segments, now_ms)
    return Declined(_day(quota), now_ms + round(1000 * quota.next_day_s(now_ms)))


def refusal(quota: Quota, segment: Segment, now_ms: int) -> Outcome | None:
    """The outcome of a submit if the SIM's day or month is used up."""
    if quota.refuses_recipient(segment, now_ms):
        return Refused(Scope.CARRIER, "", _month(quota), Cause.QUOTA_USED)
    if quota.refuses(segment, now_ms):
        return Unsent("", _day(quota), Cause.QUOTA_USED)
    return None


def day_over(quota: Quota, now_ms: int) -> str:
    """A sentence if no message may begin before midnight (UTC); else empty."""
    if not quota.day_is_over(now_ms):
        return ""
    return f"{_day(quota)[:-1]}; it goes on at midnight UTC."


def month_over(quota: Quota, now_ms: int) -> str:
    """A sentence if the SIM may send only to numbers already used this month; else empty."""
    if not quota.month_is_over(now_ms):
        return ""
    ends = datetime.fromtimestamp(now_ms / 1000 + quota.next_month_s(now_ms), UTC)
    return f"{_month(quota)[:-1]}: messages to further ones wait until {ends:%Y-%m-%d} (UTC)."


def _day(quota: Quota) -> str:
    limit = quota.segments_max or 0
    setting = f"(segments_per_day_max = {limit})"
    if quota.segments < limit:
        return (
            f"{quota.segments} of the SIM's {limit} segments of today are used up {setting}, and "
            "the next message needs more."
        )
    return f"The SIM's segments of today are used up {setting}."


def _month(quota: Quota) -> str:
    limit = quota.recipients_max
    return f"The SIM's recipients of this month are used up (recipients_per_month_max = {limit})."
