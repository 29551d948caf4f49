"""An Android phone as a carrier: the simulated app calls a real socket, the real engine answers."""

from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio
from pydantic import SecretStr
from tests.http.faces.face_office import TO, open_office

from patience import HANG_S
from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.settings import PhoneSettings
from risala.engine.model.clock import TrioClock
from risala.http.faces.carriers import mount
from risala.http.faces.paths import PathMounting
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.lab.phone.events import PhoneRegistered, StreamChanged, TextSent, TextUploaded
from risala.lab.phone.phone import PhoneConfig
from risala.lab.phone.simulator import PhoneSimulator

TOKEN = "private0token0of0the0phone"


@asynccontextmanager
async def open_phone(directory):
    clock = TrioClock()  # as the office has it
    driver = PhoneDriver("fake", PhoneSettings(token=SecretStr(TOKEN)), now_ms=clock.now_ms)
    sock = listen_tcp("127.0.0.1", 0)
    http = {"public_url": base_url(sock)}
    async with open_office(directory, {}, driver=driver, http=http) as office:
        stop = trio.Event()
        mount(PathMounting(office.app, office.gateway, office.settings, {}, "", stop))
        serve = partial(serve_app, http=office.settings.http, sock=sock, shutdown=stop)
        url = f"{base_url(sock)}/carriers/fake/mobile/v1"
        config = PhoneConfig(url, TOKEN, sent_after_s=0, delivered_after_s=0, retry_s=0.01)
        phone = PhoneSimulator(config, now_ms=clock.now_ms)
        async with trio.open_nursery() as nursery:
            await nursery.start(serve, office.app)
            nursery.start_soon(phone.run)
            with trio.fail_after(HANG_S):
                await phone.wait_ready()
                yield office, phone
            phone.kill()
            nursery.cancel_scope.cancel()


@pytest.fixture
async def phone_office(tmp_path):
    async with open_phone(tmp_path) as opened:
        yield opened


async def test_a_message_goes_out_by_a_phone_and_is_delivered(phone_office):
    office, phone = phone_office
    sent = await office.perform("send", organization_id=office.organization_id, to=TO, body="Hello")
    assert (await phone.wait(TextSent)).text == "Hello"
    await office.wait_status(sent["messageId"], "delivered")


async def test_what_a_phone_has_not_fetched_waits_and_may_be_canceled(phone_office):
    office, phone = phone_office
    phone.doze(is_dozing=True)
    sent = await office.perform("send", organization_id=office.organization_id, to=TO, body="No")
    about = {"message_id": sent["messageId"]}
    wait = {}
    while wait.get("wait") != "unfetched":
        await trio.sleep(0.01)
        wait = (await office.perform("message.show", **about))["timeline"][-1]["values"] or {}
    assert wait == {"wait": "unfetched", "carrier": "fake"}
    await office.perform("message.cancel", **about)
    phone.doze(is_dozing=False)
    sent = await office.perform("send", organization_id=office.organization_id, to=TO, body="Yes")
    assert (await phone.wait(TextSent)).text == "Yes"


async def test_an_operators_own_text_goes_out_by_a_phone(phone_office):
    office, phone = phone_office
    answer = await office.perform("carriers.text", carrier="fake", number=TO, text="Own")
    assert answer["outcome"] == "accepted"
    assert (await phone.wait(TextSent)).text == "Own"


async def test_what_a_phone_receives_comes_in(phone_office):
    office, phone = phone_office
    phone.receive("+22244556677", "Bonjour")
    assert (await phone.wait(TextUploaded)).tries == 1
    reader = office.gateway.services.repositories._store.reader
    assert reader.execute("SELECT count(*) FROM inbound").fetchone()[0] == 1


async def test_a_phone_that_is_restarted_is_the_same_one(phone_office):
    office, phone = phone_office
    phone.restart()
    del phone.events[:]
    await phone.wait(StreamChanged, lambda it: it.is_open)
    assert not [each for each in phone.events if isinstance(each, PhoneRegistered)]
    sent = await office.perform("send", organization_id=office.organization_id, to=TO, body="Again")
    await office.wait_status(sent["messageId"], "delivered")
