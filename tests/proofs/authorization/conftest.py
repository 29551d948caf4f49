"""A city: three organizations, who belongs to them and who does not, and all that is on HTTP."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from proofs.authorization.expected import Asker, Visitor

from fresh_files import fresh_files  # noqa: F401 -- a fixture of all below
from made_invoices import issued
from mailing_book import ON_LOOP
from patience import until_true
from risala.config.model import CarrierSection, Settings, StorageSection
from risala.config.payments import PaymentsSection
from risala.drivers.faces.kannel import KANNEL
from risala.drivers.faces.playsms import PLAYSMS
from risala.drivers.faces.smsgate import SMSGATE
from risala.drivers.faces.twilio.compat import TWILIO
from risala.drivers.payments.mobile_money import BankSmsSettings, MobileMoneySettings, build_wallet
from risala.drivers.testmode import FACTORY
from risala.engine.features.alarms.records import AlarmState, RaisedAlarm
from risala.engine.features.alarms.stored.alarms import AlarmRepository
from risala.engine.features.compat.access import CompatAccess
from risala.engine.features.request_log.service import request_log
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import NotedRequest
from risala.engine.model.ids import IdSource, derived_id
from risala.engine.model.people import Browser, Language
from risala.engine.model.states import Mode
from risala.engine.model.times import iso
from risala.engine.rules.webhooks.types import Outbound
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import DATABASE, Seams
from risala.http.api.app import create_api
from risala.http.api.metrics import add_metrics
from risala.http.common.base import JsonApp
from risala.http.common.client_address import ClientAddresses
from risala.http.common.failed_keys import AnswerTally, FailedKeys
from risala.http.dashboard.app import create_dashboard
from risala.http.faces.mount import add_faces
from risala.http.operator.app import create_console
from risala.http.web.app import WebApp
from risala.plugins.testing.fake_driver import FakeDriver

AT_THE_MACHINE = Caller("root", CallerKind.CLI, Role.OPERATOR)
DAY_MS = 86_400_000
ADDRESSES = count(1)
TO = "+22236123456"
SEEN = ("web_sessions", "meta", "erasures")
"""Tables where it is written down who came by, and one that goes on by itself."""
MINUTES = ("minute_count", "alerts", "alert_hours", "alert_calls", "alert_receipts")
"""Tables that are written when a minute of real time has passed; the walk may take one."""
PASSING = {*SEEN, *MINUTES, "sqlite_sequence"}


class MovedClock(TrioClock):
    """A clock that can be set forward, by days."""

    moved_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.moved_ms


@dataclass
class City:
    """All of it, and one of everything in ``own`` and in ``other``."""

    gateway: Any
    clock: MovedClock
    database: Path
    api: JsonApp
    dashboard: WebApp
    console: WebApp
    organizations: dict[str, str] = field(default_factory=dict)
    things: dict[str, dict[str, str]] = field(default_factory=lambda: {"own": {}, "other": {}})
    """By organization, what stands for each name in an address or a body."""
    keys: dict[Asker, list[str]] = field(default_factory=dict)
    cookies: dict[Visitor, dict[str, str]] = field(default_factory=dict)
    users: dict[Visitor, str] = field(default_factory=dict)
    """Ids of those who may post."""
    drivers: dict[str, FakeDriver] = field(default_factory=dict)
    """What carriers say, by their names."""

    async def do(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, arguments, AT_THE_MACHINE)

    async def enter(self, email: str, *, operator: bool = False) -> str:
        """Sign somebody in; the token."""
        link = await self.do("user.sign_in", email=email, operator=operator)
        # From an address of its own each time: none of them has tried too many.
        browser = Browser("x", next(ADDRESSES), "", "", Language.ENGLISH)
        entered = await self.gateway.people.sign_in.use_link(link["token"], browser)
        return entered.token

    def is_quiet(self) -> bool:
        """Whether what was begun while all this was made is over: codes sent, exports written."""
        reader = self.gateway.services.repositories._store.reader
        codes = "SELECT count(*) FROM messages WHERE kind = 'code' AND status <> 'delivered'"
        exports = "SELECT count(*) FROM exports WHERE ended_at IS NULL"
        return not any(reader.execute(each).fetchone()[0] for each in (codes, exports))

    async def digest(self) -> dict[str, str]:
        """Of every table, but for those that say who came by, once nothing goes on any more."""
        await trio.testing.wait_all_tasks_blocked(0.01)
        found: dict[str, str] = {}
        with closing(sqlite3.connect(self.database)) as database, database:
            names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            for (name,) in database.execute(names).fetchall():
                if name not in PASSING:
                    found_columns = database.execute(
                        f"SELECT name FROM pragma_table_info('{name}')"
                    )
                    columns = ", ".join(
                        f'"{one}"' for (one,) in found_columns if one != "last_used_at"
                    )
                    rows = database.execute(f'SELECT {columns} FROM "{name}"').fetchall()
                    found[name] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
        database.close()
        return found

    async def conversation(self, organization_id: str) -> str:
        """That with a number which wrote once; it is made at the first call."""
        whose = {"organization_id": organization_id}
        if listed := (await self.do("conversation.list", **whose))["conversations"]:
            return listed[0]["conversationId"]
        now_ms = self.clock.now_ms()
        text_id = derived_id("mo", now_ms, organization_id)
        conversation_id = derived_id("cnv", now_ms, organization_id)

        def unit(conn: sqlite3.Connection) -> None:
            conn.execute(
                "INSERT INTO inbound (id, carrier, sender, recipient, body, carrier_ids,"
                " received_at, organization_id) VALUES (?, 'fake', ?, '1234', 'Salam', '', ?, ?)",
                (text_id, TO, now_ms, organization_id),
            )
            conn.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?, '', 'open', NULL, 0)",
                (conversation_id, organization_id, TO, text_id),
            )

        await self.gateway.services.recorder.journal.commit(unit)
        return conversation_id


async def _found(city: City, name: str) -> None:
    made = (await city.do("org.create", name=name))["id"]
    city.organizations[name] = made
    await city.do("member.add", email=f"owner@{name}.example", role="owner", organization_id=made)


async def _pass_time(city: City) -> None:
    """A key's old value and a session are over before anything else is there."""
    made = await city.do("key.create", type="secret", organization_id=city.organizations["own"])
    await city.do("key.rotate", key_id=made["key"]["id"], overlap_s=3600)
    city.keys[Asker.OLD] = [made["value"]]
    token = await city.enter("owner@own.example")
    city.cookies[Visitor.EXPIRED] = {"risala": token, "risala-operator": token}
    city.clock.moved_ms += 91 * DAY_MS


