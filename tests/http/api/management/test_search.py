"""``POST /api/search``: what programs with a secret key find of their organization."""

import json

import pytest
import trio

from risala.engine.features.request_log.rules import asked_text

TO = "+22236123456"


async def test_a_message_is_found_with_its_page(bureau, autojump_clock):
    sent = await bureau.ask("/api/sms", {"to": TO, "body": "Hello", "idempotencyKey": "order-77"})
    await trio.sleep(1)
    for query in ("3456", "hello", "order-77", sent["messageId"], sent["messageId"][-8:]):
        (one,) = (await bureau.ask("/api/search", {"query": query}))["items"]
        assert one == {
            "kind": "message",
            "id": sent["messageId"],
            "title": TO,
            "at": one["at"],
            "url": f"/app/{bureau.organization_id}/messages/{sent['messageId']}",
        }


async def test_a_key_finds_what_is_its_own(bureau, autojump_clock):
    await bureau.ask("/api/sms", {"to": TO, "body": "Hello"})
    for key in ("other_sk_live", "sk_test"):
        assert await bureau.ask("/api/search", {"query": "3456"}, key=key) == {"items": []}


@pytest.mark.parametrize("query", ["", "  ", "x" * 101, None, 7])
async def test_words_have_a_length(bureau, autojump_clock, query):
    answer = await bureau.post("/api/search", {"query": query})
    assert answer.status_code == 400


async def test_a_publishable_key_searches_nothing(bureau, autojump_clock):
    answer = await bureau.post("/api/search", {"query": "3456"}, key="pk_live")
    assert answer.status_code == 403


async def test_a_key_that_searches_without_end_is_told_when(bureau, autojump_clock):
    for _ in range(120):
        await bureau.ask("/api/search", {"query": "3456"})
    answer = await bureau.post("/api/search", {"query": "3456"})
    told = await answer.get_json()
    assert (answer.status_code, told["data"]["limit"]) == (429, "search")
    assert answer.headers["retry-after"] == "60"


def test_the_log_of_requests_has_no_words():
    kept = asked_text(json.dumps({"query": "what they look for"}).encode())
    assert kept is not None
    assert "look for" not in kept
