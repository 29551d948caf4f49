"""Sliding windows: at most so many events of a key in any span of time. Pure, and exact.

Times are whole milliseconds of one clock, handed in.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """At most so many in any span of this length."""

    events_max: int
    span_ms: int


class SlidingWindows:
    """Takes an event of a key when every window has room for it; else takes nothing.

    Remembers ``keys_max`` keys at the most; beyond it the one longest unheard of is forgotten.
    """

    def __init__(self, windows: Sequence[Window], keys_max: int) -> None:
        self._windows = tuple(windows)
        self._keys_max = keys_max
        self._events_max = max(window.events_max for window in windows)
        self._span_ms = max(window.span_ms for window in windows)
        # Times of what was taken, oldest first; the keys in the order of their last event.
        self._taken: OrderedDict[Hashable, array[int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, key: Hashable, now_ms: int) -> int:
        """0 where the event was taken, else the milliseconds until it would be."""
        self._forget_idle(now_ms)
        times = self._taken.get(key)
        if times is None:
            times = self._taken[key] = array("q")
        elif wait_ms := self._wait_ms(times, now_ms):
            return wait_ms
        times.append(now_ms)
        if len(times) > self._events_max:
            del times[0]  # no window reaches back so far
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
        """Drop keys that no window knows any more: each of them is dropped once."""
        while self._taken:
            key, times = next(iter(self._taken.items()))
            if times[-1] + self._span_ms > now_ms:
                return
            del self._taken[key]


class History:
    """The times of one key's events within a span, of which some may be taken back.

    Unlike :class:`SlidingWindows` it says of any number whether there is room for one more: the
    number is a setting of whoever asks, and may be another each time.
    """

    __slots__ = ("_span_ms", "_times")

    def __init__(self, times: Iterable[int], span_ms: int) -> None:
        self._times = array("q", sorted(times))
        self._span_ms = span_ms

    def __len__(self) -> int:
        return len(self._times)

    def wait_ms(self, events_max: int, now_ms: int) -> int:
        """0 where the window has room for one more, else the milliseconds until it has."""
        del self._times[: bisect_right(self._times, now_ms - self._span_ms)]
        if len(self._times) < events_max:
            return 0
        # A window for nobody has room when all that it knows is gone, and not before.
        oldest_in_the_way = self._times[-events_max] if events_max > 0 else now_ms
        return oldest_in_the_way + self._span_ms - now_ms

    def add(self, at_ms: int) -> None:
        insort(self._times, at_ms)

    def take_back(self, at_ms: int) -> None:
        """One event of this time did not happen; of a time that is not there, nothing is."""
        place = bisect_right(self._times, at_ms) - 1
        if place >= 0 and self._times[place] == at_ms:
            del self._times[place]
