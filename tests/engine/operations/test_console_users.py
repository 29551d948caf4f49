"""Users as operators look for them: pages both ways, search, and their sessions, one by one."""

import pytest

from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.people import Browser, Language, SessionKind
from risala.engine.people.tokens import new_token

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)
PEOPLE = ("ada", "bilal", "cheikh", "dalia", "eva", "fatima", "ghali")


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house() as opened:
        for name in PEOPLE:
            given = {"email": f"{name}@example.com", "name": name.title()}
            if name == "eva":
                given["operator"] = True
            await opened.gateway.perform("user.create", given)
        mine = opened.principal.organization_id
        member = {"organization_id": mine, "email": "ada@example.com", "role": "viewer"}
        await opened.gateway.perform("member.add", member)
        yield opened


def do(house, name, **arguments):
    return house.gateway.perform(name, arguments, OPERATOR)


def emails(page):
    return [each["email"].partition("@")[0] for each in page["users"]]


async def test_pages_go_on_and_back_in_the_order_of_addresses(house, autojump_clock):
    first = await do(house, "user.list", limit=3)
    second = await do(house, "user.list", limit=3, after=first["next"])
    third = await do(house, "user.list", limit=3, after=second["next"])
    assert [*emails(first), *emails(second), *emails(third)] == list(PEOPLE)
    assert (first["previous"], third["next"]) == (None, None)
    back = await do(house, "user.list", limit=3, before=third["previous"])
    assert emails(back) == emails(second)
    front = await do(house, "user.list", limit=3, before=back["previous"])
    assert emails(front) == emails(first)
    assert front["previous"] is None
    again = await do(house, "user.list", limit=3, after=front["next"])
    assert emails(again) == emails(second)


async def test_users_are_found_by_part_of_address_or_name(house, autojump_clock):
    assert emails(await do(house, "user.list", search="ALI")) == ["dalia", "ghali"]
    assert emails(await do(house, "user.list", search="Fati")) == ["fatima"]
    assert emails(await do(house, "user.list", search="%")) == []
    assert emails(await do(house, "user.list", operator=True)) == ["eva"]
    assert len(emails(await do(house, "user.list", operator=False))) == 6
    (ada,) = (await do(house, "user.list", search="ada@"))["users"]
    assert (ada["organizations"], ada["name"]) == (1, "Ada")


async def sign_in(house, email):
    link = await house.gateway.perform("user.sign_in", {"email": email})
    browser = Browser(new_token(), 1, "192.0.2.1", "Tester", Language.ENGLISH)
    return await house.gateway.people.sign_in.use_link(link["token"], browser)


async def test_one_session_is_ended_and_the_others_stay(house, autojump_clock):
    people, email = house.gateway.people, "bilal@example.com"
    one, other = await sign_in(house, email), await sign_in(house, email)
    found = await do(house, "user.sessions", email=email)
    assert {each["id"] for each in found["sessions"]} == {one.session.id, other.session.id}
    assert found["user"]["email"] == email
    assert {each["kind"] for each in found["sessions"]} == {"customer"}
    ended = await do(house, "user.sign_out", email=email, session_id=one.session.id)
    assert ended == {"ended": 1}
    assert people.sessions.find(one.token, SessionKind.CUSTOMER) is None
    assert people.sessions.find(other.token, SessionKind.CUSTOMER) is not None
    assert await do(house, "user.sign_out", email=email) == {"ended": 1}
    assert people.sessions.find(other.token, SessionKind.CUSTOMER) is None


async def test_another_users_session_is_not_theirs_to_end(house, autojump_clock):
    one = await sign_in(house, "bilal@example.com")
    wrong = {"email": "ada@example.com", "session_id": one.session.id}
    assert await do(house, "user.sign_out", **wrong) == {"ended": 0}
    assert house.gateway.people.sessions.find(one.token, SessionKind.CUSTOMER) is not None
