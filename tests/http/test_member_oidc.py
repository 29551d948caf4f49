"""Members sign in by their organization's own identity provider, on a real engine with a provider
in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import trio

from identity_provider import CLIENT, ISSUER, IdentityProvider
from risala.config.model import CarrierSection, Settings, StorageSection
from risala.engine.features.factors.records import Factor
from risala.engine.features.factors.stored import FactorRepository
from risala.engine.features.providers.records import ACCESS, ORGANIZATIONS
from risala.engine.model.callers import Caller, CallerKind, Freshness, Role
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFresh
from risala.engine.model.people import SessionKind
from risala.engine.model.records.people.users import FactorKind
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import system_seams
from risala.http.dashboard.app import create_dashboard
from risala.http.web.app import WebApp
from risala.plugins.testing.fake_driver import FakeDriver
from web_browser import Page, Reader, assert_nothing_inline

MACHINE = Caller("amina", CallerKind.CLI, Role.OPERATOR)
OMAR, BOSS = "omar@risala.example", "boss@risala.example"
SECRET = "a secret of nobody else"
COOKIE, FLOW = "risala", "risala-flow"


class MovedClock(SystemClock):
    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


@dataclass
class Town:
    gateway: Any
    clock: MovedClock
    dashboard: WebApp
    provider: IdentityProvider
    data: Path
    org: str = ""

    async def do(self, name: str, /, caller: Caller = MACHINE, **arguments: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, arguments, caller)

    async def register(self, org: str, caller: Caller = MACHINE, **more: Any) -> dict[str, Any]:
        asked = {"issuer": ISSUER, "client_id": CLIENT, "domains": ["risala.example"]}
        return await self.do("provider.set", caller, organization_id=org, **{**asked, **more})

    async def confirm(self, org: str, domain: str = "risala.example") -> dict[str, Any]:
        return await self.do("provider.confirm", organization_id=org, domain=domain)

    def start(self, org: str = "") -> str:
        return f"/sign-in/oidc/{org or self.org}"

    async def go(self, reader: Reader, start: str = "") -> dict[str, str]:
        page = await reader.get(start or self.start())
        assert page.status == 303, page.text
        return self.provider.authorize(page.location)

    async def enter(self, reader: Reader | None = None, start: str = "") -> tuple[Reader, Page]:
        reader = reader or Reader(self.dashboard)
        brought = await self.go(reader, start)
        return reader, await reader.get(f"{self.start()}/callback?{urlencode(brought)}")

    def session(self, reader: Reader) -> Any:
        return self.gateway.people.sessions.find(
            reader.cookies.get(COOKIE, ""), SessionKind.CUSTOMER
        )

    async def roles(self) -> dict[str, str]:
        found = await self.do("member.list", organization_id=self.org)
        return {each["email"]: each["role"] for each in found["members"]}

    async def by_link(self, email: str) -> Reader:
        """Somebody who signs in without the provider."""
        link, reader = await self.do("user.sign_in", email=email), Reader(self.dashboard)
        path = f"/sign-in/link/{link['token']}"
        await reader.submit(await reader.get(path), path)
        return reader

    async def give_factor(self, email: str) -> None:
        repositories = self.gateway.services.repositories
        user = repositories.users.by_email(email)
        made = Factor("fac_1", user.id, FactorKind.APP, "", "", b"", b"", "x", 0, 1, None)
        await repositories.part(FactorRepository).add(None, made, (), "", 1)


Open = Callable[..., AbstractAsyncContextManager[Town]]


@pytest.fixture
def open_town(tmp_path: Path) -> Open:
    @asynccontextmanager
    async def opened(**more: Any) -> AsyncIterator[Town]:
        settings, clock = Settings(storage=StorageSection(data_dir=tmp_path)), MovedClock()
        provider = IdentityProvider(lambda: clock.now_ms() // 1000)
        seams = replace(system_seams(), clock=clock, inline_journal=True, watch_loop=False)
        outside = Connections(fetches={ORGANIZATIONS: provider})
        async with open_engine(
            settings,
            (CarrierSection(name="fake", driver="fake"),),
            {"fake": FakeDriver()},
            seams,
            outside,
        ) as engine:
            pages = create_dashboard(engine.gateway, settings, shutdown=trio.Event(), clock=clock)
            town = Town(engine.gateway, clock, pages, provider, tmp_path)
            town.org = (await town.do("org.create", name="Staff"))["id"]
            await town.do("member.add", organization_id=town.org, email=BOSS, role="owner")
            await town.register(town.org, **{"default_role": "viewer", **more})
            await town.confirm(town.org)
            yield town

    return opened


async def test_a_person_is_offered_the_provider_becomes_a_member_and_enters_nothing_else(
    open_town, mock_clock
):
    async with open_town(client_secret=SECRET, label="Example Ltd") as town:
        other = (await town.do("org.create", name="Elsewhere"))["id"]
        await town.do("member.add", organization_id=other, email=OMAR, role="owner")
        reader = Reader(town.dashboard)
        drawn = await reader.get("/sign-in")
        page = await reader.submit(drawn, "/sign-in", {"email": OMAR})
        assert_nothing_inline(page)
        assert (page.status, town.start() in page.text) == (200, True)
        assert "Example Ltd" in page.text
        # The same for an address that nobody has: it is the domain that counts.
        nobody = await reader.submit(drawn, "/sign-in", {"email": "nobody@risala.example"})
        alike = nobody.text.replace("nobody@", "omar@")
        alike = alike.replace(nobody.field("form_token"), page.field("form_token"))
        assert (alike == page.text) is True  # a difference of pages takes seconds to draw
        by_code = await reader.submit(page, "/sign-in", {"email": OMAR, "by_code": "1"})
        assert by_code.location == "/sign-in"
        _, page = await town.enter(reader, f"{town.start()}?next=/app/{town.org}/keys")
        assert (page.status, page.location) == (303, f"/app/{town.org}/keys")
        assert town.provider.query["redirect_uri"].endswith(f"{town.start()}/callback")
        assert "risala-known" not in reader.cookies
        assert (await town.roles())[OMAR] == "viewer"
        assert (await reader.get(f"/app/{town.org}/members")).status == 200
        assert (await reader.get("/app")).location == f"/app/{town.org}/"
        # Nothing of the person's other organization, and nothing of their account.
        assert (await reader.get(f"/app/{other}/members")).status == 404
        for path in ("/account", "/account/security", "/app?new=1"):
            page = await reader.get(path)
            assert "Elsewhere" not in page.text
            assert page.status == 403 or page.location == f"/app/{town.org}/"
        session = town.session(reader)
        own = town.gateway.people.sessions.user_caller(session)
        for name, asked in (
            ("account.show", {}),
            ("account.change_email", {"email": "evil@evil.example"}),
            ("factor.begin_app", {}),
            ("account.leave", {"organization_id": other}),
            ("account.delete", {}),
        ):
            with pytest.raises(Forbidden, match="for this organization alone"):
                await town.do(name, own, **asked)
        lines = (await town.do("audit.list", limit=100))["lines"]
        done = [each["operation"] for each in lines]
        assert {"provider.set", "provider.confirm", "sign_in.member_role", "sign_in"} <= {*done}
        assert SECRET not in str(lines)
        assert SECRET.encode() not in b"".join(
            each.read_bytes() for each in town.data.iterdir() if each.is_file()
        )


async def test_the_role_follows_the_claim_and_never_ends_the_last_owner(open_town, mock_clock):
    given = {"owners": ["bosses"], "developers": ["makers"], "default_role": "none"}
    async with open_town(**given) as town:
        town.provider.claims = {"groups": ["makers"]}
        reader, page = await town.enter()
        assert (await town.roles())[OMAR] == "developer"
        town.provider.claims = {"groups": ["makers", "bosses"]}
        await town.enter()
        assert (await town.roles())[OMAR] == "owner"
        town.provider.claims = {"groups": ["makers"]}
        await town.enter()
        assert (await town.roles())[OMAR] == "developer"
        # The last owner stays one.
        town.provider.claims = {"groups": ["makers"], "sub": "person-2", "email": BOSS}
        boss, page = await town.enter()
        assert page.status == 303
        assert (await town.roles())[BOSS] == "owner"
        # No value any more: refused, and what is open ends.
        assert town.session(reader) is not None
        town.provider.claims = {"groups": ["cooks"]}
        _, page = await town.enter()
        assert (page.status, "gives you no role here" in page.text) == (403, True)
        assert town.session(reader) is None
        assert town.session(boss) is not None


@pytest.mark.parametrize(
    ("bent", "words"),
    [
        ({"email_verified": False}, "has not verified your e-mail address"),
        ({"email": "omar@elsewhere.example"}, "of a domain that cannot"),
        ({"iss": "https://evil.example"}, "is not valid"),
        ({"nonce": "x"}, "is not valid"),
        ({"aud": "other"}, "is not valid"),
        ({"sub": "person-2"}, "belongs to another account"),
    ],
)
async def test_what_lets_nobody_in(open_town, mock_clock, bent, words):
    async with open_town() as town:
        if "sub" in bent:
            await town.enter()
        town.provider.claims = bent
        reader, page = await town.enter()
        assert (page.status, words in page.text) == (403, True)
        assert town.session(reader) is None


async def test_an_answer_is_for_one_browser_one_organization_and_once(open_town, mock_clock):
    async with open_town() as town:
        other = (await town.do("org.create", name="Evil"))["id"]
        await town.register(other, domains=["evil.example"], default_role="owner")
        await town.confirm(other, "evil.example")
        mine = Reader(town.dashboard)
        brought = urlencode(await town.go(mine))
        flow = mine.cookies[FLOW]
        # Another browser; the way of another organization, whose provider is the same.
        for reader, org in ((Reader(town.dashboard), town.org), (mine, other)):
            page = await reader.get(f"{town.start(org)}/callback?{brought}")
            assert (page.status, "began in another browser" in page.text) == (403, True)
        assert town.provider.forms == []
        mine.cookies[FLOW] = flow
        page = await mine.get(f"{town.start()}/callback?{brought}")
        assert page.location == "/app"
        again = Reader(town.dashboard, {FLOW: flow})
        assert (await again.get(f"{town.start()}/callback?{brought}")).status == 403
        # The answer names another provider than the one that was asked.
        mixed = urlencode({**await town.go(mine), "iss": "https://evil.example"})
        assert (await mine.get(f"{town.start()}/callback?{mixed}")).status == 403
        assert (await Reader(town.dashboard).get(town.start("org_unknown"))).status == 404


async def test_a_domain_works_once_an_operator_confirms_it_and_is_one_organizations(
    open_town, mock_clock
):
    async with open_town() as town:
        evil = (await town.do("org.create", name="Evil"))["id"]
        await town.register(evil)
        offered = town.gateway.access(ACCESS).offered
        assert offered(OMAR).organization_id == town.org
        assert (await Reader(town.dashboard).get(town.start(evil))).status == 404
        with pytest.raises(Conflict, match="another organization"):
            await town.confirm(evil)
        owner = Caller(BOSS, CallerKind.DASHBOARD, Role.OWNER, town.org, "usr_1")
        with pytest.raises(Forbidden):
            await town.do("provider.confirm", owner, organization_id=town.org, domain="x.example")
        reader, _ = await town.enter()
        await town.do("provider.refuse", organization_id=town.org, domain="risala.example")
        assert town.session(reader) is None
        assert offered(OMAR) is None
        await town.confirm(evil)
        assert offered(OMAR).organization_id == evil
        await town.do("provider.delete", organization_id=evil)
        assert offered(OMAR) is None
        with pytest.raises(Invalid, match="issuer"):
            await town.register(evil, issuer="https://169.254.169.254/latest")
        with pytest.raises(Invalid, match="domains"):
            await town.register(evil, domains=["not a domain"])


async def test_owners_register_it_freshly_and_all_are_told(open_town, mock_clock):
    async with open_town() as town:
        user = town.gateway.services.repositories.users.by_email(BOSS)
        caller = Caller(BOSS, CallerKind.DASHBOARD, Role.OWNER, town.org, user.id)
        with pytest.raises(NotFresh):
            await town.register(town.org, replace(caller, freshness=Freshness.STALE))
        for role in (Role.DEVELOPER, Role.VIEWER):
            with pytest.raises(Forbidden):
                await town.do("provider.show", replace(caller, role=role), organization_id=town.org)
        changed = await town.register(town.org, caller, issuer=f"{ISSUER}/2")
        assert (changed["issuer"], changed["confirmed"]) == (f"{ISSUER}/2", ["risala.example"])
        mails = town.gateway.services.repositories._store.reader.execute(
            "SELECT recipient, details FROM mails WHERE kind = 'provider_changed'"
        ).fetchall()
        assert {each for each, _ in mails} == {BOSS}
        assert len(mails) == 3
        reader = await town.by_link(BOSS)
        here = f"/app/{town.org}/members/sign-in"
        page = await reader.get(here)
        assert_nothing_inline(page)
        assert (page.status, f"{town.start()}/callback" in page.text) == (200, True)
        filled = {
            "issuer": ISSUER,
            "client_id": "other",
            "client_secret": SECRET,
            "domains": "risala.example\nsub.risala.example",
            "default_role": "none",
            "session_hours": "0",
        }
        refused = await reader.submit(page, here, filled)
        assert (refused.status, "other" in refused.text) == (422, True)
        assert SECRET not in refused.text
        saved = await reader.submit(page, here, {**filled, "session_hours": "8"})
        assert saved.location == here, saved.text
        page = await reader.get(here)
        assert SECRET not in page.text
        assert "sub.risala.example" in page.text
        removed = await reader.submit(await reader.get(f"{here}/remove"), f"{here}/remove")
        assert removed.location == f"/app/{town.org}/members"


async def test_an_organization_can_be_entered_by_it_alone_and_owners_have_a_way_back(
    open_town, mock_clock
):
    async with open_town() as town:
        await town.do("member.add", organization_id=town.org, email=OMAR, role="viewer")
        with pytest.raises(Invalid, match="passkey"):
            await town.register(town.org, required=True)
        await town.give_factor(BOSS)
        omar = await town.by_link(OMAR)
        assert (await omar.get(f"/app/{town.org}/keys")).status == 200
        await town.register(town.org, required=True)
        page = await omar.get(f"/app/{town.org}/keys")
        assert page.status == 403
        assert f"{town.start()}?next=" in page.text
        assert_nothing_inline(page)
        _, page = await town.enter(omar)
        assert (await omar.get(f"/app/{town.org}/keys")).status == 200
        # The owner's code and factor open it without the provider.
        people = town.gateway.people
        session = replace(town.session(omar), user=town.gateway.services.repositories.users
            .by_email(BOSS), has_factor=True)  # fmt: skip
        place = replace(session.places[0], role=Role.OWNER)
        mine = replace(session, places=(place,), device=replace(session.device,
            organization_id=None))  # fmt: skip
        assert people.sessions.caller(mine, town.org).role is Role.OWNER
        # Without its domain the provider lets nobody in, and shuts nobody out.
        await town.do("provider.refuse", organization_id=town.org, domain="risala.example")
        omar = await town.by_link(OMAR)
        assert (await omar.get(f"/app/{town.org}/keys")).status == 200


async def test_a_session_ends_when_the_provider_says_and_is_fresh_by_signing_in_anew(
    open_town, mock_clock
):
    async with open_town(session_hours=2, default_role="owner") as town:
        town.provider.claims = {"auth_time": 1}
        reader, _ = await town.enter()
        here = f"/app/{town.org}/members/sign-in"
        people = town.gateway.people
        # A session at the provider from earlier lets in, and shows nothing fresh.
        caller = people.sessions.caller(town.session(reader), town.org)
        assert caller.freshness is Freshness.STALE
        page = await reader.get(f"/account/fresh?next={here}")
        start = f"{town.start()}?{urlencode({'fresh': '1', 'next': here})}"
        assert start.replace("&", "&amp;") in page.text
        assert "Send me a code" not in page.text
        _, page = await town.enter(reader, start)
        assert "did not ask you to sign in again" in page.text
        town.provider.claims = {}
        _, page = await town.enter(reader, start)
        assert town.provider.query["prompt"] == "login"
        assert people.sessions.caller(town.session(reader), town.org).freshness is Freshness.FRESH
        town.clock.ahead_ms += 2 * 3_600_000 + 1
        assert town.session(reader) is None


async def test_two_factors_are_the_providers_to_ask_where_the_organization_wants_them(
    open_town, mock_clock
):
    async with open_town() as town:
        await town.do("org.set", organization_id=town.org, factor_required=True)
        _, page = await town.enter()
        assert "asks for two factors" in page.text
        town.provider.claims = {"amr": ["pwd", "otp"]}
        reader, _ = await town.enter()
        assert (await reader.get(f"/app/{town.org}/members")).status == 200
