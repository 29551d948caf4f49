"""The walk over all routes with the real engine: whoever is refused has changed nothing."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
import trio
import trio.testing

from filter_sweep import cases as filter_cases
from filter_sweep import is_refused, rows_of
from mailing_book import ON_LOOP
from patience import POLL_S, until_true
from risala.config.model import CarrierSection, Settings, StorageSection
from risala.drivers.payments.mobile_money import MobileMoney, MobileMoneySettings
from risala.drivers.payments.sandbox import TAKEN, SandboxCard, SandboxSettings
from risala.engine.features.request_log.service import request_log
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.commands import NotedRequest
from risala.engine.model.people import Browser, Language
from risala.engine.model.times import iso
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import DATABASE, system_seams
from risala.http.dashboard.app import ROUTES, create_dashboard
from risala.http.web.app import WebApp
from risala.http.web.face import PageAccess
from risala.http.web.lists import FilterKind
from risala.plugins.testing.fake_driver import FakeDriver

OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)
SEEN = ("web_sessions", "meta")
"""When somebody was last seen is written down whatever they do; and the service notes of itself
that numbers were sorted by routes, whenever it gets to it."""
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
    payments: dict[str, str]
    verifications: dict[str, str]
    requests: dict[str, str]
    mailings: dict[str, str]
    tokens: dict[Role, str]

    def path(self, route, organization: str = "own") -> str:
        path = route.path.replace("<org>", self.organizations[organization])
        path = path.replace("<key_id>", self.keys[organization])
        path = path.replace("<message_id>", self.messages[organization])
        path = path.replace("<payment_id>", self.payments[organization])
        path = path.replace("<request_id>", self.requests[organization])
        path = path.replace("<mailing_id>", self.mailings[organization]).replace("<row>", "1")
        path = path.replace("<method>", "sandbox")
        path = path.replace("<verification_id>", self.verifications[organization])
        return path.replace("<invitation_id>", "inv_x").replace("<token>", "x")

    def digest(self) -> str:
        """Of every table, but for what is written of whoever comes by."""
        found = hashlib.sha256()
        with closing(sqlite3.connect(self.database)) as database, database:
            names = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            for (name,) in database.execute(names).fetchall():
                if name not in SEEN:
                    rows = database.execute(f'SELECT * FROM "{name}"').fetchall()
                    found.update(repr((name, sorted(map(repr, rows)))).encode())
        database.close()
        return found.hexdigest()


async def make_mailing(gateway: Gateway, organization_id: str) -> str:
    """A draft of two people, whose rows are checked."""
    asked = {"organization_id": organization_id, "numbers": "36123456\n36123457", "text": "Salam"}
    mailing_id = (await gateway.perform("mailing.create", asked, OPERATOR))["id"]

    async def is_checked() -> bool:
        shown = await gateway.perform("mailing.show", {"mailing_id": mailing_id}, OPERATOR)
        return shown["mailing"]["state"] == "draft"

    clock = trio.lowlevel.current_clock()
    while not await is_checked():
        if isinstance(clock, trio.testing.MockClock):
            clock.jump(POLL_S)  # rows are stored at a pace
        await trio.lowlevel.checkpoint()
    return mailing_id


def note_request(gateway: Gateway, value: str, message_id: str) -> str:
    """A message is sent by a key, as its log is told of it; the request's id."""
    request_id = gateway.services.ids.new("req")
    principal = gateway.authenticate(value)
    asked, answered = b'{"to":"+22236123456","body":"Bonjour"}', f'{{"messageId":"{message_id}"}}'
    gateway.services.part(request_log).note(
        NotedRequest(
            principal, request_id, "POST", "/api/sms", 200, 0.01, None, asked, answered.encode()
        )
    )
    return request_id


