"""Messages of an organization that was suspended: held until it may go on, whoever says so when."""

from __future__ import annotations

import pytest
import trio

from risala.engine.upkeep.overview import Running
from risala.plugins.contract import HealthState
from risala.plugins.testing.fake_driver import FakeDriver


@pytest.mark.parametrize("last", ["org.suspend", "org.resume"])
async def test_of_two_who_suspend_and_resume_the_later_commit_holds(
    open_house, quick, monkeypatch, last
):
    """The scheduler hears of the first after it has heard of the second."""
    first = {"org.suspend": "org.resume", "org.resume": "org.suspend"}[last]
    waits, goes_on = trio.Event(), trio.Event()
    heed = Running.reload_organization

    async def heed_late(self, organization_id):
        if not waits.is_set():
            waits.set()
            await goes_on.wait()
        await heed(self, organization_id)

    driver = FakeDriver(window_max=1)  # whose lane reads on when an answer has come
    async with open_house(drivers={"fake": driver}) as house, trio.open_nursery() as nursery:
        organization = {"organization_id": house.principal.organization_id}
        house.driver.set_health(HealthState.DOWN)
        message_ids = [await house.send() for _ in range(3)]
        monkeypatch.setattr(Running, "reload_organization", heed_late)
        nursery.start_soon(house.gateway.perform, first, organization)
        await waits.wait()
        await house.gateway.perform(last, organization)
        goes_on.set()
        await trio.testing.wait_all_tasks_blocked()
        commits = house.gateway.services.recorder.journal.statistics().commits
        house.driver.set_health(HealthState.UP)
        if last == "org.resume":
            for message_id in message_ids:
                await house.wait_status(message_id, "sent")
            return
        await trio.sleep(3)
        assert {house.status(message_id) for message_id in message_ids} == {"pending"}
        # What is held is not asked for again and again.
        after = house.gateway.services.recorder.journal.statistics().commits
        assert after - commits < 20  # retention walks through its tables meanwhile, once
