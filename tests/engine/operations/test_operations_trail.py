"""Each operation, walked from the registry: who may call it, and the line that it leaves."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import pyotp
import pytest
import trio

from authenticator import Authenticator
from cases import sweep
from made_invoices import LEGAL, age_entries, issued
from mailing_book import ON_LOOP
from risala.config.model import MailToSmsSection
from risala.config.numbers import NumbersSection, PriceSection
from risala.config.payments import PaymentsSection
from risala.drivers.payments.mobile_money import MobileMoneySettings, build_wallet
from risala.drivers.sinks.plugin import SinksPage
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.stored import alerts
from risala.engine.features.approvals import stored as approvals
from risala.engine.features.approvals.records import ApprovalState, StoredApproval
from risala.engine.features.compat.operations import mail_senders
from risala.engine.features.mailings.row_records import SettledRow
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.features.own_data import retention
from risala.engine.features.own_data.stored import exports
from risala.engine.features.own_data.stored.retention import RetentionRepository
from risala.engine.features.payments.stored import payments
from risala.engine.features.payments.stored import texts as bank_texts
from risala.engine.features.request_log.service import request_log
from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.uploads import uploads_of
from risala.engine.gateway.table import OPERATIONS
from risala.engine.journal.store import audit_log
from risala.engine.kernel.arguments import parse
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import PROCESS, Caller, CallerKind, Role
from risala.engine.model.commands import NotedRequest
from risala.engine.model.errors import Forbidden, Invalid, NotFound, Refusal
from risala.engine.model.ids import first_id
from risala.engine.model.people import Browser, Language
from risala.engine.model.records.verify.settings import CodeConfiguration
from risala.engine.model.times import iso
from risala.engine.people.account import change_basis
from risala.engine.people.tokens import new_token
from risala.engine.rules.roles import USERS
from risala.engine.wiring.connections import Connections
from risala.plugins.contract import CarrierAnswer, DriverCommand, Inbound
from risala.plugins.page import OpenPage
from risala.plugins.payment import Confirmation, PaymentOffer, PaymentPending
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.numbering.plan import plan_of

TO = "+22236123456"
WRITER = "+22236123457"
"""Who is in a conversation, and has not opted out."""
PARENT = "+22236000010"
"""Somebody on a list, who has not opted out."""
REVIEWER = "+22236550001"
"""Of somebody who enters a fixed code."""
FIXED_CODE = "804162"
INVITED = "invited@example.com"
CONFIRMED = "Recu {amount} MRU. Ref {reference}."
BODY = "the body that nobody may read in the trail"
PERSON = "a value of a person on a list"
TOKEN = "token-in-the-address"
HEADER = "Bearer value-of-a-header"
WORD = "4711-voucher"
CODE = "000000"
"""Of test mode."""
OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)
FAR_MS = 4_000_000_000_000
"""Later than anything here."""
DAY_MS = 86_400_000


@dataclass(slots=True)
class Talker(FakeDriver):
    @property
    def commands(self):
        return (DriverCommand("say", "Repeats.", "WORD"),)

    async def command(self, name, arguments):
        return {}

    @property
    def capabilities(self):
        return replace(FakeDriver().capabilities, secret_address=True)

    async def answer(self, request):
        return CarrierAnswer()


class Till:
    """A payment method that never knows."""

    offer = PaymentOffer({"en": "Till"})

    async def begin(self, payment):
        await trio.lowlevel.checkpoint()
        return PaymentPending(Confirmation.PROVIDER)

    async def poll(self, payment):
        return await self.begin(payment)


class Written:
    """The settings' file, in which something is another at each reading that is meant."""

    def __init__(self):
        self.settings = None

    def load(self):
        return self.settings

    def build(self, carrier):
        return Talker()

    def secrets_of(self, driver):
        return frozenset(("word",))

    def take_over(self, settings):
        pass

    def change(self):
        (carrier,) = self.settings.carriers
        other = carrier.model_copy(update={"weight": carrier.weight + 1})
        self.settings = self.settings.model_copy(update={"carriers": (other,)})


