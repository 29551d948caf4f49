"""What SMSGate's public server is asked by its own end-to-end tests, asked of this one.

Read in android-sms-gateway/server at commit 22074dda: ``test/e2e``, and ``api/mobile.http``, which
has the requests of the phone. Each request here goes through the service's own handling. Most of
those tests are about the API for people who send; what they want of a message, a webhook or a
priority there, this service must write into what the phone fetches.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
import trio
import trio.testing
from pydantic import SecretStr

from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.settings import PhoneSettings
from risala.plugins.contract import Accepted, Cause, HealthState, ReceiptState, Refused, Scope
from risala.plugins.testing.called import CarrierCallback, DriverAddress, open_address
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

TOKEN = "private0token0of0the0phone"
NAMELESS = b'{"name": "Some phone", "pushToken": "pushed"}'
"""A registration as those tests make it: without SIMs, with a token for pushes."""
PRIORITIES = range(-128, 128)
BATCHES = ("sms:batch:received", "sms:batch:data-received", "mms:batch:received")
OWN_CALLS = [
    ("GET", "/device", b"", 200),
    ("PATCH", "/device", b'{"id": "x", "name": "Some phone"}', 204),
    ("GET", "/message", b"", 200),
    ("GET", "/message?order=lifo", b"", 200),
    ("PATCH", "/message", b"[]", 204),
    ("GET", "/webhooks", b"", 200),
    ("GET", "/settings", b"", 200),
    ("GET", "/events", b"", 200),
]


@dataclass
class Called:
    """A driver that runs, and its address."""

    driver: PhoneDriver
    context: RecordingContext
    address: DriverAddress
    nursery: trio.Nursery
    token: str = ""

    async def ask(self, method, path, body=b"", *, token=None, **headers):
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        call = CarrierCallback(f"/mobile/v1{path}", body, headers, method)
        return await self.address.call(call)

    async def own(self, method, path, body=b""):
        return await self.ask(method, path, body, token=self.token)

    async def register(self, body=NAMELESS):
        answer = await self.ask("POST", "/device", body, token=TOKEN)
        assert answer.status == 201
        given = json.loads(answer.body)
        self.token = given["token"]
        return given

    async def listed(self, **changes):
        """What the phone fetches of a message that is to be sent; and its outcome, later."""
        outcomes = []

        async def submit() -> None:
            outcomes.append(await self.driver.submit(segment("Hello", **changes)))

        await self.own("GET", "/message")
        await self.context.wait_health(HealthState.UP)
        self.nursery.start_soon(submit)
        await trio.testing.wait_all_tasks_blocked()
        [message] = json.loads((await self.own("GET", "/message")).body)
        return message, outcomes

    async def report(self, message_id, state, **states):
        people = [{"phoneNumber": "+22244556677", "state": state}]
        told = {"id": message_id, "state": state, "recipients": people, "states": states}
        answer = await self.own("PATCH", "/message", json.dumps([told]).encode())
        await trio.testing.wait_all_tasks_blocked()
        return answer.status


@pytest.fixture
async def called():
    driver = PhoneDriver("phone", PhoneSettings(token=SecretStr(TOKEN)))
    context = RecordingContext("phone")
    async with open_address(driver, "phone") as address, trio.open_nursery() as nursery:
        await nursery.start(driver.run, context)
        yield Called(driver, context, address, nursery)
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def unchanged(called):
    before = dict(called.context.notes)
    yield
    assert called.context.notes == before


# -- registering (mobile_test) ---------------------------------------------------------------------


async def test_a_phone_registers_with_the_private_token(called):
    given = await called.register()
    assert given["id"]
    assert given["token"]
    assert {"login", "password"} <= set(given)


@pytest.mark.parametrize("token", [None, "987654321"])
async def test_without_the_private_token_none_registers(called, token):
    async with unchanged(called):
        assert (await called.ask("POST", "/device", NAMELESS, token=token)).status == 401


@pytest.mark.parametrize("pair", ["YTox", "TE9HSU46cGFzc3dvcmQ="])
async def test_a_user_and_a_password_register_no_phone(called, pair):
    """Their public server has users; a private one knows the token alone."""
    async with unchanged(called):
        answer = await called.ask("POST", "/device", NAMELESS, authorization=f"Basic {pair}")
        assert answer.status == 401


async def test_a_second_phone_registers_too(called):
    first = await called.register()
    await called.own("GET", "/message")
    second = await called.register()
    assert first["id"] != second["id"]
    assert first["token"] != second["token"]


@pytest.mark.parametrize("token", ["123456789", TOKEN])
async def test_a_password_is_changed_by_nobody_unknown(called, token):
    await called.register()
    body = b'{"currentPassword": "one-of-mine", "newPassword": "another-one"}'
    async with unchanged(called):
        assert (await called.ask("PATCH", "/user/password", body, token=token)).status == 401


async def test_a_phone_has_no_password_here(called):
    """Theirs changes a user's; here are no users, and the phone is told so."""
    await called.register()
    await called.own("GET", "/message")
    body = b'{"currentPassword": "one-of-mine", "newPassword": "another-one"}'
    async with unchanged(called):
        answer = await called.own("PATCH", "/user/password", body)
    assert answer.status == 404
    assert json.loads(answer.body)["message"]


