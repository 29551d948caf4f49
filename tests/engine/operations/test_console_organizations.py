"""Organizations as operators look for them: pages, search, and what a list tells of each."""

import pytest

from cases import sweep
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Invalid

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)


@pytest.fixture
async def town(open_house, autojump_clock):
    """Seven organizations beside the house's own, one suspended, one with an owner."""
    async with open_house() as house:
        made = {}
        for name in ("Shop A", "Shop B", "Éclair", "متجر", "100 % Bank", "Old_Shop", "Last"):
            found = await house.gateway.perform("org.create", {"name": name})
            made[name] = found["id"]
        await house.gateway.perform("org.suspend", {"organization_id": made["Shop B"]})
        member = {"organization_id": made["Last"], "email": "Omar@example.com", "role": "owner"}
        await house.gateway.perform("member.add", member)
        yield house, made


def do(house, name, **arguments):
    return house.gateway.perform(name, arguments, OPERATOR)


def names(page):
    return [each["name"] for each in page["organizations"]]


async def test_pages_go_on_by_key_both_ways(town, autojump_clock):
    house, _ = town
    whole = names(await do(house, "org.list"))
    assert len(whole) == 8
    first = await do(house, "org.list", limit=3)
    second = await do(house, "org.list", limit=3, before=first["older"])
    third = await do(house, "org.list", limit=3, before=second["older"])
    assert names(first) + names(second) + names(third) == whole
    assert (first["newer"], third["older"]) == (None, None)
    back = await do(house, "org.list", limit=3, after=third["newer"])
    assert names(back) == names(second)


@sweep(
    ("search", "found"),
    [
        ("shop", {"Shop A", "Shop B", "Old_Shop"}),
        ("éclair", {"Éclair"}),
        ("متج", {"متجر"}),
        ("%", {"100 % Bank"}),
        ("d_s", {"Old_Shop"}),
        ("omar@EXAMPLE.com", {"Last"}),
        ("omar", set()),
        ("nobody", set()),
    ],
)
async def test_search_is_by_part_of_the_name_or_an_owners_address(
    town, search, found, autojump_clock
):
    house, _ = town
    assert set(names(await do(house, "org.list", search=search))) == found


async def test_search_is_by_part_of_the_id_and_states_are_told_apart(town, autojump_clock):
    house, made = town
    part = made["Last"][-12:].lower()
    assert names(await do(house, "org.list", search=part)) == ["Last"]
    assert names(await do(house, "org.list", status="suspended")) == ["Shop B"]
    assert names(await do(house, "org.list", status="deleted")) == []
    assert "Shop B" not in names(await do(house, "org.list", status="active"))
    with pytest.raises(Invalid, match="deleted"):
        await do(house, "org.list", status="gone")


async def test_each_is_told_with_what_it_sent_and_who_owns_it(town, autojump_clock):
    house, made = town
    mine = house.principal.organization_id
    await house.send()
    (sender,) = (await do(house, "org.list", search=mine))["organizations"]
    (last,) = (await do(house, "org.list", search=made["Last"]))["organizations"]
    assert (sender["spentToday"], sender["owners"]) == ("0.50", [])
    assert sender["lastSendAt"] is not None
    assert (last["spentToday"], last["owners"]) == ("0.00", ["omar@example.com"])
    assert last["lastSendAt"] is None


async def test_operators_see_what_holds_for_everybody_and_members_do_not(town, autojump_clock):
    house, made = town
    shown = await do(house, "org.show", organization_id=made["Last"])
    assert shown["general"] == {
        "pricePerSegment": "0.50",
        "smsPerSecond": None,
        "lowBalance": "50.00",
    }
    assert shown["owners"] == ["omar@example.com"]
    member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, made["Last"])
    theirs = await house.gateway.perform("org.show", {"organization_id": made["Last"]}, member)
    assert not {"general", "owners", "lastSendAt"} & theirs.keys()
