"""How often hooks may be called, and how much work their requests may cause.

Whoever knows a hook's secret can have its requests read, with and without a balance. So each hook
has a rate, an organization without a balance has a low one over all its hooks, and the work of all
hooks of an organization takes a bounded share of the loop. Pure.

The buckets are not stored: after a restart they are full.
"""

from __future__ import annotations

import math
from typing import Final

from risala.engine.model.errors import RateLimited
from risala.engine.rules.windows import Bucket

HOOK_BURST_S: Final = 2.0
"""The requests of this many seconds may come together: monitoring reports what broke at once."""
UNPAID_PER_S: Final = 1.0
"""Requests in a second to all hooks of an organization that cannot pay: enough for a program that
repeats one whose answer was lost, which is still answered that it was sent."""
HOOK_STEPS_PER_S: Final = 100_000
"""Steps of work in a second for all hooks of an organization: a tenth of the loop's time at most.
A thousand messages a second, a hundred in a request, take less."""
HOOK_BUCKETS_MAX: Final = 10_000
"""Buckets in memory; beyond that, full ones are forgotten, which changes nothing."""


class HookRates:
    """The buckets; see the module's text. Times are seconds of one monotonic clock."""

    def __init__(self, requests_per_s: float) -> None:
        self._requests_per_s = requests_per_s
        self._buckets: dict[tuple[str, str], Bucket] = {}

    def take(self, hook_id: str, whose: str, can_pay: bool, now_s: float) -> None:
        """Count one request, before it is read.

        Args:
            whose: the organization.
            can_pay: whether it can pay for a message; if not, it may ask less often.

        Raises:
            RateLimited: it comes too soon; nothing is counted.
        """
        work = self._bucket("work", whose, HOOK_STEPS_PER_S, now_s)
        taken = [self._bucket("hook", hook_id, self._requests_per_s, now_s)]
        if not can_pay:
            taken.append(self._bucket("unpaid", whose, UNPAID_PER_S, now_s))
        wait_s = max(each.wait_s(now_s) for each in (work, *taken))
        if wait_s > 0:
            text = "The hook is called too often. Call it again later, or with fewer items at once."
            raise RateLimited("hook", math.ceil(wait_s), text)
        for each in taken:
            each.take(now_s)

    def spend(self, whose: str, steps: int, now_s: float) -> None:
        """Count the steps of a request that was read; more than are there delay the next one."""
        self._bucket("work", whose, HOOK_STEPS_PER_S, now_s).take(now_s, steps)

    def _bucket(self, kind: str, whose: str, rate_per_s: float, now_s: float) -> Bucket:
        bucket = self._buckets.get((kind, whose))
        if bucket is None:
            if len(self._buckets) >= HOOK_BUCKETS_MAX:
                self._buckets = {
                    key: kept for key, kept in self._buckets.items() if not kept.is_full(now_s)
                }
            burst = 1 if kind == "unpaid" else max(1, math.floor(rate_per_s * HOOK_BURST_S))
            bucket = self._buckets[kind, whose] = Bucket(rate_per_s, burst, now_s)
        return bucket
