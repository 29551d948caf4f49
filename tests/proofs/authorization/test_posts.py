"""Each form, sent by everybody who may send it: nobody is refused what their role allows.

A form that is done, and one whose fields are refused, are both let in; which of them falls short of
being done is written down, so that a form that is never done is not taken for one that is.
"""

from __future__ import annotations

import re
from itertools import count

import pytest
import trio
from proofs.authorization.expected import IN, VISITED, Visitor

from made_invoices import issued
from risala.drivers.payments.mobile_money import BankSmsSettings
from risala.engine.model.times import iso
from risala.http.dashboard.app import ROUTES as CUSTOMERS
from risala.http.operator.app import ROUTES as OPERATORS
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.plugins.contract import Inbound
from web_browser import Reader

pytestmark = pytest.mark.slow
DAY_MS = 86_400_000
TO = "+22236123456"
BANK = BankSmsSettings(
    carrier="bank",
    senders=("Bankily",),
    patterns=({"text": "Recu {amount} MRU. Ref {reference}."},),
)
WELL_FORMED = {
    "name": "New", "email": "somebody@new.example", "role": "viewer", "type": "secret", "to": TO,
    "body": "Bonjour", "text": "Bonjour", "number": "+22236777777", "amount": "5", "url": "https://example.com/new",
    "types": "sms.sent", "description": "x", "reason": "name_in_use", "face": "kannel",
    "method": "bankily", "code": "123456", "confirm": "7777", "note": "x", "heed": "yes",
    "payer": "customers", "taken": "+22236777777", "minutes": "60", "kind": "carrier_down",
    "subject": "fake", "balance": "100", "language": "fr",
    "time_zone": "Africa/Nouakchott", "overlap": "0", "days": "14",
    "word": "adieu", "means": "stop", "answer_to": "stop", "answer_in": "fr",
    "prefix": "+221", "price": "5", "rate_per_s": "5", "since": "2026-11-01T00:00",
}  # fmt: skip
"""What forms ask for; more than any one of them reads."""
PEOPLE = (
    (Visitor.VIEWER, "viewer"),
    (Visitor.DEVELOPER, "developer"),
    (Visitor.OWNER, "owner"),
    (Visitor.OPERATOR, None),
)
ENDS = ("/leave", "/delete", "sign-out", "/suspend", "/remove", "/accept", "/exports")
"""Forms after which their sender, or the organization, is somebody else's or gone."""
FALLS_SHORT = {
    "/account/email/confirm": "a code from a mail",
    "/app/<org>/answers/resume": "a number that is paused",
    "/app/<org>/billing/payments/<payment_id>/code": "a code from an SMS",
    "/app/<org>/billing/payments/<payment_id>/payer": "a bank that credits by itself",
    "/app/<org>/conversations/<conversation_id>/list": "a list to put the number on",
    "/app/<org>/connect/<hook_id>/delete": "the last characters of the secret",
    "/app/<org>/keys/<key_id>/delete": "the last characters of the key",
    "/app/<org>/inbound/words/remove": "a word of one's own",
    "/app/<org>/lists/<list_id>/people": "people to add",
    "/app/<org>/mailings/<mailing_id>/again": "a row that failed",
    "/app/<org>/mailings/<mailing_id>/go-on": "a mailing that is paused",
    "/app/<org>/mailings/<mailing_id>/pause": "a mailing that is sent",
    "/app/<org>/mailings/<mailing_id>/stop": "a mailing that is sent",
    "/app/<org>/members/sign-in": "an identity provider",
    "/app/<org>/verify/channels": "an order of channels",
    "/app/<org>/verify/guard": "a share, or a key",
    "/app/<org>/verify/guard/pass": "codes that are suspicious",
    "/app/<org>/verify/templates": "a name and a text",
    "/app/<org>/verify/try/check": "a code that was tried",
    "/app/<org>/webhooks/<endpoint_id>/replay": "an event that was delivered",
    "/account/fresh": "a code of a factor",
    "/account/security/app": "a code of an app",
    "/account/security/codes": "a factor",
    "/account/security/remove": "a factor",
    "/operator/account/fresh": "a code of a factor",
    "/operator/account/security/app": "a code of an app",
    "/operator/account/security/codes": "a factor",
    "/operator/account/security/remove": "a factor",
    "/operator/alerts/<alert_id>/acknowledge": "an alert",
    "/operator/approvals/<approval_id>/confirm": "what another operator asked for",
    "/operator/approvals/<approval_id>/refuse": "what another operator asked for",
    "/operator/organizations/<organization_id>/domains/confirm": "a domain that is asked for",
    "/operator/organizations/<organization_id>/domains/refuse": "a domain that is asked for",
    "/operator/carriers/<carrier>/address": "a carrier that is called by a secret address",
    "/operator/carriers/<carrier>/ask": "a line that takes commands",
    "/operator/carriers/changes": "a file of settings",
    "/operator/organizations/<organization_id>/countries": "a country abroad that is served",
    "/operator/organizations/<organization_id>/invoices": "an issuer in the settings",
    "/operator/payments/<payment_id>/poll": "a provider that can be asked",
    "/operator/plugins/<page>": "a plugin that has a page",
    "/operator/system/alerts/unmute": "an alert that is mute",
    "/operator/users/role": "a role of an operator",
}
"""Forms that are let in and not done, and what they lack here."""
numbers = count(1)