# -- the phone's other requests (mobile.http) ------------------------------------------------------


@pytest.mark.parametrize(("method", "path", "body", "status"), OWN_CALLS)
async def test_a_registered_phone_is_answered(called, method, path, body, status):
    await called.register()
    answer = await called.own(method, path, body)
    assert answer.status == status
    if status == 204:
        assert answer.body == b""
    elif path != "/events":
        json.loads(answer.body)


@pytest.mark.parametrize(("method", "path", "body", "status"), OWN_CALLS)
@pytest.mark.parametrize("token", [None, "invalid", TOKEN])
async def test_nobody_else_is(called, token, method, path, body, status):
    await called.register()
    async with unchanged(called):
        assert (await called.ask(method, path, body, token=token)).status == 401


# -- messages and states (messages_test, mobile.http) ----------------------------------------------


async def test_without_messages_the_list_is_empty(called):
    await called.register()
    answer = await called.own("GET", "/message")
    assert json.loads(answer.body) == []


async def test_a_message_has_what_is_wanted_of_one(called):
    await called.register()
    message, _ = await called.listed()
    assert message["id"]
    assert message["state"] == "Pending"
    assert message["isEncrypted"] is False
    assert message["textMessage"] == {"text": "Hello"}
    assert len(message["phoneNumbers"]) == len({*message["phoneNumbers"]}) == 1


async def test_an_id_is_one_message(called):
    await called.register()
    first, _ = await called.listed(message_id="msg_1")
    called.nursery.start_soon(called.driver.submit, segment("Hello", message_id="msg_2"))
    await trio.testing.wait_all_tasks_blocked()
    listed = json.loads((await called.own("GET", "/message")).body)
    ids = [each["id"] for each in listed]
    assert len(ids) == len({*ids}) == 2
    assert ids[0] == first["id"]  # fetched again under the same id, not made anew


@pytest.mark.parametrize("state", ["Sent", "Delivered"])
async def test_a_state_is_taken(called, state):
    await called.register()
    message, outcomes = await called.listed()
    assert await called.report(message["id"], "Processed") == 204
    assert outcomes == []
    assert await called.report(message["id"], state) == 204
    assert isinstance(outcomes[0], Accepted)
    delivered = [each.state for each in called.context.receipts]
    assert delivered == ([ReceiptState.DELIVERED] if state == "Delivered" else [])


async def test_a_failure_without_a_reason_is_taken(called):
    await called.register()
    message, outcomes = await called.listed()
    at = "2026-05-13T16:49:17.357+07:00"
    assert await called.report(message["id"], "Failed", Processed=at, Failed=at) == 204
    [refused] = outcomes
    assert isinstance(refused, Refused)
    assert (refused.scope, refused.cause) == (Scope.NOW, Cause.DEVICE_FAULT)


async def test_a_state_of_an_unknown_message_is_taken_and_changes_nothing(called):
    await called.register()
    await called.own("GET", "/message")
    async with unchanged(called):
        assert await called.report("NBjsgnVp72pvcdonJm7a5", "Failed") == 204


async def test_a_state_that_does_not_exist_is_refused_with_a_reason(called):
    await called.register()
    body = b'[{"id": "x", "state": "InvalidState", "recipients": []}]'
    answer = await called.own("PATCH", "/message", body)
    assert answer.status == 400
    assert json.loads(answer.body)["message"]


# -- priority (priority_test) ----------------------------------------------------------------------


async def test_an_urgent_message_has_a_priority_that_is_one(called):
    await called.register()
    message, _ = await called.listed(urgent=True)
    assert 0 < message["priority"] in PRIORITIES


async def test_any_other_has_the_default(called):
    await called.register()
    message, _ = await called.listed()
    assert "priority" not in message


# -- webhooks (webhooks_test) ----------------------------------------------------------------------


async def test_webhooks_have_an_id_a_url_and_an_event(called):
    await called.register()
    answer = await called.own("GET", "/webhooks")
    webhooks = json.loads(answer.body)
    assert "sms:received" in {each["event"] for each in webhooks}
    assert len({each["id"] for each in webhooks}) == len(webhooks)
    for each in webhooks:
        assert each["id"]
        assert each["url"].endswith("/inbound")
        assert each["event"] not in BATCHES  # a text comes by itself, and is answered by itself
