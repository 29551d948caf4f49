"""Signatures, pinned: receivers have the other half."""

import base64
import json
import time

import pytest

from risala.cli.commands.messaging.example_events import PREFIXES, example
from risala.engine.model.events import EventType, event_body
from risala.engine.rules.webhooks.signatures import (
    is_secret,
    new_secret,
    signed,
    stamped,
    with_sms_id,
)

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW_MS = 1_700_000_000_999
BODY = '{"a":1}'
SIGNATURE = "v1,qObqaT8ae+L7ApT9haiUyL954tN4bu4sTnfiYqdvNz0="
MARKS = (
    "b6974ac6d7fd2ac6e37c3cea117ba7ee3cfde56b98ea4e8b5fb26b9fee534ba7",
    "b3438763ab46d9634b9844c8722818eaf523f803db1327484c6067462a5fd6d1",
)


def test_the_schemes_headers_are_pinned():
    headers = signed("evt_1", BODY, [SECRET], NOW_MS)
    assert headers == {
        "webhook-id": "evt_1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": SIGNATURE,
    }
    other = new_secret()
    both = signed("evt_1", BODY, [other, SECRET], NOW_MS)["webhook-signature"].split(" ")
    assert len(both) == 2
    assert both[1] == SIGNATURE


def test_the_other_signature_is_pinned():
    assert stamped(BODY, [SECRET], NOW_MS) == f"t=1700000000,v1={MARKS[0]}"
    two = stamped(BODY, [SECRET, "whsec_x"], NOW_MS)
    assert two == f"t=1700000000,v1={MARKS[0]},v1={MARKS[1]}"


def test_the_time_is_the_same_wherever_the_machine_stands(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        assert signed("evt_1", BODY, [SECRET], NOW_MS)["webhook-signature"] == SIGNATURE
    finally:
        monkeypatch.undo()
        time.tzset()


def secret_of(octets: int) -> str:
    return "whsec_" + base64.b64encode(bytes(octets)).decode()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (SECRET, True), (secret_of(24), True), (secret_of(64), True), (secret_of(23), False),
        (secret_of(65), False), (SECRET.removeprefix("whsec_"), False), ("whsec_", False),
        ("whsec_?" + SECRET, False), ("", False), (SECRET + "é", False),
        (SECRET[:9] + "!" + SECRET[9:], False),
    ],
)  # fmt: skip
def test_what_is_a_secret(text, is_one):
    assert is_secret(text) is is_one


def test_a_new_secret_is_one_and_no_other():
    first, second = new_secret(), new_secret()
    assert is_secret(first)
    assert first != second
    assert len(base64.b64decode(first.removeprefix("whsec_"))) == 32


def test_a_body_may_have_its_messages_id_twice():
    body = '{"type":"sms.sent","messageId":"sms_1","to":"رسالة"}'
    assert with_sms_id(body) == (
        '{"type":"sms.sent","messageId":"sms_1","smsId":"sms_1","to":"رسالة"}'
    )
    other = '{"type":"balance.low", "x":1}'
    assert with_sms_id(other) == other


@pytest.mark.parametrize("kind", EventType)
def test_there_is_an_example_of_each_type_that_looks_like_a_real_one(kind):
    identities = {prefix: f"{prefix}_000000000000000000000001" for prefix in PREFIXES}
    event = example(kind, NOW_MS, "org_1", identities)
    assert (event.type, event.at, event.organization_id, event.mode) == (
        kind, NOW_MS, "org_1", "test",
    )  # fmt: skip
    assert event.subject in identities.values()
    body = json.loads(event_body(event, "evt_1"))
    assert body["type"] == kind.value
    again = example(kind, NOW_MS, "org_1", identities)
    assert again == event