@dataclass
class World:
    """A house with one of everything that an operation can be about."""

    house: Any
    file: Written
    organization_id: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    secrets: set[str] = field(default_factory=set)
    users: dict[str, str] = field(default_factory=dict)
    special: dict[str, str] = field(default_factory=dict)

    def of_special(self, *names: str) -> dict[str, str]:
        return {each: self.special[each] for each in names if each in self.special}

    async def do(self, name, caller=PROCESS, /, **arguments):
        found = await self.house.gateway.perform(name, arguments, caller)
        self.secrets |= {found[key] for key in ("value", "secret", "password") if key in found}
        return found

    def lines(self):
        return audit_log.lines(self.house.gateway.services.repositories._store.reader, 500)

    async def make(self):
        services = self.house.gateway.services
        carriers = services.delivery.rereading._lineup.sections
        mine = {"organization_id": self.house.principal.organization_id}
        self.organization_id = mine["organization_id"]
        mails = MailToSmsSection(senders=("@example.com",), organization=self.organization_id)
        self.file.settings = services.settings.model_copy(
            update={"carriers": carriers, "mail_to_sms": (mails,)}
        )
        services.part(mail_senders).retune(self.file.settings)
        key = await self.do("key.create", type="publishable", **mine)
        made = await self.do("credential.create", face="kannel", **mine)
        called = await self.do("hook.create", preset="supabase-auth", **mine)
        listed = await self.do("list.create", name="Parents", **mine)
        list_id = listed["list"]["id"]
        await self.do("list.add", list_id=list_id, number=TO, cells={"name": PERSON})
        saved = await self.do("text.create", name="News", language="fr", text=BODY, **mine)
        rule = await self.do("answer.create", name="Hours", **mine)
        rent = {"name": "Rent", "text": BODY, "unit": "weeks", "time": "10:00", "list_id": list_id}
        repeat = await self.do("repeat.create", **rent, **mine)
        chain = (await self.do("alarm.create", name="Room", people=[TO], **mine))["chainId"]
        alarm = await self.do("alarm.raise", chain_id=chain, text=BODY, mode="test")
        sender = await self.do("sender.request", name="Shop", description="News", **mine)
        hook = await self.do(
            "webhook.create",
            url=f"https://example.com/{TOKEN}?key={TOKEN}",
            types=["sms.failed", "sms.sent"],
            headers={"Authorization": HEADER},
            **mine,
        )
        endpoint_id = hook["endpoint"]["id"]
        test = await self.do("webhook.test", endpoint_id=endpoint_id)
        later = iso(self.house.gateway.services.recorder.clock.now_ms() + DAY_MS)
        sent = await self.do("send", to=TO, body=BODY, send_at=later, **mine)
        code = await self.do("verify.send", to=TO, **mine)
        other = await self.do("verify.send", to=TO, **mine)
        route = await self.do("inbound.route", keyword="word", **mine)
        await self.do("inbound.opt_outs", heeds=True, **mine)
        await self._past()
        self.users = {
            role: (await self.do("user.create", email=f"{role}@example.com"))["id"]
            for role in ("owner", "viewer", "guest")
        }
        await self.do("member.add", email="owner@example.com", role="owner", **mine)
        erasure = await self.do("number.forget", number="+22222000001", **mine)
        await self._export()
        invited = await self.do("member.invite", email=INVITED, role="viewer", **mine)
        begun = await self.do("payment.begin", method="bankily", amount="5", **mine)
        invoice = await issued(self.house.gateway.services, self.organization_id)
        await self._text()
        self.values = {
            **mine,
            "domain": "example.org",
            "key_id": key["key"]["id"],
            "credential_id": made["credential"]["id"],
            "face": "kannel",
            "hook_id": called["hook"]["id"],
            "preset": "kratos",
            "list_id": list_id,
            "mailing_id": await self._draft(),
            "row": 1,
            "cells": [PARENT],
            "saved_text_id": saved["id"],
            "rule_id": rule["ruleId"],
            "repeat_id": repeat["repeatId"],
            "chain_id": chain,
            "alarm_id": alarm["alarmId"],
            "people": [TO],
            "unit": "weeks",
            "time": "10:00",
            "language": "ar",
            "text": BODY,
            "sender_id": sender["id"],
            "endpoint_id": endpoint_id,
            "event_id": test["delivery"]["eventId"],
            "message_id": sent["messageId"],
            "verification_id": code["verificationId"],
            "other_verification_id": other["verificationId"],
            "route_id": route["id"],
            "code": CODE,
            "carrier": "fake",
            "command": "say",
            "arguments": [WORD],
            "number": TO,
            "to": TO,
            "body": BODY,
            "amount": "5",
            "reason": "a slip",
            "type": "secret",
            "since": "2020-01-01T00:00:00Z",
            "until": "2020-01-02T00:00:00Z",
            "email": "guest@example.com",
            "role": "developer",
            "user_id": self.users["viewer"],
            "invitation_id": invited["id"],
            "erasure_id": erasure["id"],
            "export_id": "exp_1",
            "hash": "0" * 32,
            "request_id": await self._ask(key["key"]["id"]),
            "method": "bankily",
            "payment_id": begun["id"],
            "invoice_id": invoice.id,
            "text_id": "btx_1",
            "approval_id": "apr_none",
            "address": "203.0.113.7",
            "balance": "100",
            **dict.fromkeys(("nonce", "but", "host", "origin", "cookie", "answer"), "none"),
            "factor_id": "fac_1",
            "page": "things",
            "action": "rename",
            **await self._alert(),
        }

    async def _draft(self):
        """A mailing whose rows are checked."""
        given = {"organization_id": self.organization_id, "numbers": f"{PARENT}\n12", "text": BODY}
        mailing = await self.do("mailing.create", **given)
        while mailing["state"] == "checking":
            await trio.sleep(0.1)
            mailing = (await self.do("mailing.show", mailing_id=mailing["id"]))["mailing"]
        return mailing["id"]

    async def _mailing(self, verb):
        """A mailing with which this can be done."""
        made = self.special["mailing_id"] = await self._draft()
        steps = {"pause": 1, "stop": 1, "again": 1, "go_on": 2}.get(verb, 0)
        later = iso(self.house.gateway.services.recorder.clock.now_ms() + DAY_MS)
        if steps:
            await self.do("mailing.set", mailing_id=made, send_at=later)
            await self.do("mailing.start", mailing_id=made)
        if steps == 2:
            await self.do("mailing.pause", mailing_id=made)
        if verb == "again":
            mailings = self.house.gateway.services.repositories.part(MailingRepository)
            await mailings.settle(made, [SettledRow(1, None, RowFault.OTHER)])

    async def _alert(self):
        """Something that is wrong, and a mute."""
        recorder = self.house.gateway.services.recorder
        given = (AlertKind.CARRIER_DOWN, "fake", {}, recorder.clock.now_ms())
        raised = await recorder.journal.commit(lambda conn: alerts.raise_one(conn, *given))
        mute = await self.do("alert.mute", kind="carrier_down", minutes=5)
        return {
            "alert_id": f"alert_{raised.seq}",
            "mute_id": mute["id"],
            "kind": "disk_low",
            "minutes": 5,
        }

    async def _text(self):
        """What a bank wrote."""
        told = Inbound("Bankily", None, BODY, 0)
        commit = self.house.gateway.services.recorder.journal.commit
        await commit(lambda conn: bank_texts.store(conn, "btx_1", "bank", told))

    async def _owe_payer(self):
        """A payment whose payer is asked for, and a code that was sent to the number."""
        mine = {"organization_id": self.organization_id}
        begun = await self.do("payment.begin", method="bankily", amount="5", **mine)
        codes = self.house.gateway.services.settings.payments.codes_organization
        code = await self.do("verify.send", to=TO, mode="test", organization_id=codes)
        values = {"payer_number": TO, "payer_session": code["verificationId"]}
        commit = self.house.gateway.services.recorder.journal.commit
        await commit(lambda conn: payments.change(conn, begun["id"], values))
        self.special["payment_id"] = begun["id"]

    async def _ask_for_approval(self):
        """A top-up that another operator asked for."""
        services = self.house.gateway.services
        approval_id = services.ids.new("apr")
        given = {"organization_id": self.organization_id, "amount": "7", "reference": approval_id}
        new = StoredApproval(
            approval_id,
            "topup",
            given,
            700,
            self.organization_id,
            {},
            "sidi",
            "usr_sidi",
            services.recorder.clock.now_ms(),
            FAR_MS,
            ApprovalState.PENDING,
        )
        by = AuditEntry(caller=PROCESS, action="approval.ask", at=new.asked_at, subject=new.id)
        await services.recorder.journal.commit(lambda conn: approvals.ask(conn, by, new, ()))
        self.special["approval_id"] = new.id

    async def _ask(self, key_id):
        """A request of the API, by its log."""
        services = self.house.gateway.services
        principal = replace(self.house.principal, key_id=key_id)
        request_id = services.ids.new("req")
        body = json.dumps({"to": TO, "body": BODY, "code": CODE}).encode()
        services.part(request_log).note(
            NotedRequest(principal, request_id, "POST", "/api/sms", 200, 0.01, None, body, b"{}")
        )
        await services.part(request_log).flush()
        return request_id

    def caller(self, operation, otherwise):
        """Who may call it: the account's own operations are for users alone."""
        if operation.roles != USERS:
            return otherwise
        return Caller(
            "guest@example.com", CallerKind.DASHBOARD, Role.USER, None, self.users["guest"]
        )

    async def prepare(self, name):
        """What an operation needs to find so that it changes something; some is done again that
        the service may have done by itself meanwhile."""
        mine = {"organization_id": self.organization_id}
        if name in ("member.set_role", "member.remove"):
            with suppress(Refusal):
                await self.do("member.add", email="viewer@example.com", role="viewer", **mine)
        elif name == "account.leave":
            with suppress(Refusal):
                await self.do("member.add", email="guest@example.com", role="viewer", **mine)
        elif name in ("account.accept", "account.decline"):
            club = (await self.do("org.create", name="Club"))["id"]
            given = {"organization_id": club, "email": "guest@example.com", "role": "viewer"}
            self.special["invitation_id"] = (await self.do("member.invite", **given))["id"]
        elif name == "user.delete":  # the guest of before has gone by account.delete
            with suppress(Refusal):
                await self.do("user.create", email="guest@example.com")
        elif name == "account.delete":
            users = self.house.gateway.services.repositories.users
            for owned in users.owned_alone(self.users["guest"]):
                given = {"organization_id": owned, "email": "viewer@example.com"}
                await self.do("member.add", role="owner", **given)
        elif name in ("provider.confirm", "provider.refuse", "provider.delete"):
            await self.do("provider.set", **PROVIDER, **mine)
        elif name in ("payment.claim", "payment.confirm", "payment.refuse"):
            begun = await self.do("payment.begin", method="bankily", amount="5", **mine)
            self.special |= {"payment_id": begun["id"], "reference": begun["id"]}
        elif name in ("payment.send_code", "payment.check_payer"):
            await self._owe_payer()
        elif name in ("approval.confirm", "approval.refuse"):
            await self._ask_for_approval()
        elif name == "mailing.columns":
            uploads = self.house.gateway.services.part(uploads_of)
            table = f"number;class\n{PARENT};{PERSON}\n".encode()
            self.special["upload"] = await uploads.keep(self.organization_id, table, "people.csv")
        elif name.startswith("mailing.") and name not in ("mailing.create", "mailing.list"):
            await self._mailing(name.partition(".")[2])
        elif name == "payment.poll":
            begun = await self.do("payment.begin", method="till", amount="5", **mine)
            self.special["payment_id"] = begun["id"]
        elif name.endswith(".sign_out"):
            await self.do("user.reset_factors", email="guest@example.com")
            link = await self.do("user.sign_in", email="guest@example.com")
            self.secrets.add(link["token"])
            language = Language.ENGLISH
            browser = Browser(new_token(), 1, "192.0.2.1", "Tester", language)
            signed_in = await self.house.gateway.people.sign_in.use_link(link["token"], browser)
            self.secrets.add(signed_in.token)
        elif name.startswith("factor.") or name == "user.reset_factors":
            await self._factor(name)
        elif name == "opt_outs.add_word":
            with suppress(NotFound):
                await self.do("opt_outs.remove_word", **self.arguments("opt_outs.remove_word"))
        elif name == "opt_outs.remove_word":
            with suppress(Invalid):
                await self.do("opt_outs.add_word", **self.arguments("opt_outs.add_word"))
        elif name == "opt_outs.list_back":
            await self.do("opt_outs.list_out", **self.arguments("opt_outs.list_out"))
        elif name == "invoice.issue":
            self.special["month"] = await age_entries(self.house.gateway.services)
        elif name == "fixed_number.remove":
            await self.do("fixed_number.set", **self.arguments("fixed_number.set"))
        elif name == "carriers.apply":
            self.file.change()
            self.special["hash"] = (await self.do("carriers.preview"))["hash"]
        elif name == "carriers.end_override":
            await self.do("carriers.override", carrier="fake", rate_per_s=7.0)
        elif name == "account.confirm_email":
            self.special |= await self._change_codes()
        commit = self.house.gateway.services.recorder.journal.commit
        if name == "export.ask":
            await commit(lambda conn: exports.drop_all(conn, self.organization_id, 0))
        elif name.startswith("export."):
            await commit(lambda conn: conn.execute("UPDATE exports SET state = 'ready'"))
        if "replay" in name:
            await commit(lambda conn: conn.execute("UPDATE webhook_delivery SET state = 'failed'"))
        if name == "repeat.go_on":
            paused = "UPDATE mailing_repeats SET state = 'paused', next_at = NULL"
            await commit(lambda conn: conn.execute(paused))
        if name == "repeat.pause":
            active = "UPDATE mailing_repeats SET state = 'active', next_at = 1"
            await commit(lambda conn: conn.execute(active))
        if name == "answer.resume":
            far = 1 << 45
            values = (self.organization_id, WRITER, far)
            pause = "INSERT OR REPLACE INTO answer_pauses VALUES (?, ?, ?, 0)"
            await commit(lambda conn: conn.execute(pause, values))
        if name == "retention.run":
            await commit(lambda conn: self._receive(conn, first_id("mo", 0)))

    async def _factor(self, name):
        """A factor of the guest's, and what is needed for another one."""
        guest = self.caller(OPERATIONS["factor.list"], None)
        device = Authenticator()
        site = {"host": "sms.example", "origin": device.origin, "cookie": new_token()}
        begun = await self.do("factor.begin_app", guest)
        question = (await self.do("factor.begin_passkey", guest, **site))["question"]
        app = pyotp.TOTP(begun["secret"])
        now_s = self.house.gateway.services.recorder.clock.now_ms() // 1000
        given = {"nonce": begun["nonce"], "code": app.at(now_s), "but": "none"}
        self.special |= {**given, **site, "answer": device.make(question)}
        self.secrets.add(begun["secret"])
        if not name.startswith(("factor.add", "factor.begin")):
            made = await self.do("factor.add_app", guest, **given)
            self.secrets |= {*made["recoveryCodes"]}
            self.special["factor_id"] = made["factor"]["id"]

    async def _export(self):
        """A file that can be fetched."""

        def unit(conn):
            exports.begin(conn, "exp_1", self.organization_id, "me", FAR_MS)
            exports.finish(conn, "exp_1", 1, 1, FAR_MS)

        await self.house.gateway.services.recorder.journal.commit(unit)

    async def _change_codes(self):
        guest = self.caller(OPERATIONS["account.show"], None)
        await self.do("account.change_email", guest, email="later@example.com")
        people = self.house.gateway.people
        change = people.account.pending_change(self.users["guest"])
        codes = people.sources.derived.address_codes
        found = {
            f"{which}_code": codes.code(change_basis(change.id, which), 6, test=False)
            for which in ("old", "new")
        }
        self.secrets |= {*found.values()}
        return found

    async def _past(self):
        """An opt-out, and a message that came in."""
        recorder = self.house.gateway.services.recorder
        now_ms, organization_id = recorder.clock.now_ms(), self.organization_id

        def unit(conn):
            conn.execute(
                "INSERT INTO opt_outs (organization_id, recipient, carrier, at)"
                " VALUES (?, ?, 'fake', 1)",
                (organization_id, TO),
            )
            self._receive(conn, first_id("mo", now_ms))
            conn.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?, '', 'open', NULL, 0)",
                (first_id("cnv", now_ms), organization_id, WRITER, first_id("mo", now_ms)),
            )

        await recorder.journal.commit(unit)

    def _receive(self, conn, message_id):
        conn.execute(
            "INSERT OR REPLACE INTO inbound (id, organization_id, carrier, sender, recipient, body,"
            " carrier_ids, received_at) VALUES (?, ?, 'fake', ?, '1234', ?, '', 0)",
            (message_id, self.organization_id, TO, BODY),
        )

    def place_of(self, rule_name) -> int:
        """The first walk of a rule, among those of all."""
        services = self.house.gateway.services
        kept = services.repositories.part(RetentionRepository)
        rules = retention.all_rules(services.settings.retention, kept)
        return [rule.name for rule in rules for _ in rule.walks].index(rule_name)

    def arguments(self, name) -> dict[str, Any]:
        """Valid ones, that change something where the operation changes anything."""
        special = {
            "org.create": {"name": "Another"},
            "org.set": {"name": "Renamed"},
            "org.found": {"name": "Founded"},
            "message.newer": {"after": "0"},
            "message.mail": {"mail_from": "bob@example.com", "text": BODY, "digest": "1"},
            "message.find": {"to": TO},
            "carriers.apply": self.of_special("hash"),
            "invoice.issue": {"month": "2020-01", **self.of_special("month")},
            "carriers.override": {"rate_per_s": 5.0},
            "key.set": {"allowed_origins": ["https://shop.example"]},
            "hook.set": {"name": "Renamed"},
            "provider.set": {**PROVIDER, "client_secret": TOKEN},
            "mailing.create": {"numbers": TO},
            "mailing.columns": {"upload": self.special.get("upload", "upl_none")},
            "mailing.set": {"name": "Renamed", "text": BODY},
            "list.create": {"name": "Teachers"},
            "list.set": {"name": "Pupils"},
            "list.add": {"number": "+22236000009", "cells": {"class": PERSON}},
            "text.create": {"name": "Other"},
            "answer.create": {"name": "Other"},
            "repeat.create": {"name": "Other"},
            "alarm.create": {"name": "Other"},
            "alarm.set": {"name": "Renamed"},
            "text.set": {"name": "Renamed"},
            "sender.request": {"name": "Other", "description": "News"},
            "sender.check": {"name": "Shop"},
            "sender.find": {"name": "Shop"},
            "sender.deny": {"reason": "misleading"},
            "verify.config": {"code_length": 8},
            "codes.figures": {"organization_id": self.organization_id},
            "verify.channels": {"fallback_s": 20},
            "invoice.customer": {"address": ["Avenue 3"], "tax_id": "77"},
            "verify.start": {"to": TO, "mode": "test"},
            "verify.guard": {"secret_share": 10},
            "verify.templates": {"name": "login", "text": "{{code}}"},
            "fixed_number.set": {"number": REVIEWER, "code": FIXED_CODE, "days": 7},
            "fixed_number.remove": {"number": REVIEWER},
            "verify.cancel": {"verification_id": self.values["other_verification_id"]},
            "webhook.create": {"url": f"https://example.com/{TOKEN}"},
            "webhook.update": {"headers": {"Authorization": HEADER}},
            "inbound.route": {"keyword": "other"},
            "inbound.opt_outs": {"heeds": False},
            "opt_outs.words": {"sets": ["fr"]},
            "opt_outs.add_word": {"word": "adieu", "role": "stop", "language": "fr"},
            "opt_outs.remove_word": {"word": "adieu"},
            "opt_outs.answer": {"role": "stop", "language": "fr", "text": BODY},
            "opt_outs.demand": {"prefix": "+221", "confirmation": "required"},
            "opt_outs.list_out": {"number": "+22236000009"},
            "opt_outs.list_back": {"number": "+22236000009"},
            "search.find": {"organization_id": self.organization_id, "query": "nothing"},
            "conversation.get": {"number": WRITER},
            "conversation.reply": {"number": WRITER, "body": BODY},
            "conversation.mark": {"number": WRITER, "state": "done"},
            "answer.set": {"text_fr": BODY},
            "repeat.set": {"name": "Renamed"},
            "answer.resume": {"number": WRITER},
            "country.open": {"country": "SN", "uses": ["send"]},
            "country.close": {"country": "SN", "uses": ["send"]},
            "price.set": {"prefix": "+221", "price": "9.00"},
            "price.drop": {"prefix": "+221"},
            "payer.set": {"payer": "customers", "self_parts_per_day": 150},
            "request.show": {"organization_id": self.organization_id},
            "retention.run": {"place": self.place_of("inbound")},
            "kept.set": {"texts_days": 7},
            "number.forget": {"number": "+22222000002"},
            "org.delete": {"name": "Renamed"},
            "secrets.import_key": {"text": "5e" * 32},
            "user.create": {"email": "another@example.com"},
            "user.set": {"name": "Another"},
            "member.invite": {"email": "another@example.com"},
            "account.set": {"name": "Mine"},
            "account.change_email": {"email": "later@example.com"},
            "account.confirm_email": self.of_special("old_code", "new_code"),
            "payment.claim": {
                **self.of_special("payment_id"),
                "entered": {"reference": "BK-7710342", "payer": TO},
            },
            "payment.confirm": self.of_special("payment_id", "reference"),
            "payment.refuse": self.of_special("payment_id"),
            "approval.confirm": self.of_special("approval_id"),
            "approval.refuse": self.of_special("approval_id"),
            "payment.send_code": self.of_special("payment_id"),
            "payment.check_payer": self.of_special("payment_id"),
            "payment.poll": self.of_special("payment_id"),
            "factor.add_app": self.of_special("nonce", "code", "but"),
            "factor.begin_passkey": self.of_special("host", "origin", "cookie"),
            "factor.add_passkey": self.of_special("host", "origin", "cookie", "answer", "but"),
            "factor.remove": self.of_special("factor_id"),
            "account.accept": self.of_special("invitation_id"),
            "account.decline": self.of_special("invitation_id"),
        }.get(name, {})
        model = OPERATIONS[name].arguments
        needed = {
            known.alias or each for each, known in model.model_fields.items() if known.is_required()
        }
        wanted = {each: value for each, value in self.values.items() if each in needed}
        if name == "carriers.ask":
            wanted["arguments"] = self.values["arguments"]
        if name.startswith("mailing."):
            wanted |= self.of_special("mailing_id") if "mailing_id" in wanted else {}
        return {**wanted, **special}


