"""Whatever an aggregator may answer and bring, on a real socket with the real engine: what becomes
of the message, and what its page says of it in each language."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import trio
import trio.testing
from tests.http.faces.face_office import TO, open_office

from patience import HANG_S, until_true
from risala.drivers.http.driver import HttpDriver
from risala.drivers.http.settings import HttpSettings
from risala.drivers.smpp.server_tls import server_context
from risala.engine.model.people import Language
from risala.engine.model.records import messages
from risala.engine.model.records.carriers import state
from risala.http.faces.carriers import mount
from risala.http.faces.paths import PathMounting
from risala.http.operator.carriers.driver_words import driver_text
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp
from risala.http.web.formats import Formats
from risala.http.web.languages import load_words
from risala.http.web.messages.sentences import line_sentence
from risala.lab.aggregators.row import PASSWORD, USER
from risala.lab.aggregators.stand_in import PlannedAnswer, StandIn
from risala.lab.aggregators.table import AGGREGATORS

TLS = Path(__file__).parents[2] / "drivers/smpp/tls"


def africas(code: int, message_id: str = "ATXid_1") -> bytes:
    recipient = {"statusCode": code, "messageId": message_id}
    return json.dumps({"SMSMessageData": {"Message": "Sent", "Recipients": [recipient]}}).encode()


@dataclass
class House:
    """A service whose only carrier is the aggregator."""

    office: Any
    carrier: StandIn
    driver: HttpDriver

    async def send(self) -> str:
        office = self.office
        made = await office.perform(
            "send", organization_id=office.organization_id, to=TO, body="Hello"
        )
        return made["messageId"]

    async def story(self, message_id: str) -> messages.MessageStory:
        answer = await self.office.gateway.ask(messages.SHOW, {"message_id": message_id})
        return answer.value

    def has_called(self, times: int) -> bool:
        """Whether the aggregator has called the service so often."""
        return len(self.carrier.callback_statuses) >= times

    async def wait_line(self, message_id: str, code: str) -> messages.MessageStory:
        with trio.fail_after(HANG_S), self.office.gateway.watch() as life:
            while True:
                story = await self.story(message_id)
                if code in [entry.code for entry in story.timeline]:
                    return story
                await anext(life)


@asynccontextmanager
async def open_house(directory, *, url: str = "", **settings):
    async with trio.open_nursery() as nursery:
        carrier = StandIn(AGGREGATORS["africastalking"], receipts=False)
        await nursery.start(carrier.run)
        sock = listen_tcp("127.0.0.1", 0)
        given = {
            "preset": "africastalking",
            "url": url or carrier.url,
            "user": USER,
            "password": PASSWORD,
            "look_s": 3600,
            **settings,
        }
        driver = HttpDriver("fake", HttpSettings.model_validate(given))
        http = {"public_url": base_url(sock)}
        async with open_office(directory, {}, driver=driver, http=http) as office:
            stop = trio.Event()
            mount(PathMounting(office.app, office.gateway, office.settings, {}, "", stop))
            serve = partial(serve_app, http=office.settings.http, sock=sock, shutdown=stop)
            await nursery.start(serve, office.app)
            made = await office.perform("carriers.rotate", carrier="fake")
            carrier.called_at = made["url"]
            with trio.fail_after(HANG_S):
                yield House(office, carrier, driver)
        nursery.cancel_scope.cancel()


def told(story: messages.MessageStory, language: Language) -> list[str]:
    """The timeline as a page shows it, without its markup but that of a foreign language."""
    formats = Formats(load_words(language), ZoneInfo("UTC"), "MRU", 0)
    lines = [str(line_sentence(formats, entry)) for entry in story.timeline]
    return [re.sub(r"</?(?:bdi|time|code|data|span)[^>]*>", "", line) for line in lines]


@dataclass(frozen=True)
class Row:
    name: str
    does: PlannedAnswer | Callable[[House, str], Awaitable[None]]
    code: str
    """The kind of the line that tells of it."""
    status: str
    says: str
    """Of what the page says in that line, in English."""
    before: Callable[[House], None] = lambda _: None


async def nothing(_house: House, _message_id: str) -> None:
    await trio.lowlevel.checkpoint()


def receipts(*words: str, after: str = "SENT", **changes: str):
    """The aggregator brings these words of receipts once there is a line of this kind."""

    async def bring(house: House, message_id: str) -> None:
        await house.wait_line(message_id, after)
        for place, word in enumerate(words):
            house.carrier.send_receipt(house.carrier.taken[0], status=word, **changes)
            await until_true(partial(house.has_called, place + 1))

    return bring


def lose(house: House) -> None:
    house.carrier.lose_answers = 1


def early(house: House) -> None:
    carrier = house.carrier
    carrier.on_taken = lambda message: carrier.send_receipt(message, status="Success")


ROWS = [
    Row(
        "it takes the message, and its answer is lost",
        nothing,
        *("UNCERTAIN", "processing", "the link was lost before the answer came."),
        lose,
    ),
    Row(
        "its answer is lost, and a receipt comes of the id that was in it",
        receipts("Success", after="UNCERTAIN"),
        *("UNCERTAIN", "processing", "the link was lost before the answer came."),
        lose,
    ),
    Row(
        "HTML",
        PlannedAnswer(200, b"<html>Sign in</html>"),
        *("UNCERTAIN", "processing", "answer is not JSON: another program, such as a proxy"),
    ),
    Row(
        "a yes with an error inside",
        PlannedAnswer(201, africas(403, "None")),
        *("FAILED", "failed", "The carrier does not accept the recipient's number."),
    ),
    Row(
        "slow down",
        PlannedAnswer(429, b"{}", (("retry-after", "7"),)),
        *("HELD_BACK", "pending", "The carrier asks us to slow down."),
    ),
    Row(
        "a redirect after a message",
        PlannedAnswer(302),
        *("UNCERTAIN", "processing", "a redirect, which is not followed: check `url`."),
    ),
    Row(
        "moved for good",
        PlannedAnswer(308),
        *("FAILED", "failed", "a redirect, which is not followed: check `url`."),
    ),
    Row(
        "a receipt before the answer",
        nothing,
        *("DELIVERED", "delivered", "Delivered to the phone."),
        early,
    ),
    Row(
        "a receipt twice",
        receipts("Success", "Success"),
        *("RECEIPT_AGAIN", "delivered", "Another receipt says the same; nothing changes."),
    ),
    Row("no receipt, ever", nothing, "SENT", "sent", "fake accepted it."),
    Row(
        "a receipt of an id that nobody gave",
        receipts("Success", id="strange"),
        *("SENT", "sent", "fake accepted it."),
    ),
    Row(
        "receipts out of order",
        receipts("Success", "Sent"),
        *("STILL_TRYING", "delivered", "came after the final one; nothing changes."),
    ),
    Row(
        "a receipt with another form of the number",
        receipts("Success", phoneNumber=TO.removeprefix("+")),
        *("DELIVERED", "delivered", "Delivered to the phone."),
    ),
    Row(
        "a receipt that says otherwise",
        receipts("Success", "Failed"),
        *("RECEIPT_CONTRADICTS", "delivered", "It says: not delivered."),
    ),
]


def assert_told(story: messages.MessageStory, code: str, says: str) -> None:
    """The line says it in English, and in each other language in words of that language."""
    place = [entry.code for entry in story.timeline].index(code)
    lines = {language: told(story, language)[place] for language in Language}
    assert says in unescape(lines[Language.ENGLISH])
    assert len(set(lines.values())) == len(Language)
    assert not [line for line in lines.values() if "<q" in line]
    assert re.search("[\u0621-\u064a]{3}", lines[Language.ARABIC])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_each_has_a_state_and_a_sentence_in_every_language(tmp_path, row: Row) -> None:
    async with open_house(tmp_path) as house:
        row.before(house)
        if isinstance(row.does, PlannedAnswer):
            house.carrier.planned.append(row.does)
        message_id = await house.send()
        if not isinstance(row.does, PlannedAnswer):
            await row.does(house, message_id)
        story = await house.wait_line(message_id, row.code)
        assert story.message.status == row.status
        assert_told(story, row.code, row.says)


async def health_of(house):
    return (await house.office.gateway.ask(state.SHOW, {"carrier": "fake"})).value


async def test_with_a_bad_certificate_nothing_leaves(tmp_path) -> None:
    context = server_context(TLS / "expired.pem")
    listeners = await trio.open_ssl_over_tcp_listeners(0, context, host="127.0.0.1")
    port = listeners[0].transport_listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, read_on, listeners)
        url = f"https://localhost:{port}"
        async with open_house(tmp_path, url=url, tls_ca_file=TLS / "ca.pem") as house:
            message_id = await house.send()
            shown = await health_of(house)
            while shown.text == "Not connected yet.":
                await trio.testing.wait_all_tasks_blocked()
                shown = await health_of(house)
            texts = {language: driver_text(language, shown.text) for language in Language}
            assert texts[Language.ENGLISH].startswith("The carrier's certificate is not trusted: ")
            assert len(set(texts.values())) == len(Language)
            story = await house.story(message_id)
            assert [entry.code for entry in story.timeline] == ["ACCEPTED"]
            assert story.message.status == "pending"
        nursery.cancel_scope.cancel()


async def read_on(stream: trio.SSLStream) -> None:
    with suppress(trio.BrokenResourceError):
        await stream.receive_some(1000)
