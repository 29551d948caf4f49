"""Messages that wait say what they wait for, as it is at that moment."""

from __future__ import annotations

import re

import pytest
import trio

from risala.config.model import DeliverySection, RetrySection
from risala.engine.model.commands import SendCode
from risala.engine.model.sentences import sentence
from risala.engine.wiring.foundation import Seams
from risala.engine.wiring.gateway import open_gateway
from risala.plugins.contract import (
    Cause,
    Declined,
    Health,
    HealthState,
    Refused,
    Scope,
    Throttled,
)
from risala.plugins.testing.fake_driver import FakeDriver


def said(house, message_id) -> list[str]:
    return [sentence(entry) for entry in house.gateway.show_message(message_id)[1]]


async def test_the_link_is_down(open_house, quick, leap):
    async with open_house() as house:
        start_ms = house.gateway.services.recorder.clock.now_ms()
        await trio.sleep(60)
        house.driver.set_health(HealthState.DOWN)
        await leap(3600)
        message_id = await house.send()
        (entry,) = house.gateway.show_message(message_id)[1]
        values = {"wait": "link_down", "carrier": "fake", "since": start_ms + 60_000}
        assert entry.line.values == values
        assert "Accepted. It waits: the link of fake is down since" in sentence(entry)
        # Another word about the same link is no other moment.
        house.driver.context.health(Health(HealthState.DOWN, "Still no answer."))
        assert said(house, message_id) == [sentence(entry)]


async def test_what_it_waits_for_is_what_is_true_now(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        message_id = await house.send()
        house.driver.set_health(HealthState.SICK)
        assert "fake needs the operator since" in said(house, message_id)[-1]
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        assert said(house, message_id)[-1] == "It waits: the operator paused fake."
        shown = await house.gateway.perform("message.show", {"message_id": message_id})
        assert shown["timeline"][-1]["values"] == {"wait": "paused", "carrier": "fake"}
        await house.gateway.perform("carriers.resume", {"carrier": "fake"})
        house.driver.set_health(HealthState.UP)
        await house.wait_status(message_id, "sent")
        assert not any("needs the operator" in text for text in said(house, message_id))


async def test_an_organization_that_is_suspended(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        message_id = await house.send()
        organization = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("org.suspend", organization)
        assert said(house, message_id)[-1] == "It is held: the organization is suspended."


async def test_its_time(open_house, quick):
    async with open_house() as house:
        at = house.gateway.services.recorder.clock.now_ms() + 3_600_000
        message_id = await house.send(send_at=at)
        (only,) = said(house, message_id)
        assert only.startswith("Accepted. It is scheduled for")


async def test_its_next_attempt(open_house, quick):
    sick = Refused(Scope.NOW, "ESME_RSYSERR", "", Cause.CARRIER_FAULT)
    delivery = DeliverySection(retry=RetrySection(first_wait_s=600))
    async with open_house(drivers={"fake": FakeDriver(always=sick)}, delivery=delivery) as house:
        message_id = await house.send()
        await trio.sleep(60)
        assert "for its next attempt" in said(house, message_id)[-1]


async def test_a_carrier_that_failed_too_often(open_house, quick):
    sick = Refused(Scope.NOW, "ESME_RSYSERR", "", Cause.CARRIER_FAULT)
    delivery = DeliverySection(breaker_failures=1, breaker_open_s=600)
    async with open_house(drivers={"fake": FakeDriver(always=sick)}, delivery=delivery) as house:
        await house.send()
        await trio.sleep(1)
        message_id = await house.send()
        assert "fake failed too often and gets no messages until" in said(house, message_id)[-1]


async def test_a_carrier_that_throttles(open_house, quick):
    slow = Throttled("ESME_RTHROTTLED", retry_after_s=600)
    async with open_house(drivers={"fake": FakeDriver(answers=[slow])}) as house:
        message_id = await house.send()
        await trio.sleep(1)
        assert said(house, message_id)[-1] == "It waits: fake is sending at its highest speed."


class Choosy(FakeDriver):
    until_ms = 0

    def declines(self, recipient, segments, *, is_next=False):
        return Declined("The SIM's segments of today are used up.", self.until_ms)


@pytest.mark.parametrize("state", [HealthState.UP, HealthState.DOWN])
async def test_a_quota_that_is_used_up(open_house, quick, state):
    async with open_house(drivers={"fake": Choosy()}) as house:
        house.driver.until_ms = house.gateway.services.recorder.clock.now_ms() + 3_600_000
        house.driver.set_health(state)
        message_id = await house.send()
        await trio.sleep(1)
        entry = house.gateway.show_message(message_id)[1][-1]
        assert entry.line.values["wait"] == "quota"
        assert re.search(
            r"It waits until [-0-9 :]+ UTC for fake: the SIM's segments of today are used up\.",
            sentence(entry),
        )


async def test_one_of_several_carriers_that_is_well_is_enough(open_house, carrier, quick):
    async with open_house(carrier("first"), carrier("second", priority=1)) as house:
        house.drivers["first"].set_health(HealthState.DOWN)
        house.engine._board.stop_leasing()
        message_id = await house.send()
        assert said(house, message_id)[0] == "Accepted; waiting for its turn."
        assert said(house, message_id)[-1] == "It waits: the service is not running."


async def test_while_no_service_runs(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        message_id = await house.send()
        at = house.gateway.services.recorder.clock.now_ms() + 30 * 86_400_000
        later = await house.send(send_at=at)
        settings = house.gateway.services.settings
        clock, ids = house.gateway.services.recorder.clock, house.gateway.services.ids
    async with open_gateway(settings, Seams(clock, ids, inline_journal=True)) as gateway:
        entries = gateway.show_message(message_id)[1]
        assert sentence(entries[-1]) == "It waits: the service is not running."
        (only,) = gateway.show_message(later)[1]
        assert only.line.values == {"wait": "scheduled", "until": at}


async def test_a_code_says_it_too(open_house, quick):
    async with open_house() as house:
        house.driver.set_health(HealthState.DOWN)
        session = await house.gateway.send_code(house.principal, SendCode("+22236123456"))
        ((message_id,),) = house.gateway.services.repositories._store.reader.execute(
            "SELECT message_id FROM verifications WHERE id = ?", (session,)
        ).fetchall()
        assert "the link of fake is down" in said(house, message_id)[0]