async def _organization(city: City, name: str) -> None:
    made = city.organizations[name]
    whose = {"organization_id": made}
    await city.do("topup", amount="100", **whose)
    things = city.things[name] = {"org": made}
    later = iso(city.clock.now_ms() + DAY_MS)
    sent = await city.do("send", to=TO, body="Bonjour", send_at=later, **whose)
    things["message_id"] = sent["messageId"]
    code = await city.do("verify.send", to=TO, mode="test", **whose)
    things["verification_id"] = code["verificationId"]
    key = await city.do("key.create", type="secret", **whose)
    things["key_id"], things["value"] = key["key"]["id"], key["value"]
    things["request_id"] = await _request(city, key["value"])
    credential = await city.do("credential.create", face="kannel", username=name, **whose)
    things["credential_id"], things["password"] = (
        credential["credential"]["id"],
        credential["password"],
    )
    endpoint = await city.do("webhook.create", url="https://example.com/", **whose)
    things["endpoint_id"] = endpoint["endpoint"]["id"]
    hook = await city.do("hook.create", preset="logto", **whose)
    provider = {"issuer": "https://id.example.org", "client_id": "us", "domains": ["example.org"]}
    await city.do("provider.set", **provider, **whose)
    things["hook_id"], things["preset"] = hook["hook"]["id"], "logto"
    listed = await city.do("list.create", name="Parents", **whose)
    things["list_id"] = listed["list"]["id"]
    things["mailing_id"], things["row"] = await draft(city, whose), "1"
    saved = await city.do("text.create", name="News", language="fr", text="Bonjour", **whose)
    things["saved_text_id"] = saved["id"]
    rule = await city.do("answer.create", name="Hours", **whose)
    things["rule_id"] = rule["ruleId"]
    rent = {"name": "Rent", "text": "Due", "unit": "weeks", "time": "10:00"}
    repeat = await city.do("repeat.create", list_id=things["list_id"], **rent, **whose)
    things["repeat_id"] = repeat["repeatId"]
    await _alarm(city, whose, things)
    paid = await city.do("payment.begin", method="bankily", amount="5", **whose)
    things["payment_id"] = paid["id"]
    things["invoice_id"] = (await issued(city.gateway.services, made)).id
    ledger = await city.do("ledger.list", **whose)
    things["seq"] = str(ledger["entries"][0]["seq"])
    asked = await city.do("member.invite", email=f"new@{name}.example", role="viewer", **whose)
    things["invitation_id"] = asked["id"]
    members = await city.do("member.list", **whose)
    things["user_id"] = members["members"][0]["userId"]
    things["export_id"] = (await city.do("export.ask", **whose))["id"]
    forgotten = await city.do("number.forget", number="+22236999999", **whose)
    things["erasure_id"] = forgotten["id"]
    things["conversation_id"] = await city.conversation(made)