async def test_nobody_is_refused_a_form_that_their_role_allows(open_city, autojump_clock):
    sent, short = 0, set()
    async with open_city(sms=BANK) as city:
        for who, role in PEOPLE:
            app, routes = (city.console, OPERATORS) if role is None else (city.dashboard, CUSTOMERS)
            poster = await new_poster(city, app, role)
            for route in (each for each in routes if may_post(who, each)):
                page = await poster.send(route)
                where = (role, route.name, page.status, page.location)
                assert page.status in (200, 303, 400, 404, 409, 422), where
                assert page.status != 404 or route.path in FALLS_SHORT, where
                is_sign_in = page.status == 303 and page.location.endswith("sign-in")
                assert not is_sign_in or route.path.endswith(ENDS), where
                sent += 1
                if page.status >= 400:
                    short.add(route.path)
                if route.path.endswith(ENDS):
                    poster = await new_poster(city, app, role)
    assert sent > 100
    assert sorted(short) == sorted(FALLS_SHORT), "\n".join(sorted(short ^ set(FALLS_SHORT)))


NASTY = (
    *("9" * 30, "-" + "9" * 30, "1e400", "nan", "10000-01-01T00:00", "0000-00-00", "\0", "\x7f"),
    *("\u202e", "\u200b", "", " ", "x" * 20_000, "[" * 5_000, "\U0010ffff", "١٢٣", "%s{0}{{x}}"),
)
"""What no form asks for, and people, programs and attackers send."""


@pytest.mark.long
async def test_no_field_of_a_form_ends_in_an_error(open_city, autojump_clock, monkeypatch):
    """Each field that a form reads gets one of them, beside others that are as they should be."""
    read, get, tried = set(), SentForm.text, 0
    monkeypatch.setattr(SentForm, "text", lambda self, *of: (read.add(of[0]), get(self, *of))[1])
    async with open_city(sms=BANK) as city:
        for role in ("owner", None):
            who = Visitor.OPERATOR if role is None else Visitor.OWNER
            app, routes = (city.console, OPERATORS) if role is None else (city.dashboard, CUSTOMERS)
            for route in (each for each in routes if may_post(who, each)):
                if route.path.endswith(ENDS):
                    continue
                read.clear()
                poster = await new_poster(city, app, role)
                await poster.send(route)
                for n, name in enumerate(sorted(read - {"form_token", "once"})):
                    if n % 9 == 8:  # there is a limit of each thing
                        poster = await new_poster(city, app, role)
                    value = NASTY[tried % len(NASTY)]
                    page = await poster.send(route, {name: value})
                    assert page.status < 500, (route.path, name, value[:20])
                    tried += 1
    assert tried > 200


