"""Rate limits of organizations: one bucket for each that has one, on the loop thread."""

from __future__ import annotations

import math
from typing import Final

import trio

from risala.engine.model.commands import Organization
from risala.engine.model.errors import RateLimited
from risala.engine.rules.bucket import Bucket

BURST_S: Final = 1.0
"""A second's worth may come at once, and always at least one."""
BUCKETS_MAX: Final = 10_000
"""Beyond it those that are full are forgotten: a full bucket remembers nothing."""


class Limiter:
    """Takes and gives back tokens; nothing is written down, a restart fills the buckets."""

    def __init__(self, sms_per_s: float | None) -> None:
        self.sms_per_s = sms_per_s
        """The general rate; None: no limit. May be set anew at any time."""
        self._buckets: dict[str, Bucket] = {}

    def limits_sms(self, organization: Organization) -> bool:
        """True where the organization has a rate."""
        return (organization.sms_per_s or self.sms_per_s) is not None

    def check_sms(self, organization: Organization) -> None:
        """Look whether a send would be let through, without taking anything.

        Raises:
            RateLimited: with the whole seconds to wait.
        """
        bucket = self._bucket(organization)
        wait_s = bucket.wait_s(trio.current_time()) if bucket else 0.0
        if wait_s > 0:
            raise RateLimited(
                "sms",
                math.ceil(wait_s),
                f"Your organization sends faster than {organization_rate(bucket)} a second.",
            )

    def take_sms(self, organization: Organization) -> None:
        """Take the token that :meth:`check_sms` saw."""
        bucket = self._bucket(organization)
        if bucket:
            bucket.take(trio.current_time())

    def give_back_sms(self, organization: Organization, tokens: int) -> None:
        """So many sends did not happen."""
        bucket = self._bucket(organization)
        if bucket:
            bucket.give_back(tokens)

    def _bucket(self, organization: Organization) -> Bucket | None:
        rate_per_s = organization.sms_per_s or self.sms_per_s
        if rate_per_s is None:
            return None
        bucket = self._buckets.get(organization.id)
        if bucket is None or bucket.rate_per_s != rate_per_s:
            now_s = trio.current_time()
            if len(self._buckets) >= BUCKETS_MAX:
                self._buckets = {
                    key: kept for key, kept in self._buckets.items() if not kept.is_full(now_s)
                }
            burst = max(1, math.floor(rate_per_s * BURST_S))
            bucket = self._buckets[organization.id] = Bucket(rate_per_s, burst, now_s)
        return bucket


def organization_rate(bucket: Bucket | None) -> str:
    """The rate in words."""
    return "0" if bucket is None else f"{bucket.rate_per_s:g}"
