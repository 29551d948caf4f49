"""What the API notes of requests for their log, and of which requests."""

from __future__ import annotations

import json

import pytest

from risala.engine.features.request_log.rules import asked_text
from risala.engine.model.commands import NOTED_BYTES_MAX, NotedRequest, Principal
from risala.http.api.app import create_api


class Notes:
    """Keeps everything, while it has room."""

    def __init__(self) -> None:
        self.noted: list[NotedRequest] = []
        self.dropped = 0
        self.full = False

    def has_room(self, principal: Principal) -> bool:
        self.dropped += self.full
        return not self.full

    def note(self, request: NotedRequest) -> None:
        self.noted.append(request)


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def client(gateway, settings, notes):
    return create_api(gateway, settings, notes=notes).test_client()


SMS = {"to": "+22236123456", "body": "hello"}


async def test_a_request_is_noted_with_its_answer(client, headers, notes):
    answer = await client.post("/api/sms", json=SMS, headers=headers)
    (noted,) = notes.noted
    assert (noted.method, noted.path, noted.status) == ("POST", "/api/sms", 200)
    assert noted.request_id == answer.headers["x-request-id"]
    assert noted.principal.key_id == "key_1"
    assert json.loads(noted.asked) == SMS
    assert noted.answered == await answer.get_data()
    assert noted.took_s >= 0


async def test_a_refused_request_is_noted_too(client, headers, notes, keys):
    await client.post("/api/sms", json={**SMS, "to": "no"}, headers=headers)
    await client.post("/api/sms", data=b"x", headers={"x-api-key": keys["secret"]})
    await client.post("/api/sms", json=SMS, headers={"x-api-key": keys["publishable"]})
    assert [(each.status, each.asked is None) for each in notes.noted] == [
        (400, False),
        (415, True),
        (403, True),
    ]


async def test_who_has_no_valid_key_is_not_noted(client, notes, keys):
    for key in ("", "sk_live_unknown", keys["suspended"]):
        await client.post("/api/sms", json=SMS, headers={"x-api-key": key})
    await client.get("/healthz")
    assert notes.noted == []


async def test_of_a_long_body_the_length_is_noted(client, headers, notes):
    body = json.dumps({"messages": [{**SMS, "body": "x" * 1600}] * 10}).encode()
    assert len(body) > NOTED_BYTES_MAX
    await client.post("/api/sms/batch", data=body, headers=headers)
    (noted,) = notes.noted
    assert noted.asked == len(body)


async def test_where_there_is_no_room_nothing_is_noted(client, headers, notes):
    notes.full = True
    answer = await client.post("/api/sms", json=SMS, headers=headers)
    assert answer.status_code == 200
    assert (notes.noted, notes.dropped) == ([], 1)


async def test_a_visitors_address_is_not_noted(client, headers, notes, keys):
    for key in (keys["secret"], keys["publishable"]):
        await client.post(
            "/api/verify/send",
            json={"to": SMS["to"]},
            headers={**headers, "x-api-key": key},
            scope_base={"client": ("203.0.113.7", 4711)},
        )
    assert [each.address for each in notes.noted] == ["203.0.113.7", None]


TYPED = {"to": "+22236123456", "text": "hello", "sendat": "2026-11-21T08:30:00Z"}


async def test_members_that_nobody_reads_are_named(client, headers, notes):
    answer = await client.post("/api/sms", json={**SMS, **TYPED}, headers=headers)
    assert answer.headers["x-unknown-members"] == "text, sendat"
    assert notes.noted[0].unknown == ("text", "sendat")
    assert json.loads(asked_text(notes.noted[0].asked, notes.noted[0].unknown))["‹?›"] == [
        "text",
        "sendat",
    ]
    answer = await client.post("/api/sms", json=SMS, headers=headers)
    assert "x-unknown-members" not in answer.headers, "those of the request before"


async def test_at_most_ten_are_named_and_none_that_may_be_a_value(client, headers, keys):
    strange = {"+22236999999": 1, "a b": 1, "clé": 1, keys["secret"]: 1, "x" * 41: 1}
    names = {f"n{at}": 1 for at in range(12)}
    answer = await client.post("/api/sms", json={**SMS, **strange, **names}, headers=headers)
    named = answer.headers["x-unknown-members"].split(", ")
    assert named == [*[*names][:10], f"+{len(strange) + 2}"]


async def test_nothing_is_named_before_the_key_is_accepted(client, keys):
    for key in ("", "sk_live_unknown", keys["suspended"]):
        answer = await client.post("/api/sms", json=TYPED, headers={"x-api-key": key})
        assert "x-unknown-members" not in answer.headers


async def test_those_of_a_batch_are_named_once(client, headers):
    batch = {"messages": [{**SMS, "text": "a"}, {**SMS, "text": "b"}, TYPED], "dryRun": True}
    answer = await client.post("/api/sms/batch", json=batch, headers=headers)
    assert answer.headers["x-unknown-members"].split(", ") == ["text", "sendat", "dryRun"]


@pytest.mark.parametrize(
    ("path", "body", "missing", "given"),
    [
        ("/api/sms", TYPED, "body", "text"),
        ("/api/sms", {"to": "+22236123456", "message": "m"}, "body", "message"),
        ("/api/sms", {"phone": "+22236123456", "body": "m"}, "to", "phone"),
        ("/api/sms", {"phone_number": "+22236123456", "body": "m"}, "to", "phone_number"),
        ("/api/sms", {"To": "+22236123456", "body": "m"}, "to", "To"),
        ("/api/sms/get", {"message_id": "sms_1"}, "messageId", "message_id"),
        ("/api/sms/get", {"id": "sms_1"}, "messageId", "id"),
        ("/api/verify/check", {"verificationId": "ver_1", "otp": "1"}, "code", "otp"),
    ],
)
async def test_a_missing_member_is_told_with_the_one_that_was_given(
    client, headers, path, body, missing, given
):
    answer = await client.post(path, json=body, headers=headers)
    issues = (await answer.get_json())["data"]["issues"]
    (issue,) = [each for each in issues if each["path"] == [missing]]
    assert issue["code"] == "required"
    assert f"`{given}` instead" in issue["message"]


async def test_a_value_is_never_taken_for_a_name(client, headers, keys):
    answer = await client.post("/api/sms", json={keys["secret"]: "text"}, headers=headers)
    assert keys["secret"] not in str(answer.headers) + await answer.get_data(as_text=True)
