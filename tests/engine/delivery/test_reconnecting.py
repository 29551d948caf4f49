"""A link that an operator drops: nothing is lost, and what is in flight ends as the rules say."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio

from risala.drivers.smpp.protocol.receipt import IdForm, other_forms
from risala.engine.journal.messages import held
from risala.engine.model.errors import NotFound
from risala.plugins.contract import Accepted, ReceiptState
from risala.plugins.testing.fake_driver import FakeDriver


@dataclass(slots=True)
class Counting(FakeDriver):
    runs: list[int] = field(default_factory=list)

    async def run(self, context, **how):
        self.runs.append(len(self.submitted))
        await FakeDriver.run(self, context, **how)


async def reconnect(house, name="fake"):
    return await house.gateway.perform("carriers.reconnect", {"carrier": name})


async def test_the_driver_connects_anew_and_goes_on(open_house, quick):
    driver = Counting()
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        await reconnect(house)
        await house.wait_status(await house.send(), "sent")
        assert driver.runs == [0, 1]
        told = await house.gateway.perform("carriers.show", {"carrier": "fake"})
        assert told["last_error"] is None
        assert any("asked it to reconnect" in line["text"] for line in told["trace"])


async def test_an_answer_that_is_on_its_way_is_waited_for(open_house, quick):
    driver = Counting()
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        message_id = await house.send()
        await driver.wait_submitted(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reconnect, house)
            await trio.sleep(1)
            later = await house.send()
            await trio.sleep(1)
            assert len(driver.submitted) == 1
            driver.let_go()
        await house.wait_status(message_id, "sent")
        await house.wait_status(later, "sent")
        assert len(driver.submitted) == 2
        assert house.timeline(message_id)[-1][0] == "sent"


async def test_what_is_never_answered_holds_nothing_up(open_house, quick):
    driver = Counting()
    driver.hold()
    async with open_house(drivers={"fake": driver}) as house:
        await house.send()
        await driver.wait_submitted(1)
        await reconnect(house)
        assert len(driver.runs) == 2
        driver.let_go()


async def test_there_must_be_such_a_carrier(open_house, quick):
    async with open_house() as house:
        with pytest.raises(NotFound):
            await reconnect(house, "nobody")


class Renaming(FakeDriver):
    """Its receipts have ids in decimal, which its answers have in hexadecimal."""

    def other_ids(self, carrier_id: str) -> tuple[str, ...]:
        return other_forms(carrier_id, IdForm.RESP_HEX_RECEIPT_DEC)


def _takes_as(carrier_id: str) -> list[Accepted]:
    return [Accepted(carrier_id, "OK")]


@pytest.mark.parametrize("wait_s", [1, 3600])
@pytest.mark.parametrize(
    ("state", "status"),
    [(ReceiptState.DELIVERED, "delivered"), (ReceiptState.EXPIRED, "undelivered")],
)
async def test_receipts_find_their_message_once_the_form_of_ids_is_set(
    open_house, quick, wait_s, state, status
):
    """Held ones, and those that were given up already."""
    async with open_house(drivers={"fake": FakeDriver(answers=_takes_as("00000a1b"))}) as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        await house.driver.receipt("2587", state)
        await trio.sleep(wait_s)
        assert house.status(message_id) == "sent"
    for _ in range(2):  # the second time there is nothing left to match
        async with open_house(drivers={"fake": Renaming()}) as house:
            await house.wait_status(message_id, status)
            _, timeline = house.gateway.show_message(message_id)
            assert [entry.status for entry in timeline].count(status) == 1
            reader = house.gateway.services.repositories._store.reader
            assert held.unused(reader, "fake") == []


async def test_an_old_receipt_does_not_end_a_message_that_left_after_it(open_house, quick, leap):
    async with open_house() as house:
        await house.driver.receipt("2587")
        await leap(3600)
        house.driver.answers = _takes_as("a1b")
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
    async with open_house(drivers={"fake": Renaming()}) as house:
        await trio.sleep(1)
        assert house.status(message_id) == "sent"