def may_post(who, route):
    return (
        route.method == "POST"
        and route.access is not PageAccess.PUBLIC
        and VISITED[who].get(route.access) == IN
    )


class Poster:
    """A browser of somebody new, in an organization of their own."""

    def __init__(self, city, reader, mark, user_id, email, organization):
        self.city, self.reader, self.mark = city, reader, mark
        self.user_id, self.email, self.own = user_id, email, {"organization_id": organization}

    async def send(self, route, changed=()):
        names = re.findall("<(.*?)>", route.path)
        things = {name: await self.thing(name, route) for name in names}
        path = re.sub("<(.*?)>", lambda at: things[at[1]], route.path)
        key = self.reader.app.site.once.mint(self.user_id, self.city.clock.now_ms())
        fields = {**WELL_FORMED, "form_token": self.mark, "once": key}
        fields |= {"reference": f"R-{next(numbers)}", **things}
        if any(each in route.path for each in ("/lists", "/texts", "/answers")):
            fields["name"] = f"New {next(numbers)}"
        if "/answers" in route.path:
            fields["days"] = "mon"
        if "/repeats" in route.path:
            fields |= {"unit": "weeks", "time": "10:00", "every": "1", "days": "mon"}
            fields |= {"from_hour": "8", "to_hour": "20"}
            fields["list_id"] = await recipient_list(self, route)
        if "/alarms" in route.path:
            fields |= {"people": "+22236000009", "interval_seconds": "60", "rounds": "1"}
            fields |= {"word": "OK", "language": "en"}
        if route.path == "/account/delete":
            fields["email"] = self.email
        fields.update(changed)
        return await self.reader.post(path, fields)

    async def thing(self, name, route):
        make = THINGS.get(name)
        return self.city.things["own"].get(name, "x") if make is None else await make(self, route)


async def organization(poster, route):
    return poster.own["organization_id"]


async def key(poster, route):
    return (await poster.city.do("key.create", type="secret", **poster.own))["key"]["id"]


async def credential(poster, route):
    username = f"u{next(numbers)}"
    made = await poster.city.do("credential.create", face="kannel", username=username, **poster.own)
    return made["credential"]["id"]


async def endpoint(poster, route):
    made = await poster.city.do("webhook.create", url="https://example.com/", **poster.own)
    return made["endpoint"]["id"]


async def hook(poster, route):
    made = await poster.city.do("hook.create", preset="logto", **poster.own)
    return made["hook"]["id"]


async def recipient_list(poster, route):
    named = f"Parents {next(numbers)}"
    made = (await poster.city.do("list.create", name=named, **poster.own))["list"]["id"]
    await poster.city.do("list.add", list_id=made, number=WELL_FORMED["number"])
    return made


async def mailing(poster, route):
    """A draft, whose rows are checked."""
    given = {"numbers": "36123456", "text": "x", "mode": "test"}
    made = (await poster.city.do("mailing.create", **given, **poster.own))["id"]
    shown = {"mailing": {"state": "checking"}}
    while shown["mailing"]["state"] != "draft":
        await trio.sleep(0.01)
        shown = await poster.city.do("mailing.show", mailing_id=made)
    return made


async def row(poster, route):
    return "1"


async def saved_text(poster, route):
    given = {"name": f"News {next(numbers)}", "language": "fr", "text": "x"}
    return (await poster.city.do("text.create", **given, **poster.own))["id"]


async def message(poster, route):
    later = iso(poster.city.clock.now_ms() + DAY_MS)
    given = {"to": TO, "body": "x", "send_at": later}
    return (await poster.city.do("send", **given, **poster.own))["messageId"]


async def verification(poster, route):
    to = f"+222364{next(numbers):05}"
    return (await poster.city.do("verify.send", to=to, **poster.own))["verificationId"]


async def payment(poster, route):
    return (await poster.city.do("payment.begin", method="bankily", amount="5", **poster.own))["id"]


