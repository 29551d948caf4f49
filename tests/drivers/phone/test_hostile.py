"""Who is not the carrier's phone gets nothing, and changes nothing."""

from __future__ import annotations

import hmac
import json
import time
from contextlib import asynccontextmanager
from hashlib import sha256

import pytest
import trio
from pydantic import SecretStr

from phone_calls import OWN_URL
from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.messages import PhoneIds
from risala.drivers.phone.settings import PhoneSettings
from risala.plugins.contract import Accepted
from risala.plugins.testing.conformance import segment

TOKEN = "private0token0of0the0phone"
CALLS = [
    ("GET", "/device"),
    ("PATCH", "/device"),
    ("GET", "/message"),
    ("PATCH", "/message"),
    ("GET", "/events"),
    ("GET", "/webhooks"),
    ("GET", "/settings"),
    ("POST", "/device"),
    ("GET", "/nothing"),
]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def own(line) -> dict[str, str]:
    return bearer(line.phone.account["token"])


def report(message_id: str, state: str = "Delivered", **more) -> bytes:
    people = [{"phoneNumber": "+22244556677", "state": state, "error": None}]
    told = {"id": message_id, "state": state, "recipients": people, "states": {}, **more}
    return json.dumps([told]).encode()


def stored(line) -> tuple:
    it = line.context
    return (len(it.receipts), len(it.inbounds), len(it.late), dict(it.notes))


@asynccontextmanager
async def unchanged(line):
    before = stored(line)
    yield
    await trio.sleep(5)
    assert stored(line) == before


@pytest.mark.parametrize(("method", "path"), CALLS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer(""),
        bearer("wrong"),
        bearer("é"),
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        bearer(TOKEN + "x"),
    ],
)
async def test_without_a_token_nothing_is_done(line, method, path, headers, autojump_clock):
    async with unchanged(line):
        answer = await line.network.call(method, path, headers, report("x"))
        assert answer.status == 401


@pytest.mark.parametrize(("method", "path"), [each for each in CALLS if each[0] != "POST"])
async def test_the_private_token_only_registers(line, method, path, autojump_clock):
    async with unchanged(line):
        answer = await line.network.call(method, path, bearer(TOKEN), b"[]")
        assert answer.status == 401


async def test_another_carriers_phone_is_unknown(line, new_line, autojump_clock):
    async with new_line() as other:
        await other.up()
        async with unchanged(line):
            answer = await line.network.call("GET", "/message", own(other))
            assert answer.status == 401


@pytest.mark.parametrize(
    "message_id",
    ["", "x", "msg_1.1.1.000000000000", "..", "msg_1.1.1.é", "a" * 5000, "msg_1.x.y.0"],
)
async def test_states_of_foreign_ids_are_not_stored(line, message_id, autojump_clock):
    async with unchanged(line):
        answer = await line.network.call("PATCH", "/message", own(line), report(message_id))
        assert answer.status == 204


async def test_states_of_another_carriers_message_are_not_stored(line, autojump_clock):
    theirs = PhoneIds(TOKEN, "another").of(segment())
    async with unchanged(line):
        await line.network.call("PATCH", "/message", own(line), report(theirs))


async def test_states_of_a_message_that_the_phone_was_not_given(line, autojump_clock):
    line.phone.doze(is_dozing=True)
    submitting = line.begin()
    await trio.sleep(1)
    its_id = PhoneIds(TOKEN, "phone").of(submitting.segment)
    async with unchanged(line):
        await line.network.call("PATCH", "/message", own(line), report(its_id))
        assert submitting.outcome is None


async def test_states_that_are_replayed_are_not_stored_again(line, autojump_clock):
    outcome = await line.submit()
    await line.context.wait_receipts(1)
    async with unchanged(line):
        for state in ("Delivered", "Sent", "Failed", "Pending", "Cancelled"):
            told = report(outcome.carrier_id, state)
            answer = await line.network.call("PATCH", "/message", own(line), told)
            assert answer.status == 204


async def test_replays_after_a_restart_are_stored_once(new_line, autojump_clock):
    async with new_line() as line:
        await line.up()
        outcome = await line.submit()
        await line.context.wait_receipts(1)
        notes, phone = dict(line.context.notes), line.phone
    async with new_line(notes=notes, phone=phone) as again:
        for _ in range(3):
            await again.network.call("PATCH", "/message", own(again), report(outcome.carrier_id))
        assert len(again.context.receipts) == 1


