"""Codes by WhatsApp, against its Cloud API as it is documented: templates, error codes, reports."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
import trio

from patience import HANG_S, until_true
from risala.drivers.channels.calls import ANSWER_BYTES_MAX, json_object
from risala.drivers.channels.settings import WhatsAppSettings
from risala.drivers.channels.whatsapp import NO_TEMPLATE, WhatsAppChannel, _reports
from risala.drivers.channels.whatsapp_errors import ATTENTION
from risala.lab.channels.whatsapp import BUSINESS_ID, NUMBER_ID, TEMPLATE, WhatsAppCloud
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

TO = "+22236123456"
FAILED = ReceiptState.UNDELIVERABLE


def settings(cloud: WhatsAppCloud, **changes) -> WhatsAppSettings:
    fields = {
        "token": cloud.token,
        "url": cloud.api,
        "phone_number_id": NUMBER_ID,
        "template": TEMPLATE,
        "languages": ["en", "fr"],
        "app_secret": cloud.app_secret,
        "verify_token": cloud.verify_token,
        "word_s": 60,
    }
    return WhatsAppSettings(**{**fields, **changes})


def code(**changes) -> CodeToSend:
    fields = {"id": "sms_1", "attempt": 1, "to": TO, "code": "482913", "language": "en"}
    return CodeToSend(**{**fields, "expires_at_ms": 4_102_444_800_000, **changes})


def request(cloud: WhatsAppCloud, report: dict, **changes) -> CarrierRequest:
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
        "headers": {name.lower(): value for name, value in cloud.signed(report).items()},
        "address": None,
        "received_at_ms": int(cloud.now_s() * 1000),
        "is_proved": lambda: bool(proofs),
        "prove": lambda: proofs.append(True),
        "read": read,
    }
    return CarrierRequest(**{**fields, **changes})


class TestWhatsApp(ChannelConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S

    @asynccontextmanager
    async def open_channel(self) -> AsyncIterator[CodeChannel]:
        self.cloud = WhatsAppCloud()
        self.told: set[str] = set()
        async with trio.open_nursery() as nursery:
            await nursery.start(self.cloud.run)
            self.channel = WhatsAppChannel(settings(self.cloud))
            nursery.start_soon(self._report)
            yield self.channel
            nursery.cancel_scope.cancel()

    async def _report(self) -> None:
        """Each code has left at once, or nobody has it."""
        while True:
            await trio.sleep(0.01)
            for message_id in {*self.cloud.to} - self.told:
                self.told.add(message_id)
                has = self.cloud.has(f"+{self.cloud.to[message_id]}")
                await self._tell(message_id, "sent" if has else "failed")

    async def _tell(self, message_id: str, word: str) -> None:
        await self.channel.answer(request(self.cloud, self.cloud.reported(message_id, word)))

    async def vendor_got(self) -> Sequence[tuple[str, str]]:
        return self.cloud.codes

    async def deliver(self) -> None:
        if self.cloud.to:
            await self._tell(self.cloud.last, "delivered")

    async def lose_person(self) -> None:
        self.cloud.people = set()

    async def break_vendor(self) -> None:
        self.cloud.broken = True

    async def mute_vendor(self) -> None:
        self.cloud.mute = True


@pytest.fixture
async def cloud(nursery) -> WhatsAppCloud:
    made = WhatsAppCloud()
    await nursery.start(made.run)
    return made


async def sent(nursery, cloud, **changes):
    """A code that WhatsApp has, and what will be its outcome."""
    channel, outcomes = WhatsAppChannel(settings(cloud, **changes)), []
    context = RecordingContext()
    await nursery.start(channel.run, context)

    async def send() -> None:
        outcomes.append(await channel.send_code(code()))

    nursery.start_soon(send)
    await until_true(lambda: len(channel._words))
    return channel, context, outcomes


async def settled(outcomes: list) -> object:
    await until_true(lambda: outcomes)
    return outcomes[0]


@pytest.mark.parametrize(
    ("word", "error", "outcome"),
    [
        ("sent", 0, Accepted("", "sent")),
        ("delivered", 0, Accepted("", "delivered", is_delivered=True)),
        ("read", 0, Accepted("", "read", is_delivered=True)),
        ("failed", 131026, Refused(Scope.FINAL, "failed 131026", cause=Cause.UNKNOWN_NUMBER)),
        ("failed", 131042, Refused(Scope.CARRIER, "failed 131042", cause=Cause.NO_CREDIT)),
        ("failed", 130429, Throttled("failed 130429")),
    ],
)
async def test_the_first_word_is_the_outcome(nursery, cloud, word, error, outcome):
    channel, context, outcomes = await sent(nursery, cloud)
    answer = await channel.answer(request(cloud, cloud.reported(cloud.last, word, error)))
    assert answer.status == 200
    got = await settled(outcomes)
    if isinstance(outcome, Accepted):
        assert got == Accepted(cloud.last, outcome.raw, is_delivered=outcome.is_delivered)
    else:
        assert got == outcome
    assert context.receipts == []


async def test_without_a_word_it_is_accepted_and_later_words_are_receipts(nursery, cloud):
    channel, context = WhatsAppChannel(settings(cloud, word_s=0)), RecordingContext()
    await nursery.start(channel.run, context)
    assert await channel.send_code(code()) == Accepted(cloud.last, "accepted")
    for word in ("sent", "delivered", "read", "failed"):
        await channel.answer(request(cloud, cloud.reported(cloud.last, word)))
    there = [Receipt(cloud.last, ReceiptState.DELIVERED, word) for word in ("delivered", "read")]
    lost = Receipt(cloud.last, FAILED, "failed 131026", cause=Cause.UNKNOWN_NUMBER)
    assert context.receipts == [*there, lost]


@pytest.mark.parametrize("words", [("delivered", "sent"), ("sent", "delivered")])
async def test_words_that_come_before_the_answer_are_not_lost(nursery, cloud, words):
    channel = WhatsAppChannel(settings(cloud))
    await nursery.start(channel.run, RecordingContext())
    cloud.to["wamid.1"] = TO.removeprefix("+")  # its answer is still on the way
    for word in words:
        await channel.answer(request(cloud, cloud.reported("wamid.1", word)))
    got = await channel._awaited("wamid.1")
    assert got == Accepted("wamid.1", "delivered", is_delivered=True)


async def test_a_report_of_many_tells_each(nursery, cloud):
    channel, context = WhatsAppChannel(settings(cloud)), RecordingContext()
    await nursery.start(channel.run, context)
    cloud.to = {"wamid.1": "22236123456", "wamid.2": "22236123457"}
    first, second = (cloud.reported(each, "delivered") for each in cloud.to)
    other = json.loads(json.dumps(second).replace(NUMBER_ID, "7").replace("wamid.2", "wamid.3"))
    odd = [{"changes": [{"value": 7}, 7, {}]}, 7, {"changes": {}}]
    report = {**first, "entry": [*first["entry"], *odd, *second["entry"], *other["entry"]]}
    assert (await channel.answer(request(cloud, report))).status == 200
    assert [each.carrier_id for each in context.receipts] == ["wamid.1", "wamid.2"]


@pytest.mark.parametrize("spoil", ["signature", "body", "none", "secret"])
async def test_a_report_that_is_not_metas_changes_nothing(nursery, cloud, spoil):
    channel, context, outcomes = await sent(nursery, cloud)
    report = cloud.reported(cloud.last, "delivered")
    headers = {name.lower(): value for name, value in cloud.signed(report).items()}
    if spoil == "signature":
        headers["x-hub-signature-256"] = "sha256=" + "0" * 64
    elif spoil == "body":
        report = {**report, "object": "another"}
    elif spoil == "none":
        headers = {}
    elif spoil == "secret":
        signed = WhatsAppCloud(app_secret="another").signed(report)
        headers = {name.lower(): value for name, value in signed.items()}
    forged = request(cloud, report, headers=headers)
    assert (await channel.answer(forged)).status == 401
    assert not forged.is_proved()
    assert outcomes == []
    assert context.receipts == []


def test_endless_brackets_say_nothing():
    endless = b"[" * ANSWER_BYTES_MAX
    assert list(_reports(endless, NUMBER_ID)) == []
    assert json_object(endless) == {}


@pytest.mark.parametrize(
    ("changes", "status", "body"),
    [
        ({}, 200, b"1158201444"),
        ({"hub.verify_token": "another"}, 401, b""),
        ({"hub.mode": "unsubscribe"}, 401, b""),
        ({"hub.challenge": "<script>"}, 400, b""),
    ],
)
async def test_meta_asks_whether_the_address_is_for_reports(cloud, changes, status, body):
    asked = {"hub.mode": "subscribe", "hub.verify_token": cloud.verify_token}
    asked = {**asked, "hub.challenge": "1158201444", **changes}
    query = {name: (value,) for name, value in asked.items()}
    greeting = request(cloud, {}, method="GET", query=query, headers={})
    answer = await WhatsAppChannel(settings(cloud)).answer(greeting)
    assert (answer.status, answer.body) == (status, body)
    assert greeting.is_proved() is (status != 401)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (131026, Refused(Scope.FINAL, "131026", cause=Cause.UNKNOWN_NUMBER)),
        (131056, Refused(Scope.RECIPIENT, "131056", cause=Cause.THROTTLED)),
        (130429, Throttled("130429")),
        (131016, Refused(Scope.NOW, "131016", cause=Cause.CARRIER_FAULT)),
        (131042, Refused(Scope.CARRIER, "131042", cause=Cause.NO_CREDIT)),
        (131031, Refused(Scope.CARRIER, "131031", cause=Cause.NOT_ALLOWED)),
        (100, Refused(Scope.CARRIER, "100", cause=Cause.UNSUPPORTED)),
    ],
)
async def test_what_whatsapp_refuses(cloud, error, outcome):
    cloud.refuses = [error]
    assert await WhatsAppChannel(settings(cloud)).send_code(code()) == outcome


async def test_a_code_in_a_language_that_the_template_lacks_goes_by_the_first(cloud):
    channel = WhatsAppChannel(settings(cloud, word_s=0))
    for language, by in [("fr", "fr"), ("ar", "en")]:
        body = channel._body(code(language=language))
        assert body["template"]["language"] == {"code": by}
        assert isinstance(await channel.send_code(code(language=language)), Accepted)
    assert cloud.codes == [(TO, "482913")] * 2


async def test_a_template_that_is_not_there_is_no_fault_of_the_person(nursery, cloud):
    channel, context = WhatsAppChannel(settings(cloud, template="other")), RecordingContext()
    await nursery.start(channel.run, context)
    got = await channel.send_code(code())
    assert got == Refused(Scope.CARRIER, "132001", cause=Cause.CONTENT_REFUSED)
    assert context.healths[-1].details["attention"] == ATTENTION[Cause.CONTENT_REFUSED]


@pytest.mark.parametrize(
    ("changes", "attention"),
    [
        ({}, None),
        ({"token": "wrong"}, ATTENTION[Cause.NOT_ALLOWED]),
        ({"phone_number_id": "7"}, ATTENTION[Cause.UNSUPPORTED]),
        ({"business_id": BUSINESS_ID, "languages": ["en", "ar"]}, NO_TEMPLATE),
        ({"business_id": BUSINESS_ID}, None),
        ({"business_id": "7"}, None),
    ],
)
async def test_the_account_is_looked_at_without_cost(nursery, cloud, changes, attention):
    channel, context = WhatsAppChannel(settings(cloud, **changes)), RecordingContext()
    await nursery.start(channel.run, context)
    await until_true(lambda: len(context.healths) > 1)
    details = context.healths[-1].details
    assert details.get("attention") == attention
    assert ("quality" in details) is (attention in (None, NO_TEMPLATE))
    assert cloud.codes == []


async def test_without_a_connection_nothing_has_left():
    far = WhatsAppCloud(url="http://127.0.0.1:9")
    assert isinstance(await WhatsAppChannel(settings(far)).send_code(code()), Unsent)


async def test_an_answer_that_is_lost_is_uncertain(cloud, monkeypatch):
    monkeypatch.setattr("risala.drivers.channels.calls.STEP_S", 0.05)
    cloud.mute = True
    assert isinstance(await WhatsAppChannel(settings(cloud)).send_code(code()), Uncertain)
