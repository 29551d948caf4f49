"""Codes go first, then messages, then those of mailings; organizations take turns in each."""

from __future__ import annotations

from risala.engine.model.states import PRIORITY_CODE, PRIORITY_MAILING, PRIORITY_MESSAGE


async def _texts(house, last: str) -> list[str]:
    await house.gateway.perform("carriers.resume", {"carrier": "fake"})
    await house.wait_status(last, "sent")
    return [segment.text for segment in house.driver.submitted]


async def test_single_messages_and_codes_overtake_a_mailing(open_house, carrier, quick):
    async with open_house(carrier(rate_per_s=1)) as house:
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        other = await house.organization()
        for n in range(3):
            last = await house.send(f"mailing {n}", priority=PRIORITY_MAILING)
        await house.send("single", principal=other)
        await house.send("own", priority=PRIORITY_MESSAGE)
        await house.send("code", principal=other, priority=PRIORITY_CODE)
        texts = await _texts(house, last)
        assert texts[0] == "code"
        assert sorted(texts[1:3]) == ["own", "single"]
        assert texts[3:] == ["mailing 0", "mailing 1", "mailing 2"]
        assert [segment.urgent for segment in house.driver.submitted] == [True] + 5 * [False]


async def test_a_message_overtakes_a_mailing_that_has_begun(open_house, carrier, quick):
    async with open_house(carrier(rate_per_s=1)) as house:
        ids = [await house.send(f"{n}", priority=PRIORITY_MAILING) for n in range(20)]
        await house.wait_status(ids[0], "sent")
        begun = len(house.driver.submitted)
        single = await house.send("single", principal=await house.organization())
        await house.wait_status(single, "sent")
        texts = [segment.text for segment in house.driver.submitted]
        assert texts.index("single") <= begun + 1


async def test_two_mailings_take_turns(open_house, carrier, quick):
    async with open_house(carrier(rate_per_s=1)) as house:
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        other = await house.organization()
        for n in range(4):
            await house.send(f"a{n}", priority=PRIORITY_MAILING)
        for n in range(2):
            last = await house.send(f"b{n}", principal=other, priority=PRIORITY_MAILING)
        texts = await _texts(house, last)
        assert texts[:4] in (["a0", "b0", "a1", "b1"], ["b0", "a0", "b1", "a1"])
