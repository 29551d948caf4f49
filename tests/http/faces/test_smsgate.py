"""SMSGate's API for other programs over HTTP, by the requests of its clients, with the real engine
behind."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest
from tests.http.faces.face_office import TO, open_office

from risala.drivers.faces.smsgate import RECEIVERS_MAX, SmsgateCompat, SmsgateSettings
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.cause import Cause
from risala.sms.outcome import Refused, Scope

BASE = "/api/3rdparty/v1"
OTHER = "+22226123456"
TEXT = {"textMessage": {"text": "Salam"}}


@pytest.fixture
async def office(tmp_path):
    async with open_office(tmp_path, {"smsgate": SmsgateCompat(SmsgateSettings())}) as opened:
        opened.credentials, opened.password = await opened.credential("smsgate", username="shop")
        opened.who = basic("shop", opened.password)
        yield opened


def basic(name, password):
    word = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"authorization": f"Basic {word}"}


async def ask(office, method, path, body=None, who=None):
    """The status, the JSON, and the header fields of an answer."""
    headers = {**(office.who if who is None else who), "content-type": "application/json"}
    data = body if isinstance(body, str | None) else json.dumps(body)
    answer = await office.client.open(f"{BASE}{path}", method=method, headers=headers, data=data)
    return answer.status_code, json.loads(await answer.get_data()), answer.headers


async def send(office, body=None, path="/messages", **more):
    given = {**TEXT, "phoneNumbers": [TO], **more} if body is None else body
    return await ask(office, "POST", path, given)


def views(office):
    return [office.gateway.show_message(each)[0] for each in office.messages()]


@pytest.mark.parametrize("path", ["/messages", "/message"])
async def test_a_message_is_sent_and_its_state_asked_for(office, autojump_clock, path):
    status, told, headers = await send(
        office, path=path, priority=0, simNumber=1, deviceId="x" * 21
    )
    assert (status, told["state"], told["isHashed"], told["isEncrypted"]) == (
        *(202, "Pending", False, False),
    )
    assert told["recipients"] == [{"phoneNumber": TO, "state": "Pending"}]
    assert headers["location"] == f"{BASE}/messages/{told['id']}"
    (view,) = views(office)
    assert (view.to, view.body, view.sender) == (TO, "Salam", "RISALA")
    assert view.api_key == office.credentials["id"]
    await office.wait_status(view.id, "sent")
    status, later, _ = await ask(office, "GET", f"{path}/{told['id']}")
    assert (status, later["id"], later["state"]) == (200, told["id"], "Sent")
    assert [*later["states"]] == ["Pending", "Sent"]
    assert later["createdAt"] == later["states"]["Pending"]
    by_ours = await ask(office, "GET", f"/messages/{view.id}")
    assert by_ours[1]["recipients"] == later["recipients"]
    assert await office.is_clean()


async def test_the_programs_own_id_is_the_messages(office, autojump_clock):
    status, told, _ = await send(office, id="order-7")
    assert (status, told["id"]) == (202, "order-7")
    again = await send(office, id="order-7")
    assert (again[0], again[1]["createdAt"]) == (202, told["createdAt"])
    assert len(office.messages()) == 1
    status, taken, _ = await send(office, id="order-7", phoneNumbers=[OTHER])
    assert (status, taken["code"]) == (409, 409)
    assert len(office.messages()) == 1


async def test_each_recipient_gets_a_message(office, autojump_clock):
    status, told, _ = await send(office, id="both", phoneNumbers=[TO, "26 12 34 56", TO])
    assert status == 202
    assert [each["phoneNumber"] for each in told["recipients"]] == [TO, OTHER]
    assert [each.to for each in views(office)] == [TO, OTHER]
    for each in views(office):
        await office.wait_status(each.id, "sent")
    _, later, _ = await ask(office, "GET", "/messages/both")
    assert [each["state"] for each in later["recipients"]] == ["Sent", "Sent"]


async def test_a_wrong_number_spoils_the_request_before_anything_is_sent(office, autojump_clock):
    status, told, _ = await send(office, phoneNumbers=[TO, "12345"])
    assert (status, told["code"]) == (400, 400)
    assert office.messages() == []


async def test_a_recipient_who_wants_no_messages_fails_alone(office, autojump_clock):
    whose = {"organization_id": office.organization_id}
    await office.perform("inbound.opt_outs", **whose, heeds=True)
    await office.perform("inbound.opt_out", **whose, number=OTHER)
    status, told, _ = await send(office, id="some", phoneNumbers=[OTHER, TO])
    assert (status, told["state"]) == (202, "Pending")
    first, second = told["recipients"]
    assert (first["state"], second["state"]) == ("Failed", "Pending")
    assert first["error"].endswith(".")
    _, later, _ = await ask(office, "GET", "/messages/some")
    assert [each["phoneNumber"] for each in later["recipients"]] == [TO]
    status, told, _ = await send(office, phoneNumbers=[OTHER])
    assert status == 400


async def test_a_scheduled_message_is_withdrawn(office, autojump_clock):
    later = "2031-01-01T00:00:00Z"
    status, told, _ = await send(office, scheduleAt=later)
    assert status == 400  # too far ahead
    now_ms = office.gateway.services.recorder.clock.now_ms()
    when, until = iso(now_ms, 3600), iso(now_ms, 7200)
    status, told, _ = await send(office, id="late", scheduleAt=when, validUntil=until)
    assert (status, told["state"]) == (202, "Pending")
    (view,) = views(office)
    assert abs(view.send_at - now_ms - 3_600_000) < 1000
    status, told, _ = await ask(office, "DELETE", "/messages/late")
    assert (status, told["state"]) == (200, "Cancelled")
    status, told, _ = await ask(office, "DELETE", "/messages/late")
    assert status == 409


def iso(now_ms, after_s):
    """A moment after now, as programs write it."""
    return datetime.fromtimestamp(now_ms / 1000 + after_s, UTC).isoformat()


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"textMessage": None}, "textMessage"),
        ({"textMessage": {"text": 7}}, "textMessage"),
        ({"dataMessage": {"data": "AAAA", "port": 1}}, "Data messages"),
        ({"mmsMessage": {"text": "x"}}, "MMS"),
        ({"isEncrypted": True}, "encrypted"),
        ({"phoneNumbers": []}, "phoneNumbers"),
        ({"phoneNumbers": [TO] * (RECEIVERS_MAX + 1)}, "phoneNumbers"),
        ({"phoneNumbers": [7]}, "phoneNumbers"),
        ({"ttl": "3600"}, "ttl"),
        ({"ttl": 60, "validUntil": "2026-11-30T08:30:00Z"}, "ttl"),
        ({"validUntil": "soon"}, "validUntil"),
        ({"validUntil": "2020-01-01T00:00:00"}, "validUntil"),
        ({"textMessage": {"text": "\ud800"}}, "text"),
        ({"phoneNumbers": ["\ud800"]}, "number"),
        ({"scheduleAt": 7}, "scheduleAt"),
        ({"id": "a/b"}, "id"),
        ({"id": "x" * 37}, "id"),
    ],
)
async def test_what_cannot_be_sent_is_told_in_a_sentence(office, autojump_clock, more, word):
    status, told, _ = await send(office, **more)
    assert (status, told["code"]) == (400, 400)
    assert word in told["message"]
    assert office.messages() == []


@pytest.mark.parametrize("body", ["", "[]", "{", "[" * 4000])
async def test_a_body_that_is_no_object(office, autojump_clock, body):
    assert (await ask(office, "POST", "/messages", body))[0] == 400


async def test_the_older_name_of_the_text(office, autojump_clock):
    status, _, _ = await send(office, {"message": "Bonjour", "phoneNumbers": [TO]})
    assert status == 202
    assert views(office)[0].body == "Bonjour"


@pytest.mark.parametrize(("ttl", "kept_s"), [(5, 60), (3600, 3600), (10**9, 259_200)])
async def test_how_long_it_is_tried(office, autojump_clock, ttl, kept_s):
    await send(office, ttl=ttl)
    reader = office.gateway.services.repositories._store.reader
    ((kept_ms,),) = reader.execute(
        "SELECT valid_until - coalesce(created_at, key >> 15) FROM message"
    )
    assert kept_ms // 1000 == kept_s


async def test_who_is_not_known_is_told_how_to_sign_in(office, autojump_clock):
    for who in (
        {},
        {"authorization": "Bearer x"},
        {"authorization": "Basic !"},
        basic("shop", "x"),
    ):
        status, told, headers = await ask(office, "GET", "/messages/x", who=who)
        assert (status, told["code"]) == (401, 401)
        assert headers["www-authenticate"].startswith("Basic ")


async def test_what_is_not_there(office, autojump_clock):
    assert (await ask(office, "GET", "/messages/nothing"))[0] == 404
    status, told, _ = await ask(office, "GET", "/webhooks")
    assert status == 404
    assert "webhook" in told["message"]
    status, _, headers = await ask(office, "GET", "/messages")
    assert (status, headers["allow"]) == (405, "POST")
    _, word = await office.credential("smsgate", mode="test", username="other")
    await send(office, id="mine")
    assert (await ask(office, "GET", "/messages/mine", who=basic("other", word)))[0] == 404


async def test_a_message_that_failed_says_why(tmp_path, autojump_clock):
    driver = FakeDriver()
    driver.answers = [Refused(Scope.FINAL, "ESME_RINVDSTADR", cause=Cause.UNKNOWN_NUMBER)]
    faces = {"smsgate": SmsgateCompat(SmsgateSettings())}
    async with open_office(tmp_path, faces, driver=driver) as office:
        _, password = await office.credential("smsgate", username="shop")
        office.who = basic("shop", password)
        _, told, _ = await send(office)
        await office.wait_status(views(office)[0].id, "failed")
        _, later, _ = await ask(office, "GET", f"/messages/{told['id']}")
        assert later["state"] == "Failed"
        assert later["recipients"][0]["error"].endswith(".")