@pytest.fixture
async def town(tmp_path: Path) -> AsyncIterator[Town]:
    settings = Settings(storage=StorageSection(data_dir=tmp_path))
    carrier = CarrierSection(name="fake", driver="fake", prefixes=("+222",))
    bankily = MobileMoney("Bankily", MobileMoneySettings(merchant="038 221"))
    outside = Connections(payments={"bankily": bankily, "sandbox": SandboxCard(SandboxSettings())})
    drivers = {"fake": FakeDriver()}
    seams = replace(system_seams(), inline_journal=True, watch_loop=False, parts=ON_LOOP)
    async with open_engine(settings, (carrier,), drivers, seams, outside) as engine:
        gateway = engine.gateway
        organizations, keys, messages, payments, tokens = {}, {}, {}, {}, {}
        verifications, requests, mailings = {}, {}, {}
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
            wanted = {"organization_id": made["id"], "method": "bankily", "amount": "5"}
            payments[name] = (await gateway.perform("payment.begin", wanted, OPERATOR))["id"]
            code = {"organization_id": made["id"], "to": "+22236123456", "mode": "test"}
            code = await gateway.perform("verify.send", code, OPERATOR)
            verifications[name] = code["verificationId"]
            made = await gateway.perform("key.create", asked, OPERATOR)
            keys[name] = made["key"]["id"]
            requests[name] = note_request(gateway, made["value"], messages[name])
            mailings[name] = await make_mailing(gateway, organizations[name])
        await gateway.services.part(request_log).flush()
        for role in (Role.OWNER, Role.DEVELOPER, Role.VIEWER):
            email = f"{role.value}@baraka.example"
            member = {"organization_id": organizations["own"], "email": email, "role": role.value}
            await gateway.perform("member.add", member, OPERATOR)
            link = await gateway.perform("user.sign_in", {"email": email}, OPERATOR)
            browser = Browser("x", None, "", "", Language.ENGLISH)
            entered = await gateway.people.sign_in.use_link(link["token"], browser)
            assert entered is not None
            tokens[role] = entered.token
        app = create_dashboard(gateway, settings, shutdown=trio.Event())
        things = (keys, messages, payments, verifications, requests, mailings, tokens)
        yield Town(app, tmp_path / DATABASE, organizations, *things)


@pytest.fixture
def reader_of(town, browser_on):
    """A browser of a member; without a role, a stranger's."""
    return lambda role=None: browser_on(town.app, {"risala": town.tokens[role]} if role else {})


@pytest.mark.slow
async def test_whoever_is_refused_has_changed_nothing(town, reader_of, mock_clock):
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
async def test_a_filter_that_is_not_understood_shows_no_rows(town, reader_of, mock_clock):
    owner = reader_of(Role.OWNER)
    shown_bare = 0
    for route in (each for each in ROUTES if each.filters and not each.path.endswith("/live")):
        page = await owner.get(town.path(route))
        shown_bare += page.status == 200 and rows_of(page) > 0
    assert shown_bare >= 4
    for route, one, text in filter_cases(ROUTES):
        address = f"{town.path(route)}?{urlencode({one.name: text})}"
        page = await owner.get(address)
        if one.kind is FilterKind.WORDS and page.status == 200:
            assert rows_of(page) == 0, address
        elif page.status not in (303, 404):
            assert is_refused(page), (address, page.status)


@pytest.mark.slow
async def test_a_refused_filter_says_which_and_keeps_the_others(town, reader_of, mock_clock):
    owner, own = reader_of(Role.OWNER), f"/app/{town.organizations['own']}"
    page = await owner.get(f"{own}/verify?q=zzz&status=expired&mode=test")
    assert page.status == 422
    assert "Type a number, or at least four digits of one." in page.text
    assert ("input", "zzz") in {(tag, given.get("value")) for tag, given in page.tags}
    assert '<input type="hidden" name="status" value="expired">' in page.text
    assert f'href="{own}/verify?mode=test"' in page.text
    page = await owner.get(f"{own}/messages?status=sendt&since=2026-02-31&q=salam")
    assert page.text.count('class="error"') == 2
    assert "This is not one of the choices." in page.text
    assert "This is not a date." in page.text
    assert (
        'You typed <code dir="auto">2026-02-31</code>' in page.text
    )  # the browser drops it from the field
    assert '<bdi dir="ltr">2026-11-28</bdi>' in page.text
    assert '<input type="hidden" name="q" value="salam">' in page.text


