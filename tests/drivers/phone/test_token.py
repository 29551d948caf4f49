"""The private token: of the settings, or made by the driver and kept sealed."""

from __future__ import annotations

import re

import pytest
import trio
from pydantic import SecretStr
from tests.drivers.phone.conftest import TOKEN

from phone_calls import DirectNetwork
from risala.drivers.phone.devices import TYPED_CHARACTERS, TYPED_LENGTH
from risala.drivers.phone.driver import AGAIN_S, PhoneDriver
from risala.drivers.phone.settings import PhoneSettings
from risala.lab.phone.events import PhoneRefused, PhoneRegistered, TextUploaded
from risala.plugins.contract import Accepted, HealthState
from risala.plugins.page import PageForm
from risala.plugins.testing.context import RecordingContext
from risala.plugins.testing.drivers.manners import PlainPageService

WELL_MADE = re.compile(f"[{TYPED_CHARACTERS}]{{{TYPED_LENGTH}}}")
REGISTRATION = b'{"name": "samsung/a14", "simCards": []}'


@pytest.fixture
async def started(autojump_clock):
    """Starts a driver without a token in its settings, over the same notes each time."""
    async with trio.open_nursery() as nursery:

        async def start(context) -> PhoneDriver:
            driver = PhoneDriver("phone", PhoneSettings())
            await nursery.start(driver.run, context)
            return driver

        yield start
        nursery.cancel_scope.cancel()


async def token_of(driver) -> str:
    return (await driver.command("token", []))["token"]


async def test_it_is_made_once_and_kept_sealed(started, autojump_clock):
    context = RecordingContext("phone")
    token = await token_of(await started(context))
    assert WELL_MADE.fullmatch(token)
    assert PhoneSettings(token=token).token == SecretStr(token), "the settings take it too"
    assert context.secrets["private_token"] == token
    assert await token_of(await started(context)) == token
    assert await token_of(await started(RecordingContext("phone"))) != token


async def test_no_line_and_no_note_has_it(started, autojump_clock):
    context = RecordingContext("phone")
    token = await token_of(await started(context))
    told = [context.notes, context.healths, context.traces]
    assert token not in repr(told)


async def test_that_of_the_settings_counts_and_nothing_is_made(line, autojump_clock):
    assert await token_of(line.driver) == TOKEN
    assert line.context.secrets == {}


async def test_a_disk_that_is_full_is_told_and_tried_again(started, autojump_clock):
    context = RecordingContext("phone")
    context.note_refusals = 2
    driver = await started(context)
    health = await context.wait_health(HealthState.DOWN)
    assert health.text.startswith("The private token could not be written")
    assert (await DirectNetwork(driver).call("GET", "/device", {})).status == 401
    before_s = trio.current_time()
    assert WELL_MADE.fullmatch(await token_of(driver))
    assert trio.current_time() - before_s == pytest.approx(2 * AGAIN_S, abs=1)
    await context.wait_health(HealthState.SICK)


async def test_a_secret_that_is_lost_is_made_again_and_the_phone_stays(new_line, autojump_clock):
    async with new_line(token=None) as line:
        await line.up()
        notes, phone, before = dict(line.context.notes), line.phone, dict(line.context.secrets)
    async with new_line(token=None, notes=notes, phone=phone) as again:
        await again.up()
        assert again.context.secrets["proof_key"] != before["proof_key"]
        assert isinstance(await again.submit(), Accepted)
        phone.receive("+22244556677", "Bonjour")
        await phone.wait(TextUploaded)
        assert sum(isinstance(each, PhoneRegistered) for each in phone.events) == 1


async def test_what_was_sent_before_is_known_after_another_token(new_line, autojump_clock):
    """Its ids are made from the other secret, which stays."""
    async with new_line(token=None) as line:
        await line.up()
        ids = line.driver._line.ids
        await line.driver.command("forget", [])
        assert line.driver._line.ids._key == ids._key


# -- forgetting ---------------------------------------------------------------------------------


async def test_a_phone_that_is_forgotten_cannot_register_again(new_line, autojump_clock):
    async with new_line(token=None) as line:
        await line.up()
        await line.driver.command("forget", [])
        line.phone.restart()
        await line.phone.wait(PhoneRefused, lambda it: it.call == "POST /device")
        await line.context.wait_until(lambda it: "another private token" in it.healths[-1].text)
        assert line.context.healths[-1].state is HealthState.SICK
        line.phone.config.token = await token_of(line.driver)
        line.phone.restart()
        await line.context.wait_health(HealthState.UP)
        blocks = await line.driver.console_page.show(PlainPageService("en"))
        assert [each.text for each in blocks if isinstance(each, PageForm)][-1] == ""


async def test_a_registration_that_is_under_way_does_not_outlive_it(new_line, autojump_clock):
    async with new_line(token=None) as line:
        await line.up()
        book = line.driver._link.book
        token = await token_of(line.driver)
        await book._lock.acquire()
        headers = {"Authorization": f"Bearer {token}"}
        answers = []

        async def register() -> None:
            call = await line.network.call("POST", "/device", headers, REGISTRATION)
            answers.append(call.status)

        line.nursery.start_soon(register)
        await trio.testing.wait_all_tasks_blocked()
        book.private_token = "another0token0than0that"  # as forgetting it leaves it
        book._lock.release()
        await trio.testing.wait_all_tasks_blocked()
        assert answers == [401]
        assert book.candidate is None