PROVIDER = {"issuer": "https://id.example.org", "client_id": "us", "domains": ["example.org"]}
"""An identity provider of an organization."""
OF_BANKS = ("payment.texts", "payment.dismiss_text", "payment.reconcile")
"""What a bank writes is no organization's."""
LAST = (
    "country.close",
    "price.drop",
    "message.erase",
    "sender.deny",
    "webhook.disable",
    "webhook.enable",
    "webhook.delete",
    "key.delete",
    "hook.delete",
    "list.delete",
    "text.delete",
    "answer.delete",
    "repeat.end",
    "repeat.delete",
    "alarm.end",
    "alarm.delete",
    "account.confirm_email",
    "account.leave",
    "account.delete",
    "user.delete",
    "org.suspend",
    "org.resume",
    "org.delete",
)
WITH_ANOTHER_MACHINE = ("standby.log", "standby.async", "standby.before_answer")
"""Those of a service whose answers wait for a second machine: ``test_awaited_log.py`` asks them."""
ORDER = (
    *sorted(
        set(OPERATIONS) - {*LAST, *WITH_ANOTHER_MACHINE, "webhook.replay", "webhook.replay_failed"}
    ),
    *("webhook.replay", "webhook.replay_failed", *LAST),
)


@pytest.fixture
async def world(open_house, autojump_clock):
    sms = {"carrier": "bank", "senders": ["Bankily"], "patterns": [{"text": CONFIRMED}]}
    settings = MobileMoneySettings.model_validate({"merchant": "038 221", "sms": sms})
    bankily = build_wallet("bankily", "Bankily", settings)
    file = Written()
    methods = {"bankily": bankily, "till": Till()}
    pages = {"things": OpenPage({"en": "Things"}, SinksPage())}
    outside = Connections(source=file, payments=methods, pages=pages)
    async with open_house() as house:
        codes = PaymentsSection(codes_organization=house.principal.organization_id)
    async with open_house(
        drivers={"fake": Talker()},
        outside=outside,
        payments=codes,
        legal=LEGAL,
        balance="2000",
        parts=ON_LOOP,
        numbers=NumbersSection(countries=("MR", "SN")),
        prices=(PriceSection(prefix="+221", price="12.00"),),
    ) as house:
        made = World(house, file)
        await made.make()
        yield made


