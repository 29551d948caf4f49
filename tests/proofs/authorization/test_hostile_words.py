"""Words of an attacker in every place where others read them: each page draws them as text."""

from __future__ import annotations

import re

import pytest
import trio
from proofs.authorization.expected import Visitor

from cases import sweep
from patience import POLL_S, until_true
from risala.drivers.payments.mobile_money import BankSmsSettings
from risala.engine.model.people import Browser, Language
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.http.dashboard.app import ROUTES as CUSTOMERS
from risala.http.operator.app import ROUTES as OPERATORS
from risala.http.web.page_request import POLICY
from risala.plugins.contract import (
    Accepted,
    Health,
    HealthState,
    Inbound,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Uncertain,
)
from web_browser import Reader, assert_nothing_inline

pytestmark = pytest.mark.slow
EVIL = "<risala-evil onclick=x>\"'><script>evil()</script>{{7*'7'}}"
"""A tag of its own, an attribute, a script, and what a template would count."""
ENDLESS = ("/live", "/piece", "/progress", "/file")


BANK = BankSmsSettings(
    carrier="bank",
    senders=("Bankily",),
    patterns=({"text": "Recu {amount} MRU. Ref {reference}."},),
)
HEARD = (
    *("sender", "recipient", "inbound", "bank-text", "bank-sender"),
    *("refused", "refusal", "unsure", "doubt", "receipt", "health", "attention", "fact", "line"),
    *("answered", "unreachable"),
)
"""What came in from outside, each by a mark of its own: each is on some page."""


def evil(kind):
    """The same, with a name by which it is found again."""
    return EVIL.replace("<risala-evil", f"<risala-evil-{kind}")


class HostileReceivers:
    """Servers of customers, which answer in words of their own, or fail in such."""

    async def post(self, call):
        await trio.lowlevel.checkpoint()
        if "unreachable" in call.url:
            return ReceiverFault("tls", evil("unreachable"))
        return ReceiverAnswer(500, None, evil("answered"))


async def plant(city):
    """By the operations where one takes it, else where what others say is kept."""
    own = {"organization_id": city.organizations["own"]}
    evil_name = EVIL[:60]
    await city.do("org.set", name=evil_name, **own)
    await city.do("key.create", type="secret", name=EVIL[:40], **own)
    await city.do("credential.create", face="kannel", username="evil", name=EVIL[:40], **own)
    await city.do("webhook.create", url="https://example.com/evil", description=EVIL, **own)
    await city.do("sender.request", name="EVIL", description=EVIL, **own)
    await city.do("adjust", amount="1", reason=EVIL, **own)
    await city.do("topup", amount="1", note=EVIL, reference=EVIL[:60], **own)
    link = await city.do("user.sign_in", email="owner@own.example")
    browser = Browser("x", None, "203.0.113.7", f"Firefox/9 {EVIL}", Language.ENGLISH)
    await city.gateway.people.sign_in.use_link(link["token"], browser)


async def said_by_carriers(city):
    """What they answer, report, and say of themselves; the ids of the messages."""
    own = {"organization_id": city.organizations["own"]}
    fake, found = city.drivers["fake"], []
    for answer in (
        Refused(Scope.FINAL, evil("refused"), evil("refusal")),
        Uncertain(evil("doubt"), evil("unsure")),
        Accepted("c-evil", evil("taken")),
    ):
        fake.answers.append(answer)
        sent = await city.do("send", to="+22236123456", body=EVIL, **own)
        found.append(sent["messageId"])
        await until_true(lambda: not fake.answers)
    await fake.context.receipt(
        Receipt("c-evil", ReceiptState.UNDELIVERABLE, evil("receipt"), recipient="+22236123456")
    )
    fake.context.trace(evil("line"))
    facts = {"attention": evil("attention"), "operator": evil("fact")}
    fake.context.health(Health(HealthState.UP, evil("health"), facts))
    return found


async def written_by_phones(city):
    own, now_ms = {"organization_id": city.organizations["own"]}, city.clock.now_ms()
    await city.do("inbound.route", **own)
    fake, bank = city.drivers["fake"], city.drivers["bank"]
    words = (evil("sender"), evil("recipient"), evil("inbound"))
    await fake.context.inbound(Inbound(*words, now_ms, (evil("part"),)))
    await bank.context.inbound(
        Inbound(evil("bank-sender"), None, evil("bank-text"), now_ms, ("1",))
    )


async def answered_by_servers(city):
    """Pages of endpoints, with their deliveries opened."""
    own, found = {"organization_id": city.organizations["own"]}, []
    for url in ("https://example.com/evil", "https://example.com/unreachable"):
        made = (await city.do("webhook.create", url=url, **own))["endpoint"]["id"]
        await city.do("webhook.test", endpoint_id=made)
        while not (tried := await tried_at(city, made)):  # noqa: ASYNC110 -- nothing tells it
            await trio.sleep(POLL_S)  # a delivery may wait for the clock
        found.append({"endpoint_id": made, "event": tried[0]["eventId"]})
    return found


