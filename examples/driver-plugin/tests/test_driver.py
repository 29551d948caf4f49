"""What is this carrier's own: its answers, its callbacks, and who may call."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import trio
import trio.testing
from risala.plugins.contract import (
    Accepted,
    Alphabet,
    Cause,
    HealthState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

from line import carrier_and_driver
from risala_acme.callbacks import BODY_MAX_BYTES, sign
from risala_acme.driver import AcmeDriver
from risala_acme.settings import AcmeSettings

from acme_stand_in import SECRET, AcmeStandIn

HANG_S = 60
"""Nothing that works takes this long."""
ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]
"""Three parts: 67 letters of Arabic fit one of them."""


@asynccontextmanager
async def running(
    **settings: object,
) -> AsyncIterator[tuple[AcmeStandIn, AcmeDriver, RecordingContext]]:
    context = RecordingContext()
    async with carrier_and_driver(**settings) as (carrier, driver), trio.open_nursery() as nursery:
        with trio.fail_after(HANG_S):
            await nursery.start(driver.run, context)
            await context.wait_health(HealthState.UP)
            yield carrier, driver, context
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("status", "told", "headers", "outcome"),
    [
        (429, {"code": "slow"}, {"retry-after": "7"}, Throttled("429 slow", retry_after_s=7)),
        (429, {}, {"retry-after": "soon"}, Throttled("429")),
        (
            422,
            {"code": "invalid_number"},
            {},
            Refused(Scope.FINAL, "422 invalid_number", cause=Cause.UNKNOWN_NUMBER),
        ),
        (
            402,
            {"code": "no_credit"},
            {},
            Refused(Scope.CARRIER, "402 no_credit", cause=Cause.NO_CREDIT),
        ),
        (400, {"code": "odd"}, {}, Refused(Scope.CARRIER, "400 odd")),
        (401, {}, {}, Refused(Scope.CARRIER, "401", cause=Cause.NOT_ALLOWED)),
        (503, {}, {}, Refused(Scope.NOW, "503", cause=Cause.CARRIER_FAULT)),
        (500, {}, {}, Uncertain("500")),
        (504, {}, {}, Uncertain("504")),
        (302, {}, {"location": "https://elsewhere.example"}, Uncertain("302")),
        (202, {}, {}, Uncertain("202", "The carrier took it, and gave no id.")),
    ],
)
async def test_each_answer_has_its_outcome(
    status: int, told: dict[str, Any], headers: dict[str, str], outcome: object
) -> None:
    async with running() as (carrier, driver, _):
        carrier.answers.append((status, told, headers))
        assert await driver.submit(segment()) == outcome


async def test_an_answer_without_an_end_is_uncertain() -> None:
    async with running() as (carrier, driver, _):
        carrier.answers.append((202, {"id": "x" * 100_000}, {}))
        assert await driver.submit(segment()) == Uncertain("AnswerTooLongError")


async def test_a_carrier_that_is_not_there_got_nothing() -> None:
    async with running() as (carrier, driver, context):
        carrier.open.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert isinstance(await driver.submit(segment()), Unsent)
        await context.wait_health(HealthState.DOWN)


async def test_a_request_that_was_not_taken_does_not_leave_later() -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
    async with listener, carrier_and_driver(url=url) as (_, driver), trio.open_nursery() as nursery:
        nursery.start_soon(driver.run, RecordingContext())
        with trio.fail_after(HANG_S):
            carrier = await listener.accept()
            assert await carrier.receive_some(1000)
        nursery.cancel_scope.cancel()
    with pytest.raises(trio.BrokenResourceError):  # reset, and not closed in order
        _ = [octets async for octets in carrier]
    await carrier.aclose()


async def test_a_wrong_key_is_for_the_operator() -> None:
    context = RecordingContext()
    async with carrier_and_driver(api_key="wrong") as (_, driver), trio.open_nursery() as nursery:
        with trio.fail_after(HANG_S):
            await nursery.start(driver.run, context)
            health = await context.wait_health(HealthState.SICK)
        assert health.text == "The carrier refuses our API key."
        nursery.cancel_scope.cancel()


async def test_the_same_attempt_is_one_message() -> None:
    async with running() as (carrier, driver, _):
        once = segment()
        first, second = await driver.submit(once), await driver.submit(once)
        assert isinstance(first, Accepted)
        assert first == second
        assert len(carrier.got) == 1


async def test_a_long_text_is_one_message_of_as_many_parts_as_the_carrier_counts() -> None:
    async with running() as (carrier, driver, context):
        outcome = await driver.submit(segment(ARABIC_200, number=0, alphabet=Alphabet.UCS2))
        assert isinstance(outcome, Accepted)
        assert outcome.raw == "202 parts=3"
        assert [(one["text"], one["encoding"]) for one in carrier.got] == [(ARABIC_200, "ucs2")]
        await context.wait_receipts(1)
        await carrier.called.wait()
        assert [one.carrier_id for one in context.receipts] == [outcome.carrier_id]


async def test_a_callback_that_is_not_stored_is_answered_503_and_comes_again() -> None:
    async with running() as (carrier, driver, context):
        context.refusals = 1
        await driver.submit(segment())
        await context.wait_receipts(1)
        await carrier.called.wait()
        assert carrier.callback_status == [503, 200]


def signed(body: bytes, secret: str = SECRET, at_s: int | None = None) -> dict[str, str]:
    at_s = int(time.time()) if at_s is None else at_s
    return {"acme-signature": f"t={at_s},v1={sign(secret.encode(), at_s, body)}"}


REPORT = json.dumps({"type": "report", "id": "acme-1", "state": "delivered"}).encode()
LONG = b" " * (BODY_MAX_BYTES + 1)


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (REPORT, {}, 401),
        (REPORT, {"acme-signature": "t=1,v1=zz"}, 401),
        (REPORT, signed(REPORT, "another secret"), 401),
        (REPORT, signed(REPORT, at_s=int(time.time()) - 3600), 401),
        (b"what", signed(b"what"), 400),
        (b"[]", signed(b"[]"), 400),
        (LONG, signed(LONG), 413),
        (b'{"type": "news"}', signed(b'{"type": "news"}'), 200),
        (REPORT, signed(REPORT), 200),
    ],
)
async def test_who_may_call_and_with_what(
    body: bytes, headers: dict[str, str], status: int
) -> None:
    async with running() as (carrier, _, context):
        async with httpx2.AsyncClient(trust_env=False) as http:
            answer = await http.post(carrier.callback_url, content=body, headers=headers)
        assert answer.status_code == status
        assert len(context.receipts) == (status == 200 and body == REPORT)


async def test_what_is_no_http_ends_and_the_next_is_heard() -> None:
    async with running() as (carrier, driver, context):
        host, _, port = carrier.callback_url.removeprefix("http://").rstrip("/").partition(":")
        stream = await trio.open_tcp_stream(host, int(port))
        async with stream:
            await stream.send_all(b"\x16\x03\x01 hello\r\n\r\n")
            assert (await stream.receive_some(1000)).startswith(b"HTTP/1.1 400")
        await driver.submit(segment())
        await context.wait_receipts(1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "http://api.acme.example"},
        {"callback_url": "ftp://us.example"},
        {"window_max": 0},
        {"answer_sec": 3},
    ],
)
def test_settings_that_are_faults(wrong: dict[str, object]) -> None:
    right = {
        "url": "https://api.acme.example",
        "api_key": "k",
        "callback_url": "https://sms.example/acme",
        "callback_secret": "s",
    }
    AcmeSettings.model_validate(right)
    with pytest.raises(ValueError, match="validation error"):
        AcmeSettings.model_validate({**right, **wrong})