def test_every_operation_is_walked():
    assert sorted([*ORDER, *WITH_ANOTHER_MACHINE]) == sorted(OPERATIONS)


async def test_what_changes_or_reveals_leaves_one_line_and_a_look_leaves_none(
    world, autojump_clock
):
    for name in ORDER:
        operation = OPERATIONS[name]
        await world.prepare(name)
        before, caller = len(world.lines()), world.caller(operation, OPERATOR)
        await world.do(name, caller, **world.arguments(name))
        new = world.lines()[: len(world.lines()) - before]
        given = parse(operation.arguments, world.arguments(name), plan_of(("MR", "SN")))
        leaves = operation.changes or operation.shows_texts or operation.shows_all(given)
        wanted = 1 if leaves else 0
        done = "topup" if name == "approval.confirm" else name  # the line is of what is confirmed
        assert [line.action for line in new] == [done] * wanted, name
        for line in new:
            assert (line.who, line.face, line.role) == (caller.who, caller.face, caller.role)
            if not operation.reads_all_organizations and not name.startswith(
                (
                    *OF_BANKS,
                    "alert",
                    "carriers",
                    "opt_outs.demand",
                    "retention",
                    "payer.",
                    "inbound.list",
                    "message.find",
                    "audit.",
                    "server_key.",
                    "restored.",
                    "console.",
                    "security.",
                    "plugins.",
                    "user.",
                    "account.",
                    "factor.",
                    "secrets.",
                )
            ):
                assert line.organization_id is not None, name
    assert (await world.do("audit"))["clean"]


