"""A token bucket as one number (GCRA: the generic cell rate algorithm). Pure."""

from __future__ import annotations


class Bucket:
    """``rate_per_s`` tokens a second, up to ``burst`` together.

    Times are seconds of one monotonic clock, given by the caller.
    """

    __slots__ = ("_full_at_s", "burst", "rate_per_s")

    def __init__(self, rate_per_s: float, burst: int, now_s: float) -> None:
        self.rate_per_s = rate_per_s
        self.burst = burst
        self._full_at_s = now_s
        """When the bucket will be full again."""

    def wait_s(self, now_s: float, tokens: int = 1) -> float:
        """Seconds until so many tokens are available; 0.0: now. Takes none."""
        missing_s = max(self._full_at_s, now_s) + tokens / self.rate_per_s - now_s
        # A small tolerance: sums of fractions of a second are not exact.
        return max(0.0, missing_s - self.burst / self.rate_per_s - 1e-9)

    def take(self, now_s: float, tokens: int = 1) -> None:
        """Take tokens that are available according to :meth:`wait_s`."""
        self._full_at_s = max(self._full_at_s, now_s) + tokens / self.rate_per_s

    def give_back(self, tokens: int = 1) -> None:
        """Put tokens back: the action that took them did not happen."""
        self._full_at_s -= tokens / self.rate_per_s

    def is_full(self, now_s: float) -> bool:
        """Whether the bucket is full, so that forgetting it would change nothing."""
        return self._full_at_s <= now_s