async def test_a_phone_that_waits_for_the_operator_changes_nothing(line, autojump_clock):
    submitting = line.begin()
    other = await line.another_phone()
    await other.wait_ready()
    outcome = await submitting.end()
    assert isinstance(outcome, Accepted)
    await line.context.wait_receipts(1)
    token = bearer(other.account["token"])
    async with unchanged(line):
        await line.network.call("PATCH", "/message", token, report(outcome.carrier_id, "Failed"))
        answer = await line.network.call("GET", "/message", token)
        assert json.loads(answer.body) == []


async def test_a_phone_that_was_replaced_is_unknown(line, autojump_clock):
    before = own(line)
    await line.another_phone()
    await line.context.wait_until(lambda _: "Another phone" in line.attention)
    line.phone.kill()
    await line.driver.command("replace", [])
    answer = await line.network.call("GET", "/message", before)
    assert answer.status == 401


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{}",
        b"[1]",
        b"null",
        b"[" * 9000,
        b'[{"id": 1}]',
        b'[{"id": "x", "state": "Flying"}]',
        b'[{"id": "x", "state": "Sent", "recipients": 7}]',
        b'[{"id": "x", "state": "Sent", "states": {"Gone": "now"}}]',
        json.dumps([{"id": "x", "state": "Sent"}] * 201).encode(),
        b"\xff\xfe",
    ],
)
async def test_strange_words_are_refused(line, body, autojump_clock):
    async with unchanged(line):
        answer = await line.network.call("PATCH", "/message", own(line), body)
        assert answer.status in (400, 204)
        assert answer.status == 400 or body == b"[]"


async def test_a_registration_of_strange_words_is_none(new_line, autojump_clock):
    async with new_line() as line:
        line.phone.kill()
        await trio.sleep(1)
        for body in (b"[]", b'{"simCards": 3}', b'{"name": 3}', b'{"simCards": [{}]}'):
            answer = await line.network.call("POST", "/device", bearer(TOKEN), body)
            assert answer.status == 400


# -- webhooks ------------------------------------------------------------------------------------


def text_of(sender="+22244556677", **more) -> bytes:
    payload = {"messageId": "in1", "sender": sender, "message": "Yes", "simNumber": 1, **more}
    told = {"id": "event-1", "event": "sms:received", "deviceId": "x", "payload": payload}
    return json.dumps(told).encode()


def signed(key: str, body: bytes, *, off_s: int = 0) -> dict[str, str]:
    stamp = str(int(time.time()) + off_s)
    signature = hmac.new(key.encode(), body + stamp.encode(), sha256).hexdigest()
    return {"X-Signature": signature, "X-Timestamp": stamp}


def key_of(line) -> str:
    return line.phone.settings["webhooks"]["signing_key"]


async def bring(line, body: bytes, headers: dict[str, str]) -> int:
    return (await line.network.call("POST", f"{OWN_URL}/inbound", headers, body)).status


async def test_a_signed_text_is_taken(line, autojump_clock):
    body = text_of()
    assert await bring(line, body, signed(key_of(line), body)) == 200
    assert [each.text for each in line.context.inbounds] == ["Yes"]


async def test_a_text_that_is_not_signed_is_not_stored(line, autojump_clock):
    body, key = text_of(), key_of(line)
    good = signed(key, body)
    async with unchanged(line):
        for headers in (
            {},
            own(line),
            bearer(TOKEN),
            signed("another", body),
            signed(TOKEN, body),
            {**good, "X-Timestamp": str(int(good["X-Timestamp"]) + 1)},
            {**good, "X-Timestamp": "é"},
            {**good, "X-Timestamp": "9" * 40},
            {**good, "X-Signature": "é"},
            signed(key, body, off_s=-4000),
            signed(key, body, off_s=4000),
        ):
            assert await bring(line, body, headers) == 401
        assert await bring(line, text_of(sender="+22200000000"), good) == 401


async def test_a_text_of_a_phone_that_was_replaced_is_not_stored(line, autojump_clock):
    key, body = key_of(line), text_of()
    await line.another_phone()
    await line.context.wait_until(lambda _: "Another phone" in line.attention)
    line.phone.kill()
    await line.driver.command("replace", [])
    await trio.sleep(10)  # until the other one has called
    async with unchanged(line):
        assert await bring(line, body, signed(key, body)) == 401


async def test_a_body_that_is_too_large_is_not_read(line, autojump_clock):
    body = text_of(message="x" * 65_537)
    async with unchanged(line):
        assert await bring(line, body, signed(key_of(line), body)) == 401


async def test_a_driver_that_does_not_run_answers_nothing():
    driver = PhoneDriver("phone", PhoneSettings(token=SecretStr(TOKEN)))
    answer = await driver.answer(None)
    assert answer.status == 503
