"""When to ask a payment's provider for its state: ever less often, and not for ever. Pure."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass

EVERY_MIN_MS: Final = 5_000
"""No provider is asked more often, even if its method wants it."""
EVERY_MAX_MS: Final = 3_600_000
"""The longest wait: a customer who returns to a checkout late need not wait much longer."""
GROWTH: Final = 1.5
POLLED_MS: Final = 7 * 86_400_000
"""How long a payment without an end is asked about."""
LATE_MS: Final = 86_400_000
"""How long after its end: for a late payment while its provider did not answer."""
_GROWN_MAX: Final = 32
"""Polls after which the longest wait is reached from any first one."""


@dataclass(frozen=True, slots=True)
class PolledSoFar:
    """A payment, as far as the next poll depends on it."""

    begun_at: int
    expires_at: int | None
    every: int
    """Milliseconds that its method wants between two polls."""
    polls: int
    """How often it was asked."""


def next_poll(polled: PolledSoFar, now_ms: int) -> int | None:
    """When to ask again (UTC epoch milliseconds); None: never."""
    if polled.expires_at is not None:
        last = polled.expires_at + LATE_MS
    else:
        last = polled.begun_at + POLLED_MS
    if now_ms >= last:
        return None
    every = max(EVERY_MIN_MS, polled.every) * GROWTH ** min(polled.polls, _GROWN_MAX)
    return min(now_ms + min(round(every), EVERY_MAX_MS), last)