async def test_no_secret_code_or_body_is_in_any_line(world, autojump_clock):
    for name in ORDER:
        await world.prepare(name)
        caller = world.caller(OPERATIONS[name], OPERATOR)
        await world.do(name, caller, **world.arguments(name))
    rows = world.house.gateway.services.repositories._store.reader.execute(
        "SELECT * FROM audit_log"
    ).fetchall()
    told = json.dumps(rows)
    assert len(rows) > len([each for each in OPERATIONS.values() if each.changes])
    assert len(world.secrets) >= 4  # keys, and webhooks' secrets
    for secret in (*world.secrets, BODY, PERSON, PARENT, TOKEN, HEADER, WORD, TO):
        assert secret not in told
    # Ids are digits too, and any six of them may come together.
    for code in (CODE, FIXED_CODE):
        assert not re.search(rf"\b{code}\b", told)


async def test_what_is_refused_leaves_no_line(world, autojump_clock):
    before = len(world.lines())
    for name, operation in OPERATIONS.items():
        good, caller = world.arguments(name), world.caller(operation, OPERATOR)
        # Of an identity provider, and of the tax office.
        ours = (each for each in good if each not in ("client_id", "tax_id"))
        for argument in [each for each in ours if each.endswith("_id") or each == "carrier"]:
            with pytest.raises(NotFound):
                await world.do(name, caller, **{**good, argument: "nobody"})
        with pytest.raises(Invalid, match="no such"):
            await world.do(name, caller, **{**good, "unknown argument": 1})
        if not operation.roles & {Role.VIEWER}:
            viewer = Caller("v", CallerKind.DASHBOARD, Role.VIEWER, world.organization_id)
            with pytest.raises(Forbidden):
                await world.do(name, viewer, **good)
    assert len(world.lines()) == before


