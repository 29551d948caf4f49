"""The walk over all routes with the real engine: whoever is refused has changed nothing."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from risala.config.model import CarrierSection, Settings, StorageSection
from risala.engine.engine import DATABASE, open_engine
from risala.engine.model.callers import Caller, Face, Role
from risala.engine.model.clock import iso
from risala.engine.model.people import Browser, Language
from risala.http.dashboard.app import ROUTES, create_dashboard
from risala.http.web.access import PageAccess
from risala.http.web.app import WebApp
from risala.plugins.testing.fake_driver import FakeDriver

OPERATOR = Caller("amina", Face.CLI, Role.OPERATOR)
SEEN = ("web_sessions",)
"""When somebody was last seen is written down whatever they do."""
FORM = {"content_type": "application/x-www-form-urlencoded"}
GUARDED = [route for route in ROUTES if route.access is not PageAccess.PUBLIC]
TOO_LOW = {PageAccess.DEVELOPER: Role.VIEWER, PageAccess.OWNER: Role.DEVELOPER}


@dataclass
class Town:
    """Two organizations and who belongs to them, before a running engine."""

    app: WebApp
    database: Path
    organizations: dict[str, str]
    keys: dict[str, str]
    messages: dict[str, str]
    tokens: dict[Role, str]

    def path(self, route, organization: str = "own") -> str:
        path = route.path.replace("<org>", self.organizations[organization])
        path = path.replace("<key_id>", self.keys[organization])
        path = path.replace("<message_id>", self.messages[organization])
        return path.replace("<invitation_id>", "inv_x").replace("<token>", "x")

    def digest(self) -> str:
        """Of every table, but for what is written of whoever comes by."""
        found = hashlib.sha256()
        with sqlite3.connect(self.database) as database:
            names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            for (name,) in database.execute(names).fetchall():
                if name not in SEEN:
                    rows = database.execute(f'SELECT * FROM "{name}"').fetchall()
                    found.update(repr((name, sorted(map(repr, rows)))).encode())
        database.close()
        return found.hexdigest()


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    settings = Settings(storage=StorageSection(data_dir=tmp_path))
    carrier = CarrierSection(name="fake", driver="fake", prefixes=("+222",))
    async with open_engine(settings, (carrier,), {"fake": FakeDriver()}) as engine:
        gateway = engine.gateway
        organizations, keys, messages, tokens = {}, {}, {}, {}
        for name in ("own", "other"):
            made = await gateway.perform("org.create", {"name": name}, OPERATOR)
            organizations[name] = made["id"]
            asked = {"organization_id": made["id"], "type": "secret", "mode": "live"}
            paid = {"organization_id": made["id"], "amount": "100"}
            await gateway.perform("topup", paid, OPERATOR)
            later = iso(engine.gateway.services.recorder.clock.now_ms() + 3_600_000)
            sent = {"organization_id": made["id"], "to": "+22236123456", "body": "Bonjour"}
            sent = await gateway.perform("send", {**sent, "send_at": later}, OPERATOR)
            messages[name] = sent["messageId"]
            keys[name] = (await gateway.perform("key.create", asked, OPERATOR))["key"]["id"]
        for role in (Role.OWNER, Role.DEVELOPER, Role.VIEWER):
            email = f"{role.value}@baraka.example"
            member = {"organization_id": organizations["own"], "email": email, "role": role.value}
            await gateway.perform("member.add", member, OPERATOR)
            link = await gateway.perform("user.sign_in", {"email": email}, OPERATOR)
            browser = Browser("x", None, "", "", Language.ENGLISH)
            entered = await gateway.people.use_link(link["token"], browser)
            assert entered is not None
            tokens[role] = entered.token
        app = create_dashboard(gateway, settings, shutdown=trio.Event())
        yield Town(app, tmp_path / DATABASE, organizations, keys, messages, tokens)


@pytest.fixture
def reader_of(town, browser_on):
    """A browser of a member; without a role, a stranger's."""
    return lambda role=None: browser_on(town.app, {"risala": town.tokens[role]} if role else {})