@pytest.mark.slow
async def test_the_last_digits_of_a_number_find_its_sessions(town, reader_of, mock_clock):
    owner, own = reader_of(Role.OWNER), f"/app/{town.organizations['own']}"
    page = await owner.get(f"{own}/verify?mode=test&q=3456")
    assert (page.status, rows_of(page)) == (200, 1)
    assert 'Number with <code dir="auto">3456</code>' in page.text
    page = await owner.get(f"{own}/verify?mode=test&q=9999")
    assert (page.status, rows_of(page)) == (200, 0)
    page = await owner.get(f"{own}/verify?mode=test&q=36")
    assert "Type at least four digits of the number." in page.text


@pytest.mark.slow
async def test_another_organizations_thing_is_not_reached_through_ones_own(
    town, reader_of, mock_clock
):
    owner = reader_of(Role.OWNER)
    listing = await owner.get(f"/app/{town.organizations['own']}/keys")
    before = town.digest()
    for action in ("disable", "delete"):
        path = f"/app/{town.organizations['own']}/keys/{town.keys['other']}/{action}"
        page = await owner.submit(listing, path, {"confirm": "x"}, drawn=False)
        assert page.status == 404
    assert town.digest() == before


@pytest.mark.slow
async def test_a_mailing_of_another_organization_is_not_reached_through_ones_own(
    town, reader_of, mock_clock
):
    owner = reader_of(Role.OWNER)
    own = f"/app/{town.organizations['own']}/mailings"
    form = await owner.get(f"{own}/{town.mailings['own']}")
    assert form.status == 200
    before = town.digest()
    for route in (each for each in GUARDED if "<mailing_id>" in each.path):
        path = route.path.replace("<org>", town.organizations["own"]).replace("<row>", "1")
        path = path.replace("<mailing_id>", town.mailings["other"])
        if route.method == "GET":
            page = await owner.get(path)
        else:
            page = await owner.submit(form, path, drawn=False)
        assert page.status == 404, route.name
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
    disabled = await developer.submit(form, f"{path}/{town.keys['own']}/disable", drawn=False)
    assert disabled.status == 303
    assert "is-disabled" in (await developer.get(path)).text


@pytest.mark.slow
async def test_a_key_tells_its_requests_and_gets_another_value(town, reader_of):
    developer, own = reader_of(Role.DEVELOPER), town.organizations["own"]
    path = f"/app/{own}/keys/{town.keys['own']}"
    page = await developer.get(path)
    assert f"{path}/requests/{town.requests['own']}" in page.text
    shown = await developer.get(f"{path}/requests/{town.requests['own']}")
    assert "…3456" in shown.text
    assert "Bonjour" not in shown.text
    assert town.messages["own"] in shown.text
    for theirs in (
        f"/app/{own}/keys/{town.keys['other']}",
        f"{path}/requests/{town.requests['other']}",
    ):
        assert (await developer.get(theirs)).status == 404
    page = await developer.get(f"{path}?tab=security")
    fields = {"allowed_addresses": "203.0.113.7/24", "part": "security"}
    assert (await developer.submit(page, path, fields)).status == 303
    # The same form once more: somebody changed it meanwhile, and what stands now is shown.
    again = await developer.submit(page, path, {**fields, "allowed_addresses": "198.51.100.1"})
    assert again.status == 422
    assert "203.0.113.0/24" in again.text.partition("Present values")[2]
    rotated = await developer.submit(page, f"{path}/rotate", {"overlap": "3600"})
    assert "sk_live_" in rotated.text
    page = await developer.get(path)
    assert "works until" in page.text
    assert (await developer.submit(page, f"{path}/end-old")).status == 303
    assert "works until" not in (await developer.get(path)).text


@pytest.mark.slow
async def test_money_is_told_and_settings_hold(town, reader_of):
    """By the real answers, so that no field is only in a fake."""
    owner = reader_of(Role.OWNER)
    own = town.organizations["own"]
    gateway = town.app.site.gateway
    asked = {"organization_id": own, "amount": "700", "reference": "BK-1"}
    paid = await gateway.perform("topup", asked, OPERATOR)
    with closing(sqlite3.connect(town.database)) as database, database:
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
    assert "Theirs" in refused.text.partition("Present values")[2]
    assert 'value="Theirs"' in (await owner.get(settings)).text
    assert (await owner.submit(refused, settings, {"name": "Mine", **fields})).status == 303
    assert 'value="Mine"' in (await owner.get(settings)).text