async def test_a_member_of_another_organization_finds_nothing(world, autojump_clock):
    other = (await world.do("org.create", name="Other"))["id"]
    before = len(world.lines())
    for name, operation in OPERATIONS.items():
        good = world.arguments(name)
        for role in (Role.OWNER, Role.DEVELOPER, Role.VIEWER):
            stranger = Caller("s", CallerKind.DASHBOARD, role, other)
            if operation.for_all:
                continue
            with pytest.raises((NotFound, Forbidden)) as refused:
                await world.do(name, stranger, **good)
            if operation.roles & {Role.OWNER} and good:
                assert isinstance(refused.value, NotFound), name
                # The same words for what is not there at all.
                gone = {each: "nobody" if each.endswith("_id") else good[each] for each in good}
                with pytest.raises(NotFound) as unknown:
                    await world.do(name, stranger, **gone)
                assert str(unknown.value) == str(refused.value), name
    assert len(world.lines()) == before


async def test_members_may_what_their_role_says_in_their_own_organization(world, autojump_clock):
    done = set()
    for name in ORDER:
        operation = OPERATIONS[name]
        await world.prepare(name)
        arguments = world.arguments(name)
        if operation.owner.__name__ == "named":
            arguments = {**arguments, "organization_id": world.organization_id}
        owner_id = world.users["owner"]
        member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, world.organization_id, owner_id)
        if Role.OWNER not in operation.roles:
            with pytest.raises(Forbidden):
                await world.do(name, member, **arguments)
        else:
            await world.do(name, member, **arguments)
            done.add(name)
    assert {"send", "key.create", "webhook.rotate", "message.show", "inbound.list"} <= done


