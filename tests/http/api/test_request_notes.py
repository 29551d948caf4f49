"""What the API notes of requests for their log, and of which requests."""

from __future__ import annotations

import json

import pytest

from risala.engine.model.commands import Principal
from risala.engine.rules.request_bodies import NOTED_BYTES_MAX, NotedRequest
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