async def _alarm(city: City, whose: dict[str, str], things: dict[str, str]) -> None:
    """One that has ended, and so changes nothing by itself."""
    room = {"name": "Cold room", "people": ["+22236000009"]}
    things["chain_id"] = chain_id = (await city.do("alarm.create", **room, **whose))["chainId"]
    services = city.gateway.services
    things["alarm_id"] = services.ids.new("alm")
    ended = RaisedAlarm(
        *(things["alarm_id"], chain_id, whose["organization_id"], Mode.LIVE, "Warm"),
        *(AlarmState.ENDED, 0, None, services.recorder.clock.now_ms(), "root"),
        *(services.recorder.clock.now_ms(), "root"),
    )
    await services.repositories.part(AlarmRepository).raise_alarm(None, ended, None)


async def draft(city: City, whose: dict[str, str]) -> str:
    """A mailing to two people, whose rows are checked."""
    asked = {"numbers": f"{TO}\n+22236123457", "text": "Bonjour"}
    mailing_id: str = (await city.do("mailing.create", **asked, **whose))["id"]
    clock = trio.lowlevel.current_clock()
    while (await city.do("mailing.show", mailing_id=mailing_id))["mailing"]["state"] != "draft":
        if isinstance(clock, trio.testing.MockClock):
            clock.jump(0.1)  # rows are stored at a pace
        await trio.lowlevel.checkpoint()
    return mailing_id


async def _request(city: City, value: str) -> str:
    """A request in a key's log."""
    request_id = city.gateway.services.ids.new("req")
    principal = city.gateway.authenticate(value)
    asked, answered = json.dumps({"to": TO}).encode(), b'{"messageId":"x"}'
    city.gateway.services.part(request_log).note(
        NotedRequest(principal, request_id, "POST", "/api/sms", 200, 0.01, None, asked, answered)
    )
    await city.gateway.services.part(request_log).flush()
    return request_id


async def _keys(city: City) -> None:
    whose = {"organization_id": city.organizations["own"]}

    async def made(kind: str, mode: str = "live") -> dict[str, Any]:
        return await city.do("key.create", type=kind, mode=mode, **whose)

    for asker, kind in ((Asker.SECRET, "secret"), (Asker.PUBLISHABLE, "publishable")):
        city.keys[asker] = [(await made(kind, mode))["value"] for mode in ("live", "test")]
    off, gone = await made("secret"), await made("secret")
    await city.do("key.disable", key_id=off["key"]["id"])
    await city.do("key.delete", key_id=gone["key"]["id"])
    city.keys[Asker.DISABLED], city.keys[Asker.DELETED] = [off["value"]], [gone["value"]]
    city.keys[Asker.UNKNOWN] = ["sk_live_" + "x" * 32, "nonsense"]
    city.keys[Asker.CREDENTIAL] = [city.things["own"]["password"]]
    held = (await city.do("org.create", name="held"))["id"]
    city.keys[Asker.SUSPENDED] = [
        (await city.do("key.create", organization_id=held, type=kind))["value"]
        for kind in ("secret", "publishable")
    ]
    await city.do("org.suspend", organization_id=held)


