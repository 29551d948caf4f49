"""Limits by the client's address, for publishable keys: exact sliding windows (contract §4)."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from risala.config.model import LimitsSection
from risala.engine.model.errors import RateLimited

ADDRESSES_MAX: Final = 50_000
"""Addresses that each limit remembers; beyond it the one longest unheard of is forgotten.

With the defaults at most about 45 MB, when each of them has used its hour up.
"""
_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Window:
    """At most so many in any span of this length."""

    events_max: int
    span_ms: int


class SlidingWindows:
    """Takes an event of a key when every window has room for it; else takes nothing."""

    def __init__(self, windows: Sequence[Window], keys_max: int = ADDRESSES_MAX) -> None:
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


class IpLimits:
    """The limits of the two endpoints that browsers and phones call."""

    def __init__(
        self, limits: LimitsSection, now_s: Callable[[], float] = trio.current_time
    ) -> None:
        # Not the clock on the wall: setting that must neither open nor close a limit.
        self._now_s = now_s
        self._sends = SlidingWindows(
            (
                Window(limits.verify_ip_sends_per_minute, _MINUTE_MS),
                Window(limits.verify_ip_sends_per_hour, _HOUR_MS),
            )
        )
        self._checks = SlidingWindows((Window(limits.verify_ip_checks_per_minute, _MINUTE_MS),))

    def take_send(self, bucket: Hashable) -> None:
        """Raises :class:`RateLimited`, having taken nothing."""
        self._take(self._sends, bucket)

    def take_check(self, bucket: Hashable) -> None:
        """Raises :class:`RateLimited`, having taken nothing."""
        self._take(self._checks, bucket)

    def _take(self, windows: SlidingWindows, bucket: Hashable) -> None:
        wait_ms = windows.take(bucket, int(self._now_s() * 1000))
        if wait_ms > 0:
            text = "Too many requests came from your address. Wait, then try again."
            raise RateLimited("ip", -(-wait_ms // 1000), text)
