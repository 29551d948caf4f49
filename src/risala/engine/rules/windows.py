"""Sliding windows: at most so many events of a key in any period of time. Pure, and exact.

Times are whole milliseconds of one clock, given by the caller.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence

from risala.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """A limit: at most so many events in any period of this length."""

    events_max: int
    span_ms: int


class SlidingWindows:
    """Several limits on the events of each key: an event is taken if all have room for it.

    Remembers ``keys_max`` keys; beyond that, the one unused for longest is forgotten.
    """

    def __init__(self, windows: Sequence[Window], keys_max: int) -> None:
        self._windows = tuple(windows)
        self._keys_max = keys_max
        self._events_max = max(window.events_max for window in windows)
        self._span_ms = max(window.span_ms for window in windows)
        # The times of each key's events, oldest first; the keys in the order of their last event.
        self._taken: OrderedDict[Hashable, array[int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._taken)

    def wait_ms(self, key: Hashable, now_ms: int) -> int:
        """0 if an event would be taken, else the milliseconds until it would. Takes none."""
        times = self._taken.get(key)
        return 0 if times is None else self._wait_ms(times, now_ms)

    def take(self, key: Hashable, now_ms: int) -> int:
        """Take an event; 0 if it was taken, else the milliseconds until there is room for it."""
        self._forget_idle(now_ms)
        times = self._taken.get(key)
        if times is None:
            times = self._taken[key] = array("q")
        elif wait_ms := self._wait_ms(times, now_ms):
            return wait_ms
        times.append(now_ms)
        if len(times) > self._events_max:
            del times[0]  # the event is older than the longest window
        self._taken.move_to_end(key)
        if len(self._taken) > self._keys_max:
            self._taken.popitem(last=False)
        return 0

    def _wait_ms(self, times: array[int], now_ms: int) -> int:
        wait_ms = 0
        for window in self._windows:
            if len(times) >= window.events_max:
                free_at_ms = times[-window.events_max] + window.span_ms
                wait_ms = max(wait_ms, free_at_ms - now_ms)
        return wait_ms

    def _forget_idle(self, now_ms: int) -> None:
        """Drop keys all of whose events are older than the longest window."""
        while self._taken:
            key, times = next(iter(self._taken.items()))
            if times[-1] + self._span_ms > now_ms:
                return
            del self._taken[key]


class History:
    """The times of one key's events within a span; events may be removed again.

    Unlike in :class:`SlidingWindows` the limit is given with each call, since it is a setting that
    may change in between.
    """

    __slots__ = ("_span_ms", "_times")

    def __init__(self, times: Iterable[int], span_ms: int) -> None:
        self._times = array("q", sorted(times))
        self._span_ms = span_ms

    def __len__(self) -> int:
        return len(self._times)

    def wait_ms(self, events_max: int, now_ms: int) -> int:
        """0 if there is room for one more event, else the milliseconds until there is."""
        del self._times[: bisect_right(self._times, now_ms - self._span_ms)]
        if len(self._times) < events_max:
            return 0
        # With a limit of 0 there is never room; the wait is then a whole span.
        oldest_in_the_way = self._times[-events_max] if events_max > 0 else now_ms
        return oldest_in_the_way + self._span_ms - now_ms

    def times(self, now_ms: int) -> Sequence[int]:
        """The times of events within the span, the earliest first."""
        del self._times[: bisect_right(self._times, now_ms - self._span_ms)]
        return self._times

    def add(self, at_ms: int) -> None:
        insort(self._times, at_ms)

    def take_back(self, at_ms: int) -> None:
        """Remove one event of this time; does nothing if there is no such event."""
        place = bisect_right(self._times, at_ms) - 1
        if place >= 0 and self._times[place] == at_ms:
            del self._times[place]


# A token bucket as one number (GCRA: the generic cell rate algorithm). Pure.


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