@pytest.mark.slow
async def test_an_owner_tops_up_by_mobile_money(town, reader_of):
    owner = reader_of(Role.OWNER)
    billing = f"/app/{town.organizations['own']}/billing"
    page = await owner.get(billing)
    chosen = {"method": "bankily", "amount": "1 250,50"}
    begun = await owner.submit(page, f"{billing}/payments", chosen)
    assert begun.status == 303
    # A second click leads to the same payment.
    again = await owner.submit(page, f"{billing}/payments", chosen)
    assert again.location == begun.location
    page = await owner.get(begun.location)
    assert "1,250.50" in page.text
    assert "038 221" in page.text
    refused = await owner.submit(page, begun.location, {"reference": "—"})
    assert "letters and digits" in refused.text
    assert (await owner.submit(page, begun.location, {"reference": "BK-7710342"})).status == 303
    page = await owner.get(billing)
    assert "wait for confirmation" in page.text
    assert "BK-7710342" in page.text
    payment_id = begun.location.rpartition("/")[2]
    confirm = {"payment_id": payment_id}
    done = await town.app.site.gateway.perform("payment.confirm", confirm, OPERATOR)
    page = await owner.get(begun.location)
    assert "are credited" in page.text
    assert f"{billing}/receipts/{done['entry']}" in page.text
    assert "BK-7710342" in (await owner.get(f"{billing}/receipts/{done['entry']}")).text


@pytest.mark.slow
async def test_an_owner_tops_up_by_the_sandboxes_card(town, reader_of):
    owner = reader_of(Role.OWNER)
    billing = f"/app/{town.organizations['own']}/billing"
    page = await owner.get(billing)
    chosen = {"method": "sandbox", "amount": "100"}
    begun = await owner.submit(page, f"{billing}/payments", chosen)
    page = await owner.get(begun.location)
    payment_id = begun.location.rpartition("/")[2]
    checkout = f"/pay/sandbox/checkout/{payment_id}"
    assert f'href="{checkout}"' in page.text
    page = await owner.get(checkout)
    wrong = await owner.submit(page, checkout, {"card": "4111 1111 1111 1111"})
    assert wrong.status == 422
    assert "4111" not in wrong.text
    for _ in range(2):
        paid = await owner.submit(page, checkout, {"card": TAKEN})
        assert paid.location == begun.location
    assert "are credited" in (await owner.get(begun.location)).text
    assert "nothing more can be paid" in (await owner.get(checkout)).text
    with closing(sqlite3.connect(town.database)) as database, database:
        dump = "\n".join(database.iterdump())
        (credited,) = database.execute("SELECT count(*) FROM entry WHERE kind = 2").fetchone()
    database.close()
    assert credited == 3  # what both organizations began with, and this
    assert TAKEN not in dump


@pytest.mark.slow
async def test_a_payment_of_another_organization_is_not_there(town, reader_of, mock_clock):
    owner = reader_of(Role.OWNER)
    path = f"/app/{town.organizations['own']}/billing/payments/{town.payments['other']}"
    assert (await owner.get(path)).status == 404
    listing = await owner.get(f"/app/{town.organizations['own']}/billing")
    before = town.digest()
    for action in ("", "/retry"):
        page = await owner.submit(listing, path + action, {"reference": "BK-1"}, drawn=False)
        assert page.status == 404
    assert town.digest() == before


@pytest.mark.slow
async def test_a_callback_without_its_signature_changes_nothing(town, reader_of, mock_clock):
    stranger = reader_of()
    before = town.digest()
    for method, status in (("sandbox", 400), ("bankily", 404), ("gold", 404)):
        page = await stranger.ask("POST", f"/pay/{method}/callback", b'{"paid": true}')
        assert page.status == status
    assert (await stranger.get("/pay/sandbox/callback")).status in (404, 405)
    assert town.digest() == before


