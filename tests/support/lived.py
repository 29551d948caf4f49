"""A short history of everything that the crash rig's books look at, lived without any process."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from copy import deepcopy

import trio
import trio.testing
from proofs.process.around import Carrier, Modem
from proofs.process.books import begun
from proofs.process.channels import CHAT, Chat
from proofs.process.faces import SENDING, Told
from proofs.process.house import TYPES, WROTE, House
from tests.flows.conftest import Service

from patience import until_true
from risala.config.channels import SMS
from risala.config.delivery import OnUncertain
from risala.config.model import CarrierSection, Settings
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.clock import TrioClock
from risala.engine.model.ids import IdSource
from risala.engine.rules.webhooks.schedule import ReceiverAnswer
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import DATABASE, Seams
from risala.plugins.contract import Accepted, Inbound, Refused, Scope, Uncertain
from risala.plugins.payment import Confirmation, PaymentOffer, PaymentPending
from risala.plugins.testing.fake_driver import FakeDriver

AT_THE_MACHINE = Caller("root", CallerKind.CLI, Role.OPERATOR)
PHONE = f"phone 0.1 wrote {WROTE}"
TYPED = "modem-1-00001 Bonjour"


_GUARDS = (
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    " AND tbl_name IN ('entry', 'inbound')"
)
UNSURE = (("api", 5), ("batch", 0))
"""Nobody knows what became of these; the modem's fails, the carrier's is sent again."""


def has_got(line, number):
    return any(each.recipient == number for each in line.submitted)


def of(word):
    """The file's row of a word, or of another thing by its name."""
    return f"id = '{{{word}}}'"


class Phones(Carrier):
    """What the carrier's process would have told."""

    def __init__(self):
        self.lines, self._looked = [], 0
        self._whole, self._parts, self._counts, self._texts = Counter(), {}, {}, {}
        self._by_text = Counter()

    def told(self):
        return self.lines

    def got(self, number, text="text"):
        message = {"recipient": number, "text": text}
        self.lines.append({"event": "MessageReceived", "message": message})

    def wrote(self, text):
        self.lines.append({"event": "InboundSent", "command_status": 0, "text": text})


class ModemPhones(Modem):
    """What the modem's process would have told."""

    def __init__(self):
        self.lines, self._taken, self._looked = [], Counter(), 0

    def told(self):
        return self.lines

    def got(self, number):
        self.lines.append({"event": "MessageReceived", "recipient": number})


class Servers:
    """Customers' servers: what was posted to them."""

    def __init__(self):
        self.lines = []

    def told(self):
        return self.lines

    def calls(self, path):
        return [each for each in self.lines if each["target"].startswith(path)]

    def called(self, target, headers=None, body=""):
        self.lines.append({"target": target, "headers": dict(headers or {}), "body": body})

    async def post(self, call):
        await trio.lowlevel.checkpoint()
        self.called("/hook", call.headers, call.body.decode())
        return ReceiverAnswer(204, None, "")


class Till:
    """A payment method that is paid when the operator says so."""

    offer = PaymentOffer({"en": "Till"})

    async def begin(self, payment):
        await trio.lowlevel.checkpoint()
        return PaymentPending(Confirmation.OPERATOR)


