"""Events that are no longer kept: deliveries go with them, and what comes after is delivered."""

from __future__ import annotations

import pytest
import trio

from risala.config.model import RetentionSection
from risala.engine.model.errors import NotFound
from risala.engine.rules.webhooks.schedule import ReceiverFault

GOOD = "https://good.example.com/"
DOWN = "https://down.example.com/"


async def test_after_forgetting_everything_new_events_are_delivered(open_house, quick):
    async with open_house(retention=RetentionSection(events_days=30)) as house:
        endpoint, _ = await house.endpoint(GOOD)
        old = await house.happen(3)
        await trio.sleep(5)
        quick.jump(31 * 86_400)
        await trio.sleep(60)
        # The newest delivery keeps its place, so that no number is given twice.
        assert [each["eventId"] for each in await house.deliveries(endpoint)] == [old[-1]]
        with pytest.raises(NotFound):
            await house.perform("webhook.replay", endpoint_id=endpoint, event_id=old[0])
        new = await house.happen(3)
        await trio.sleep(5)
        assert sorted(house.outbound.ids()) == sorted([*old, *new])


async def test_an_event_that_is_owed_is_kept(open_house, quick, leap):
    async with open_house(retention=RetentionSection(events_days=1)) as house:
        house.outbound.plan[DOWN] = ReceiverFault("NOT_CONNECTED", "It is down.")
        endpoint, _ = await house.endpoint(DOWN)
        (event,) = await house.happen()
        await house.happen(kind="sms.received")  # nobody asked for it: no delivery
        quick.jump(2 * 86_400)
        await trio.sleep(60)
        reader = house.gateway.services.repositories._store.reader
        assert reader.execute("SELECT id FROM events").fetchall() == [(event,)]
        house.outbound.plan.clear()
        await leap(2 * 86_400, 7200)
        assert house.outbound.ids()[-1] == event
        assert (await house.deliveries(endpoint))[0]["state"] == "delivered"
