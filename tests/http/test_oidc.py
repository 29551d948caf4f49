"""Operators sign in by OpenID Connect, on a real engine with a provider in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import trio

from identity_provider import CLIENT, ISSUER, IdentityProvider, basic, new_key
from risala.config.model import CarrierSection, PeopleSection, Settings, StorageSection
from risala.config.people import OidcRolesSection, OidcSection
from risala.engine.features.providers.records import CONSOLE
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.clock import SystemClock
from risala.engine.model.people import SessionKind
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import system_seams
from risala.http.operator.app import create_console
from risala.http.web.app import WebApp
from risala.plugins.testing.fake_driver import FakeDriver
from web_browser import Page, Reader, assert_nothing_inline

MACHINE = Caller("amina", CallerKind.CLI, Role.OPERATOR)
OMAR = "omar@risala.example"
START, BACK = "/operator/sign-in/oidc", "/operator/sign-in/oidc/callback"


class MovedClock(SystemClock):
    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


@dataclass
class Town:
    gateway: Any
    clock: MovedClock
    console: WebApp
    provider: IdentityProvider

    async def do(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, arguments, MACHINE)

    async def go(self, reader: Reader, start: str = START) -> dict[str, str]:
        """To the provider: what the browser brings back."""
        page = await reader.get(start)
        assert page.status == 303, page.text
        return self.provider.authorize(page.location)

    async def enter(self, reader: Reader | None = None, start: str = START) -> tuple[Reader, Page]:
        reader = reader or Reader(self.console)
        brought = await self.go(reader, start)
        return reader, await reader.get(f"{BACK}?{urlencode(brought)}")

    async def trail(self) -> list[dict[str, Any]]:
        return (await self.do("audit.list", limit=100))["lines"]

    def failures(self) -> list[str]:
        repository = self.gateway.services.repositories.sign_in
        return [each.reason.value for each in repository.failures(50)]


Open = Callable[..., AbstractAsyncContextManager[Town]]


@pytest.fixture
def open_town(tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opened(**oidc: Any) -> AsyncIterator[Town]:
        section = OidcSection(
            **{"issuer": ISSUER, "client_id": CLIENT, "domains": ("risala.example",), **oidc}
        )
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path), people=PeopleSection(oidc=section)
        )
        clock = MovedClock()
        provider = IdentityProvider(lambda: clock.now_ms() // 1000)
        seams = replace(system_seams(), clock=clock, inline_journal=True, watch_loop=False)
        outside = Connections(fetches={CONSOLE: provider}, secrets={CONSOLE: "s 1"})
        async with open_engine(
            settings,
            (CarrierSection(name="fake", driver="fake"),),
            {"fake": FakeDriver()},
            seams,
            outside,
        ) as engine:
            console = create_console(engine.gateway, settings, shutdown=trio.Event(), clock=clock)
            town = Town(engine.gateway, clock, console, provider)
            await town.do("user.create", email=OMAR, operator=True)
            yield town

    return opened


async def test_an_operator_signs_in_and_pages_open(open_town, mock_clock):
    async with open_town(label="Example Ltd") as town:
        page = await Reader(town.console).get("/operator/sign-in?next=/operator/overview")
        assert "Example Ltd" in page.text
        assert f'href="{START}?next=/operator/overview"' in page.text
        reader, page = await town.enter(start=f"{START}?next=/operator/overview?x=1")
        assert (page.status, page.location) == (303, "/operator/overview?x=1")
        assert (await reader.get("/operator/overview")).status == 200
        # The question had what holds the answer to it; the secret went to the provider alone.
        query, form = town.provider.query, town.provider.forms[0]
        assert query["code_challenge_method"] == "S256"
        assert (query["scope"], query["response_type"]) == ("openid email profile", "code")
        assert query["redirect_uri"].endswith(BACK) == form["redirect_uri"].endswith(BACK)
        assert basic("risala", "s%201") in [
            each.get("Authorization") for each in town.provider.headers
        ]
        line = next(each for each in await town.trail() if each["operation"] == "sign_in")
        assert (line["who"], line["after"]["by"]) == (OMAR, "oidc")


async def test_the_answer_belongs_to_the_browser_that_began_and_works_once(open_town, mock_clock):
    async with open_town() as town:
        mine, other = Reader(town.console), Reader(town.console)
        brought = await town.go(mine)
        await town.go(other)
        town.provider.query = {"nonce": town.provider.query["nonce"]}
        url = f"{BACK}?{urlencode(brought)}"
        cookie = mine.cookies["risala-operator-flow"]
        for page in (await other.get(url), await Reader(town.console).get(url)):
            assert page.status == 403
            assert "began in another browser" in page.text
            assert_nothing_inline(page)
        assert town.provider.forms == []  # nobody asked the provider
        # Right once; the same again, with the cookie kept, is refused.
        mine.cookies["risala-operator-flow"] = cookie
        town.clock.ahead_ms += 1000
        brought = await town.go(mine)
        cookie = mine.cookies["risala-operator-flow"]
        assert (await mine.get(f"{BACK}?{urlencode(brought)}")).status == 303
        again = Reader(town.console, {"risala-operator-flow": cookie})
        assert (await again.get(f"{BACK}?{urlencode(brought)}")).status == 403
        late = Reader(town.console)
        brought = await town.go(late)
        town.clock.ahead_ms += 601_000
        assert "took too long" in (await late.get(f"{BACK}?{urlencode(brought)}")).text
        assert set(town.failures()) == {"identity"}


@pytest.mark.parametrize(
    ("bent", "words", "reason"),
    [
        ({"nonce": "x"}, "is not valid", "identity"),
        ({"aud": "other"}, "is not valid", "identity"),
        ({"iss": "https://evil.example"}, "is not valid", "identity"),
        ({"exp": 1}, "The clocks of this machine", "identity"),
        ({"email_verified": False}, "has not verified your e-mail address", "identity"),
        ({"email": "omar@evil.example"}, "of a domain that cannot", "identity"),
        ({"email": "sidi@risala.example"}, "You are not an operator", "not_allowed"),
    ],
)
async def test_what_lets_nobody_in_is_told_and_noted(open_town, mock_clock, bent, words, reason):
    async with open_town() as town:
        town.provider.claims = bent
        reader, page = await town.enter()
        assert (page.status, words in page.text) == (403, True)
        assert "risala-operator" not in reader.cookies
        assert town.failures() == [reason]
        assert "sign_in.failed" in [each["operation"] for each in await town.trail()]


async def test_other_ends_are_told_and_are_no_refused_sign_in(open_town, mock_clock):
    async with open_town() as town:
        reader = Reader(town.console)
        brought = {**await town.go(reader), "code": "", "error": "access_denied"}
        page = await reader.get(f"{BACK}?{urlencode(brought)}")
        assert "You stopped the sign-in there." in page.text
        brought = {**await town.go(reader), "iss": "https://evil.example"}
        page = await reader.get(f"{BACK}?{urlencode(brought)}")
        assert "is not valid" in page.text
        brought = await town.go(reader)
        town.provider.down = True
        page = await reader.get(f"{BACK}?{urlencode(brought)}")
        assert "does not answer at the moment" in page.text
        assert town.failures() == ["identity"]


async def test_a_provider_that_is_down_or_another_is_told_and_not_asked_at_once_again(
    open_town, mock_clock
):
    async with open_town() as town:
        town.provider.down = True
        for _ in range(3):
            page = await Reader(town.console).get(START)
            assert "does not answer at the moment" in page.text
        assert len(town.provider.asked) == 1
        town.provider.down, town.provider.says = False, {"issuer": "https://evil.example"}
        town.clock.ahead_ms += 11_000
        page = await Reader(town.console).get(START)
        assert "do not fit together" in page.text


async def test_new_keys_are_read_once_a_minute(open_town, mock_clock):
    async with open_town() as town:
        await town.enter()
        town.provider.keys = [new_key("second")]
        town.clock.ahead_ms += 61_000
        _, page = await town.enter()
        assert page.status == 303
        town.provider.keys = [new_key("third")]
        for _ in range(3):
            _, page = await town.enter()
            assert page.status == 403
        assert town.provider.asked.count("/keys") == 2
        town.clock.ahead_ms += 61_000
        _, page = await town.enter()
        assert page.status == 303


async def test_the_address_may_be_in_the_answer_about_the_person(open_town, mock_clock):
    async with open_town() as town:
        town.provider.claims = {"email": None, "email_verified": None}
        town.provider.info = {"sub": "person-1", "email": OMAR, "email_verified": True}
        _, page = await town.enter()
        assert page.status == 303
        town.provider.info["sub"] = "person-2"
        _, page = await town.enter()
        assert page.status == 403


async def test_what_the_provider_calls_a_person_counts_more_than_the_address(open_town, mock_clock):
    async with open_town() as town:
        await town.enter()
        # The person has another address there, and is the same user here.
        town.provider.claims = {"email": "o.new@risala.example"}
        reader, page = await town.enter()
        assert page.status == 303
        assert OMAR in (await reader.get("/operator/account")).text
        # Another person got the address.
        town.provider.claims = {"sub": "person-2"}
        _, page = await town.enter()
        assert "belongs to another account" in page.text
        reset = await town.do("user.reset_factors", email=OMAR)
        assert reset["removed"] == 1
        _, page = await town.enter()
        assert page.status == 303


async def test_the_provider_gives_roles_and_makes_operators(open_town, mock_clock):
    roles = OidcRolesSection(administrator=("admins",), support=("desk",))
    async with open_town(roles=roles, make_operators=True) as town:
        await town.do("user.create", email="boss@risala.example", operator=True)
        town.provider.claims = {"groups": ["desk"]}
        reader, page = await town.enter()
        assert page.status == 303
        changed = next(
            each for each in await town.trail() if each["operation"] == "sign_in.operator_role"
        )
        assert changed["after"]["operatorRole"] == "support"
        town.provider.claims = {
            "sub": "person-2",
            "email": "new@risala.example",
            "groups": ["admins"],
        }
        reader, page = await town.enter()
        assert (await reader.get("/operator/overview")).status == 200
        town.provider.claims = {"groups": ["cooks"]}
        _, page = await town.enter()
        assert "gives you no role here" in page.text


async def test_the_last_administrator_keeps_the_role(open_town, mock_clock):
    async with open_town(roles=OidcRolesSection(viewer=("all",))) as town:
        town.provider.claims = {"groups": ["all"]}
        _, page = await town.enter()
        assert (page.status, "administrator" in page.text) == (403, True)


async def test_a_sign_in_counts_as_two_factors_where_the_provider_says_so(open_town, mock_clock):
    async with open_town() as town:
        settings = town.console.site.settings.people
        object.__setattr__(settings, "operator_factors", 2)
        reader, _ = await town.enter()
        assert (await reader.get("/operator/overview")).location == "/operator/account/security"
        town.provider.claims = {"amr": ["pwd", "mfa"]}
        reader, _ = await town.enter()
        assert (await reader.get("/operator/overview")).status == 200


async def test_a_session_becomes_fresh_by_signing_in_there_anew(open_town, mock_clock):
    async with open_town(email_codes=False) as town:
        reader, _ = await town.enter()
        town.clock.ahead_ms += 601_000
        page = await reader.get("/operator/account/fresh?next=/operator/audit")
        assert "Send me a code" not in page.text
        start = f"{START}?fresh=1&next=/operator/audit"
        town.provider.claims = {"auth_time": 1}
        _, page = await town.enter(reader, start)
        assert "did not ask you to sign in again" in page.text
        assert town.provider.query["prompt"] == "login"
        town.provider.claims = {"sub": "person-2", "email": "sidi@risala.example"}
        _, page = await town.enter(reader, start)
        assert "a different account there" in page.text
        town.provider.claims = {}
        _, page = await town.enter(reader, start)
        assert page.location == "/operator/audit"
        session = town.gateway.people.sessions.find(
            reader.cookies["risala-operator"], SessionKind.OPERATOR
        )
        assert town.gateway.people.sessions.user_caller(session).freshness.value == "fresh"


async def test_codes_by_email_can_be_shut_and_a_link_lets_in_at_any_time(open_town, mock_clock):
    async with open_town(email_codes=False) as town:
        reader = Reader(town.console)
        page = await reader.get("/operator/sign-in")
        assert "Send me a code" not in page.text
        sent = await reader.submit(page, "/operator/sign-in", {"email": OMAR}, drawn=False)
        assert sent.status == 404
        link = await town.do("user.sign_in", email=OMAR, operator=True)
        path = f"/operator/sign-in/link/{link['token']}"
        page = await reader.submit(await reader.get(path), path)
        assert page.location == "/operator/overview"