async def test_members_of_a_suspended_organization_only_read_and_top_up(world, autojump_clock):
    await world.do("org.suspend", organization_id=world.organization_id)
    before, refused, done = len(world.lines()), set(), set()
    for name in ORDER:
        operation = OPERATIONS[name]
        if operation.tops_up or name == "mailing.columns":
            await world.prepare(name)
        arguments = world.arguments(name)
        if operation.owner.__name__ == "named":
            arguments = {**arguments, "organization_id": world.organization_id}
        member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, world.organization_id)
        if Role.OWNER not in operation.roles:
            continue
        changes = operation.changes and not operation.tops_up
        if changes and arguments.keys() & {*operation.reserved} | {
            *(() if Role.VIEWER in operation.roles else (name,))
        }:
            with pytest.raises(Forbidden, match="suspended"):
                await world.do(name, member, **arguments)
            refused.add(name)
        else:
            await world.do(name, member, **arguments)
            done.add(name)
    assert {
        "send",
        "key.create",
        "key.delete",
        "key.set",
        "org.set",
        "webhook.test",
        "verify.check",
    } <= refused
    assert {"verify.config", "inbound.opt_outs", "message.cancel"} <= refused
    assert {"org.show", "ledger.list", "message.show", "key.list", "webhook.list"} <= done
    new = world.lines()[: len(world.lines()) - before]
    looks = {line.action for line in new if line.who == "m"}
    reads = {"message.show", "message.list", "message.export", "inbound.list", "export.fetch"}
    reads |= {
        *("list.show", "conversation.list", "conversation.get", "search.find"),
        *(f"mailing.{each}" for each in ("rows", "person", "report", "workbook")),
    }
    pays = {f"payment.{each}" for each in ("begin", "claim", "send_code", "check_payer")}
    assert looks <= {*reads, *pays}, "what is refused leaves no line"
    assert {"payment.begin", "payment.claim"} <= done
    assert OPERATIONS["topup"].tops_up
    await world.do("org.resume", organization_id=world.organization_id)
    await world.do("key.create", member, **world.arguments("key.create"))


async def test_operators_may_act_for_a_suspended_organization(world, autojump_clock):
    await world.do("org.suspend", organization_id=world.organization_id)
    await world.do("key.create", OPERATOR, **world.arguments("key.create"))


async def test_a_member_who_looks_again_within_a_minute_leaves_no_other_line(world, autojump_clock):
    mine = {"organization_id": world.organization_id}
    looks = (
        ("message.show", world.arguments("message.show")),
        ("message.list", mine),
        ("message.list", {**mine, "status": "pending"}),
    )

    async def lines_of(caller):
        before = len(world.lines())
        for name, arguments in looks:
            await world.do(name, caller, **arguments)
        return len(world.lines()) - before

    one = Caller(
        "one@shop.example", CallerKind.DASHBOARD, Role.VIEWER, world.organization_id, "usr_1"
    )
    other = replace(one, who="other@shop.example", user_id="usr_2")
    assert await lines_of(one) == 3
    assert await lines_of(one) == 0
    assert await lines_of(other) == 3, "what somebody else saw says nothing of them"
    assert await lines_of(replace(one, role=Role.OWNER)) == 3
    assert [await lines_of(OPERATOR) for _ in range(2)] == [3, 3], "operators leave one each time"
    await trio.sleep(60)
    assert await lines_of(one) == 3


