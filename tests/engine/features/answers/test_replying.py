"""What counts as a reply in a webhook's answer, and what does not."""

from __future__ import annotations

import json

import pytest

from risala.engine.features.answers.replying import ReplyOutcome, reply_in
from risala.engine.rules.webhooks.schedule import (
    CONTENT_BYTES_MAX,
    AnswerContent,
    ReceiverAnswer,
)

JSON = "application/json"


def answer(body: object, kind: str = JSON, status: int = 200) -> ReceiverAnswer:
    octets = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return ReceiverAnswer(status, None, "", AnswerContent(kind, octets))


def padded(count: int) -> bytes:
    """A reply whose answer has so many bytes."""
    empty = b'{"reply": "hello"}'
    return empty + b" " * (count - len(empty))


@pytest.mark.parametrize(
    "seen",
    [
        answer({"reply": "مرحبا 👋"}),
        answer({"reply": "مرحبا 👋", "more": [1]}, "Application/JSON; charset=utf-8"),
        answer('{"reply": "مرحبا 👋"}'.encode("utf-16")),
    ],
)
def test_a_reply_is_taken_as_it_is(seen):
    assert reply_in(seen) == "مرحبا 👋"
    assert not isinstance(reply_in(seen), ReplyOutcome)


def test_a_body_may_have_4_kib_and_not_a_byte_more():
    assert CONTENT_BYTES_MAX == 4 * 1024
    assert reply_in(answer(padded(4096))) == "hello"
    assert reply_in(answer(padded(4097))) is ReplyOutcome.TOO_LONG


def test_a_text_may_have_1600_characters_and_not_one_more():
    longest = "é" * 1600
    assert reply_in(answer({"reply": longest})) == longest
    assert reply_in(answer({"reply": longest + "é"})) is ReplyOutcome.BAD_TEXT


@pytest.mark.parametrize("reply", ["", 7, True, ["hello"], {"text": "hello"}, "a\0", "\ud800"])
def test_what_is_no_text_is_said(reply):
    seen = answer(json.dumps({"reply": reply}).encode())
    assert reply_in(seen) is ReplyOutcome.BAD_TEXT


@pytest.mark.parametrize(
    "body", [b'{"reply": "hello"', b"hello", b'{"reply": "\xff"}', b"[" * 4096]
)
def test_what_is_no_json_is_said(body):
    assert reply_in(answer(body)) is ReplyOutcome.BAD_JSON
    assert reply_in(answer(body, "text/plain")) is None


def test_a_reply_in_another_type_or_with_another_status_is_said():
    for kind in ("text/html; charset=utf-8", "", "application/jsonp"):
        assert reply_in(answer({"reply": "hello"}, kind)) is ReplyOutcome.BAD_TYPE
    assert reply_in(answer({"reply": "hello"}, status=201)) is ReplyOutcome.BAD_STATUS


def test_a_body_that_did_not_end_in_time_is_said():
    seen = ReceiverAnswer(200, None, '{"reply": "hello"}', AnswerContent(JSON, None))
    assert reply_in(seen) is ReplyOutcome.LATE


@pytest.mark.parametrize(
    "seen",
    [
        *(answer(each) for each in ({}, {"ok": True}, {"reply": None}, ["reply"], "reply", 1)),
        *(answer(each) for each in (b"", b"\n")),
        answer({"reply": "hello"}, status=500),
        answer(b"x" * 4097, "text/html"),
        ReceiverAnswer(200, None, "", AnswerContent("text/html", None)),
        ReceiverAnswer(200, None, "ok"),
        ReceiverAnswer(200, None, '{"ok": true}'),
    ],
)
def test_other_answers_have_no_reply(seen):
    assert reply_in(seen) is None


def test_the_reply_of_an_endpoint_that_may_not_reply_is_said():
    seen = ReceiverAnswer(200, None, '{"reply": "hello"}')
    assert reply_in(seen) is ReplyOutcome.NOT_ALLOWED