class History:
    """A short one, in which every face has a message, and all is well."""

    def __init__(self, path):
        self.told, self.carrier, self.modem, self.hooks = Told(), Phones(), ModemPhones(), Servers()
        service = Service(path, (), [])
        self.house = House(
            path, "resend", service, self.carrier, self.modem, self.hooks, None, Chat()
        )
        self.lines = {
            "mattel": FakeDriver(delivers=True, always=self.answered),
            "sim-1": FakeDriver(always=self.answered),
            CHAT: FakeDriver(always=Refused(Scope.FINAL, "PHONE_NUMBER_NOT_FOUND")),
        }
        self.ids, self.unsure = {}, set()

    def answered(self, segment):
        """Of some numbers no answer comes to the first try."""
        if segment.recipient in self.unsure and segment.attempt == 1:
            return Uncertain("no answer")
        return Accepted(f"{segment.message_id}-{segment.number}-{segment.attempt}")

    # -- made wrong

    def made_wrong(self, path, case):
        """The same, but for one thing."""
        shutil.copytree(self.house.path, path)
        made = History(path)
        made.told, made.ids, made.house.endpoint = (
            deepcopy(self.told),
            self.ids,
            self.house.endpoint,
        )
        made.carrier.lines += deepcopy(self.carrier.lines)
        made.modem.lines += deepcopy(self.modem.lines)
        made.hooks.lines += deepcopy(self.hooks.lines)
        made.house.phones_sent += self.house.phones_sent
        made.sql(case.wrong) if isinstance(case.wrong, str) else case.wrong(made)
        return made

    def sql(self, statement):
        """Change the file, past what would keep the service from it."""
        known = {name: self.ids[name] for name in ("paid", "unpaid")}
        for face in SENDING:
            known |= {f"{face}{n}": self.ids[f"{face}-1-{n:05d}"] for n in (0, 1)}
        with closing(sqlite3.connect(self.house.path / DATABASE)) as database, database:
            database.execute("PRAGMA ignore_check_constraints = ON")
            for (name,) in database.execute(_GUARDS).fetchall():
                database.execute(f"DROP INDEX {name}")
            done = database.execute(statement.format(**known))
            assert done.rowcount > 0, statement

    def forgotten(self, name):
        """As if it had never been accepted."""
        mine = f"SELECT key FROM message WHERE {of(name)}"
        self.sql(f"DELETE FROM event WHERE type < 3 AND subject = ({mine})")
        self.sql("DELETE FROM webhook_delivery WHERE event NOT IN (SELECT key FROM event)")
        self.sql(f"DELETE FROM message WHERE {of(name)}")

    def word(self, name):
        return f"{name[:-1]}-1-{int(name[-1]):05d}"

    def answer(self, name, answer):
        self.told.taken[self.word(name)] = answer

    def unanswered(self, name):
        del self.told.taken[self.word(name)]

    def phone_again(self, name):
        number = self.told.number(self.word(name))
        (self.modem if number.startswith("+2222") else self.carrier).got(number)

    def phone_without(self, name):
        number = self.told.number(self.word(name))
        mine = [each for each in self.carrier.lines if number in str(each)]
        self.carrier.lines.remove(*mine)

    def chat_with(self, name, code):
        """The chat's vendor has taken a code for its number."""
        self.house.chat.codes.append((self.told.number(self.word(name)), code))

    def uncalled(self, path):
        self.hooks.lines.remove(self.hooks.calls(path)[0])

    def called_with(self, body):
        self.hooks.calls("/hook")[0]["body"] = body

    def called_again(self):
        self.hooks.lines.append(self.hooks.calls("/hook")[0])

    def without_event(self, kind):
        """As if it had never been written: nobody owes it."""
        events = self.house.service.events()
        identity = next(each.seq for each in events if json.loads(each.body)["type"] == kind)
        self.sql(f"DELETE FROM event WHERE key = {identity}")
        self.sql(f"DELETE FROM webhook_delivery WHERE event = {identity}")

    def event_again(self):
        columns = "type, organization, mode, subject, at, frozen, body"
        last = "SELECT max(key) FROM event"
        self.sql(
            f"INSERT INTO event (key, {columns}) SELECT ({last}) + 1, {columns} FROM event"
            f" WHERE key = ({last} WHERE type = 0)"
        )

    # -- as it was

    async def live(self):
        clock = TrioClock()
        resend = OnUncertain(action="resend", after_s=0.5)
        fail = OnUncertain(action="fail", after_s=0.5)
        carriers = (
            CarrierSection(
                name="mattel", driver="fake", prefixes=("+2223",), on_uncertain_message=resend
            ),
            CarrierSection(
                name="sim-1", driver="fake", prefixes=("+2222",), on_uncertain_message=fail
            ),
        )
        table = {"channel": "fake", "price": "0.30"}
        settings = Settings.model_validate(
            {"storage": {"data_dir": self.house.path}, "channels": {CHAT: table}}
        )
        carriers += tuple(each for each in settings.carriers if each.is_channel)
        seams = Seams(clock, IdSource(clock), inline_journal=True)
        outside = Connections(outbound=self.hooks, payments={"till": Till()})
        async with open_engine(settings, carriers, self.lines, seams, outside=outside) as engine:
            self.gateway = engine.gateway
            await self._furnish()
            await self._texts()
            await self._code("verify", self.told.codes)
            await self.do("verify.channels", channels=[CHAT, SMS], secret=[CHAT, SMS])
            await self._code("channels", self.told.by_channels)
            await self._payments()
            await self._inbound()
            await until_true(self._is_over)
        self.begun = begun(self.house)

    async def do(self, name, /, **given):
        return await self.gateway.perform(name, given | self.own, AT_THE_MACHINE)

    async def _furnish(self):
        self.own = {}
        self.own = {"organization_id": (await self.do("org.create", name="Shop"))["id"]}
        await self.do("topup", amount="100")
        hook = await self.do("webhook.create", url="https://example.com/hook", types=list(TYPES))
        self.house.endpoint = hook["endpoint"]["id"]
        await self.do("inbound.route")

    async def _texts(self):
        for face in SENDING:
            for number in range(6 if face == "api" else 2):
                word = self.told.word(face, "1")
                to = self.told.number(word)
                line = self.lines["sim-1" if to.startswith("+2222") else "mattel"]
                if (face, number) in UNSURE:
                    self.unsure.add(to)
                sent = await self.do("send", to=to, body=self.told.texts[word])
                self.ids[word] = sent["messageId"]
                self.told.taken[word] = sent["messageId"].encode()
                await until_true(lambda at=line, to=to: has_got(at, to))
                self._heard(word, to, times=2 if face == "batch" and to in self.unsure else 1)

    def _heard(self, word, to, times):
        """What its phone, and its customer, have of it."""
        for _ in range(times):
            self.modem.got(to) if to.startswith("+2222") else self.carrier.got(to)
        face = word.split("-")[0]
        if face == "smpp":
            self.told.receipts[self.ids[word]] += 1
        elif face == "kannel":
            self.hooks.called(f"/dlr?word={word}&d=1")
        elif face == "twilio":
            self.hooks.called(f"/twilio?word={word}&bodySHA256=x")

    async def _code(self, face, numbers):
        """Each is entered; that by channels comes by SMS, since the chat does not know the
        number."""
        to = self.told.number(self.told.word(face, "1"))
        sent = (await self.do("verify.send", to=to))["verificationId"]
        numbers[sent] = to
        line = self.lines["mattel"]
        await until_true(lambda: line.submitted[-1].recipient == to)
        self.carrier.got(to, line.submitted[-1].text)
        code = re.search(r"\d{6}", line.submitted[-1].text)[0]
        await self.do("verify.check", verification_id=sent, code=code)
        self.told.approved.add(sent)
        self.ids[f"{face}-code"] = sent

    async def _payments(self):
        for name in ("paid", "unpaid"):
            made = (await self.do("payment.begin", method="till", amount="5"))["id"]
            self.ids[name], self.told.payments[made] = made, "session" if name == "paid" else ""
        given = {"payment_id": self.ids["paid"], "reference": "R-1"}
        await self.gateway.perform("payment.confirm", given, AT_THE_MACHINE)
        self.told.credited.add(self.ids["paid"])

    async def _inbound(self):
        self.carrier.wrote(PHONE[:150])
        self.carrier.wrote(PHONE[150:])
        self.house.phones_sent.append(TYPED)
        for name, text in (("mattel", PHONE), ("sim-1", TYPED)):
            came = Inbound("+22236777777", "1234", text, 1, (f"pdu-{name}",))
            await self.lines[name].context.inbound(came)

    def _is_over(self):
        rows = self.house.service.rows
        open_ = "status NOT IN ('delivered', 'failed') AND carrier IS NOT 'sim-1'"
        waiting = "SELECT count(*) FROM webhook_deliveries WHERE state = 'pending'"
        queries = (f"SELECT count(*) FROM messages WHERE {open_}", waiting)
        # The one of which nobody knows fails after its while; and the code by the chat.
        failed = rows("SELECT count(*) FROM messages WHERE status = 'failed'")[0][0]
        return failed == 2 and not any(rows(each)[0][0] for each in queries)
