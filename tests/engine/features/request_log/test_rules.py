"""What of a body stays in the log of requests, and what never does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.request_log.rules import (
    ANSWERED,
    ASKED,
    DEPTH_MAX,
    SENDER_CHARACTERS_MAX,
    UNKNOWN,
    answered_text,
    asked_text,
    made_thing,
)
from risala.engine.model.commands import NOTED_BYTES_MAX, noted

CODE = "738291"
TEXT = "Your parcel waits at the door of house nine"
KEY = "sk_live_abcdefghijkmnopqrstuvwxyzABCDEFG"


def asked(**members: Any) -> Any:
    return json.loads(asked_text(json.dumps(members).encode()) or "null")


def answered(**members: Any) -> Any:
    return json.loads(answered_text(json.dumps(members).encode()))


def test_of_a_message_its_shape_stays():
    assert asked(
        to="+22236123456", body=TEXT, idempotencyKey="order-7", metadata={"order": "7"}
    ) == {
        "to": "…3456",
        "body": f"‹{len(TEXT)}›",
        "idempotencyKey": "order-7",
        "metadata": "‹{1}›",
    }


def test_a_guess_at_a_code_leaves_its_length():
    assert asked(verificationId="ver_1", code=CODE) == {"verificationId": "ver_1", "code": "‹6›"}
    assert asked(code=int(CODE)) == {"code": "‹#›"}


def test_an_unknown_member_is_named_only_where_its_name_is_a_word():
    assert asked(phone=CODE, x_9=1, **{KEY: 1, CODE: 2}) == {"phone": "‹6›", "…": 3}


def test_members_that_an_endpoint_does_not_read_are_named_beside_the_others():
    kept = json.loads(asked_text(b'{"to": "x", "phone": 1}', ["phone"]) or "null")
    assert kept == {"to": "‹1›", "phone": "‹#›", UNKNOWN: ["phone"]}


def test_a_key_in_the_wrong_place_does_not_stay():
    told = json.dumps([asked(**{"from": KEY, "to": KEY, "idempotencyKey": KEY}), answered(id=KEY)])
    assert KEY not in told
    assert KEY[-4:] not in told


@pytest.mark.parametrize("secret", ["sk_live_abc", "pk_test_abc", "whsec_abc"])
def test_whatever_has_the_mark_of_a_secret_is_hidden(secret):
    assert asked(idempotencyKey=secret) == {"idempotencyKey": f"‹{len(secret)}›"}
    assert answered(id=secret) == {"id": f"‹{len(secret)}›"}


def test_what_is_kept_is_kept_up_to_its_length():
    assert asked(idempotencyKey="x" * 256) == {"idempotencyKey": "x" * 256}
    assert asked(idempotencyKey="x" * 257) == {"idempotencyKey": "‹257›"}
    assert asked(idempotencyKey=["a"]) == {"idempotencyKey": "‹[1]›"}
    assert answered(segments=2, enabled=True, next=None) == {
        "segments": 2,
        "enabled": True,
        "next": None,
    }


def test_of_a_hidden_value_nothing_and_yes_or_no_may_be_told():
    told = asked(body=None, phone=True, metadata=7, headers=[1, 2])
    assert told == {"body": None, "phone": True, "metadata": "‹#›", "headers": "‹[2]›"}


@pytest.mark.parametrize(
    ("to", "told"),
    [("12345678", "…5678"), ("1234567", "‹7›"), (["+22236123456"], "‹[1]›"), ({}, "‹{0}›")],
)
def test_of_a_number_its_last_digits_stay_where_they_do_not_give_it_away(to, told):
    assert asked(to=to) == {"to": told}


def test_a_faults_place_is_told_by_names_and_numbers():
    path = ["messages", 3, "to", "x" * 25, CODE, None, 1.5]
    assert answered(path=path) == {"path": ["messages", 3, "to", "…", "…", None, "…"]}
    assert answered(path="to") == {"path": "‹2›"}


def test_a_list_is_shown_whole_up_to_its_length():
    assert asked(messages=[{"to": "+22236123456"}] * 20)["messages"] == [{"to": "…3456"}] * 20


@pytest.mark.parametrize(("levels", "is_seen"), [(1, True), (5, True), (6, False)])
def test_so_many_levels_are_looked_at(levels, is_seen):
    def within(value, wrap):
        for _ in range(levels):
            value = wrap(value)
        return value

    for wrap in (lambda value: {"data": value}, lambda value: [value]):
        text = asked_text(json.dumps(within({"limit": 7}, wrap)).encode())
        assert ("7" in text) is is_seen


def test_what_is_no_json_leaves_its_length():
    assert asked_text(b"code=" + CODE.encode()) == '"‹11 B›"'
    assert asked_text(70_000) == '"‹70000 B›"'
    assert asked_text(None) is None
    assert asked_text(b"[" * 100_000) == '"‹100000 B›"'


def test_a_list_shows_its_first_items():
    told = asked(messages=[{"to": "+22236123456", "body": TEXT}] * 25)
    assert len(told["messages"]) == 21
    assert told["messages"][0] == {"to": "…3456", "body": f"‹{len(TEXT)}›"}
    assert told["messages"][-1] == "‹[5]›"


def test_an_answer_keeps_what_it_says_and_not_what_it_tells_of():
    assert answered(id="sms_1", to="+22236123456", body=TEXT, price="0.50", metadata={}) == {
        "id": "sms_1",
        "to": "…3456",
        "body": f"‹{len(TEXT)}›",
        "price": "0.50",
        "metadata": "‹{0}›",
    }
    fault = {"path": ["to"], "code": "invalid_phone_number", "message": "No number: +22236123456."}
    told = answered(code="BAD_REQUEST", status=400, data={"issues": [fault]}, requestId="req_1")
    assert told["code"] == "BAD_REQUEST"
    assert told["data"]["issues"] == [{**fault, "message": "No number: …3456."}]
    notice = {"code": "SENDER_PENDING", "message": "It leaves from RISALA."}
    assert answered(notice=notice) == {"notice": notice}
    assert answered(carrierCode=TEXT) == {"carrierCode": f"‹{len(TEXT)}›"}
    assert answered(secret="whsec_abc", value=KEY) == {"secret": "‹9›", "value": "‹40›"}


def test_who_wrote_is_as_little_shown_as_who_was_written_to():
    assert asked(**{"from": "+22236123456"}) == {"from": "…3456"}
    assert asked(**{"from": "Acme 24"}) == {"from": "Acme 24"}
    items = [{"from": "22236123456", "body": TEXT, "status": "received"}]
    assert answered(items=items, next="aTE") == {
        "items": [{"from": "…3456", "body": f"‹{len(TEXT)}›", "status": "received"}],
        "next": "aTE",
    }


def test_an_endpoints_address_and_headers_may_hold_a_secret():
    told = asked(url="https://example.com/token", headers={"a": "b"}, endpointId="whe_1")
    assert told == {"url": "‹25›", "headers": "‹{1}›", "endpointId": "whe_1"}


def test_what_was_made_is_known_by_its_id():
    assert made_thing(200, "/api/sms", '{"messageId":"sms_1"}') == "sms_1"
    assert made_thing(200, "/api/verify/send", '{"verificationId":"ver_1"}') == "ver_1"
    assert made_thing(200, "/api/sms/get", '{"messageId":"sms_1"}') is None
    assert made_thing(400, "/api/sms", '{"messageId":"sms_1"}') is None
    assert made_thing(200, "/api/sms", '"‹9000 B›"') is None
    assert made_thing(200, "/api/sms", '{"messageId":7}') is None
    assert made_thing(200, "/api/sms", "{}") is None


MARK = "zqzqzq"
PLACES = st.sampled_from([*ASKED, *ANSWERED, "unknown", "messages", "items", "data"])
HIDDEN = ("body", "code", "metadata", "unknown", "to")


@given(
    st.recursive(
        st.text(max_size=5).map(lambda text: f"{MARK}{text}") | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLACES, inner, max_size=4),
        max_leaves=12,
    )
)
def test_whatever_is_asked_no_hidden_member_is_told(value):
    """Also where it lies in lists and objects, in members that hold others, and by itself."""
    told = json.loads(asked_text(json.dumps(value).encode()) or "null")

    def look(found: Any, name: str) -> None:
        if isinstance(found, dict):
            for key, inner in found.items():
                look(inner, key)
        elif isinstance(found, list):
            for inner in found:
                look(inner, name)
        elif isinstance(found, str) and (name in HIDDEN or name not in ASKED):
            assert MARK not in found

    look(told, "")


def test_what_no_file_can_keep_is_told_by_its_shape():
    raw = b'{"to":"+2223612345\\ud800","idempotencyKey":"\\udfff","limit":NaN,"before":1e999}'
    text = asked_text(raw)
    assert text is not None
    text.encode()
    assert json.loads(text) == {
        "to": "…345\ufffd",
        "idempotencyKey": "\ufffd",
        "limit": "‹#›",
        "before": "‹#›",
    }


def test_a_text_in_the_place_of_the_sender_does_not_stay():
    """The two are easily confused by whoever writes a client."""
    swapped = asked(**{"to": "+22236123456", "from": TEXT, "body": "RISALA"})
    assert swapped == {"to": "…3456", "from": f"‹{len(TEXT)}›", "body": "‹6›"}
    assert asked(**{"from": "LA POSTE"}) == {"from": "LA POSTE"}


def test_a_sender_is_kept_up_to_its_length():
    longest = "S" * SENDER_CHARACTERS_MAX
    assert asked(**{"from": longest}) == {"from": longest}
    assert asked(**{"from": longest + "S"}) == {"from": f"‹{SENDER_CHARACTERS_MAX + 1}›"}


@pytest.mark.parametrize("length", [0, NOTED_BYTES_MAX - 1, NOTED_BYTES_MAX])
def test_a_body_is_noted_up_to_its_length(length):
    assert noted(b"x" * length) == b"x" * length


def test_of_a_longer_body_the_length_is_noted():
    assert noted(b"x" * (NOTED_BYTES_MAX + 1)) == NOTED_BYTES_MAX + 1


@pytest.mark.parametrize(("body", "told"), [('"text"', '"‹4›"'), ("12", '"‹#›"'), ("null", "null")])
def test_of_what_is_no_object_the_shape_stays(body, told):
    assert asked_text(body.encode()) == told


def test_what_is_too_deep_is_told_by_its_shape():
    body: list[Any] = [1, 2]
    told: Any = "‹[2]›"
    for _ in range(DEPTH_MAX):
        body, told = [body], [told]
    assert json.loads(asked_text(json.dumps(body).encode()) or "null") == told
