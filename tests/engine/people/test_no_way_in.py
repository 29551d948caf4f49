"""Tokens, links and addresses that lead nowhere: nobody comes in, and nothing is changed."""

from __future__ import annotations

import pytest

from cases import sweep
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound
from risala.engine.model.people import Denied, SessionKind, SignedIn

FATIMA, OMAR = "fatima@example.com", "omar@example.com"
CUSTOMER, OPERATOR = SessionKind.CUSTOMER, SessionKind.OPERATOR
NOBODYS = "A" * 43
"""Shaped as a token is."""


@pytest.mark.parametrize("kind", SessionKind)
@sweep("token", ["", "x", "../..", "é" * 43, NOBODYS])
async def test_a_token_that_is_nobody_s_is_no_session(town, autojump_clock, token, kind):
    await town.sign_in(FATIMA)
    sessions = town.rows("SELECT * FROM web_sessions")
    assert town.people.sessions.find(token, kind) is None
    assert await town.people.sessions.rotate(token, kind) is None
    await town.people.sessions.sign_out(token, kind)
    assert town.rows("SELECT * FROM web_sessions") == sessions


async def test_a_customer_s_token_is_no_operator_s_and_the_reverse(town, autojump_clock):
    await town.do("user.create", email=FATIMA, operator=True)
    mine = {kind: (await town.sign_in(FATIMA, kind)).token for kind in SessionKind}
    assert town.people.sessions.find(mine[CUSTOMER], OPERATOR) is None
    assert town.people.sessions.find(mine[OPERATOR], CUSTOMER) is None
    with pytest.raises(Forbidden, match="for operators"):
        town.people.sessions.operator_caller(town.people.sessions.find(mine[CUSTOMER], CUSTOMER))


class TestALink:
    async def made(self, town, **how):
        await town.do("user.create", email=FATIMA, operator=how.get("operator", False))
        return (await town.do("user.sign_in", email=FATIMA, **how))["token"]

    async def test_is_used_once(self, town, autojump_clock):
        token = await self.made(town)
        assert isinstance(await town.people.sign_in.use_link(token, town.browser()), SignedIn)
        assert town.people.sign_in.peek_link(token) is None
        assert await town.people.sign_in.use_link(token, town.browser()) is None

    async def test_is_over_with_the_next_and_with_its_hour(self, town, autojump_clock):
        first = await self.made(town)
        second = (await town.do("user.sign_in", email=FATIMA))["token"]
        assert await town.people.sign_in.use_link(first, town.browser()) is None
        town.pass_s(7 * 86_400)
        assert await town.people.sign_in.use_link(second, town.browser()) is None

    async def test_of_who_is_no_operator_any_more_opens_nothing(self, town, autojump_clock):
        token = await self.made(town, operator=True)
        await town.do("user.set", email=FATIMA, operator=False)
        with pytest.raises(Forbidden, match="is not the address of an operator"):
            await town.people.sign_in.use_link(token, town.browser())
        assert town.rows("SELECT * FROM web_sessions") == []

    async def test_of_who_is_gone_opens_nothing(self, town, autojump_clock):
        token = await self.made(town)
        await town.do("user.delete", email=FATIMA)
        assert await town.people.sign_in.use_link(token, town.browser()) is None

    @pytest.mark.parametrize("token", ["", "x" * 500, NOBODYS])
    async def test_that_is_none_opens_nothing(self, town, autojump_clock, token):
        assert town.people.sign_in.peek_link(token) is None
        assert await town.people.sign_in.use_link(token, town.browser()) is None

    async def test_to_the_console_is_made_for_operators_alone(self, town, autojump_clock):
        await town.do("user.create", email=FATIMA)
        with pytest.raises(Conflict, match=f"{FATIMA} is not an operator"):
            await town.do("user.sign_in", email=FATIMA, operator=True)


async def test_a_browser_that_asks_for_another_code_forgets_the_first(town, autojump_clock):
    browser = town.browser()
    await town.people.sign_in.begin(browser, FATIMA)
    code = await town.mailed(FATIMA)
    await town.people.sign_in.begin(browser, OMAR)
    assert isinstance(await town.people.sign_in.finish(browser, code), Denied)
    assert town.people.sign_in.pending(browser.token).email == OMAR


async def test_nobody_is_known_by_an_address_that_nobody_has(town, autojump_clock):
    for name in ("user.show", "user.sessions", "user.delete"):
        with pytest.raises(NotFound, match=f"There is no user {OMAR}"):
            await town.do(name, email=OMAR)


async def test_the_address_that_one_has_is_no_other(town, autojump_clock):
    fatima = await town.sign_in(FATIMA)
    with pytest.raises(Invalid, match="already your address"):
        await town.as_user("account.change_email", fatima, email=f"  {FATIMA.upper()} ")
    assert len(town.mails.sent) == 1


async def test_the_only_owner_is_not_deleted_by_the_operator_either(town, autojump_clock):
    fatima = await town.sign_in(FATIMA)
    await town.as_user("org.found", fatima, name="Shop")
    with pytest.raises(Conflict, match="needs an owner"):
        await town.do("user.delete", email=FATIMA)
    assert town.people.sessions.find(fatima.token, CUSTOMER) is not None


async def test_whom_the_operator_adds_is_invited_no_more(town, autojump_clock):
    fatima = await town.sign_in(FATIMA)
    shop = (await town.as_user("org.found", fatima, name="Shop"))["id"]
    other = (await town.as_user("org.found", fatima, name="Other"))["id"]
    for organization in (shop, other):
        await town.as_member("member.invite", fatima, organization, email=OMAR, role="viewer")
    await town.do("member.add", organization_id=shop, email=OMAR, role="developer")
    left = town.rows("SELECT organization_id FROM invitations")
    assert left == [(other,)]