async def _people(city: City) -> None:
    own = {"organization_id": city.organizations["own"]}
    await city.do("user.create", email="operator@risala.example", operator=True)
    for role in ("viewer", "developer", "removed"):
        email = f"{role}@own.example"
        await city.do("member.add", email=email, role=role.replace("removed", "owner"), **own)
    ended = await city.enter("owner@own.example")
    enter = city.enter
    operator = await enter("operator@risala.example", operator=True)
    owner, other = await enter("owner@own.example"), await enter("owner@other.example")
    tokens = {
        Visitor.MADE_UP: "x" * 43,
        Visitor.ENDED: ended,
        Visitor.OTHER: other,
        Visitor.REMOVED: await enter("removed@own.example"),
        Visitor.VIEWER: await enter("viewer@own.example"),
        Visitor.DEVELOPER: await enter("developer@own.example"),
        Visitor.OWNER: owner,
    }
    city.cookies |= {
        who: {"risala": token, "risala-operator": token} for who, token in tokens.items()
    }
    city.cookies[Visitor.STRANGER] = {}
    city.cookies[Visitor.OPERATOR] = {"risala-operator": operator}
    city.cookies[Visitor.OTHER_KIND] = {"risala": operator, "risala-operator": owner}
    city.keys[Asker.SESSION] = [owner]
    members = (await city.do("member.list", **own))["members"]
    ids = {each["email"].partition("@")[0]: each["userId"] for each in members}
    city.users = {Visitor.OWNER: ids["owner"]}
    await city.do("member.remove", user_id=ids["removed"], **own)
    await city.gateway.people.sessions.sign_out(ended, city.dashboard.site.face.kind)


@asynccontextmanager
async def built_city(
    path: Path,
    outbound: Outbound | None = None,
    sms: BankSmsSettings | None = None,
    seams: Seams | None = None,
) -> AsyncIterator[City]:
    """A city in a folder. ``seams``: with another clock, which can be moved too."""
    clock = MovedClock()
    settings = Settings(storage=StorageSection(data_dir=path), payments=PaymentsSection())
    carriers = (
        CarrierSection(name="fake", driver="fake", prefixes=("+222",)),
        CarrierSection(name="bank", driver="fake", receives_only=True),
        CarrierSection(name="test", driver="test", prefixes=()),
    )
    lines = {"fake": FakeDriver(), "bank": FakeDriver()}
    drivers = {**lines, "test": FACTORY.build("test", None)}
    wallet = MobileMoneySettings(merchant="038 221", sms=sms)
    bankily = build_wallet("bankily", "Bankily", wallet)
    faces = {each.name: each.build(each.settings()) for each in (KANNEL, PLAYSMS, SMSGATE, TWILIO)}
    outside = Connections(outbound=outbound, payments={"bankily": bankily}, faces=faces)
    if seams is None:
        seams = Seams(clock, IdSource(clock), inline_journal=True, parts=ON_LOOP)
    else:
        clock, seams = seams.clock, replace(seams, inline_journal=True, parts=ON_LOOP)
    async with open_engine(settings, carriers, drivers, seams, outside=outside) as engine:
        gateway, tally, turns = engine.gateway, AnswerTally(), count(0, 60)
        # A minute between any two wrong keys: none is held back, as here no time passes.
        failed = FailedKeys(ClientAddresses(()), tally, lambda: float(next(turns)))
        dashboard = create_dashboard(gateway, settings, shutdown=trio.Event(), clock=clock)
        console = create_console(gateway, settings, shutdown=trio.Event(), clock=clock)
        api = create_api(gateway, settings, clock, tally=tally, failed_keys=failed)
        add_metrics(api, gateway, everybody=False)
        access = gateway.services.part(CompatAccess)
        add_faces(api, gateway, access, settings, faces, "http://127.0.0.1", clock)
        made = City(gateway, clock, path / DATABASE, api, dashboard, console, drivers=lines)
        for name in ("own", "other"):
            await _found(made, name)
        await _pass_time(made)
        for name in ("own", "other"):
            await _organization(made, name)
        await _keys(made)
        await _people(made)
        await until_true(made.is_quiet)
        yield made


@pytest.fixture
def open_city(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[City]]:
    """``open_city(outbound=…, sms=…)``: with a network around it, with a bank that writes."""
    return partial(built_city, tmp_path)


@pytest.fixture
async def city(open_city) -> AsyncIterator[City]:
    async with open_city() as made:
        yield made