@pytest.mark.slow
async def test_a_code_is_tried_and_its_session_is_listed(town, reader_of):
    owner = reader_of(Role.OWNER)
    verify = f"/app/{town.organizations['own']}/verify"
    page = await owner.get(f"{verify}/try?mode=test")
    fields = {"to": "46 12 34 56", "locale": "ar"}
    sent = await owner.submit(page, f"{verify}/try?mode=test", fields)
    page = await owner.get(sent.location)
    session_id = re.search("ver_[0-9A-Z]+", sent.location)[0]
    for code, answer in (("999999", "denied"), ("000 000", "approved")):
        given = {"id": session_id, "code": code}
        judged = await owner.submit(page, f"{verify}/try/check?mode=test", given)
        assert judged.location.endswith(f"answer={answer}")
    assert "This session has ended" in (await owner.get(sent.location)).text
    listing = await owner.get(f"{verify}?mode=test&status=approved")
    assert f"{verify}/{session_id}?mode=test" in listing.text
    assert town.verifications["own"] not in listing.text
    assert session_id not in (await owner.get(verify)).text
    one = await owner.get(f"{verify}/{town.verifications['own']}?mode=test")
    assert "We wait for the code until" in one.text
    path = f"{verify}/{town.verifications['own']}/cancel?mode=test"
    assert (await owner.submit(one, path)).status == 303
    assert (
        "A member of your organization ended it." in (await owner.get(f"{verify}?mode=test")).text
    )
    theirs = f"{verify}/{town.verifications['other']}"
    before = town.digest()
    assert (await owner.get(f"{theirs}?mode=test")).status == 404
    assert (await owner.submit(one, f"{theirs}/cancel?mode=test", drawn=False)).status == 404
    given = {"id": town.verifications["other"], "code": "000000"}
    assert (await owner.submit(page, f"{verify}/try/check?mode=test", given)).status == 404
    assert town.digest() == before


@pytest.mark.slow
async def test_settings_opt_outs_names_and_endpoints_hold(town, reader_of):
    owner = reader_of(Role.OWNER)
    own = f"/app/{town.organizations['own']}"
    page = await owner.get(f"{own}/verify/settings")
    names = ("code_length", "expiry_minutes", "attempts_max", "version")
    fields = {each["name"]: each["value"] for _, each in page.tags if each.get("name") in names}
    fields |= {"code_length": "9", "per_phone_per_hour": "5", "per_organization_per_hour": "9"}
    wrong = await owner.submit(page, f"{own}/verify/settings", fields)
    assert 'id="code_length-fault"' in wrong.text
    page = await owner.submit(page, f"{own}/verify/settings", {**fields, "code_length": "8"})
    assert page.status == 303
    page = await owner.get(f"{own}/inbound/opt-outs")
    assert "Opt-outs are not respected." in page.text
    for path, given in (("/heed", {"heed": "yes"}), ("", {"number": "36 12 34 56"})):
        done = await owner.submit(page, f"{own}/inbound/opt-outs{path}", given)
        assert done.status == 303
    page = await owner.get(f"{own}/inbound/opt-outs?q=36123456")
    assert "owner@baraka.example" in page.text
    taken = {"taken": "+22236123456"}
    await owner.submit(page, f"{own}/inbound/opt-outs/back", taken)
    assert "No opt-out fits this" in (await owner.get(f"{own}/inbound/opt-outs?q=36123456")).text
    assert "Nothing has come in yet" in (await owner.get(f"{own}/inbound")).text
    page = await owner.get(f"{own}/webhooks/new")
    fields = {"url": "https://hooks.example/x", "types": "sms.sent", "headers": "X-Key: s3cret"}
    made = await owner.submit(page, f"{own}/webhooks", fields)
    endpoint = re.search("whe_[0-9A-Z]+", made.text)[0]
    assert "The last" in (await owner.get(f"{own}/webhooks/{endpoint}")).text
    page = await owner.get(f"{own}/webhooks/{endpoint}?tab=settings")
    assert '<code dir="auto">X-Key</code>' in page.text
    assert "s3cret" not in page.text
    assert (await owner.get(f"{own}/senders")).status == 200


