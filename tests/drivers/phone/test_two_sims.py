"""Two SIMs of one phone: two carriers, one phone that calls."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import trio
from pydantic import SecretStr
from tests.drivers.phone.conftest import TOKEN, Submitting

from phone_calls import DirectNetwork
from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.plugin import FACTORY
from risala.drivers.phone.settings import PhoneSettings
from risala.lab.phone.events import MessageFetched, TextSent, TextUploaded
from risala.plugins.account_cache import AccountCache
from risala.plugins.contract import Accepted, CommandRefusedError, HealthState, Unsent
from risala.plugins.page import PageForm, PageHeading, PageTable
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.plugins.testing.drivers.manners import PlainPageService

SIMS = {"sims": ("Mauritel", "Chinguitel")}


@dataclass
class Second:
    """The carrier of the second SIM."""

    driver: PhoneDriver
    context: RecordingContext
    scope: trio.CancelScope

    def end(self) -> None:
        self.scope.cancel()


async def second_of(line, **settings) -> Second:
    values = {"token": SecretStr(TOKEN), "shares": "phone", "sim": 2, **settings}
    driver = PhoneDriver("phone-2", PhoneSettings(**values), line.driver.shared_account)
    second = Second(driver, RecordingContext("phone-2"), trio.CancelScope())

    async def run(*, task_status=trio.TASK_STATUS_IGNORED):
        with second.scope:
            await driver.run(second.context, task_status=task_status)

    await line.nursery.start(run)
    return second


@pytest.fixture
def new_pair(new_line):
    @asynccontextmanager
    async def pair(second=None, **settings):
        async with new_line(config=SIMS, sim=1, **settings) as line:
            await line.up()
            other = await second_of(line, **(second or {}))
            await other.context.wait_health(HealthState.UP)
            yield line, other

    return pair


def sent(line) -> list[tuple[int, str]]:
    return [(each.sim, each.text) for each in line.phone.events if isinstance(each, TextSent)]


async def test_each_carrier_sends_by_its_sim_and_gets_its_receipts(new_pair, autojump_clock):
    async with new_pair() as (line, second):
        first = await line.submit("By the first")
        other = await second.driver.submit(segment("By the second"))
        assert sent(line) == [(1, "By the first"), (2, "By the second")]
        for context, outcome in ((line.context, first), (second.context, other)):
            receipts = await context.wait_receipts(1)
            assert [each.carrier_id for each in receipts] == [outcome.carrier_id]


async def test_one_request_fetches_what_both_have(new_pair, autojump_clock):
    async with new_pair() as (line, second):
        line.phone.doze(is_dozing=True)
        waiting = line.begin("One"), Submitting(segment("Two"))
        line.nursery.start_soon(waiting[1].run, second.driver)
        await trio.sleep(1)
        line.phone.doze(is_dozing=False)
        assert [type(await each.end()) for each in waiting] == [Accepted, Accepted]
        assert sorted(sent(line)) == [(1, "One"), (2, "Two")]


async def test_texts_come_to_the_carrier_of_their_sim(new_pair, autojump_clock):
    async with new_pair({"number": "+22222000002"}, number="+22236000001") as (line, second):
        line.phone.receive("+22244556677", "To the second", sim=2)
        await line.phone.wait(TextUploaded)
        line.phone.receive("+22244556677", "To the first", sim=1)
        await line.context.wait_until(lambda it: bool(it.inbounds))
        told = [
            (it.inbounds[0].text, it.inbounds[0].recipient) for it in (line.context, second.context)
        ]
        assert told == [("To the first", "+22236000001"), ("To the second", "+22222000002")]


async def test_each_sim_has_its_own_quota(new_pair, autojump_clock):
    async with new_pair({"per_day_max": 2}, per_day_max=1) as (line, second):
        assert isinstance(await line.submit("One"), Accepted)
        assert isinstance(await line.submit("Two"), Unsent)
        assert second.driver.declines("+22244556677", 1) is None
        assert isinstance(await second.driver.submit(segment("Two")), Accepted)
        await trio.sleep(10)
        assert line.context.healths[-1].details["today"] == 1
        assert second.context.healths[-1].details["today"] == 1


async def test_the_second_goes_down_with_the_first_and_comes_back(new_pair, autojump_clock):
    async with new_pair() as (line, second):
        line.phone.doze(is_dozing=True)
        waiting = Submitting(segment("Waits"))
        line.nursery.start_soon(waiting.run, second.driver)
        await trio.sleep(1)
        link, account = line.driver._link, line.driver.shared_account
        line.stop()
        assert isinstance(await waiting.end(), Unsent)
        health = await second.context.wait_health(HealthState.DOWN)
        assert health.text.startswith("phone, whose phone this is, is not running")
        assert account.link_of("phone") is None
        assert isinstance(await second.driver.submit(segment("No")), Unsent)
        line.phone.doze(is_dozing=False)
        await line.start()
        await second.context.wait_health(HealthState.UP)
        assert account.link_of("phone") not in (None, link)
        assert isinstance(await second.driver.submit(segment("Yes")), Accepted)
        assert sent(line) == [(2, "Yes")]


async def test_the_first_stays_when_the_second_ends(new_pair, autojump_clock):
    async with new_pair() as (line, second):
        second.end()
        await trio.sleep(1)
        told = len(second.context.healths)
        assert isinstance(await line.submit("Still"), Accepted)
        assert isinstance(await second.driver.submit(segment("No")), Unsent)
        assert len(second.context.healths) == told


async def test_a_fault_of_one_carriers_disk_loses_nothing(new_pair, autojump_clock):
    async with new_pair() as (line, second):
        second.context.note_refusals = 2
        outcome = await second.driver.submit(segment("Two"))
        assert isinstance(outcome, Accepted)
        assert isinstance(await line.submit("One"), Accepted)
        assert sent(line) == [(2, "Two"), (1, "One")]
        assert sum(isinstance(each, MessageFetched) for each in line.phone.events) == 2


async def test_states_of_the_others_message_are_taken_by_nobody_else(new_pair, autojump_clock):
    async with new_pair() as (line, second):
        await second.driver.submit(segment("Two"))
        await second.context.wait_receipts(1)
        await trio.sleep(60)
        assert (line.context.receipts, line.context.late) == ([], [])


async def test_with_another_token_it_has_no_phone(new_line, autojump_clock):
    async with new_line(config=SIMS, sim=1) as line:
        await line.up()
        second = await second_of(line, token=SecretStr("another0token0than0that"))
        health = await second.context.wait_health(HealthState.DOWN)
        assert health.text.startswith("The private token is not that of phone, whose phone")
        assert isinstance(await second.driver.submit(segment("No")), Unsent)
        line.stop()
        await second.context.wait_until(lambda it: "not running" in it.healths[-1].text)


@pytest.mark.parametrize("token", [TOKEN, None])
async def test_the_second_needs_no_token(new_line, token, autojump_clock):
    async with new_line(config=SIMS, sim=1, token=token and SecretStr(token)) as line:
        await line.up()
        second = await second_of(line, token=None)
        await second.context.wait_health(HealthState.UP)
        assert isinstance(await second.driver.submit(segment("By the second")), Accepted)
        assert second.context.secrets == {}


def test_all_phones_find_each_other():
    cache, made = AccountCache(), PhoneSettings(token=SecretStr(TOKEN))
    shares = PhoneSettings(shares="phone", sim=2)
    drivers = [cache.build(FACTORY, "x", each) for each in (made, shares)]
    assert drivers[0].shared_account is drivers[1].shared_account


async def test_the_second_has_no_commands_and_no_forms(new_pair, autojump_clock):
    async with new_pair() as (_, second):
        assert second.driver.commands == ()
        with pytest.raises(CommandRefusedError, match="that of phone: ask that carrier"):
            await second.driver.command("forget", [])
        blocks = await second.driver.console_page.show(PlainPageService("en"))
        assert [type(each) for each in blocks if isinstance(each, PageForm)] == []
        assert isinstance(blocks[0], PageHeading)
        assert [row[3] for row in next(b for b in blocks if isinstance(b, PageTable)).rows] == [
            False,
            True,
        ]


async def test_a_phone_that_calls_the_second_is_unknown(new_pair, autojump_clock):
    async with new_pair() as (line, second):
        network = DirectNetwork(second.driver)
        headers = {"Authorization": f"Bearer {line.phone.account['token']}"}
        assert (await network.call("GET", "/message", headers)).status == 401


def test_a_second_sim_is_named():
    with pytest.raises(ValueError, match="names its SIM"):
        PhoneSettings(token=TOKEN, shares="phone")
