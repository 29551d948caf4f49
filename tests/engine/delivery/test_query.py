"""Asking the carrier about segments without a receipt, and about uncertain ones with an id."""

from dataclasses import dataclass, field, replace

import pytest
import trio

from risala.engine.delivery.queries import ASK_AFTER_S
from risala.plugins.contract import Accepted, Capabilities, Receipt, ReceiptState, Uncertain
from risala.plugins.testing.fake_driver import FakeDriver


@dataclass(slots=True)
class AskedDriver(FakeDriver):
    """Says of an id what is written down for it."""

    knows: dict[str, ReceiptState] = field(default_factory=dict)
    asked: list[tuple[float, str]] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    can_be_asked: bool = True
    breaks: bool = False

    @property
    def capabilities(self) -> Capabilities:
        return replace(FakeDriver.capabilities.fget(self), query=self.can_be_asked)

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        self.asked.append((trio.current_time(), carrier_id))
        self.senders.append(sender)
        await trio.lowlevel.checkpoint()
        if self.breaks:
            raise RuntimeError("a bug")
        state = self.knows.get(carrier_id)
        return None if state is None else Receipt(carrier_id, state, f"query_sm {state}")


@pytest.mark.slow
async def test_a_receipt_that_never_came_is_asked_for(open_house, quick):
    driver = AskedDriver(knows={"1": ReceiptState.DELIVERED})
    async with open_house(drivers={"fake": driver}) as house:
        began = trio.current_time()
        message = await house.send()
        assert await house.wait_status(message, "delivered") == "delivered"
        ((asked_at, carrier_id),) = driver.asked
        assert carrier_id == "1"
        assert driver.senders == [driver.submitted[0].sender]
        assert asked_at - began == pytest.approx(ASK_AFTER_S[0], abs=1)
        assert house.timeline(message)[-1] == ("delivered", "query_sm DELIVERED")


@pytest.mark.slow
async def test_it_is_asked_three_times_and_then_let_be(open_house, quick, leap):
    driver = AskedDriver(knows={"1": ReceiptState.ENROUTE})
    async with open_house(drivers={"fake": driver}) as house:
        began = trio.current_time()
        message = await house.send()
        await house.wait_status(message, "sent")
        for wait_s in ASK_AFTER_S:
            await leap(began + wait_s - 10 - trio.current_time(), 7200)
            await trio.sleep(20)
        await leap(ASK_AFTER_S[-1] * 2, 7200)
        times = [at - began for at, _ in driver.asked]
        assert times == [pytest.approx(wait_s, abs=1) for wait_s in ASK_AFTER_S]
        assert house.status(message) == "sent"


@pytest.mark.slow
async def test_who_has_its_receipt_is_not_asked_for(open_house, quick, leap):
    driver = AskedDriver(delivers=True)
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "delivered")
        await leap(ASK_AFTER_S[-1] * 2, 7200)
        assert driver.asked == []


@pytest.mark.slow
async def test_who_cannot_be_asked_is_not(open_house, quick, leap):
    driver = AskedDriver(can_be_asked=False)
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        await leap(ASK_AFTER_S[-1] * 2, 7200)
        assert driver.asked == []


@pytest.mark.slow
async def test_a_driver_that_breaks_is_asked_again(open_house, quick, leap):
    driver = AskedDriver(knows={"1": ReceiptState.DELIVERED}, breaks=True)
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await trio.sleep(ASK_AFTER_S[0] + 10)
        assert len(driver.asked) == 1
        driver.breaks = False
        await leap(ASK_AFTER_S[1] - ASK_AFTER_S[0] - 3600, 7200)
        assert await house.wait_status(message, "delivered") == "delivered"


@pytest.mark.slow
async def test_a_restart_asks_about_what_was_accepted_before_it(open_house, quick):
    async with open_house() as house:
        message = await house.send()
        await house.wait_status(message, "sent")
        accepted_s = trio.current_time()
    await trio.sleep(1000)
    knows = dict.fromkeys("12", ReceiptState.DELIVERED)
    driver = AskedDriver(answers=[Accepted("2")], knows=knows)
    async with open_house(drivers={"fake": driver}) as house:
        newer = await house.send()
        assert await house.wait_status(message, "delivered") == "delivered"
        ((asked_at, carrier_id),) = driver.asked
        assert carrier_id == "1"
        assert asked_at - accepted_s == pytest.approx(ASK_AFTER_S[0], abs=1)
        await trio.sleep(ASK_AFTER_S[0])
        assert len(driver.asked) == 2
        assert house.status(newer) == "delivered"


@pytest.mark.slow
@pytest.mark.parametrize(("away_s", "asked"), [(ASK_AFTER_S[0] + 60, 2), (ASK_AFTER_S[-1] + 60, 0)])
async def test_after_a_long_absence_only_the_questions_to_come_are_asked(
    away_s, asked, open_house, quick, leap
):
    async with open_house() as house:
        await house.wait_status(await house.send(), "sent")
    quick.jump(away_s)
    driver = AskedDriver()
    async with open_house(drivers={"fake": driver}):
        await leap(ASK_AFTER_S[-1] * 2, 7200)
        assert len(driver.asked) == asked


@pytest.mark.slow
async def test_what_has_its_receipt_is_not_asked_for_after_a_restart(open_house, quick, leap):
    async with open_house(drivers={"fake": AskedDriver(delivers=True)}) as house:
        await house.wait_status(await house.send(), "delivered")
    driver = AskedDriver()
    async with open_house(drivers={"fake": driver}):
        await leap(ASK_AFTER_S[-1] * 2, 7200)
        assert driver.asked == []


# -- uncertain ones ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (ReceiptState.DELIVERED, "delivered"),
        (ReceiptState.ENROUTE, "sent"),
        (ReceiptState.UNDELIVERABLE, "undelivered"),
    ],
)
async def test_an_uncertain_segment_with_an_id_is_settled_by_a_query(
    state, status, open_house, quick
):
    unanswered = Uncertain("no answer", carrier_id="7")
    driver = AskedDriver(answers=[unanswered], knows={"7": state})
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        assert await house.wait_status(message, status) == status
        assert len(driver.submitted) == 1
        assert driver.senders == [driver.submitted[0].sender]


async def test_what_the_carrier_does_not_know_is_left_to_its_policy(open_house, quick):
    driver = AskedDriver(answers=[Uncertain("no answer", carrier_id="7")])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await trio.sleep(200)
        assert [carrier_id for _, carrier_id in driver.asked] == ["7"]
        assert house.status(message) == "failed"


async def test_without_an_id_there_is_nothing_to_ask_by(open_house, quick):
    driver = AskedDriver(answers=[Uncertain("no answer")])
    async with open_house(drivers={"fake": driver}) as house:
        message = await house.send()
        await driver.wait_submitted(1)
        await trio.sleep(200)
        assert driver.asked == []
        assert house.status(message) == "failed"
