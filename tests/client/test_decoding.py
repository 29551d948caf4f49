"""Answers are read by the fields of their classes."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from risala.client import answers, calls
from risala.client.decoding import decoded
from risala.client.errors import RefusedError, UnreadableAnswerError

LEAN = {
    "id": "sms_1",
    "to": "+22236000000",
    "from": "RISALA",
    "body": "Salam",
    "status": "sent",
    "createdAt": "2026-11-21T08:30:00.123Z",
    "updatedAt": "2026-11-21T08:30:01.000Z",
}
"""What an organization that asked for lean answers gets."""


def test_a_message_of_the_fewest_members_is_one():
    message = decoded(answers.Message, LEAN)
    assert (message.sender, message.price, message.metadata) == ("RISALA", None, {})
    assert message.created_at == datetime(2026, 11, 21, 8, 30, 0, 123000, UTC)
    assert not message.is_final
    assert "Salam" not in repr(message), "texts are for nobody's log"


def test_the_rest_is_read_by_its_type():
    more = {"price": "1.50", "segments": 2, "deliveredAt": None, "metadata": {"order": "7"}}
    message = decoded(answers.Message, LEAN | more | {"ofANewerService": [1]})
    assert (message.price, message.segments) == (Decimal("1.50"), 2)
    assert (message.metadata, message.delivered_at) == ({"order": "7"}, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": None},
        {"id": 3},
        {"segments": "2"},
        {"segments": True},
        {"price": "much"},
        {"createdAt": "yesterday"},
        {"metadata": []},
    ],
)
def test_what_has_another_shape_is_no_answer(wrong):
    with pytest.raises(UnreadableAnswerError):
        decoded(answers.Message, LEAN | wrong)


def test_nor_is_what_is_no_object():
    with pytest.raises(UnreadableAnswerError):
        decoded(answers.Message, ["sms_1"])


def test_every_answer_can_be_read_at_all():
    """Each annotation is one that `decoded` knows."""
    for kind in vars(answers).values():
        if dataclasses.is_dataclass(kind) and kind is not answers.Page:
            with pytest.raises(UnreadableAnswerError):
                decoded(kind, {})


def test_a_batch_has_answers_and_errors_side_by_side():
    call = calls.send_messages([calls.OutgoingMessage("+22236000000", "a") for _ in range(2)])
    sent = {
        "accepted": True,
        "messageId": "sms_1",
        "idempotencyKey": call.keys[0],
        "organizationId": "org_1",
        "from": "RISALA",
    }
    limited = {"code": "TOO_MANY_REQUESTS", "status": 429, "data": {"retryAfter": 2}}
    first, second = call.read({"results": [sent, limited]})
    assert isinstance(first, answers.SentMessage)
    assert isinstance(second, RefusedError)
    assert (second.retry_after_s, second.idempotency_key) == (2, call.keys[1])
    for wrong in ({}, {"results": [sent]}, {"results": [sent, 3]}):
        with pytest.raises(UnreadableAnswerError):
            call.read(wrong)


def test_a_key_is_made_for_each_message_that_has_none():
    messages = [calls.OutgoingMessage("+22236000000", "a", idempotency_key="mine-1234")]
    messages += [calls.OutgoingMessage("+22236000000", "a")] * 2
    first, *others = calls.send_messages(messages).keys
    assert first == "mine-1234"
    assert len({*others}) == 2
    assert all(8 <= len(key) <= 128 for key in others)


def test_a_time_without_an_offset_is_refused():
    with pytest.raises(ValueError, match="offset"):
        calls.when(datetime(2026, 1, 1))
    assert calls.when(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000Z"
    assert calls.when("2026-01-01T00:00:00+01:00") == "2026-01-01T00:00:00+01:00"
