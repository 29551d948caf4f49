"""The cap on what an organization is charged a day: two numbers, the lower of which holds."""

from __future__ import annotations

import pytest
import trio

from risala.engine.model.commands import Principal, SendCode, SendMessage
from risala.engine.model.errors import Invalid, SpendCapReached
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode

DAY_S = 86_400
TO = "+22236123456"


async def set_up(house, **changes):
    organization_id = house.principal.organization_id
    return await house.gateway.perform("org.set", {"organization_id": organization_id, **changes})


async def spent(house) -> str:
    organization_id = house.principal.organization_id
    shown = await house.gateway.perform("org.show", {"organization_id": organization_id})
    return shown["spentToday"]


async def refused(house) -> bool:
    try:
        await house.send()
    except SpendCapReached:
        return True
    return False


async def test_the_lower_of_two_caps_holds_until_midnight(open_house, quick):
    async with open_house() as house:
        shown = await set_up(house, spend_cap="1.50", owner_spend_cap="1.00")
        assert (shown["spendCap"], shown["timeZone"]) == ("1.00", "Africa/Nouakchott")
        assert shown["spentToday"] == "0.00"
        assert [await refused(house) for _ in range(3)] == [False, False, True]
        assert (await house.balance(), await spent(house)) == ("999.00", "1.00")
        await set_up(house, owner_spend_cap=None)
        assert [await refused(house) for _ in range(2)] == [False, True]
        await set_up(house, spend_cap=None)
        assert not await refused(house)
        await set_up(house, spend_cap="0.50")
        assert await refused(house)
        house.pass_s(DAY_S)  # the test's clock began at a midnight
        assert await spent(house) == "0.00"
        assert [await refused(house) for _ in range(2)] == [False, True]
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_a_day_ends_at_the_organizations_own_midnight(open_house, quick):
    async with open_house() as house:
        await set_up(house, spend_cap="0.50", time_zone="Asia/Kathmandu")  # 5:45 before ours
        assert [await refused(house) for _ in range(2)] == [False, True]
        house.pass_s(DAY_S - 5.75 * 3600 - 1)
        assert await refused(house)
        await trio.sleep(2)
        assert not await refused(house)
        with pytest.raises(Invalid, match="time zone"):
            await set_up(house, time_zone="Mars/Base")


async def test_a_refund_does_not_give_it_back(open_house, quick):
    async with open_house() as house:
        await set_up(house, spend_cap="0.50")
        at = house.gateway.services.recorder.clock.now_ms() + 3_600_000
        message_id = await house.send(send_at=at)
        await house.gateway.perform("message.cancel", {"message_id": message_id})
        assert (await house.balance(), await spent(house)) == ("1000.00", "0.50")
        assert await refused(house)


async def test_codes_count_and_test_keys_do_not(open_house, quick):
    async with open_house() as house:
        await set_up(house, spend_cap="0.50")
        await house.gateway.send_code(house.principal, SendCode(TO))
        with pytest.raises(SpendCapReached):
            await house.gateway.send_code(house.principal, SendCode(TO))
        test = Principal(house.principal.organization_id, "key", KeyType.SECRET, Mode.TEST)
        await house.gateway.send_code(test, SendCode(TO))
        await house.send(principal=test)
        assert await spent(house) == "0.50"
        await set_up(house, spend_cap="1.00")
        # The refused code took no place in the hour of its number: four of five are left.
        for _ in range(4):
            await set_up(house, spend_cap=None)
            await house.gateway.send_code(house.principal, SendCode(TO))


async def test_a_batchs_items_stand_alone_and_a_restart_remembers(open_house, quick):
    async with open_house() as house:
        await set_up(house, spend_cap="1.00")
        commands = [
            SendMessage(TO, "one"),
            SendMessage(TO, "x" * 400),  # three segments
            SendMessage(TO, "two"),
            SendMessage(TO, "three"),
        ]
        results = await house.gateway.send_batch(house.principal, commands)
        assert [isinstance(each, SpendCapReached) for each in results] == [False, True, False, True]
        principal = house.principal
    async with open_house() as house:
        house.principal = principal
        assert await refused(house)


async def test_the_net_refuses_where_billing_knows_nothing(book):
    """The transaction looks at the cap again: no actor stands before it here."""
    from risala.engine.journal.accounts import payers
    from risala.engine.journal.messages.acceptance import accept

    organization_id = book.organization()
    book.unit(lambda conn: conn.execute("UPDATE organizations SET spend_cap = 100").rowcount)
    news = [book.new_message(organization_id, day=7) for _ in range(3)]
    accepted = book.unit(
        lambda conn: [isinstance(each, bytes) for each in accept(conn, news).results]
    )
    assert accepted == [True, True, False]
    other_day = book.new_message(organization_id, day=8)
    assert book.unit(lambda conn: accept(conn, [other_day]).id) == other_day.id
    assert [payers.spent(book.conn, organization_id, day) for day in (7, 8)] == [100, 50]