async def invoice(poster, route):
    return (await issued(poster.city.gateway.services, poster.own["organization_id"])).id


async def invitation(poster, route):
    """Of somebody to their organization, or of them to another."""
    whose, email = poster.own, f"new{next(numbers)}@own.example"
    if "<org>" not in route.path:
        whose, email = {"organization_id": poster.city.organizations["other"]}, poster.email
    return (await poster.city.do("member.invite", email=email, role="viewer", **whose))["id"]


async def member(poster, route):
    return await added(poster.city, poster.own, f"new{next(numbers)}@own.example", "viewer")


async def sender(poster, route):
    made = await poster.city.do(
        "sender.request", name=f"N{next(numbers)}", description="x", **poster.own
    )
    return made["id"]


async def export(poster, route):
    return (await poster.city.do("export.ask", **poster.own))["id"]


async def conversation(poster, route):
    return await poster.city.conversation(poster.own["organization_id"])


async def bank_text(poster, route):
    bank, identity = poster.city.drivers["bank"], f"pdu-{next(numbers)}"
    now_ms = poster.city.clock.now_ms()
    await bank.context.inbound(Inbound("Bankily", None, identity, now_ms, (identity,)))
    return (await poster.city.do("payment.texts"))["texts"][0]["id"]


async def rule(poster, route):
    made = await poster.city.do("answer.create", name="Hours", **poster.own)
    return made["ruleId"]


async def repeat(poster, route):
    rent = {"name": "Rent", "text": "Due", "unit": "weeks", "time": "10:00"}
    rent |= {"list_id": await recipient_list(poster, route), **poster.own}
    made = await poster.city.do("repeat.create", **rent)
    if route.path.endswith("/go-on"):
        await poster.city.do("repeat.pause", repeat_id=made["repeatId"])
    return made["repeatId"]


async def chain(poster, route):
    room = {"name": "Cold room", "people": ["+22236000009"], "rounds": 1}
    return (await poster.city.do("alarm.create", **room, **poster.own))["chainId"]


async def alarm(poster, route):
    raising = {"chain_id": await chain(poster, route), "text": "Warm", "mode": "test"}
    return (await poster.city.do("alarm.raise", **raising))["alarmId"]


async def carrier(poster, route):
    return "fake"


async def action(poster, route):
    return "pause"


THINGS = {
    "org": organization, "organization_id": organization, "key_id": key,
    "credential_id": credential, "endpoint_id": endpoint, "message_id": message,
    "verification_id": verification, "payment_id": payment, "invitation_id": invitation,
    "user_id": member, "sender_id": sender, "export_id": export, "carrier": carrier,
    "action": action, "text_id": bank_text, "hook_id": hook,
    "mailing_id": mailing, "row": row, "list_id": recipient_list, "saved_text_id": saved_text,
    "conversation_id": conversation, "invoice_id": invoice, "rule_id": rule,
    "repeat_id": repeat, "chain_id": chain, "alarm_id": alarm,
}  # fmt: skip


async def added(city, whose, email, role):
    """A member; their id."""
    await city.do("member.add", email=email, role=role, **whose)
    members = (await city.do("member.list", **whose))["members"]
    return next(each["userId"] for each in members if each["email"] == email)


async def new_poster(city, app, role):
    made = (await city.do("org.create", name="New"))["id"]
    whose = {"organization_id": made}
    await city.do("topup", amount="100", **whose)
    await city.do("member.add", email=f"other{next(numbers)}@own.example", role="owner", **whose)
    email, is_operator = f"poster{next(numbers)}@own.example", role is None
    if is_operator:
        await city.do("user.create", email=email, operator=True)
    user_id = await added(city, whose, email, role or "viewer")
    token = await city.enter(email, operator=is_operator)
    reader = Reader(app, {"risala-operator" if is_operator else "risala": token})
    page = await reader.get("/operator/account" if is_operator else "/account")
    return Poster(city, reader, page.field("form_token"), user_id, email, made)
