"""Second factors by the pages, on a real engine: set up, demanded, shown again; and back."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyotp
import pytest
import trio

from risala.config.model import CarrierSection, Settings, StorageSection
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.clock import SystemClock
from risala.engine.people.tokens import digest
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import system_seams
from risala.http.dashboard.app import create_dashboard
from risala.http.operator.app import create_console
from risala.http.web.app import WebApp
from risala.plugins.testing.fake_driver import FakeDriver
from web_browser import Page, Reader, assert_nothing_inline

MACHINE = Caller("amina", CallerKind.CLI, Role.OPERATOR)
FATIMA, OMAR = "fatima@baraka.example", "omar@risala.example"
SECURITY, FRESH = "/account/security", "/account/fresh"


class MovedClock(SystemClock):
    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


@dataclass
class Town:
    gateway: Any
    clock: MovedClock
    dashboard: WebApp
    console: WebApp
    organization_id: str

    async def do(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, arguments, MACHINE)

    async def enter(self, email: str, *, operator: bool = False) -> tuple[Reader, Page]:
        """A browser that followed a link, and what it was answered."""
        reader = Reader(self.console if operator else self.dashboard)
        link = await self.do("user.sign_in", email=email, operator=operator)
        root = "/operator" if operator else ""
        path = f"{root}/sign-in/link/{link['token']}"
        return reader, await reader.submit(await reader.get(path), path)

    def code(self, secret: str) -> str:
        return pyotp.TOTP(secret).at(self.clock.now_ms() // 1000)

    def pass_s(self, span_s: int) -> None:
        self.clock.ahead_ms += span_s * 1000


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    settings = Settings(storage=StorageSection(data_dir=tmp_path))
    clock = MovedClock()
    seams = replace(system_seams(), clock=clock, inline_journal=True, watch_loop=False)
    carrier = CarrierSection(name="fake", driver="fake")
    async with open_engine(
        settings, (carrier,), {"fake": FakeDriver()}, seams, Connections()
    ) as engine:
        stop = trio.Event()
        dashboard = create_dashboard(engine.gateway, settings, shutdown=stop, clock=clock)
        console = create_console(engine.gateway, settings, shutdown=stop, clock=clock)
        made = await engine.gateway.perform("org.create", {"name": "Shop"}, MACHINE)
        town = Town(engine.gateway, clock, dashboard, console, made["id"])
        await town.do("member.add", organization_id=made["id"], email=FATIMA, role="owner")
        await town.do("user.create", email=OMAR, operator=True)
        yield town


async def set_up(town: Town, reader: Reader, root: str = "") -> tuple[str, list[str]]:
    """An app by the pages: its secret, and the recovery codes."""
    page = await reader.get(f"{root}{SECURITY}/app")
    assert_nothing_inline(page)
    assert "<svg" in page.text
    secret = "".join(
        re.search(r'<code class="anywhere" dir="ltr">([A-Z2-7 ]+)', page.text)[1].split()
    )
    given = {"nonce": page.field("nonce"), "code": "000000", "name": "My phone"}
    wrong = await reader.submit(page, f"{root}{SECURITY}/app", given)
    assert wrong.status == 422
    assert "This is not the code." in wrong.text
    assert wrong.field("nonce") == given["nonce"]
    given["code"] = town.code(secret)
    made = await reader.submit(wrong, f"{root}{SECURITY}/app", given)
    codes = re.findall(r"<li><code>([a-z2-9-]{19})</code>", made.text)
    assert (made.status, len(codes)) == (200, 10)
    town.pass_s(60)
    return secret, codes


async def test_a_member_sets_it_up_and_shows_it_at_sign_in(town, mock_clock):
    reader, _ = await town.enter(FATIMA)
    assert "You have none yet." in (await reader.get(SECURITY)).text
    secret, codes = await set_up(town, reader)
    listed = await reader.get(SECURITY)
    assert "My phone" in listed.text
    assert "10 codes are left." in listed.text
    other, page = await town.enter(FATIMA)
    assert page.location == "/sign-in"
    assert (await other.get("/app")).location.startswith("/sign-in")
    page = await other.get("/sign-in")
    assert_nothing_inline(page)
    wrong = await other.submit(page, "/sign-in", {"factor": "000000"})
    assert wrong.status == 422
    assert "This code is wrong" in wrong.text
    assert (await other.submit(page, "/sign-in", {"factor": town.code(secret)})).location == "/app"
    assert (await other.get("/app")).status in (200, 303)
    again, _ = await town.enter(FATIMA)
    page = await again.get("/sign-in")
    assert (await again.submit(page, "/sign-in", {"factor": codes[0]})).location == "/app"
    assert "9 codes are left." in (await again.get(SECURITY)).text


async def test_what_is_important_is_asked_for_again_and_the_form_is_kept(town, mock_clock):
    reader, _ = await town.enter(FATIMA)
    secret, _ = await set_up(town, reader)
    keys = f"/app/{town.organization_id}/keys"
    page = await reader.get(f"{keys}/new?mode=test")
    town.pass_s(600)
    asked = await reader.submit(page, f"{keys}?mode=test", {"name": "Till", "type": "secret"})
    assert asked.location == f"{FRESH}?next=%2Fapp%2Fagain"
    page = await reader.get(asked.location)
    assert_nothing_inline(page)
    given = {"next": "/app/again", "factor": "000000"}
    assert (await reader.submit(page, FRESH, given)).status == 422
    done = await reader.submit(page, FRESH, {**given, "factor": town.code(secret)})
    assert done.location == "/app/again"
    kept = await reader.get("/app/again")
    assert "Nothing was done yet." in kept.text
    assert "Till" in kept.text
    made = await reader.submit(kept, f"{keys}?mode=test", {"name": "Till", "type": "secret"})
    assert made.status == 200
    assert "sk_" in made.text
    town.pass_s(600)
    asked = await reader.get(f"{SECURITY}/app")
    assert asked.location == f"{FRESH}?next=%2Faccount%2Fsecurity%2Fapp"
    elsewhere = await reader.get(f"{FRESH}?next=https://evil.example")
    assert elsewhere.field("next") == "/app"


async def test_without_a_factor_a_code_by_e_mail_makes_the_set_up_fresh(town, mock_clock):
    reader, _ = await town.enter(FATIMA)
    town.pass_s(600)
    asked = await reader.get(f"{SECURITY}/app")
    page = await reader.get(asked.location)
    page = await reader.submit(page, FRESH, {"next": f"{SECURITY}/app"})
    assert "A code is on its way" in page.text
    wrong = await reader.submit(page, FRESH, {"code": "000000"})
    assert wrong.status == 422
    people = town.gateway.people
    cookie = reader.cookies["risala"]
    waiting = people.sources.sign_in.request_of(digest(cookie))
    code = people.sources.derived.sign_in_codes.code(
        f"{waiting.id} {waiting.browser.hex()}", 6, test=False
    )
    given = {"next": f"{SECURITY}/app", "code": code}
    assert (await reader.submit(wrong, FRESH, given)).location == f"{SECURITY}/app"
    assert (await reader.get(f"{SECURITY}/app")).status == 200


async def test_an_organization_that_demands_one_is_seen_after_the_set_up(town, mock_clock):
    reader, _ = await town.enter(FATIMA)
    home = f"/app/{town.organization_id}/keys"
    assert (await reader.get(home)).status == 200
    await town.do("org.set", organization_id=town.organization_id, factor_required=True)
    assert (await reader.get(home)).location == SECURITY
    assert "You need a second factor here." in (await reader.get(SECURITY)).text
    await set_up(town, reader)
    assert (await reader.get(home)).status == 200


async def test_the_console_opens_to_operators_with_a_factor_once_one_has_one(town, mock_clock):
    await town.do("user.create", email="aisha@risala.example", operator=True)
    reader, _ = await town.enter(OMAR, operator=True)
    other, _ = await town.enter("aisha@risala.example", operator=True)
    assert (await other.get("/operator/overview")).status == 200
    secret, _ = await set_up(town, reader, "/operator")
    assert (await reader.get("/operator/overview")).status == 200
    assert (await other.get("/operator/overview")).location == f"/operator{SECURITY}"
    await set_up(town, other, "/operator")
    assert (await other.get("/operator/overview")).status == 200
    town.pass_s(600)
    path = f"/operator{FRESH}"
    asked = await reader.get("/operator/audit/export?export=x")
    assert asked.location.startswith(path)
    page = await reader.get(asked.location)
    given = {"next": "/operator/audit", "factor": town.code(secret)}
    assert (await reader.submit(page, path, given)).location == "/operator/audit"


async def test_passkeys_are_for_names_and_removal_works(town, mock_clock):
    reader, _ = await town.enter(FATIMA)
    await set_up(town, reader)
    page = await reader.get(SECURITY)
    assert "Passkeys need a page with a name" in page.text  # it is read at an address
    assert (await reader.get(f"{SECURITY}/passkey")).location == SECURITY
    reader.headers["host"] = "localhost:8080"
    page = await reader.get(f"{SECURITY}/passkey")
    assert "&#34;id&#34;: &#34;localhost&#34;" in page.text
    listed = await reader.get(SECURITY)
    asked = await reader.get(removal(listed))
    assert_nothing_inline(asked)
    assert "your recovery codes end too" in asked.text
    gone = await reader.submit(asked, f"{SECURITY}/remove", {"factor_id": of(asked)})
    assert gone.location == SECURITY
    assert "You have none yet." in (await reader.get(SECURITY)).text
    assert (await reader.get(removal(listed))).location == SECURITY


async def test_an_operator_keeps_the_last_factor(town, mock_clock):
    reader, _ = await town.enter(OMAR, operator=True)
    await set_up(town, reader, "/operator")
    path = f"/operator{SECURITY}"
    asked = await reader.get(removal(await reader.get(path)))
    assert "Set up another one first." in asked.text
    assert "Remove this" not in asked.text
    factor = re.search(r"fac_\w+", (await reader.get(path)).text)[0]
    form = {"form_token": (await reader.get(f"{path}/app")).field("form_token")}
    refused = await reader.post(f"{path}/remove", {**form, "factor_id": factor})
    assert refused.status == 422
    town.pass_s(60)
    begun = await reader.get(f"{path}/app")
    other = begun.text.partition('class="anywhere"')[2].partition(">")[2].partition("<")[0]
    given = {"nonce": begun.field("nonce"), "name": "Spare"}
    given["code"] = town.code("".join(other.split()))
    await reader.submit(begun, f"{path}/app", given)
    asked = await reader.get(removal(await reader.get(path)))
    assert "Your other factors" in asked.text
    gone = await reader.submit(asked, f"{path}/remove", {"factor_id": of(asked)})
    assert gone.location == path


def removal(page: Page) -> str:
    """Where the first factor is removed."""
    return re.search(r'href="([\w/]+/remove\?factor_id=fac_\w+)"', page.text)[1]


def of(page: Page) -> str:
    return re.search(r'name="factor_id" value="(fac_\w+)"', page.text)[1]
