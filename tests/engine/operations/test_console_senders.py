"""Requests for senders as operators decide on them."""

import pytest

from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records.senders import REASONS
from risala.engine.operations import senders

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)
NAMES = ("Alpha", "M4TTEL", "Gamma", "Bankily", "Delta", "Epsilon")
"""The second and the fourth are marked: they resemble protected names."""


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house() as opened:
        mine = {"organization_id": opened.principal.organization_id}
        await opened.gateway.perform("org.set", {**mine, "name": "Librairie"})
        for name in NAMES:
            autojump_clock.jump(1)  # ids of one millisecond have no order
            given = {**mine, "name": name, "description": "News"}
            await opened.gateway.perform("sender.request", given)
        yield opened


def do(house, name, **arguments):
    return house.gateway.perform(name, arguments, OPERATOR)


def names(page):
    return [each["name"] for each in page["senders"]]


async def ids(house):
    return {each["name"]: each["id"] for each in (await do(house, "sender.list"))["senders"]}


@pytest.mark.parametrize("at_once", [0, 100])
@pytest.mark.parametrize("limit", [1, 2, 4, 50])
async def test_marked_names_come_first_then_the_oldest(
    house, limit, at_once, monkeypatch, autojump_clock
):
    monkeypatch.setattr(senders, "AT_ONCE_MAX", at_once)
    found, before = [], None
    while True:
        page = await do(house, "sender.requests", limit=limit, before=before)
        if before is not None:
            back = await do(house, "sender.requests", limit=limit, after=page["newer"])
            assert names(back) == found[-1]
        else:
            assert page["newer"] is None
        found.append(names(page))
        before = page["older"]
        if before is None:
            break
    wanted = ["M4TTEL", "Bankily", "Alpha", "Gamma", "Delta", "Epsilon"]
    assert [each for some in found for each in some] == wanted


async def test_each_is_told_with_what_its_decision_is_made_by(house, autojump_clock):
    page = await do(house, "sender.requests")
    first = page["senders"][0]
    assert first["organizationName"] == "Librairie"
    assert [mark["code"] for mark in first["marks"]] == ["protected"]
    assert (first["volume"], first["needed"]) == (0, 2000)
    assert page["waiting"] == len(NAMES)
    assert page["oldestAt"] == min(each["createdAt"] for each in page["senders"])


async def test_one_is_told_alone_whatever_its_state(house, autojump_clock):
    by_name = await ids(house)
    page = await do(house, "sender.requests", sender_id=by_name["M4TTEL"])
    assert names(page) == ["M4TTEL"]
    assert [mark["name"] for mark in page["senders"][0]["marks"]] == ["Mattel"]
    await do(house, "sender.waive", sender_id=by_name["Gamma"])
    assert names(await do(house, "sender.requests", sender_id=by_name["Gamma"])) == ["Gamma"]
    with pytest.raises(NotFound):
        await do(house, "sender.requests", sender_id="snd_none")


async def test_the_other_states_are_lists_of_their_own(house, autojump_clock):
    by_name = await ids(house)
    await do(house, "sender.clear", sender_id=by_name["Alpha"])
    await do(house, "sender.waive", sender_id=by_name["Gamma"])
    await do(house, "sender.waive", sender_id=by_name["Delta"])
    await do(house, "sender.deny", sender_id=by_name["M4TTEL"], reason="misleading")
    listed = {
        state: names(await do(house, "sender.requests", status=state))
        for state in ("waiting", "cleared", "approved", "denied")
    }
    assert listed == {
        "waiting": ["Bankily", "Epsilon"],
        "cleared": ["Alpha"],
        "approved": ["Delta", "Gamma"],
        "denied": ["M4TTEL"],
    }
    first = await do(house, "sender.requests", status="approved", limit=1)
    second = await do(house, "sender.requests", status="approved", limit=1, before=first["older"])
    assert (names(first), names(second), second["older"]) == (["Delta"], ["Gamma"], None)
    back = await do(house, "sender.requests", status="approved", limit=1, after=second["newer"])
    assert names(back) == ["Delta"]


async def test_requests_are_found_by_name_and_by_organization(house, autojump_clock):
    for search, found in (("gam", ["Gamma"]), ("librair", 6), ("nobody", [])):
        page = await do(house, "sender.requests", search=search)
        assert names(page) == found or len(names(page)) == found


async def test_a_denial_takes_one_of_the_reasons_that_are_told(house, autojump_clock):
    page = await do(house, "sender.requests")
    assert {each["code"]: each["text"] for each in page["reasons"]} == REASONS
    sender_id = page["senders"][0]["id"]
    with pytest.raises(Invalid, match="one of"):
        await do(house, "sender.deny", sender_id=sender_id, reason="I do not like it")
    for reason in page["reasons"]:
        denied = await do(house, "sender.deny", sender_id=sender_id, reason=reason["code"])
        assert denied["status"] == "denied"


async def test_a_state_is_one_of_four(house, autojump_clock):
    with pytest.raises(Invalid, match="waiting"):
        await do(house, "sender.requests", status="pending")
