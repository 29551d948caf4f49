"""Requests to hooks: a rate for each hook, a low one without a balance, and a share of the loop."""

from __future__ import annotations

import pytest

from risala.engine.features.hooks.rules.rates import (
    HOOK_BUCKETS_MAX,
    HOOK_STEPS_PER_S,
    HookRates,
)
from risala.engine.model.errors import RateLimited


class Rates(HookRates):
    """Answers with the seconds to wait; 0: it was let in."""

    def ask(self, at_s: float, hook: str = "hok_1", can_pay: bool = True) -> int:
        try:
            self.take(hook, "org_1", can_pay, at_s)
        except RateLimited as refused:
            return refused.retry_after_s
        return 0


def test_the_requests_of_two_seconds_may_come_together():
    rates = Rates(2.0)
    assert [rates.ask(0.0) for _ in range(5)] == [0, 0, 0, 0, 1]
    assert rates.ask(0.0, "hok_2") == 0
    assert rates.ask(0.5) == 0


def test_hooks_of_who_cannot_pay_are_read_once_a_second_all_together():
    rates = Rates(20.0)
    assert [rates.ask(0.0, f"hok_{each}", can_pay=False) for each in range(3)] == [0, 1, 1]
    assert rates.ask(0.0) == 0
    assert rates.ask(1.0, can_pay=False) == 0


def test_the_work_of_all_hooks_of_an_organization_delays_the_next_request():
    rates = Rates(20.0)
    assert rates.ask(0.0) == 0
    rates.spend("org_1", 4 * HOOK_STEPS_PER_S, 0.0)
    assert rates.ask(0.0, "hok_2") == 3
    rates.take("hok_9", "org_2", True, 0.0)
    assert rates.ask(2.1, "hok_2") == 0


def test_buckets_that_are_full_again_are_forgotten():
    rates = Rates(1.0)
    for each in range(HOOK_BUCKETS_MAX):
        rates.ask(0.0, f"hok_{each}")
    rates.ask(100.0, "hok_new")
    assert len(rates._buckets) < 10


@pytest.mark.parametrize("rate", [0.1, 0.9])
def test_a_rate_below_one_still_lets_one_in(rate):
    assert Rates(rate).ask(0.0) == 0
