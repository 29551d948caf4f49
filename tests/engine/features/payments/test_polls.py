"""Payments that nobody calls back about: their providers are asked, ever less often, to an end."""

from __future__ import annotations

import pytest
import trio

from payment_shop import Till, assert_books_agree, found_shop, service_of
from risala.engine.features.payments.rules import EVERY_MAX_MS, LATE_MS, POLLED_MS
from risala.engine.model.errors import Conflict, Unavailable
from risala.engine.wiring.connections import Connections
from risala.plugins.payment import (
    Confirmation,
    PaymentMethodError,
    PaymentPending,
    PaymentRefused,
    PaymentSettled,
)

WAITING = PaymentPending(Confirmation.PROVIDER, poll_after_s=10)
PAID = PaymentSettled("till", "T-1", 50_000, "MRU")
NEAR_S = 60
"""Before a poll's time: what was asleep when the clock was moved has looked at it again."""


@pytest.fixture
def till():
    return Till(answers=[WAITING], polled=[WAITING])


@pytest.fixture
def open_shop(open_house, till):
    def open_one(**sections):
        return open_house(outside=Connections(payments={"till": till}), **sections)

    return open_one


async def test_it_is_credited_when_its_provider_says_so(open_shop, quick, till):
    till.polled = [WAITING, WAITING, PAID]
    async with open_shop() as house:
        shop = await found_shop(house)
        begun_s = trio.current_time()
        payment = await shop.begin("till")
        assert payment["askedAgainAt"]
        await trio.sleep(600)
        assert [round(each - begun_s) for each in till.polls] == [10, 25, 48]
        shown = await shop.show(payment)
        assert (shown["state"], shown["askedAgainAt"]) == ("confirmed", None)
        assert await shop.balance() == "500.00"
        assert_books_agree(house)


async def test_it_is_asked_ever_less_often_and_not_for_ever(open_shop, quick, till):
    async with open_shop() as house:
        shop = await found_shop(house)
        payment = await shop.begin("till")
        begun_ms, waits = house.clock.now_ms(), []
        while (at_ms := service_of(house).payment(payment["id"]).poll_at) is not None:
            waits.append(at_ms - house.clock.now_ms())
            house.pass_s(max(0, waits[-1] / 1000 - NEAR_S))
            asked = len(till.polls)
            await trio.sleep((at_ms - house.clock.now_ms()) / 1000 + 1)
            assert len(till.polls) == asked + 1, "once, when its time has come"
        assert house.clock.now_ms() - begun_ms >= POLLED_MS
        assert waits[:-1] == sorted(waits[:-1])
        assert max(waits) <= EVERY_MAX_MS
        shown = await shop.show(payment)
        assert (shown["byOperator"], shown["askedAgainAt"]) == (True, None)
        assert len(till.polls) < 200


async def test_what_was_paid_in_the_last_moment_is_found(open_shop, quick, till, leap):
    async with open_shop() as house:
        shop = await found_shop(house)
        over_ms = house.gateway.services.recorder.clock.now_ms() + 60_000
        ends = PaymentPending(Confirmation.PROVIDER, poll_after_s=10, expires_at_ms=over_ms)
        till.answers, till.polled = [ends], [PaymentMethodError("down")]
        payment = await shop.begin("till")
        await leap(3600)
        assert (await shop.show(payment))["state"] == "expired"
        house.pass_s((over_ms + LATE_MS - house.clock.now_ms()) / 1000 - 60)
        await trio.sleep(45)
        assert (await shop.show(payment))["state"] == "expired"
        till.polled = [PAID]
        await trio.sleep(45)
        assert (await shop.show(payment))["state"] == "confirmed"
        assert await shop.balance() == "500.00"


@pytest.mark.parametrize("answer", [PaymentMethodError("down"), KeyError("a bug"), "a word"])
async def test_who_does_not_answer_is_asked_again(open_shop, quick, till, answer):
    till.polled = [answer, answer, PAID]
    async with open_shop() as house:
        shop = await found_shop(house)
        payment = await shop.begin("till")
        await trio.sleep(600)
        assert (await shop.show(payment))["state"] == "confirmed"
        assert len(till.polls) == 3


async def test_polls_go_on_after_a_restart(open_shop, quick, till):
    async with open_shop() as house:
        shop = await found_shop(house)
        payment = await shop.begin("till")
    assert till.polls == []
    till.polled = [PaymentRefused("declined", {"en": "No."})]
    async with open_shop() as house:
        await trio.sleep(60)
        assert len(till.polls) == 1
        found = service_of(house).payment(payment["id"])
        assert (found.state, found.poll_at) == ("refused", None)


async def test_a_slow_provider_keeps_no_other_waiting(open_shop, quick, till):
    async def hang(payment):
        till.polls.append(trio.current_time())
        await trio.sleep_forever()

    async with open_shop() as house:
        shop = await found_shop(house)
        await shop.begin("till")
        till.poll = hang
        await shop.begin("till")
        await trio.sleep(45)
        assert len(till.polls) >= 2, "each is given up after its time"


async def test_the_operator_asks_at_once(open_shop, quick, till):
    async with open_shop() as house:
        shop = await found_shop(house)
        payment = await shop.begin("till")
        till.polled = [PaymentMethodError("down")]
        with pytest.raises(Unavailable):
            await shop.operate("payment.poll", payment_id=payment["id"])
        till.polled = [PAID]
        done = await shop.operate("payment.poll", payment_id=payment["id"])
        assert done["state"] == "confirmed"
        with pytest.raises(Conflict, match="cannot be asked"):
            await shop.operate("payment.poll", payment_id=payment["id"])


async def test_a_reference_that_another_was_credited_by_waits_for_the_operator(
    open_shop, quick, till
):
    till.polled = [PAID]
    async with open_shop() as house:
        shop = await found_shop(house)
        payments = [await shop.begin("till") for _ in range(2)]
        await trio.sleep(600)
        shown = [await shop.show(each) for each in payments]
        assert sorted(each["state"] for each in shown) == ["confirmed", "waiting"]
        (waits,) = (each for each in shown if each["state"] == "waiting")
        assert (waits["byOperator"], waits["askedAgainAt"]) == (True, None)
        assert await shop.balance() == "500.00"
        assert_books_agree(house)


async def test_a_method_that_is_not_offered_any_more_is_asked_no_more(open_shop, open_house, quick):
    async with open_shop() as house:
        payment = await (await found_shop(house)).begin("till")
    async with open_house() as house:
        await trio.sleep(60)
        found = service_of(house).payment(payment["id"])
        assert (found.state, found.poll_at) == ("waiting", None)
