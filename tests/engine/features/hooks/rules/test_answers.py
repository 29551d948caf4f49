"""What a hook answers where a request is of several messages, or is refused whole."""

import json

import pytest

from programs.business import ODOO, UUIDS
from programs.sign_in import SUPABASE
from risala.engine.features.hooks.rules.answers import (
    HookAnswerShape,
    HookOutcome,
    HookResult,
    answer_of,
)
from risala.engine.features.hooks.rules.requests import HookRequest

YES = HookOutcome.ACCEPTED
LATER = HookResult(HookOutcome.LATER, 503, "unavailable", "Try again.", retry_after_s=7)
NEVER = HookOutcome.NEVER


def odoo(*results, request=None):
    shape = HookAnswerShape.ODOO
    answer = answer_of(shape, request or ODOO.request(), results)
    return answer.status, json.loads(answer.body)


def test_odoo_gets_a_state_for_each_of_its_ids():
    one, two, three = ODOO.reads
    status, told = odoo(
        HookResult(YES, message=one),
        HookResult(NEVER, 400, "invalid_recipient", "No.", message=two),
        HookResult(NEVER, 402, "balance", "No.", message=three),
    )
    assert status == 200
    assert told == {
        "jsonrpc": "2.0",
        "id": "9b2a0d7c6e5f4a3b2c1d0e9f8a7b6c5d",
        "result": [
            {"uuid": UUIDS[0], "state": "success"},
            {"uuid": UUIDS[1], "state": "wrong_number_format"},
            {"uuid": UUIDS[2], "state": "insufficient_credit"},
        ],
    }


@pytest.mark.parametrize(
    ("result", "state"),
    [
        ((HookOutcome.LATER, 503, "unavailable"), "server_error"),
        ((NEVER, 400, "country_not_open"), "country_not_supported"),
        ((NEVER, 403, "suspended"), "unregistered"),
        ((NEVER, 400, "sender"), "server_error"),
    ],
)
def test_odoo_gets_its_own_words(result, state):
    _, told = odoo(HookResult(*result, message=ODOO.reads[0]))
    assert told["result"][0]["state"] == state


@pytest.mark.parametrize("body", [b"", b"[" * 100_000, b"[]", b'{"id": {}}', b'{"id": "%s"}'])
def test_an_answer_repeats_no_id_that_is_none(body):
    request = HookRequest("POST", "", {}, body % (b"i" * 99) if b"%" in body else body, "", "", 0)
    _, told = odoo(HookResult(YES, message=ODOO.reads[0]), request=request)
    assert told["id"] is None


def test_a_request_that_is_refused_whole_has_its_status_everywhere():
    fault = HookResult(NEVER, 401, "wrong_secret", "The secret is not this hook's.")
    for shape in HookAnswerShape:
        answer = answer_of(shape, SUPABASE.request(), [fault])
        assert answer.status == 401
        assert b"The secret is not this hook's." in answer.body
        assert answer.headers == {}


def test_later_says_when():
    for shape in HookAnswerShape:
        answer = answer_of(shape, SUPABASE.request(), [LATER])
        assert (answer.status, answer.headers) == (503, {"Retry-After": "7"})


def test_what_was_accepted_in_part_is_not_asked_for_again():
    results = [LATER, HookResult(YES, message_id="msg_1")]
    answer = answer_of(HookAnswerShape.JSON, SUPABASE.request(), results)
    assert (answer.status, json.loads(answer.body)) == (
        200,
        {"message": "Accepted.", "id": "msg_1"},
    )
