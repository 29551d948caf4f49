"""Codes by a call: what the voice says, and what becomes of calls that nobody takes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from pydantic import ValidationError
from tests.drivers.http.aggregator_line import CalledListener

from patience import HANG_S, until_true
from risala.drivers.http import calls
from risala.drivers.http.calls import VoiceChannel, spoken
from risala.drivers.http.presets import CALLS, names, preset, table_of
from risala.drivers.http.settings import CallSettings
from risala.lab.aggregators.row import PASSWORD, TOKEN, USER
from risala.lab.aggregators.stand_in import PlannedAnswer, StandIn
from risala.lab.channels.calls import AGGREGATORS, end_call, spoken_code
from risala.plugins.channel import CodeChannel, CodeToSend
from risala.plugins.contract import Accepted, Cause, HealthState, Refused, Scope, Uncertain
from risala.plugins.testing.channels import ChannelConformance
from risala.plugins.testing.context import RecordingContext

TO = "+22236123456"
ACCOUNTS = {
    "twilio": {"user": USER, "password": PASSWORD},
    "infobip": {"token": TOKEN},
}
NOT_A_NUMBER = {
    "twilio": (400, {"code": 21211, "status": 400, "message": "Invalid 'To' Phone Number"}),
    "infobip": (
        200,
        {"messages": [{"status": {"groupName": "REJECTED", "name": "REJECTED_DESTINATION"}}]},
    ),
}


def code(**changes) -> CodeToSend:
    fields = {"id": "sms_1", "attempt": 1, "to": TO, "code": "482913", "language": "en"}
    return CodeToSend(**{**fields, "expires_at_ms": 4_102_444_800_000, **changes})


@asynccontextmanager
async def calling(name: str, **changes: Any) -> AsyncIterator[tuple[StandIn, VoiceChannel]]:
    """An aggregator that calls, and a channel that does not run yet."""
    async with trio.open_nursery() as nursery:
        listener = CalledListener()
        await nursery.start(listener.run)
        stand_in = StandIn(AGGREGATORS[name], receipts=False)
        await nursery.start(stand_in.run)
        given = {
            "preset": name,
            "url": stand_in.url,
            "secret_address": listener.address_of(name != "twilio"),
            "caller": "+22236000001",
            "answer_s": 1,
            **ACCOUNTS[name],
            **changes,
        }
        channel = VoiceChannel("call", CallSettings.model_validate(given))
        listener.driver = channel
        yield stand_in, channel
        nursery.cancel_scope.cancel()


class CallConformance(ChannelConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    unseen = frozenset({"receipt"})  # it waits for the call's end, and answers with it
    name: str

    @asynccontextmanager
    async def open_channel(self) -> AsyncIterator[CodeChannel]:
        self.ended = 0
        async with calling(self.name) as (self.stand_in, channel), trio.open_nursery() as nursery:
            nursery.start_soon(self._end)
            yield channel
            nursery.cancel_scope.cancel()

    async def _end(self) -> None:
        """Each call is taken, and ends at once."""
        while True:
            await trio.sleep(0.01)
            for call in self.stand_in.taken[self.ended :]:
                self.ended += 1
                end_call(self.stand_in, call)

    async def vendor_got(self) -> Sequence[tuple[str, str]]:
        return [(call.to, spoken_code(call)) for call in self.stand_in.taken]

    async def lose_person(self) -> None:
        status, body = NOT_A_NUMBER[self.name]
        self.stand_in.planned.append(PlannedAnswer(status, json.dumps(body).encode()))

    async def break_vendor(self) -> None:
        self.stand_in.planned.append(PlannedAnswer(500))

    async def mute_vendor(self) -> None:
        self.stand_in.mute = True


class TestTwilioCalls(CallConformance):
    name = "twilio"


class TestInfobipCalls(CallConformance):
    name = "infobip"


@asynccontextmanager
async def called(name: str, given: CodeToSend, **changes: Any):
    """A call that has begun, and what will be its outcome."""
    outcomes: list[object] = []
    context = RecordingContext("call")
    async with (
        calling(name, **changes) as (stand_in, channel),
        trio.open_nursery() as nursery,
    ):
        await nursery.start(channel.run, context)
        await context.wait_health(HealthState.UP)

        async def send() -> None:
            outcomes.append(await channel.send_code(given))

        nursery.start_soon(send)
        await until_true(lambda: stand_in.taken)
        yield stand_in, context, outcomes
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("name", sorted(AGGREGATORS))
@pytest.mark.parametrize(
    ("word", "cause"),
    [("busy", Cause.UNDELIVERABLE), ("no-answer", Cause.ABSENT), ("failed", Cause.UNDELIVERABLE)],
)
async def test_a_call_that_nobody_takes_has_failed(name, word, cause):
    async with called(name, code()) as (stand_in, context, outcomes):
        end_call(stand_in, stand_in.taken[0], word)
        await until_true(lambda: outcomes)
        (refused,) = outcomes
        assert isinstance(refused, Refused)
        assert (refused.scope, refused.cause) == (Scope.FINAL, cause)
        assert context.receipts == []


@pytest.mark.parametrize("name", sorted(AGGREGATORS))
async def test_a_call_that_is_taken_has_brought_the_code(name):
    async with called(name, code()) as (stand_in, _, outcomes):
        end_call(stand_in, stand_in.taken[0])
        await until_true(lambda: outcomes)
        (accepted,) = outcomes
        assert isinstance(accepted, Accepted)
        assert accepted.is_delivered
        assert accepted.carrier_id == stand_in.taken[0].id


async def test_a_call_without_an_end_is_sent_and_its_end_a_receipt(monkeypatch):
    monkeypatch.setattr(calls, "SPEAKS_S", -25.0)
    async with called("twilio", code()) as (stand_in, context, outcomes):
        await until_true(lambda: outcomes)
        assert not outcomes[0].is_delivered
        end_call(stand_in, stand_in.taken[0], "busy")
        await context.wait_until(lambda it: it.receipts)
        assert [each.raw for each in context.receipts] == ["busy"]


async def test_without_an_address_the_aggregator_is_asked(monkeypatch):
    monkeypatch.setattr(calls, "ASK_S", 0.01)
    named = ("auth", "send", "answer", "receipt", "query")
    tables = {name: table_of("twilio", CALLS)[name] for name in named}
    async with called("twilio", code(), preset="", secret_address="", **tables) as (
        stand_in,
        _,
        outcomes,
    ):
        stand_in.states = {stand_in.taken[0].id: stand_in.taken[0]}
        await until_true(lambda: outcomes)
        assert outcomes[0] == Accepted(stand_in.taken[0].id, "completed", is_delivered=True)


@pytest.mark.parametrize(
    ("language", "name", "tag", "begins"),
    [
        ("en", "twilio", 'language="en-US"', "Hello."),
        ("fr", "twilio", 'language="fr-FR"', "Bonjour."),
        ("ar", "twilio", 'language="ar-AE"', "مرحبا."),
    ],
)
async def test_the_voice_speaks_the_codes_language(language, name, tag, begins):
    async with called(name, code(language=language)) as (stand_in, *_):
        (call,) = stand_in.taken
        assert f"<Say {tag}>{begins}" in call.text
        assert spoken_code(call) == "482913"
        form = stand_in.requests_for_messages[0].content.fields
        assert (form["Timeout"], form["From"]) == ("25", "+22236000001")


async def test_a_language_without_a_voice_is_spoken_in_english(monkeypatch):
    settings = CallSettings.model_validate(
        {"preset": "infobip", "url": "https://x.example", "token": "t", "caller": "123"}
    )
    channel, calls_made = VoiceChannel("call", settings), []
    del settings.shape.send.languages["ar"]

    async def call(segment, filling):
        calls_made.append((segment.text.split()[0], filling["language"]))
        return Uncertain("nobody is called")

    monkeypatch.setattr(channel._driver, "call", call)
    try:
        for language in ("ar", "fr"):
            await channel.send_code(code(language=language))
    finally:
        settings.shape.send.languages["ar"] = "ar"
    assert calls_made == [("Hello.", "en"), ("Bonjour.", "fr")]


def test_each_digit_is_said_alone_and_the_code_twice():
    digits = "0, 0, 4, 2."
    said = f"Votre code pour My shop est : {digits} Encore une fois : {digits} Au revoir."
    assert spoken("My shop", "0042", "fr") == f"Bonjour. {said}"


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"caller": "Risala"}, "caller"),
        ({"caller": "+222", "name": "A <Say>"}, "name"),
        ({"caller": "+222", "preset": "vonage"}, "infobip, twilio"),
        ({"caller": "+222", "ring_s": 90}, "ring_s"),
    ],
)
def test_settings_that_cannot_be(given, fault):
    table = {"preset": "infobip", "url": "https://x.example", "token": "t", **given}
    with pytest.raises(ValidationError, match=fault):
        CallSettings.model_validate(table)


def test_each_preset_has_a_stand_in_and_speaks_english():
    assert [*names(CALLS)] == sorted(AGGREGATORS)
    for name in names(CALLS):
        shape = preset(name, CALLS)
        assert shape.title
        assert {*shape.send.languages} == {"en", "fr", "ar"}
        assert "{language}" in str(shape.send.fields)


async def test_an_answer_that_is_lost_is_uncertain():
    async with calling("twilio") as (stand_in, channel), trio.open_nursery() as nursery:
        context = RecordingContext("call")
        await nursery.start(channel.run, context)
        await context.wait_health(HealthState.UP)
        stand_in.lose_answers = 1
        assert isinstance(await channel.send_code(code()), Uncertain)
        nursery.cancel_scope.cancel()
