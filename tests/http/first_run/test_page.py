"""The first-run page: one link, one reader, on this machine alone, until it is finished."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx2
import pytest
import trio

from patience import HANG_S
from risala.config.model import HttpSection
from risala.http.first_run.answers import Wrong, organization
from risala.http.first_run.app import SESSION_COOKIE, FirstRunApp
from risala.http.first_run.progress import (
    FinishFailed,
    FirstRunEnd,
    FirstRunProgress,
    Stage,
    StageKind,
)
from risala.http.server.server import serve_app
from risala.http.server.sockets import base_url, listen_tcp

PASSWORD = "s3cret-of-the-carrier"


class Machine:
    """Trials and an end whose outcomes are given beforehand."""

    def __init__(self) -> None:
        self.wrong: list[Wrong] = []
        self.failures: list[str] = []
        self.finished: list[dict[str, str]] = []
        self.stages = [Stage(StageKind.DONE, "Your phone has the SMS.")]

    async def choices(self, question):
        if question == "http_preset":
            return [("rutos", "RutOS"), ("sinch", "Sinch")]
        return [("/dev/serial/by-id/a", "huawei <E1752>")]

    def needs(self, preset):
        return {"rutos": ("url", "user", "password", "values.modem")}.get(preset, ("user", "token"))

    async def attempt(self, step, answers, standing) -> None:
        if step.name == "smpp" and self.wrong:
            raise self.wrong.pop(0)

    async def finish(self, answers, report) -> FirstRunEnd:
        if self.failures:
            raise FinishFailed(self.failures.pop(0))
        self.finished.append(dict(answers))
        for stage in self.stages:
            report(stage)
        return FirstRunEnd(
            url="https://a.mr/x",
            local_url="http://127.0.0.1:1/x",
            organization_id="org_1",
            message_id="sms_1",
            status="delivered",
        )


class Reader:
    """A browser with the page."""

    def __init__(self, client, progress, machine, over) -> None:
        self.client, self.progress, self.machine, self.over = client, progress, machine, over
        self.link = f"/first-run/{progress.token}"
        self.page = ""

    async def get(self, path, **headers):
        reply = await self.client.get(path, headers=headers)
        self.page = reply.text
        return reply

    async def post(self, path, **fields):
        mark = re.search(r'name="form_token" value="([^"]+)"', self.page)[1]
        reply = await self.client.post(path, data={"form_token": mark, **fields})
        self.page = reply.text
        return reply

    async def answer(self, step, **fields):
        await self.get(f"/first-run/step/{step}")
        return await self.post(f"/first-run/step/{step}", **fields)

    async def answer_all(self) -> None:
        await self.get(self.link)
        await self.get("/first-run/")
        await self.answer("country", country="MR")
        await self.answer("payer", payer="customers", parts_per_day="200")
        await self.answer("money", currency="MRU", price="0.50")
        await self.answer("carrier", carrier="trial")
        await self.answer("address", public_url="", port="8080")
        await self.answer("mail", mail_host="")
        await self.answer("operator", operator="me@a.mr", organization="Mine")
        reply = await self.answer("phone", phone="36 12 34 56")
        assert reply.headers["location"] == "/first-run/end"


@asynccontextmanager
async def opened(language: str = "en", **standing: str) -> AsyncIterator[Reader]:
    machine, over = Machine(), trio.Event()
    progress = FirstRunProgress(standing, machine, machine.finish)
    sock = listen_tcp("127.0.0.1", 0)
    http = HttpSection()
    async with trio.open_nursery() as nursery:
        app = FirstRunApp(progress, http, over)
        with trio.fail_after(HANG_S):
            await nursery.start(
                lambda task_status: serve_app(
                    app, http, sock=sock, shutdown=over, task_status=task_status
                )
            )
            nursery.start_soon(progress.run)
            async with httpx2.AsyncClient(
                base_url=base_url(sock),
                headers={"accept-language": language},
                trust_env=False,
                timeout=HANG_S,
            ) as client:
                yield Reader(client, progress, machine, over)
        over.set()
        nursery.cancel_scope.cancel()


async def test_the_link_opens_it_once():
    async with opened() as reader:
        assert (await reader.get("/first-run/step/country")).status_code == 404
        assert (await reader.get("/first-run/other")).status_code == 404
        first = await reader.get(reader.link)
        assert (first.status_code, first.headers["location"]) == (303, "/first-run/")
        cookie = first.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite" in cookie
        reader.client.cookies.clear()
        again = await reader.get(reader.link)
        assert again.status_code == 404
        assert "set-cookie" not in again.headers
        reader.client.cookies.set(SESSION_COOKIE, "guessed")
        assert (await reader.get("/first-run/step/country")).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [{"host": "evil.example"}, {"x-forwarded-for": "203.0.113.7"}, {"via": "1.1 proxy"}],
)
async def test_only_this_machine_is_answered(headers):
    async with opened() as reader:
        assert (await reader.get(reader.link, **headers)).status_code == 404
        assert reader.progress.token, "and the link is not used up by it"


async def test_no_inline_script_and_a_strict_policy():
    async with opened() as reader:
        await reader.answer_all()
        reply = await reader.get("/first-run/step/country")
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'")
        assert "unsafe" not in policy
        assert reply.headers["cache-control"] == "no-store"
        assert not re.search(r"<script(?![^>]* src=)|\son[a-z]+=|style=", reply.text)


async def test_a_form_of_others_is_refused():
    async with opened() as reader:
        await reader.get(reader.link)
        await reader.get("/first-run/step/country")
        path, given = "/first-run/step/country", {"country": "SN"}
        assert (await reader.client.post(path, data=given)).status_code == 403
        mark = re.search(r'name="form_token" value="([^"]+)"', reader.page)[1]
        foreign = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
        reply = await reader.client.post(path, data={**given, "form_token": mark}, headers=foreign)
        assert reply.status_code == 403
        assert "country" not in reader.progress.answers


async def test_a_wrong_answer_is_shown_in_the_readers_language():
    async with opened("ar") as reader:
        await reader.get(reader.link)
        await reader.answer("country", country="MR")
        await reader.answer("payer", payer="customers")
        assert 'value="0.50"' in (await reader.get("/first-run/step/money")).text
        reply = await reader.answer("money", currency="MRU", price="1.234")
        assert reply.status_code == 422
        assert 'dir="rtl"' in reply.text
        assert 'aria-invalid="true"' in reply.text
        assert 'value="1.234"' in reply.text
        await reader.post("/first-run/language", language="fr", next="/first-run/step/money")
        assert "Étape" in (await reader.get("/first-run/step/money")).text


@pytest.mark.parametrize(("country", "currency"), [("KE", "KES"), ("SN", "XOF"), ("TN", "TND")])
async def test_no_price_is_proposed_where_nobody_knows_one(country, currency):
    async with opened() as reader:
        await reader.get(reader.link)
        await reader.answer("country", country=country)
        await reader.answer("payer", payer="customers")
        page = (await reader.get("/first-run/step/money")).text
        assert re.findall('value="([^"]*)" class="input"', page) == [currency, ""]
        reply = await reader.answer("money", currency=currency, price="")
        assert (reply.status_code, "Fill this in." in reply.text) == (422, True)


async def test_what_the_carrier_says_may_be_kept_all_the_same():
    async with opened() as reader:
        await reader.get(reader.link)
        await reader.answer("country", country="MR")
        await reader.answer("payer", payer="customers")
        await reader.answer("money", currency="MRU", price="0.50")
        await reader.answer("carrier", carrier="smpp")
        reader.machine.wrong = [Wrong(remark="Bad <system_id>.")] * 2
        account = {
            "carrier_name": "mattel",
            "smpp_host": "h.mr",
            "smpp_port": "2775",
            "smpp_system_id": "r",
            "smpp_password": PASSWORD,
            "smpp_rate": "10",
            "sender": "A",
        }
        reply = await reader.answer("smpp", **account)
        assert reply.status_code == 422
        assert "Bad &lt;system_id&gt;." in reply.text
        assert PASSWORD not in reply.text
        retyped = {**account, "smpp_password": ""}
        kept = await reader.answer("smpp", **retyped, anyway="yes")
        assert kept.headers["location"] == "/first-run/step/address"
        assert reader.progress.answers["smpp_password"] == PASSWORD
        assert PASSWORD not in (await reader.get("/first-run/step/smpp")).text
        assert PASSWORD not in repr(reader.progress)


@pytest.mark.parametrize(
    ("preset", "asked", "optional"),
    [("rutos", {"http_user", "http_password", "http_modem"}, False),
     ("sinch", {"http_user", "http_token"}, True)],
)  # fmt: skip
async def test_of_an_account_the_page_asks_only_what_the_aggregator_needs(preset, asked, optional):
    async with opened("fr") as reader:
        await reader.get(reader.link)
        await reader.answer("country", country="MR")
        await reader.answer("payer", payer="customers")
        await reader.answer("money", currency="MRU", price="0.50")
        await reader.answer("carrier", carrier="http")
        page = (await reader.get("/first-run/step/http")).text
        assert "Teltonika RutOS (un routeur avec une SIM)" in page
        reply = await reader.post("/first-run/step/http", http_preset=preset)
        assert reply.headers["location"] == "/first-run/step/account"
        page = (await reader.get("/first-run/step/account")).text
        fields = {*re.findall('name="(http_[a-z_]+)"', page)}
        assert fields == {"http_url", "http_rate", *asked}
        given = {"carrier_name": "a", "http_user": "u", "http_modem": "1-1", "http_rate": "1"}
        reply = await reader.post("/first-run/step/account", **given)
        faulty = {*re.findall('id="(http_[a-z_]+)"[^>]*aria-invalid="true"', reply.text)}
        lacks = {"http_password", "http_token"} & asked
        assert faulty == (lacks if optional else {*lacks, "http_url"})


async def test_nothing_is_answered_after_the_end():
    async with opened() as reader:
        await reader.answer_all()
        page = await reader.get("/first-run/end")
        assert "Nothing is written yet." in page.text
        await reader.post("/first-run/end")
        while not reader.over.is_set():
            page = await reader.get("/first-run/end")
        assert "Your phone has the SMS." in page.text
        assert 'href="http://127.0.0.1:1/x"' in page.text
        assert reader.machine.finished[0]["phone"] == "+22236123456"
        with suppress(httpx2.TransportError):  # the listener is closed, or about to be
            assert (await reader.get("/first-run/end")).status_code == 404


async def test_what_a_driver_says_is_said_in_the_readers_language():
    async with opened("fr") as reader:
        holes, spoken = {"token": "a<b"}, {"en": "Token: {token}", "fr": "Jeton : <{token}>"}
        reader.machine.stages.insert(
            0, Stage(StageKind.NOW, "Token: {token}", holes, spoken=spoken)
        )
        await reader.answer_all()
        await reader.get("/first-run/end")
        await reader.post("/first-run/end")
        while "bdi" not in reader.page:
            await reader.get("/first-run/end")
        assert "Jeton : &lt;<bdi>a&lt;b</bdi>&gt;" in reader.page


async def test_an_end_that_failed_is_told_and_can_be_tried_again():
    async with opened() as reader:
        reader.machine.failures = ["The disk is full."]
        await reader.answer_all()
        await reader.get("/first-run/end")
        await reader.post("/first-run/end")
        await trio.testing.wait_all_tasks_blocked()
        assert "The disk is full." in (await reader.get("/first-run/end")).text
        await reader.post("/first-run/end")
        await trio.testing.wait_all_tasks_blocked()
        assert reader.machine.finished


async def test_what_stands_is_offered():
    standing = {"country": "SN", "payer": "customers", "currency": "XOF", "price": "30"}
    async with opened(**standing, smpp_password=PASSWORD) as reader:
        await reader.get(reader.link)
        assert '<option value="SN" selected>' in (await reader.get("/first-run/step/country")).text
        assert 'value="30"' in (await reader.get("/first-run/step/money")).text


@pytest.mark.parametrize(
    ("language", "asks"),
    [("en", "Choose a country."), ("fr", "Choisissez un pays."), ("ar", "اختر بلدا.")],
)
async def test_a_country_is_chosen_where_the_machine_names_none(monkeypatch, language, asks):
    monkeypatch.setenv("TZ", "UTC")
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    async with opened(language) as reader:
        await reader.get(reader.link)
        assert (await reader.get("/first-run/step/money")).status_code == 404
        for reply in (await reader.get("/first-run/step/country"), await reader.answer("country")):
            select = re.search(r"<select[^>]* required[^>]*>\s*(<option.*?)</option>", reply.text)
            assert select[1] == f'<option value="" selected>{asks}'
        assert reply.status_code == 422
        assert f"<span>{asks}</span>" in reply.text
        await reader.answer("country", country="KE")
        assert reader.progress.answers["country"] == "KE"
        assert '<option value="">' not in (await reader.get("/first-run/step/country")).text


async def test_who_sends_for_himself_is_asked_no_price():
    async with opened() as reader:
        await reader.get(reader.link)
        await reader.answer("country", country="FR")
        reply = await reader.answer("payer", payer="self", parts_per_day="150")
        assert reply.headers["location"] == "/first-run/step/carrier"
        assert reader.progress.answers["parts_per_day"] == "150"
        assert (await reader.get("/first-run/step/money")).status_code == 404


@pytest.mark.parametrize("name", ["فروشگاه می\u200cخواهم", "Baraka  Market\u200f"])
def test_an_organization_is_called_as_any_name_is(name):
    assert organization(name, {}) == " ".join(name.rstrip("\u200f").split())


@pytest.mark.parametrize("name", ["a\x07b", "see evil.example", "\u3164", "a" * 101, "a<b"])
def test_what_no_organization_is_called(name):
    with pytest.raises(Wrong):
        organization(name, {})