async def tried_at(city, endpoint_id):
    """Deliveries whose receiver has answered, or failed to."""
    listed = await city.do("webhook.deliveries", endpoint_id=endpoint_id)
    return [each for each in listed["deliveries"] if each["error"]]


async def test_whatever_somebody_wrote_is_text_on_each_page(open_city):
    async with open_city(outbound=HostileReceivers(), sms=BANK) as city:
        await plant(city)
        messages, opened = await said_by_carriers(city), await answered_by_servers(city)
        await written_by_phones(city)
        things = {**city.things["own"], "organization_id": city.organizations["own"]}
        things["carrier"] = "fake"
        readers = (
            (Reader(city.dashboard, dict(city.cookies[Visitor.OWNER])), CUSTOMERS),
            (Reader(city.console, dict(city.cookies[Visitor.OPERATOR])), OPERATORS),
        )
        shown, heard = 0, set()
        for reader, routes in readers:
            for route in (each for each in routes if each.method == "GET"):
                for address in addresses(route, things, messages, opened):
                    page = await reader.get(address.replace(" ", "+"))
                    assert page.status < 500, address
                    if "text/html" in page.headers["content-type"]:
                        assert_harmless(page, route.name)
                        shown += "&lt;risala-evil" in page.text
                        heard |= set(re.findall("&lt;risala-evil-([a-z-]+)", page.text))
        assert shown > 20, "the words were there to be drawn"
        assert set(HEARD) <= heard, sorted(set(HEARD) - heard)


def addresses(route, things, messages, opened):
    """Where a page is, of each thing that it can be of."""
    if route.path.endswith(ENDLESS) or "/link/" in route.path or "sign-out" in route.path:
        return
    standing = [{}]
    if "<message_id>" in route.path:
        standing += [{"message_id": each} for each in messages]
    if "<endpoint_id>" in route.path:
        standing += opened
    for thing in standing:
        stands = {**things, **thing}
        path = re.sub("<(.*?)>", lambda at, by=stands: by.get(at[1], "x"), route.path)
        event = f"?event={thing['event']}" if "event" in thing else ""
        yield f"{path}{event}"
    yield f"{path}?q={EVIL}&to={EVIL}&next={EVIL}&mode={EVIL}"


def assert_harmless(page, name):
    assert not [tag for tag, _ in page.tags if tag.startswith("risala-evil")], name
    assert not [tag for tag, attributes in page.tags if "onclick" in attributes], name
    assert "<script>evil" not in page.text, name
    assert "7777777" not in page.text, name
    assert page.headers["content-security-policy"] == POLICY
    assert_nothing_inline(page)


@sweep(
    "path",
    [
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd",
        "/static/..\\app.py", "/static/....//app.py", "/static/%00", "/docs/assets/../page.html",
        "/docs/assets/..%2f..%2fpage.html", "/static/.", "/static/templates/shell.html",
    ],
)  # fmt: skip
async def test_no_file_but_those_meant_is_had(city, path):
    for app in (city.api, city.dashboard, city.console):
        page = await app.test_client().get(path, headers={"host": "127.0.0.1"})
        text = await page.get_data()
        assert page.status_code in (400, 404), (path, page.status_code)
        assert b"root:" not in text
        assert b"import " not in text


async def test_every_answer_says_that_its_type_is_its_type(city):
    """Errors, files, and what no page answers."""
    client = city.api.test_client()
    own = ("/nope", "/api/nope", "/docs", "/docs/assets/docs.css", "/openapi.json", "/healthz")
    for path in own:
        for method in ("GET", "PUT", "TRACE"):
            answer = await client.open(path, method=method)
            assert answer.headers["x-content-type-options"] == "nosniff", (path, method)
            assert "set-cookie" not in answer.headers
    for app in (city.dashboard, city.console):
        for path in ("/nope", "/static/nope", "/operator/nope", "/app/nope/nope"):
            page = await Reader(app).get(path)
            assert page.headers["x-content-type-options"] == "nosniff"
            assert page.headers["content-security-policy"] == POLICY, path
            assert page.headers["x-frame-options"] == "DENY"


async def test_no_line_of_a_header_is_made_of_what_was_asked(city):
    """CR and LF in addresses, queries and cookies come back in none."""
    owner = Reader(city.dashboard, dict(city.cookies[Visitor.OWNER]))
    for path in ("/sign-in?next=/app%0d%0aset-cookie:%20evil=1", "/app%0d%0aevil:1"):
        for reader in (owner, Reader(city.dashboard), Reader(city.console)):
            page = await reader.get(path)
            assert "evil" not in page.headers
            assert not [each for each in page.headers.getlist("set-cookie") if "evil" in each]
            assert not set("\r\n") & set("".join(value for _, value in page.headers.items()))