async def test_a_look_over_all_organizations_leaves_a_line_and_one_over_one_none(
    world, autojump_clock
):
    for name in ("sender.list", "audit.list", "request.list"):
        before = len(world.lines())
        await world.do(name, OPERATOR, organization_id=world.organization_id)
        assert len(world.lines()) == before
        await world.do(name, OPERATOR)
        assert world.lines()[0].action == name
    for name in ("org.list", "inbound.routes"):
        await world.do(name, OPERATOR)
        assert (world.lines()[0].action, world.lines()[0].organization_id) == (name, None)


async def test_a_name_is_resolved_without_a_line(world, autojump_clock):
    other = (await world.do("org.create", name="Other"))["id"]
    mine, before = world.organization_id, len(world.lines())
    sender = {"count": 1, "senderId": world.values["sender_id"]}
    assert await world.do("org.find", name="Other") == {"count": 1, "organizationId": other}
    assert await world.do("org.find", name="Nobody") == {"count": 0, "organizationId": None}
    assert await world.do("org.find") == {"count": 3, "organizationId": None}
    assert await world.do("sender.find", name="SHOP") == sender
    assert await world.do("sender.find", name="Nobody") == {"count": 0, "senderId": None}
    assert len(world.lines()) == before
    assert mine != other


@pytest.mark.parametrize(
    ("name", "argument", "value", "role"),
    [
        ("org.set", "price_per_segment", "0.01", Role.OWNER),
        ("org.set", "sms_per_s", 100, Role.OWNER),
        ("verify.config", "code_length", 8, Role.VIEWER),
        ("inbound.opt_outs", "heeds", False, Role.VIEWER),
        ("opt_outs.words", "sets", ["fr"], Role.VIEWER),
    ],
)
async def test_some_arguments_are_for_some_roles_alone(
    world, name, argument, value, role, autojump_clock
):
    member = Caller("m", CallerKind.DASHBOARD, role, world.organization_id)
    arguments = {**world.arguments(name), argument: value}
    with pytest.raises(Forbidden, match=argument):
        await world.do(name, member, **arguments)


async def test_members_see_no_marks_of_senders(world, autojump_clock):
    await world.do("org.set", organization_id=world.organization_id, name="Shop")
    rival = (await world.do("org.create", name="Rival"))["id"]
    await world.do("sender.request", organization_id=rival, name="Shop", description="x")
    member = Caller("m", CallerKind.DASHBOARD, Role.VIEWER, rival)
    for caller, marked in ((PROCESS, True), (member, False)):
        found = await world.do("sender.list", caller, organization_id=rival)
        assert bool(found["senders"][0]["marks"]) == marked


async def test_a_list_of_all_organizations_is_no_members(world, autojump_clock):
    member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, world.organization_id)
    for name in ("sender.list", "inbound.list"):
        with pytest.raises(Forbidden):
            await world.do(name, member)


def test_all_faults_of_arguments_are_named_at_once():
    with pytest.raises(Invalid) as refused:
        parse(OPERATIONS["send"].arguments, {"to": "36", "from": "12345", "urgent": 1, "x": 1})
    assert [(each.path, each.code) for each in refused.value.faults] == [
        ("organization_id", "missing"),
        ("to", "invalid_phone_number"),
        ("body", "missing"),
        ("from", "invalid_sender"),
        ("urgent", "invalid_flag"),
        ("x", "unknown_argument"),
    ]


@sweep("name", OPERATIONS)
def test_what_comes_of_an_operation_is_frozen(name):
    result = OPERATIONS[name].result
    assert is_dataclass(result)
    assert result.__setattr__ is not object.__setattr__
    assert not any(each.type in ("list", "dict") for each in fields(result))
    assert CodeConfiguration.__setattr__ is not object.__setattr__


async def test_the_newest_lines_first_and_on_from_there(world, autojump_clock):
    whose = {"organization_id": world.organization_id}  # a look at all would add lines
    found = await world.do("audit.list", limit=3, **whose)
    seqs = [each["seq"] for each in found["lines"]]
    assert seqs == sorted(seqs, reverse=True)
    assert found["newer"] is None
    seen = list(seqs)
    while found["older"] is not None:
        last, found = found, await world.do("audit.list", limit=3, before=found["older"], **whose)
        back = await world.do("audit.list", limit=3, after=found["newer"], **whose)
        assert back["lines"] == last["lines"]
        seen += [each["seq"] for each in found["lines"]]
    lines = [line for line in world.lines() if line.organization_id == world.organization_id]
    assert seen == [line.seq for line in lines]
    some = await world.do("audit.list", operation="key.create", who="risala")
    assert [each["after"]["type"] for each in some["lines"]] == ["publishable"]
    assert isinstance(some["lines"][0]["after"], Mapping)
    with pytest.raises(Invalid):
        await world.do("audit.list", before=str(2**70))
