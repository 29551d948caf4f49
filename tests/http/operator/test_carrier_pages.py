"""What a driver fills of its carrier's page, its commands there, and its secret address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pytest
import trio

from cases import sweep
from risala.engine.features.code_figures.counting import CodeCounting
from risala.engine.features.code_figures.rules import CarrierCodes
from risala.engine.model.callers import Freshness
from risala.http.operator import blocks
from risala.plugins.answering import CarrierAnswer, CarrierRequest
from risala.plugins.contract import DriverCommand
from risala.plugins.page import (
    FormField,
    PageBlock,
    PageForm,
    PageHeading,
    PageService,
    PageTable,
)
from risala.plugins.testing.fake_driver import FakeDriver
from web_browser import Reader, assert_nothing_inline

EVIL: Final = "<script>alert(1)</script>"
ONE: Final = "/operator/carriers/fake"
TITLES: Final = {"en": "Phones", "fr": "Téléphones", "ar": "الهواتف"}
FORGET: Final = PageForm(
    "forget",
    "Forget it",
    (FormField("device", "", "hidden", "dev 1"), FormField("why", "Why", hint="A word")),
    confirm="It has to be paired again.",
)
PAIR: Final = PageForm("pair", "Pair a phone")


@dataclass
class Devices:
    redrawn_every_s: Final = 0.2
    blocks: Any = (
        PageTable(("Name", "Today"), ((EVIL, 12),)),
        FORGET,
        PAIR,
        PageForm("nothing", "Never"),
    )

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        if not isinstance(self.blocks, tuple):
            return await self.blocks()
        return (PageHeading(TITLES[service.language]), *self.blocks)


@dataclass
class Phone(FakeDriver):
    """Its carrier signs nothing; it fills its page, and has two commands for it."""

    devices: Devices = field(default_factory=Devices)
    asked: list[tuple[str, Sequence[str]]] = field(default_factory=list)
    commands = (
        DriverCommand("forget", "forgets a device", "DEVICE"),
        DriverCommand("pair", "makes a token", needs_fresh_sign_in=True),
    )

    @property
    def capabilities(self):
        return replace(super().capabilities, secret_address=True)

    @property
    def console_page(self) -> Devices:
        if self.devices is None:
            raise LookupError(EVIL)
        return self.devices

    async def command(self, name: str, arguments: Sequence[str]) -> Mapping[str, str]:
        self.asked.append((name, tuple(arguments)))
        return {"token": "tok-4711"} if name == "pair" else {"forgotten": arguments[0]}

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        return CarrierAnswer()


pytestmark = pytest.mark.parametrize("post", [{"driver": Phone}], indirect=True)


@pytest.fixture
def phone(post) -> Phone:
    (worker,) = post.gateway.services.delivery.workers()
    return worker.driver


@pytest.fixture
def stale(post, monkeypatch) -> None:
    """Who is signed in has not shown lately who they are."""
    sessions = post.gateway.people.sessions
    as_caller = type(sessions).operator_caller

    def caller(self, session):
        return replace(as_caller(self, session), freshness=Freshness.STALE)

    monkeypatch.setattr(type(sessions), "operator_caller", caller)


@sweep("language", ["en", "fr", "ar"])
async def test_the_drivers_part_stands_on_its_page_in_the_readers_language(operator, language):
    operator.cookies["risala-language"] = language
    drawn = await operator.get(ONE)
    assert drawn.status == 200
    assert TITLES[language] in drawn.text
    assert "&lt;script&gt;alert(1)" in drawn.text
    assert "<script>alert" not in drawn.text
    assert "It has to be paired again." in drawn.text
    assert "Never" not in drawn.text  # of no command that it has
    assert_nothing_inline(drawn)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Of 400 codes, 71% were entered within a minute."),
        ("fr", "Sur 400 codes, 71 % ont été saisis en une minute."),
        ("ar", "من 400 رمز أُدخل 71% خلال دقيقة."),
    ],
)
async def test_it_says_how_many_of_its_codes_are_entered(post, operator, language, sentence):
    counting = post.gateway.services.part(CodeCounting)
    codes = CarrierCodes("fake", 0, 0, 398, 320, usual_asked=400, usual_in_minute=284)
    operator.cookies["risala-language"] = language
    for carriers in (
        None,
        (),
        (replace(codes, carrier="other"),),
        (replace(codes, usual_asked=0),),
    ):
        counting.carriers = carriers
        assert 'id="h-codes"' not in (await operator.get(ONE)).text
    counting.carriers = (codes,)
    shown = re.sub(r"<[^>]*>", "", (await operator.get(ONE)).text)
    assert sentence in re.sub("[\u00a0\u202f]", " ", shown)


async def test_a_form_asks_a_command_once_and_the_answer_is_shown_once(post, phone, operator):
    page = await operator.get(ONE)
    marks = {name: page.field(name) for name in ("form_token", "once")}
    order = page.field("order")
    device, why = order.split()
    form = {"command": "forget", "order": order, device: "dev 1", why: "it is lost", **marks}
    done = await operator.post(f"{ONE}/ask", form)
    assert done.status == 200
    assert "dev 1" in done.text
    assert (await operator.post(f"{ONE}/ask", form)).status == 303
    assert phone.asked == [("forget", ("dev 1", "it is lost"))]
    (line,) = (await post.do("audit.list", operation="carriers.ask"))["lines"]
    assert "dev 1" not in repr(line)
    assert "forgotten" not in (await operator.get(ONE)).text


async def test_a_command_that_hands_out_a_secret_needs_a_fresh_sign_in(phone, operator, stale):
    page = await operator.get(ONE)
    sent = await operator.submit(page, f"{ONE}/ask", {"command": "pair"})
    assert (sent.status, sent.location.split("?")[0]) == (303, "/operator/account/fresh")
    assert phone.asked == []
    done = await operator.submit(page, f"{ONE}/ask", {"command": "forget", "arguments": "x"})
    assert (done.status, phone.asked) == (200, [("forget", ("x",))])


async def test_with_a_fresh_sign_in_the_secret_is_shown_this_once(phone, operator):
    page = await operator.get(ONE)
    done = await operator.submit(page, f"{ONE}/ask", {"command": "pair"})
    assert "tok-4711" in done.text
    assert done.headers.get("content-encoding") is None
    assert "tok-4711" not in (await operator.get(ONE)).text


async def test_a_form_without_the_consoles_mark_is_refused(phone, operator):
    done = await operator.post(f"{ONE}/ask", {"command": "forget", "arguments": "x"})
    assert done.status == 403
    assert phone.asked == []


async def test_who_only_reads_sees_the_part_and_no_form(post, browser_on):
    email = "reader@risala.example"
    await post.do("user.create", email=email, operator_role="viewer")
    token = await post.token(email, operator=True)
    reader: Reader = browser_on(post.console, {"risala-operator": token})
    page = await reader.get(ONE)
    assert page.status == 200
    assert "Phones" in page.text
    for text in ("Forget it", "Pair a phone", "Secret address", f"{ONE}/ask"):
        assert text not in page.text
    assert (await reader.get(f"{ONE}/address")).status == 403


@sweep("wrong", [lambda: 1 / 0, trio.sleep_forever, "page"])
async def test_a_part_that_cannot_be_drawn_says_so_and_the_page_goes_on(
    phone, operator, monkeypatch, wrong
):
    monkeypatch.setattr(blocks, "DRAW_S", 0.01)
    if wrong == "page":
        phone.devices = None
    else:
        phone.devices = Devices(blocks=wrong)
    page = await operator.get(ONE)
    assert "The driver could not show its part of this page." in page.text
    assert "Pace and weight" in page.text
    assert EVIL not in page.text


async def test_the_address_is_shown_once_and_the_one_before_works_on(post, operator):
    page = await operator.get(ONE)
    assert "No address was made yet" in page.text
    asked = await operator.get(f"{ONE}/address")
    made = await operator.submit(asked, f"{ONE}/address")
    assert made.status == 200
    (url,) = [each["value"] for _, each in made.tags if each.get("id") == "address"]
    assert "/carriers/fake/" in url
    assert made.headers.get("content-encoding") is None
    page = await operator.get(ONE)
    assert "Make another address" in page.text
    assert url.rpartition("/")[2] not in page.text
    again = await operator.submit(await operator.get(f"{ONE}/address"), f"{ONE}/address")
    assert "The former address works until" in again.text
    lines = (await post.do("audit.list", operation="carriers.rotate"))["lines"]
    assert len(lines) == 2


async def test_another_address_needs_a_fresh_sign_in(post, operator, stale):
    asked = await operator.get(f"{ONE}/address")
    sent = await operator.submit(asked, f"{ONE}/address")
    assert (sent.status, sent.location.split("?")[0]) == (303, "/operator/account/fresh")
    assert (await post.do("audit.list", operation="carriers.rotate"))["lines"] == []
