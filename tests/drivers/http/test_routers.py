"""Routers with a SIM: what they answer, how one logs in, and texts that they cannot send."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
import trio
from tests.drivers.http.aggregator_line import aggregator_and_driver, running

from patience import HANG_S
from risala.lab.aggregators.stand_in import PlannedAnswer
from risala.plugins.contract import (
    Accepted,
    Alphabet,
    Cause,
    HealthState,
    Outcome,
    Refused,
    Scope,
    Segment,
    Uncertain,
)
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.message import WHOLE


@dataclass(frozen=True)
class Row:
    name: str
    preset: str
    status: int
    body: bytes
    outcome: Outcome


def rutos(**answer: object) -> bytes:
    return json.dumps(answer).encode()


def rutos_error(code: int) -> bytes:
    return rutos(success=False, errors=[{"code": code, "error": "A sentence", "source": "x"}])


def mikrotik(detail: str) -> bytes:
    return json.dumps({"detail": detail, "error": 400, "message": "Bad Request"}).encode()


UNKNOWN = "The carrier answered with a word that says neither yes nor no."
ANSWERS = [
    Row("a yes", "rutos", 200, rutos(success=True, data={"sms_used": 2}),
        Accepted("", "200 true parts=2")),
    Row("a no in a yes", "rutos", 200, rutos(success=False),
        Refused(Scope.CARRIER, "200 false")),
    Row("an error that no list has", "rutos", 422, rutos_error(99),
        Refused(Scope.CARRIER, "422 false")),
    Row("the SIM's limit", "rutos", 422, rutos_error(6),
        Refused(Scope.CARRIER, "422 6", cause=Cause.QUOTA_USED)),
    Row("no SIM", "rutos", 422, rutos_error(7),
        Refused(Scope.NOW, "422 7", cause=Cause.DEVICE_FAULT)),
    Row("not sent", "rutos", 422, rutos_error(2),
        Refused(Scope.NOW, "422 2", cause=Cause.CARRIER_FAULT)),
    Row("perhaps not shown", "rutos", 422, rutos_error(1), Uncertain("422 1")),
    Row("a word of tomorrow", "rutos", 200, rutos(success="maybe"),
        Uncertain("200 maybe", UNKNOWN)),
    Row("an empty list", "mikrotik", 200, b"[]", Accepted("", "200")),
    Row("nothing", "mikrotik", 200, b"", Accepted("", "200")),
    Row("a page", "mikrotik", 200, b" <html>Hello</html>", Uncertain("200 <")),
    Row("a command that was cut off", "mikrotik", 400, mikrotik("Session closed"),
        Uncertain("400")),
    Row("a failure after the modem had it", "mikrotik", 400, mikrotik("failure: timeout"),
        Uncertain("400")),
    Row("another port", "mikrotik", 400, mikrotik("input does not match any value of port"),
        Refused(Scope.CARRIER, "400 input does not match", cause=Cause.UNSUPPORTED)),
    Row("a user who may not", "mikrotik", 500, mikrotik("not enough permissions (9)"),
        Refused(Scope.CARRIER, "500 not enough permissions", cause=Cause.NOT_ALLOWED)),
]  # fmt: skip


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: f"{row.preset}: {row.name}")
async def test_what_a_router_answers(row: Row) -> None:
    async with running(row.preset) as (router, driver, _):
        router.planned.append(PlannedAnswer(row.status, row.body))
        assert await driver.submit(segment()) == row.outcome


async def test_a_login_that_is_over_is_made_again_once() -> None:
    async with running("rutos") as (router, driver, _):
        assert router.tokens_given == 1
        router.planned.append(PlannedAnswer(401, b"{}"))
        assert await driver.submit(segment()) == Accepted("", "200 true parts=1")
        assert router.tokens_given == 2


async def test_a_login_that_is_refused_is_a_sentence() -> None:
    context = RecordingContext("one")
    async with (
        aggregator_and_driver("rutos", password="another") as (router, driver, _),
        trio.open_nursery() as nursery,
    ):
        with trio.fail_after(HANG_S):
            await nursery.start(driver.run, context)
            health = await context.wait_health(HealthState.SICK)
        assert health.text == "The carrier refuses our user and password."
        assert not router.taken
        nursery.cancel_scope.cancel()


ACCENT = segment("Déjà payé")
ARABIC = segment("تم الدفع", alphabet=Alphabet.UCS2)
LONG = segment("x" * 161, number=WHOLE)
EXTENDED = segment("{}" * 41, number=WHOLE)
"""82 characters, of which each counts twice."""


@pytest.mark.parametrize(
    ("sent", "cause"),
    [
        (ACCENT, Cause.NOT_ENCODABLE),
        (ARABIC, Cause.NOT_ENCODABLE),
        (LONG, Cause.TOO_LONG),
        (EXTENDED, Cause.TOO_LONG),
    ],
    ids=["accents", "Arabic", "long", "long by its signs"],
)
async def test_a_text_that_a_router_cannot_send_is_left_to_another_carrier(
    sent: Segment, cause: Cause
) -> None:
    async with running("mikrotik") as (router, driver, _):
        assert await driver.submit(sent) == Refused(Scope.CARRIER, "", cause=cause)
        assert not router.requests_for_messages
        assert await driver.submit(segment("x" * 160)) == Accepted("", "200")


async def test_an_operator_whose_router_sends_accents_and_long_texts_says_so() -> None:
    send = {"alphabet": "gsm7", "parts_max": 2}
    async with running("mikrotik", send=send) as (router, driver, _):
        for sent in (ACCENT, LONG):
            assert await driver.submit(sent) == Accepted("", "200")
        assert await driver.submit(ARABIC) == Refused(Scope.CARRIER, "", cause=Cause.NOT_ENCODABLE)
        assert [one.text for one in router.taken] == [ACCENT.text, LONG.text]


async def test_a_router_that_never_calls_has_no_address() -> None:
    async with running("mikrotik") as (_, driver, _context):
        assert not driver.capabilities.secret_address
    async with running("rutos") as (_, driver, _context):
        assert driver.capabilities.secret_address
