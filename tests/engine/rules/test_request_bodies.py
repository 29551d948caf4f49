"""What of a body stays in the log of requests, and what never does."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from risala.engine.rules.request_bodies import (
    ANSWERED,
    ASKED,
    answered_text,
    asked_text,
    made_thing,
)

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


def test_a_key_in_the_wrong_place_does_not_stay():
    told = json.dumps([asked(**{"from": KEY, "to": KEY, "idempotencyKey": KEY}), answered(id=KEY)])
    assert KEY not in told
    assert KEY[-4:] not in told


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


def test_what_was_made_is_known_by_its_id():
    assert made_thing(200, "/api/sms", '{"messageId":"sms_1"}') == "sms_1"
    assert made_thing(200, "/api/verify/send", '{"verificationId":"ver_1"}') == "ver_1"
    assert made_thing(200, "/api/sms/get", '{"messageId":"sms_1"}') is None
    assert made_thing(400, "/api/sms", '{"messageId":"sms_1"}') is None
    assert made_thing(200, "/api/sms", '"‹9000 B›"') is None


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
