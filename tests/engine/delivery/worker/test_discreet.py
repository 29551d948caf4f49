"""What a message says reaches no log, no timeline and no event by way of a driver's words."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass

import pytest
import structlog
import trio
from structlog.testing import capture_logs

from risala.app.tracebacks import rendered
from risala.engine.delivery.worker.discreet import RAW_CHARACTERS_MAX, discreet, discreet_receipt
from risala.engine.model.commands import SendCode, SendMessage
from risala.engine.model.records.messages import NewMessage
from risala.plugins.contract import (
    Accepted,
    Cause,
    Inbound,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.mail import Mail
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import Alphabet, Segment
from risala.sms.segment import cut

SECRET = "Your code is 271828."
SEGMENT = Segment(
    *("sms_1", 1, 1, 1, "RISALA", "+22236123456", Alphabet.GSM7, SECRET, 7), expires_at_ms=0
)


@pytest.mark.parametrize(
    "thing",
    [
        SEGMENT,
        Inbound("+22236123456", "1234", SECRET, 0),
        SendMessage("+22236123456", SECRET),
        NewMessage(*range(5), SECRET, *range(19)),
        Mail("a@b.example", "Sign in", SECRET),
        cut(SECRET),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_no_repr_shows_a_text(thing):
    names = [each.name for each in fields(thing)] if is_dataclass(thing) else thing._fields
    assert any(SECRET in str(getattr(thing, name)) for name in names)
    assert "271828" not in repr(thing)


OUTCOMES = [
    Accepted("7", SECRET),
    Throttled(SECRET, SECRET),
    Refused(Scope.NOW, f"failed: {SECRET}", f"cannot send {SECRET}", Cause.REJECTED),
    Uncertain("271828", SECRET),
    Unsent(SECRET, "271828"),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_that_repeats_the_text_keeps_all_but_that(outcome):
    kept = discreet(outcome, SEGMENT, is_code=True)
    assert "271828" not in str(kept)
    assert type(kept) is type(outcome)
    assert SECRET not in str(discreet(outcome, SEGMENT, is_code=False))


def test_of_a_code_only_the_carriers_own_word_is_kept():
    refused = Refused(Scope.NOW, "ESME_RSYSERR", "The carrier has a fault.", Cause.CARRIER_FAULT)
    kept = discreet(refused, SEGMENT, is_code=True)
    assert (kept.raw, kept.text, kept.cause) == ("ESME_RSYSERR", "", Cause.CARRIER_FAULT)
    assert discreet(refused, SEGMENT, is_code=False) is refused


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("DELIVRD err:000", "DELIVRD err:000"),
        ("id:1 stat:DELIVRD err:000 text:Your code", "id:1 stat:DELIVRD err:000"),
        ("stat:DELIVRD Text : Your\ncode", "stat:DELIVRD"),
        ("x" * 500, "x" * RAW_CHARACTERS_MAX),
    ],
)
def test_a_receipt_ends_where_the_message_begins(raw, kept):
    assert discreet_receipt(Receipt("1", ReceiptState.DELIVERED, raw)).raw == kept


def bug(segment):
    try:
        raise ValueError("boom " + segment.text)
    except ValueError as error:
        raise RuntimeError(f"cannot send {segment!r}: {segment.text}") from error


@pytest.mark.parametrize("is_code", [False, True])
@pytest.mark.parametrize("how", ["raises", "says"])
async def test_no_driver_brings_a_text_anywhere(open_house, quick, how, is_code):
    """Neither a bug's words nor an answer's stand in what is kept, told of, or written."""

    def talkative(segment):
        return Refused(Scope.FINAL, segment.text, f"No: {segment.text}", Cause.REJECTED)

    driver = FakeDriver(always=bug if how == "raises" else talkative)

    async with open_house(drivers={"fake": driver}) as house:
        with capture_logs(processors=[structlog.processors.ExceptionRenderer(rendered)]) as logs:
            if is_code:
                await house.gateway.send_code(house.principal, SendCode("+22236123456"))
            else:
                await house.send(SECRET)
            await trio.sleep(200)
        (text,) = {segment.text for segment in driver.submitted}
        logged = json.dumps([str(entry) for entry in logs])
        kept = "\n".join(house.gateway.services.repositories._store.reader.iterdump()).replace(
            SECRET, "", 1
        )
    (code,) = re.findall(r"[0-9]{4,8}", text)
    for told in (logged, kept):
        assert text not in told
        assert not re.search(rf"(?<![0-9]){code}(?![0-9])", told)
