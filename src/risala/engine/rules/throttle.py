"""How fast we may submit to one carrier: a pace that slows down when the carrier asks. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

BURST_S: Final = 0.02
"""The tokens of this much time may be taken together: timers are not finer, and an SMPP link writes
in one piece what comes together."""
SLOWEST_SHARE: Final = 0.02
"""The least share of the configured rate that a throttling carrier gets: it must be able to show
that it has recovered."""
RECOVERY_S: Final = 30.0
"""Seconds from the slowest pace back to the configured one, while nothing is throttled."""
PAUSE_S: Final = 1.0
"""How long the worker pauses after a throttled answer that names no time; twice as long after each
further one, until a segment is accepted again."""
PAUSE_MAX_S: Final = 16.0
BEST_LOAD_PERCENT: Final = 80
"""A carrier that reports this load is used as well as possible: the pace stays."""
HIGH_LOAD_PERCENT: Final = 90
"""A carrier that reports this load nears congestion, and gets less (SMPP 5.0 §4.8.4.18)."""
EASED_SHARE: Final = 0.8
CONGESTED_SHARE: Final = 0.5
"""The pace is multiplied by these after an answer that reports 90 and more, and one with 100."""
EASE_EVERY_S: Final = 1.0
"""The pace is lowered once in this time, since all answers of one second report the same load."""
JITTER: Final = 0.5
"""A pause is shorter or longer by a random part of itself up to this: workers and services that
were throttled together must not come back together."""


def evenly() -> float:
    """A chance that is always the middle one: pauses have exactly their nominal length."""
    return 0.5


class Throttle:
    """Tokens at ``rate_per_s``, halved by each throttled answer, growing back with time (AIMD).

    Times are seconds of one monotonic clock, given by the caller.

    Args:
        chance: gives numbers from 0 to 1.
    """

    def __init__(
        self, rate_per_s: float, now_s: float, chance: Callable[[], float] = evenly
    ) -> None:
        self.rate_max_per_s = rate_per_s
        self._rate_per_s = rate_per_s
        self._rate_at_s = now_s
        self._next_s = now_s - BURST_S
        self._paused_until_s = self._eased_until_s = now_s
        self._is_at_best = False
        """The last answer reported that the carrier is fully loaded or overloaded."""
        self._chance = chance
        self._pause_s = self._next_pause_s = PAUSE_S

    def rate_per_s(self, now_s: float) -> float:
        """The present pace."""
        grown = self.rate_max_per_s * (now_s - self._rate_at_s) / RECOVERY_S
        return min(self.rate_max_per_s, self._rate_per_s + grown)

    def retune(self, rate_per_s: float, now_s: float) -> None:
        """Apply another configured pace, at once; a throttling carrier's share of it stays the
        same.

        The remaining wait for the next token becomes shorter or longer with the pace: as many
        tokens are owed as before, and no period gets more than its paces allow.
        """
        share = rate_per_s / self.rate_max_per_s
        if self._next_s > now_s:
            self._next_s = now_s + (self._next_s - now_s) / share
        self._rate_per_s = self.rate_per_s(now_s) * share
        self._rate_at_s = now_s
        self.rate_max_per_s = rate_per_s

    def ready_at_s(self) -> float:
        """When the next token may be taken, perhaps in the past."""
        return max(self._next_s, self._paused_until_s)

    def take(self, now_s: float) -> bool:
        """Take a token if one is available."""
        if now_s < self._next_s or now_s < self._paused_until_s:
            return False
        rate = self.rate_per_s(now_s)
        # GCRA: the theoretical time of the next token, never further back than one burst.
        behind_s = max(0.0, BURST_S - 1 / rate)
        self._next_s = max(self._next_s, now_s - behind_s) + 1 / rate
        return True

    def give_back(self) -> None:
        """Put the last token back: it was not used."""
        self._next_s -= 1 / self.rate_max_per_s

    def slow_down(self, now_s: float, told_s: float | None = None) -> None:
        """The carrier throttled us: pause for a while, then go on at half the pace.

        The answers of one window count as one: inside a pause it halves only once.

        Args:
            told_s: how long the carrier asks us to pause; the pause is never shorter.
        """
        if now_s >= self._paused_until_s:
            slowest = self.rate_max_per_s * SLOWEST_SHARE
            self._rate_per_s = max(slowest, self.rate_per_s(now_s) / 2)
            self._rate_at_s = now_s
            self._pause_s = self._next_pause_s
            self._next_pause_s = min(2 * self._next_pause_s, PAUSE_MAX_S)
        if told_s is None:
            pause_s = self._pause_s * (1 + JITTER * (2 * self._chance() - 1))
        else:
            pause_s = told_s * (1 + JITTER * self._chance())
        self._paused_until_s = max(self._paused_until_s, now_s + pause_s)

    def ease(self, load_percent: int, now_s: float) -> None:
        """The carrier accepted a segment and reports its load: slow down before it must refuse."""
        was_at_best, self._is_at_best = self._is_at_best, load_percent >= BEST_LOAD_PERCENT
        if not self._is_at_best:
            return
        share = 1.0
        if load_percent < HIGH_LOAD_PERCENT:
            if was_at_best:
                self._rate_at_s = now_s  # it has not grown since the answer before
        else:
            if now_s < self._eased_until_s:
                return
            self._eased_until_s = now_s + EASE_EVERY_S
            share = CONGESTED_SHARE if load_percent >= 100 else EASED_SHARE
        slowest = self.rate_max_per_s * SLOWEST_SHARE
        self._rate_per_s = max(slowest, self.rate_per_s(now_s) * share)
        self._rate_at_s = now_s

    def succeeded(self) -> None:
        """A segment was accepted: the next pause is short again."""
        self._next_pause_s = PAUSE_S

    def pause(self, now_s: float, pause_s: float) -> None:
        """Pause for a while without slowing down."""
        self._paused_until_s = max(self._paused_until_s, now_s + pause_s)


# The circuit breaker of a worker: after many refusals in a row, stop using the carrier. Pure.


class Breaker:
    """Closed → open after ``failures_max`` failures in a row → one probe after ``open_s``.

    Times are seconds of one monotonic clock, handed in.
    """

    def __init__(self, failures_max: int, open_s: float) -> None:
        self._failures_max = failures_max
        self._open_s = open_s
        self._failures = 0
        self._open_until_s: float | None = None
        self._probing = False

    def allows(self, now_s: float) -> bool:
        """True if a submit may go out; after the wait only one, the probe."""
        if self._open_until_s is None:
            return True
        return now_s >= self._open_until_s and not self._probing

    @property
    def open_until_s(self) -> float | None:
        """When the next probe may go out; None while the breaker is closed."""
        return self._open_until_s

    def submitted(self) -> None:
        """A submit goes out: while open, it is the probe."""
        self._probing = self._open_until_s is not None

    def succeeded(self) -> None:
        self._failures = 0
        self._open_until_s = None

    def failed(self, now_s: float) -> bool:
        """Count a failure; True if it opened the breaker."""
        self._failures += 1
        was_open = self._open_until_s is not None
        if self._failures >= self._failures_max:
            self._open_until_s = now_s + self._open_s
        self._probing = False
        return self._open_until_s is not None and not was_open

    def withdrew(self) -> None:
        """Forget a submit that shows nothing about the carrier's health: it did not leave, or was
        throttled."""
        self._probing = False
