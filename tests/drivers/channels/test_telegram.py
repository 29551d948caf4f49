"""Codes by Telegram, against its Gateway as it is documented: words, refunds, signed reports."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio

from patience import HANG_S, until_true
from risala.drivers.channels.settings import TelegramSettings
from risala.drivers.channels.telegram import STRANGER, TelegramChannel
from risala.lab.channels.telegram import TelegramGateway
from risala.plugins.answering import CarrierRequest
from risala.plugins.channel import CodeChannel, CodeToSend
from risala.plugins.contract import (
    Accepted,
    Cause,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.channels import ChannelConformance
from risala.plugins.testing.context import RecordingContext

CALLBACK = "https://sms.example/carriers/telegram"
TO = "+22236123456"


def settings(gateway: TelegramGateway, **changes) -> TelegramSettings:
    fields = {"token": gateway.token, "url": gateway.url, "ttl_s": 30, "callback_url": CALLBACK}
    return TelegramSettings(**{**fields, **changes})


def code(**changes) -> CodeToSend:
    fields = {"id": "sms_1", "attempt": 1, "to": TO, "code": "482913", "language": "en"}
    return CodeToSend(**{**fields, "expires_at_ms": 4_102_444_800_000, **changes})


def request(gateway: TelegramGateway, report: dict, **changes) -> CarrierRequest:
    """What the service hands a report over as."""
    body = json.dumps(report).encode()
    proofs: list[bool] = []

    async def read() -> bytes:
        return body

    fields = {
        "id": "req_1",
        "method": "POST",
        "path": "",
        "query": {},
        "headers": {name.lower(): value for name, value in gateway.signed(report).items()},
        "address": None,
        "received_at_ms": int(gateway.now_s() * 1000),
        "is_proved": lambda: bool(proofs),
        "prove": lambda: proofs.append(True),
        "read": read,
    }
    return CarrierRequest(**{**fields, **changes})


class TestTelegram(ChannelConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    unseen = frozenset({"receipt"})  # it waits for Telegram's word, and answers with it

    @asynccontextmanager
    async def open_channel(self) -> AsyncIterator[CodeChannel]:
        self.gateway = TelegramGateway()
        self.reported: set[str] = set()
        async with trio.open_nursery() as nursery:
            await nursery.start(self.gateway.run)
            self.channel = TelegramChannel(settings(self.gateway))
            nursery.start_soon(self._report)
            yield self.channel
            nursery.cancel_scope.cancel()

    async def _report(self) -> None:
        """Each code is delivered at once."""
        while True:
            await trio.sleep(0.01)
            for request_id in {*self.gateway.statuses} - self.reported:
                self.reported.add(request_id)
                report = self.gateway.become(request_id, "delivered")
                await self.channel.answer(request(self.gateway, report))

    async def vendor_got(self) -> Sequence[tuple[str, str]]:
        return self.gateway.codes

    async def lose_person(self) -> None:
        self.gateway.people = set()

    async def break_vendor(self) -> None:
        self.gateway.broken = True

    async def mute_vendor(self) -> None:
        self.gateway.mute = True


@pytest.fixture
async def gateway(nursery) -> TelegramGateway:
    made = TelegramGateway()
    await nursery.start(made.run)
    return made


async def sent(nursery, gateway, **changes):
    """A code that Telegram has, and what will be its outcome."""
    channel, outcomes = TelegramChannel(settings(gateway, **changes)), []
    channel_context = RecordingContext()
    await nursery.start(channel.run, channel_context)

    async def send() -> None:
        outcomes.append(await channel.send_code(code()))

    nursery.start_soon(send)
    await until_true(lambda: len(channel._words))
    return channel, channel_context, outcomes


async def settled(outcomes: list) -> object:
    await until_true(lambda: outcomes)
    return outcomes[0]


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("delivered", Accepted("0", "delivered", is_delivered=True)),
        ("read", Accepted("0", "read", is_delivered=True)),
        ("expired", Refused(Scope.FINAL, "expired", cause=Cause.EXPIRED)),
    ],
)
async def test_a_delivery_is_what_the_report_says(nursery, gateway, word, outcome):
    channel, context, outcomes = await sent(nursery, gateway)
    answer = await channel.answer(request(gateway, gateway.become(gateway.last, word)))
    assert answer.status == 200
    got = await settled(outcomes)
    assert (type(got), got.raw) == (type(outcome), outcome.raw)
    assert getattr(got, "is_delivered", None) == getattr(outcome, "is_delivered", None)
    assert context.receipts == []


async def test_what_is_not_delivered_costs_nothing_there_either(nursery, gateway):
    before = gateway.balance
    channel, _, outcomes = await sent(nursery, gateway)
    await channel.answer(request(gateway, gateway.become(gateway.last, "expired")))
    await settled(outcomes)
    assert gateway.balance == before


async def test_a_later_word_is_a_receipt(nursery, gateway):
    channel, context, outcomes = await sent(nursery, gateway)
    report = gateway.become(gateway.last, "delivered")
    await channel.answer(request(gateway, report))
    await settled(outcomes)
    await channel.answer(request(gateway, report))
    assert context.receipts == [Receipt(gateway.last, ReceiptState.DELIVERED, "delivered")]


@pytest.mark.parametrize("spoil", ["signature", "body", "time", "none", "token"])
async def test_a_report_that_is_not_telegram_s_changes_nothing(nursery, gateway, spoil):
    channel, context, outcomes = await sent(nursery, gateway)
    report = gateway.become(gateway.last, "delivered")
    headers = {name.lower(): value for name, value in gateway.signed(report).items()}
    if spoil == "signature":
        headers["x-request-signature"] = "0" * 64
    elif spoil == "body":
        report = {**report, "request_id": "9"}
    elif spoil == "none":
        headers = {}
    elif spoil == "token":
        other = TelegramGateway(token="another")
        headers = {name.lower(): value for name, value in other.signed(report).items()}
    late_ms = 601_000 if spoil == "time" else 0
    forged = request(
        gateway,
        report,
        headers=headers,
        received_at_ms=int(gateway.now_s() * 1000) + late_ms,
    )
    answer = await channel.answer(forged)
    assert answer.status == 401
    assert not forged.is_proved()
    assert outcomes == []
    assert context.receipts == []


@pytest.mark.parametrize(
    ("prepare", "outcome"),
    [
        ({"people": set()}, Refused(Scope.FINAL, "PHONE_NUMBER_NOT_FOUND")),
        ({"balance": 0.0}, Refused(Scope.CARRIER, "BALANCE_NOT_ENOUGH")),
        ({"broken": True}, Refused(Scope.NOW, "500")),
    ],
)
async def test_what_telegram_refuses(nursery, gateway, prepare, outcome):
    for name, value in prepare.items():
        setattr(gateway, name, value)
    got = await TelegramChannel(settings(gateway)).send_code(code())
    assert (type(got), got.scope, got.raw) == (type(outcome), outcome.scope, outcome.raw)


async def test_a_wrong_token_is_told_to_the_operator(nursery, gateway):
    channel, context = TelegramChannel(settings(gateway, token="wrong")), RecordingContext()
    await nursery.start(channel.run, context)
    got = await channel.send_code(code())
    assert (got.scope, got.cause) == (Scope.CARRIER, Cause.NOT_ALLOWED)
    assert context.healths[-1].details["attention"] == STRANGER


async def test_too_many_at_once_slow_down(nursery, gateway):
    gateway.answered = lambda *_: (420, {"ok": False, "error": "FLOOD_WAIT_17"})
    got = await TelegramChannel(settings(gateway)).send_code(code())
    assert got == Throttled("FLOOD_WAIT", retry_after_s=17.0)


async def test_without_a_connection_nothing_has_left():
    channel = TelegramChannel(TelegramSettings(token="t", url="http://127.0.0.1:9"))
    assert isinstance(await channel.send_code(code()), Unsent)


async def test_an_answer_that_is_lost_is_uncertain(nursery, gateway, monkeypatch):
    monkeypatch.setattr("risala.drivers.channels.calls.STEP_S", 0.05)
    gateway.mute = True
    assert isinstance(await TelegramChannel(settings(gateway)).send_code(code()), Uncertain)
