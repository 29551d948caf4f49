"""What is this carrier's own: its answers, and what its calls tell."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

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
from risala.plugins.testing.called import open_address
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

from risala_acme.driver import AcmeDriver
from risala_acme.settings import AcmeSettings

from acme_stand_in import AcmeStandIn, carrier_and_driver

HANG_S = 60
"""Nothing that works takes this long."""
ARABIC_200 = ("رسالة عربية طويلة جدا " * 10)[:200]
"""Three parts: 67 letters of Arabic fit one of them."""


@asynccontextmanager
async def running(
    **settings: object,
) -> AsyncIterator[tuple[AcmeStandIn, AcmeDriver, RecordingContext]]:
    """A carrier, its driver that runs, and what the driver reports."""
    context = RecordingContext()
    async with (
        carrier_and_driver(**settings) as (carrier, driver),
        open_address(driver) as address,
        trio.open_nursery() as nursery,
    ):
        carrier.called_at = await address.listen()
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


async def test_a_call_that_is_not_stored_is_answered_503_and_comes_again() -> None:
    async with running() as (carrier, driver, context):
        context.refusals = 1
        await driver.submit(segment())
        await context.wait_receipts(1)
        await carrier.called.wait()
        assert carrier.call_status == [503, 200]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/receipt", {"id": "acme-1", "state": "odd"}),
        ("/inbound", {"id": "in-1", "from": "+22236000000"}),
        ("/news", {"id": "acme-1", "state": "delivered"}),
    ],
)
async def test_a_call_that_tells_nothing_is_taken_and_traced(
    path: str, told: dict[str, object]
) -> None:
    async with running() as (carrier, _, context):
        await carrier.call(path, told)
        assert context.traces == ["A call told nothing that we know."]
        assert not context.receipts
        assert not context.inbounds


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "http://api.acme.example"},
        {"window_max": 0},
        {"answer_sec": 3},
    ],
)
def test_settings_that_are_faults(wrong: dict[str, object]) -> None:
    right = {
        "url": "https://api.acme.example",
        "api_key": "k",
        "callback_secret": "s",
    }
    AcmeSettings.model_validate(right)
    with pytest.raises(ValueError, match="validation error"):
        AcmeSettings.model_validate({**right, **wrong})
