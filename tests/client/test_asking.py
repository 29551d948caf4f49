"""Calls over httpx2, with a transport that answers what a test wants."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx2
import pytest

from risala.client import (
    AsyncRisala,
    BadRequestError,
    LostAnswerError,
    NotReachedError,
    OutgoingMessage,
    RefusedError,
    Retrying,
    Risala,
    TooManyRequestsError,
    UnreadableAnswerError,
)

URL = "https://sms.example"
KEY = "sk_live_" + "s" * 32
QUICK = Retrying(deadline_s=30, first_wait_s=0.0, wait_max_s=0.0)
"""Attempts follow at once: no test waits."""
SENT = {
    "accepted": True,
    "messageId": "sms_1",
    "idempotencyKey": "idk_1",
    "organizationId": "org_1",
    "from": "RISALA",
}
FULL = {"code": "SERVICE_UNAVAILABLE", "message": "Full.", "data": {}, "requestId": "req_1"}


class Script:
    """Answers one request after the other with what it was given, and keeps the bodies."""

    def __init__(self, *steps: httpx2.Response | Exception) -> None:
        self.steps = [*steps]
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    @property
    def bodies(self) -> list[dict]:
        return [json.loads(each.content) for each in self.requests]


def answer(status: int = 200, body: object = None, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, json=SENT if body is None else body, headers=headers)


def sync(script: Script, retrying: Retrying = QUICK) -> Risala:
    http = httpx2.Client(transport=httpx2.MockTransport(script))
    return Risala(URL, KEY, retrying=retrying, http=http)


def by_tasks(script: Script, backend: str, retrying: Retrying = QUICK) -> Callable:
    """The same call by the client for tasks, run by a loop of its own.

    In a thread: a browser that another test of this process opened has its loop in ours.
    """

    def call(name: str, *arguments: object, **named: object) -> object:
        async def main() -> object:
            http = httpx2.AsyncClient(transport=httpx2.MockTransport(script))
            async with http, AsyncRisala(URL, KEY, retrying=retrying, http=http) as risala:
                return await getattr(risala, name)(*arguments, **named)

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(anyio.run, main, backend=backend).result()

    return call


@pytest.fixture(params=["threads", "trio", "asyncio"])
def caller(request) -> Callable:
    """Makes what calls a method, for each kind of program."""

    def make(script: Script, retrying: Retrying = QUICK) -> Callable:
        if request.param == "threads":
            risala = sync(script, retrying)
            return lambda name, *arguments, **named: getattr(risala, name)(*arguments, **named)
        return by_tasks(script, request.param, retrying)

    return make


def test_a_message_carries_one_key_however_often_it_is_asked(caller):
    script = Script(
        httpx2.ConnectError("refused"),
        httpx2.ReadError("reset"),
        httpx2.ReadTimeout("slow"),
        answer(503, FULL),
        httpx2.Response(502, text="<html>"),
        answer(429, FULL, **{"retry-after": "0"}),
        answer(),
    )
    assert caller(script)("send_message", "+22236000000", "Salam").message_id == "sms_1"
    keys = {each["idempotencyKey"] for each in script.bodies}
    assert len(script.bodies) == 7
    assert len(keys) == 1
    assert script.requests[0].headers["x-api-key"] == KEY


def test_two_messages_carry_two_keys(caller):
    script = Script(answer(), answer())
    call = caller(script)
    call("send_message", "+22236000000", "Salam")
    call("send_message", "+22236000000", "Salam")
    assert len({each["idempotencyKey"] for each in script.bodies}) == 2


def test_ones_own_key_is_the_one(caller):
    script = Script(httpx2.ReadError("reset"), answer())
    caller(script)("send_message", "+22236000000", "Salam", idempotency_key="order-77")
    assert [each["idempotencyKey"] for each in script.bodies] == ["order-77", "order-77"]


def test_a_code_is_not_sent_twice_behind_ones_back(caller):
    script = Script(httpx2.ReadError("reset"))
    with pytest.raises(LostAnswerError) as raised:
        caller(script)("send_verification", "+22236000000")
    assert raised.value.is_maybe_done
    assert len(script.requests) == 1


def test_a_code_is_sent_again_where_nothing_was_done(caller):
    started = answer(200, {"verificationId": "ver_1"})
    script = Script(httpx2.ConnectTimeout("slow"), answer(503, FULL), started)
    assert caller(script)("send_verification", "+22236000000").verification_id == "ver_1"


def test_a_check_is_not_judged_twice(caller):
    script = Script(httpx2.ReadTimeout("slow"))
    with pytest.raises(LostAnswerError):
        caller(script)("check_verification", "ver_1", "123456")
    assert len(script.requests) == 1


def test_an_error_has_the_key_to_send_again_with(caller):
    hasty = Retrying(deadline_s=0.001, first_wait_s=1000.0, wait_max_s=1000.0)
    script = Script(httpx2.ConnectError("refused"))
    with pytest.raises(NotReachedError) as raised:
        caller(script, hasty)("send_message", "+22236000000", "Salam")
    assert raised.value.idempotency_key == script.bodies[0]["idempotencyKey"]
    script = Script(httpx2.ConnectError("refused"))
    with pytest.raises(NotReachedError) as raised:
        caller(script, hasty)("send_messages", [OutgoingMessage("+22236000000", "a")] * 2)
    keys = [each["idempotencyKey"] for each in script.bodies[0]["messages"]]
    assert [*raised.value.idempotency_keys] == keys


def test_a_limit_of_an_hour_is_told_at_once(caller):
    limited = {"code": "TOO_MANY_REQUESTS", "message": "…", "data": {"limit": "phone"}}
    script = Script(answer(429, limited, **{"retry-after": "3600"}))
    with pytest.raises(TooManyRequestsError) as raised:
        caller(script)("send_verification", "+22236000000")
    assert (raised.value.limit, raised.value.retry_after_s) == ("phone", 3600)


def test_a_refusal_is_raised_at_once(caller):
    issue = {"path": ["to"], "code": "invalid_phone_number", "message": "…"}
    refused = {"code": "BAD_REQUEST", "message": "…", "data": {"issues": [issue]}}
    with pytest.raises(BadRequestError) as raised:
        caller(Script(answer(400, refused)))("send_message", "36", "Salam")
    assert raised.value.issues[0].code == "invalid_phone_number"


@pytest.mark.parametrize(
    ("status", "told", "kind"),
    [
        (200, {"text": "<html>Sign in to this network"}, UnreadableAnswerError),
        (200, {"json": []}, UnreadableAnswerError),
        (200, {"json": {"accepted": True}}, UnreadableAnswerError),
        (204, {}, UnreadableAnswerError),
        (302, {"headers": {"location": "https://elsewhere.example"}}, RefusedError),
    ],
)
def test_what_is_not_the_service_is_not_believed(caller, status, told, kind):
    """Nor is it asked elsewhere: the key is for one address."""
    script = Script(httpx2.Response(status, **told))
    with pytest.raises(kind):
        caller(script)("send_message", "+22236000000", "Salam")
    assert len(script.requests) == 1


def test_every_page_is_asked_for_as_it_is_needed():
    entry = {
        "id": "led_1",
        "kind": "charge",
        "amount": "-1.00",
        "balanceAfter": "9.00",
        "createdAt": "2026-11-21T08:30:00.000Z",
    }
    pages = [
        answer(200, {"items": [entry] * 2, "next": "cursor-1", "previous": None}),
        answer(200, {"items": [entry], "next": None, "previous": "cursor-0"}),
    ]
    script = Script(*pages)
    found = sync(script).iter_ledger(page=2, since="2026-11-21T00:00:00Z")
    assert script.bodies == []
    assert [each.kind for each in found] == ["charge"] * 3
    first = {"limit": 2, "since": "2026-11-21T00:00:00Z"}
    assert script.bodies == [first, first | {"before": "cursor-1"}]


async def test_pages_in_tasks():
    page = {"items": [], "next": None, "previous": None}
    script = Script(answer(200, page), answer(200, page))
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(script)) as http:
        risala = AsyncRisala(URL, KEY, http=http)
        assert [each async for each in risala.iter_messages(status="failed", sender="Acme")] == []
        assert [each async for each in risala.iter_deliveries("whe_1", state="failed")] == []
    assert script.bodies == [
        {"status": "failed", "from": "Acme"},
        {"endpointId": "whe_1", "state": "failed"},
    ]


def test_another_deadline_on_the_same_connections():
    script = Script(answer())
    risala = sync(script)
    hasty = risala.within(5)
    assert hasty.send_message("+22236000000", "Salam").message_id == "sms_1"
    hasty.close()
    assert not risala._caller.http.is_closed


def test_a_key_is_nowhere_to_be_read():
    risala = Risala(URL, KEY)
    inner = risala._caller
    shown = repr(risala) + repr(vars(risala)) + repr(vars(inner)) + repr(inner.key)
    assert "ssss" not in shown
    assert "sk_live_…" in repr(risala)
    assert "own" not in repr(Risala(URL, "somebodys_own_form"))
    with pytest.raises(TypeError):
        pickle.dumps(inner.key)
    risala.close()


@pytest.mark.parametrize("url", ["", "sms.example", "ftp://sms.example", "https://a:b@sms.example"])
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match="address"):
        Risala(url, KEY)


@pytest.mark.parametrize("key", ["", "sk_live_a\nb", "sk_live_é", "sk live"])
def test_a_key_that_is_none_is_refused(key):
    with pytest.raises(ValueError, match="API key"):
        Risala(URL, key)