@pytest.mark.slow
async def test_whoever_is_refused_has_changed_nothing(town, reader_of):
    before = town.digest()
    for route in GUARDED:
        page = await reader_of().ask(route.method, town.path(route), **FORM)
        assert (page.status, page.location[:8]) == (303, "/sign-in"), route.name
        owner = reader_of(Role.OWNER)
        if route.access.roles:
            page = await owner.ask(route.method, town.path(route, "other"), **FORM)
            assert page.status == 404, route.name
        if route.access in TOO_LOW:
            page = await reader_of(TOO_LOW[route.access]).ask(
                route.method, town.path(route), **FORM
            )
            assert page.status == 403, route.name
        if route.method == "POST":
            for mark in ("", "wrong"):
                page = await owner.post(town.path(route), {"form_token": mark})
                assert page.status == 403, route.name
    assert town.digest() == before


@pytest.mark.slow
async def test_another_organizations_thing_is_not_reached_through_ones_own(town, reader_of):
    owner = reader_of(Role.OWNER)
    listing = await owner.get(f"/app/{town.organizations['own']}/keys")
    before = town.digest()
    for action in ("disable", "delete"):
        path = f"/app/{town.organizations['own']}/keys/{town.keys['other']}/{action}"
        page = await owner.submit(listing, path, {"confirm": "x"})
        assert page.status == 404
    assert town.digest() == before


@pytest.mark.slow
async def test_what_a_member_may_do_is_done(town, reader_of):
    developer = reader_of(Role.DEVELOPER)
    path = f"/app/{town.organizations['own']}/keys"
    form = await developer.get(f"{path}/new")
    page = await developer.submit(form, path, {"name": "Shop", "type": "secret"})
    assert page.status == 200
    assert "sk_live_" in page.text
    page = await developer.submit(form, path, {"name": "Shop", "type": "secret"})
    assert (page.status, page.location) == (303, path)
    disabled = await developer.submit(form, f"{path}/{town.keys['own']}/disable")
    assert disabled.status == 303
    assert "is-disabled" in (await developer.get(path)).text


@pytest.mark.slow
async def test_money_is_told_and_settings_hold(town, reader_of):
    """By the real answers, so that no field is only in a fake."""
    owner = reader_of(Role.OWNER)
    own = town.organizations["own"]
    gateway = town.app.site.gateway
    asked = {"organization_id": own, "amount": "700", "reference": "BK-1"}
    paid = await gateway.perform("topup", asked, OPERATOR)
    with sqlite3.connect(town.database) as database:
        # 70.00 on one day of the last seven is 10.00 a day.
        yesterday = "INSERT INTO spending VALUES (?, unixepoch() / 86400 - 1, 7000)"
        database.execute(yesterday, (own,))
    database.close()
    page = await owner.get(f"/app/{own}/billing")
    assert page.status == 200
    days = round(float(paid["balanceAfter"]) / 10)
    assert f'<bdi class="num">{days}</bdi> days' in page.text
    answer = await owner.submit(page, f"/app/{own}/billing/alert", {"low_balance": "250"})
    assert answer.status == 303
    assert 'value="250.00"' in (await owner.get(f"/app/{own}/billing")).text
    receipt = await owner.get(f"/app/{own}/billing/receipts/{paid['seq']}")
    assert "BK-1" in receipt.text
    fields = {"name": "Renamed", "time_zone": "Africa/Dakar", "owner_spend_cap": "90"}
    page = await owner.get(f"/app/{own}/settings")
    assert (await owner.submit(page, f"/app/{own}/settings", fields)).status == 303
    page = await owner.get(f"/app/{own}/settings")
    assert 'value="Africa/Dakar"' in page.text
    assert 'value="90.00"' in page.text


@pytest.mark.slow
async def test_a_second_save_shows_the_first_before_it_takes_its_place(town, reader_of):
    owner = reader_of(Role.OWNER)
    settings = f"/app/{town.organizations['own']}/settings"
    mine = await owner.get(settings)
    theirs = await owner.get(settings)
    fields = {"time_zone": "Africa/Nouakchott", "owner_spend_cap": ""}
    assert (await owner.submit(theirs, settings, {"name": "Theirs", **fields})).status == 303
    refused = await owner.submit(mine, settings, {"name": "Mine", **fields})
    assert refused.status == 422
    assert "Theirs" in refused.text.partition("This stands now")[2]
    assert 'value="Theirs"' in (await owner.get(settings)).text
    assert (await owner.submit(refused, settings, {"name": "Mine", **fields})).status == 303
    assert 'value="Mine"' in (await owner.get(settings)).text