@pytest.mark.slow
async def test_a_number_is_forgotten_and_everything_taken_along(town, reader_of):
    owner = reader_of(Role.OWNER)
    settings = f"/app/{town.organizations['own']}/settings"
    page = await owner.get(f"{settings}/kept")
    fields = {"texts_days": "30", "version": page.field("version")}
    assert (await owner.submit(page, f"{settings}/kept", fields)).status == 303
    page = await owner.get(f"{settings}/kept")
    assert '<option value="30" selected>' in page.text
    begun = await owner.submit(page, f"{settings}/exports")
    reader = town.app.site.gateway.services.repositories._store.reader
    state = "SELECT state FROM exports"
    await until_true(lambda: reader.execute(state).fetchone() == ("ready",))
    page = await owner.get(begun.location)
    assert page.status == 200
    assert f"{begun.location}/file" in page.text
    question = await owner.get(f"{settings}/forget?number=36123456")
    fields = {"number": "+22236123456", "confirm": "3456"}
    begun = await owner.submit(question, f"{settings}/forget", fields)
    over = "SELECT count(*) FROM erasures WHERE ended_at IS NOT NULL"
    await until_true(lambda: reader.execute(over).fetchone() == (1,))
    page = await owner.get(begun.location)
    assert "9 / 9" in re.sub("<[^>]+>", "", page.text)
    message = await owner.get(f"/app/{town.organizations['own']}/messages/{town.messages['own']}")
    assert "forgotten" in message.text
    assert "Bonjour" not in message.text
    with closing(sqlite3.connect(town.database)) as database, database:
        left = database.execute("SELECT count(*) FROM message WHERE body = 'Bonjour'").fetchone()
    database.close()
    assert left == (1,), "the other organization's"


@pytest.mark.slow
async def test_an_organization_and_then_its_owner_are_deleted(town, reader_of):
    owner, own = reader_of(Role.OWNER), town.organizations["own"]
    alone = await owner.submit(
        await owner.get("/account/delete"), "/account/delete", {"email": "owner@baraka.example"}
    )
    assert "Make somebody else an owner first" in alone.text
    page = await owner.get(f"/app/{own}/settings/delete")
    assert (await owner.submit(page, f"/app/{own}/settings/delete", {"name": "o"})).status == 422
    done = await owner.submit(page, f"/app/{own}/settings/delete", {"name": "Own"})
    assert done.location == "/app"
    for role in (Role.OWNER, Role.VIEWER):
        assert (await reader_of(role).get(f"/app/{own}/settings")).status == 404
        assert (await reader_of(role).get(f"/app/{own}/messages")).status == 404
    page = await owner.get("/account/delete")
    gone = await owner.submit(page, "/account/delete", {"email": "owner@baraka.example"})
    assert gone.location == "/sign-in"
    assert (await reader_of(Role.OWNER).get("/app")).location.startswith("/sign-in")
    with closing(sqlite3.connect(town.database)) as database, database:
        told = "SELECT count(*) FROM users WHERE email = 'owner@baraka.example'"
        assert database.execute(told).fetchone() == (0,)
    database.close()


@pytest.mark.slow
async def test_a_hook_is_made_changed_and_nobody_elses(town, reader_of):
    reader, own = reader_of(Role.DEVELOPER), town.organizations["own"]
    new = f"/app/{own}/connect/programs/grafana"
    made = await reader.submit(await reader.get(new), new, {"numbers": "36123456"})
    hook_id = re.search(r"hok_[0-9A-Z]+", made.text)[0]
    here = f"/app/{own}/connect/{hook_id}"
    page = await reader.get(here)
    page = await reader.submit(page, here, {"locale": "ar", "numbers": "36123457"})
    assert page.location == here
    page = await reader.get(here)
    assert ">+22236123457</textarea>" in page.text
    assert "No request yet" in page.text
    asked = {"organization_id": town.organizations["other"], "preset": "logto"}
    theirs = await town.app.site.gateway.perform("hook.create", asked, OPERATOR)
    assert (await reader.get(f"/app/{own}/connect/{theirs['hook']['id']}")).status == 404
