"""What follows the questions: settings, service, operator, an SMS to their phone, and a link."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import Final
from urllib.parse import urlsplit

import trio

from risala.cli.first_run import service
from risala.cli.first_run.settings import SettingsFile
from risala.cli.reach.performer import GatewaySession
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records import keys, ledger, messages
from risala.engine.model.records.carriers import rereading, state
from risala.engine.model.records.ledger import CUSTOMERS, SELF, TOP_UP
from risala.engine.model.records.people import members, organizations, users
from risala.engine.model.records.upkeep import sealed
from risala.http.first_run.answers import Answers, plan_in
from risala.http.first_run.pairing import (
    API_PATH,
    PAIR,
    TOKEN,
    PairingAnswer,
    fault_of,
    why_none_came,
)
from risala.http.first_run.progress import FirstRunEnd, Report, Stage, StageKind
from risala.http.first_run.questions import ANDROID, TRIAL
from risala.http.web.languages import N_
from risala.sms.currencies import counting_in

_ONES_OWN: Final = 20
"""Parts that the balance of a new organization is enough for."""
_KEY_NAME: Final = "First key"
_RECEIPT_S: Final = 90.0
"""Seconds for the message to arrive: a modem registers within one minute."""
_LOOK_S: Final = 0.3
_PAIRINGS: Final = 6
"""How often a phone is waited for, 45 seconds each."""
_TEXT: Final = "Risala works: this SMS came by {carrier}."
_CONFLICT: Final = 409
_STARTING: Final = N_("The service starts.")
_BALANCE: Final = N_(
    "{name} has {amount}, enough for {parts} parts. Your customers' money is added like this:"
    " {command}"
)
_EXPORT_KEY: Final = N_(
    "Keep a copy of the key that opens the stored secrets, apart from the backups:"
    " risala secrets export-key FILE."
)
_DELIVERED_ON_TRIAL: Final = N_("Delivered on trial: no phone rings until you name a real carrier.")
_NO_RECEIPT: Final = N_(
    "The carrier has the SMS, but no receipt came. Look at your phone: if it shows the SMS, all is"
    " well."
)
_STILL_WAITING: Final = N_("The SMS still waits. It leaves as soon as the carrier is ready.")
_SENDER_REFUSED: Final = N_(
    "The carrier does not know the sender {sender}. Begin again, and answer with the one of your"
    " contract."
)
_OVER: Final = frozenset({"delivered", "failed", "undelivered", "canceled"})


@dataclass(slots=True)
class Finish:
    """The end of one first run.

    Args:
        file: the settings, to be written.
        data: the data directory.
        report: takes each stage as it comes.
        keeps_data: the settings name the data directory from now on.
    """

    file: SettingsFile
    data: Path
    report: Report
    keeps_data: bool = False
    child: service.ChildService | None = None
    """The service, where it was started here."""

    async def run(self, answers: Answers, nursery: trio.Nursery) -> FirstRunEnd:
        """Do all of it. A service that this starts runs until ``nursery`` is cancelled.

        Raises:
            CommandRefused: it went wrong, and where.
        """
        is_running = await service.is_running(self.data)
        changes, secrets = self.file.write(answers, self.data if self.keeps_data else None)
        is_changed = bool(changes or secrets or not self.file.text)
        unchanged = N_("The settings in {path} stay as they are.")
        sentence = N_("The settings are in {path}.") if is_changed else unchanged
        self._tell(StageKind.DONE, sentence, path=self.file.path)
        is_of_systemd = service.is_of_systemd(self.file.path)
        if is_of_systemd and (is_changed or not is_running):
            self._tell(StageKind.NOW, _STARTING)
            await service.by_systemd()
        elif not is_running:
            await self._start(nursery)
        with counting_in(answers.get("currency", "")):
            async with service.reached(self.data) as gateway:
                session = GatewaySession(gateway, running=True)
                if is_running and is_changed and not is_of_systemd:
                    await self._reread(session)
                return await self._people(session, answers)

    async def _start(self, nursery: trio.Nursery) -> None:
        """Start the service as our child."""
        if not service.is_ours(self.data):
            raise CommandRefused(
                f"{self.data} belongs to another user. Start the service as that user, and run this"
                " again while it runs."
            )
        self._tell(StageKind.NOW, _STARTING)
        child = service.ChildService(self.file.path, self.data)
        await nursery.start(child.run)
        self.child = child
        self._tell(StageKind.DONE, N_("The service runs at {url}."), url=child.url)

    async def _reread(self, session: GatewaySession) -> None:
        seen = (await session.ask(rereading.PREVIEW)).value
        if seen.faults:
            raise CommandRefused(" ".join(each.text for each in seen.faults))
        await session.ask(rereading.APPLY, hash=seen.hash)
        self._tell(StageKind.DONE, N_("The service that runs uses the new settings."))
        if seen.need_restart:
            restart = N_("Restart the service: only then it uses {keys}.")
            self._tell(StageKind.ODD, restart, keys=", ".join(seen.need_restart))

    async def _people(self, session: GatewaySession, answers: Answers) -> FirstRunEnd:
        operator = answers.get("operator", "")
        try:
            await session.ask(users.CREATE, email=operator, operator=True)
        except CommandRefused as refused:
            if refused.status != _CONFLICT:
                raise
            await session.ask(users.SET, email=operator, operator=True)
        self._tell(StageKind.DONE, N_("{email} runs the service."), email=operator)
        await _follow_payer(session, answers)
        organization_id = await self._organization(session, answers)
        with suppress(CommandRefused):  # they are a member already
            await session.ask(
                members.ADD, organization_id=organization_id, email=operator, role="owner"
            )
        sent = None
        is_ready = answers.get("carrier") != ANDROID or await self._pair(session, answers)
        if is_ready and answers.get("phone"):
            sent = await self._message(session, answers, organization_id)
        elif is_ready:
            self._tell(StageKind.ODD, N_("No number was given, so no SMS is sent."))
        if (await session.ask(sealed.SHOW)).value.exported_at is None:
            self._tell(StageKind.ODD, _EXPORT_KEY)
        url = (await session.ask(users.SIGN_IN, email=operator, operator=True)).value.url
        parts = urlsplit(url)
        base = f"{parts.scheme}://{parts.netloc}" if self.child is None else self.child.url
        settings = quote(str(self.file.path))
        key = await _first_key(session, organization_id)
        return FirstRunEnd(
            url=url,
            local_url=url if self.child is None else f"{base}{parts.path}",
            organization_id=organization_id,
            message_id=None if sent is None else sent.id,
            status=None if sent is None else sent.status,
            key=key,
            curl="" if key is None else _curl(base, key, answers),
            start="" if self.child is None else f"{_program()} serve --config {settings}",
        )

    async def _pair(self, session: GatewaySession, answers: Answers) -> bool:
        """Say what to type on the phone, and wait for it; whether it has registered."""
        from risala.drivers.phone.page_words import WORDS

        carrier = self.file.carrier_name(answers)
        here = (
            f"http://127.0.0.1:{answers.get('port', '')}" if self.child is None else self.child.url
        )
        own = answers.get("public_url") or here
        url = f"{own}/carriers/{carrier}{API_PATH}"
        about = {"carrier": carrier, "arguments": []}
        token = (await session.ask(state.ASK, command=TOKEN, **about)).value.answer[TOKEN]
        for steps in zip(*(each.steps for each in WORDS.values()), strict=True):
            step = dict(zip(WORDS, steps, strict=True))
            holes = {"url": url, "token": token}
            self.report(Stage(StageKind.NOW, step["en"], holes, spoken=step))
        if (fault := fault_of(url)) is not None:
            self._tell(StageKind.ODD, fault[0], **fault[1])
        strangers = 0
        self._tell(StageKind.NOW, N_("Risala waits for the phone."))
        for _ in range(_PAIRINGS):
            answer = (await session.ask(state.ASK, command=PAIR, **about)).value.answer
            came = PairingAnswer.of(answer)
            if came.phone is not None:
                called = N_("{name} is there.")
                self._tell(StageKind.DONE, called, name=came.phone)
                return True
            strangers += came.strangers
        sentence, holes = why_none_came(url, strangers)
        self._tell(StageKind.ODD, sentence, **holes)
        later = N_("Go on later with this command: {command}")
        self._tell(StageKind.ODD, later, command=f"risala phone pair {quote(carrier)}")
        return False

    async def _organization(self, session: GatewaySession, answers: Answers) -> str:
        """The organization of that name; where customers pay, a new one gets a balance for some
        messages."""
        name = answers.get("organization", "")
        match = (await session.ask(organizations.FIND, name=name)).value
        if match.organization_id is not None:
            return match.organization_id
        if match.count:
            named = output.counted(match.count, "organization is", "organizations are")
            raise CommandRefused(f"{named} named {name}. Choose another name.")
        made = (await session.ask(organizations.CREATE, name=name)).value
        if answers.get("payer") == SELF:
            nobody, parts = N_("Nobody pays: {name} may send {parts} parts a day."), "parts_per_day"
            self._tell(StageKind.DONE, nobody, name=name, parts=answers.get(parts, ""))
            return made.id
        amount = Decimal(answers.get("price", "")) * _ONES_OWN
        if amount:
            about = {"organization_id": made.id, "amount": f"{amount:f}", "note": "First run"}
            await session.ask(TOP_UP, **about)
            self._tell(
                StageKind.DONE,
                _BALANCE,
                name=name,
                amount=f"{amount:f} {answers.get('currency', '')}",
                parts=_ONES_OWN,
                command=f"risala topup {quote(name)} {amount:f}",
            )
        return made.id

    async def _message(
        self, session: GatewaySession, answers: Answers, organization_id: str
    ) -> messages.MessageView:
        """Send the message, and follow it until it ends."""
        carrier, to = self.file.carrier_name(answers), answers.get("phone", "")
        text = _TEXT.format(carrier=carrier)
        accepted = await session.ask(
            messages.SEND, organization_id=organization_id, to=to, body=text
        )
        sending = N_("An SMS to {number} leaves by {carrier}.")
        self._tell(StageKind.NOW, sending, number=to, carrier=carrier)
        message = await self._follow(session, accepted.value.message_id)
        if message.carrier not in (None, carrier):
            other = N_("The routes chose another carrier for it: {carrier}.")
            self._tell(StageKind.ODD, other, carrier=message.carrier)
        self._judge(message, answers, accepted.value.sender)
        return message

    async def _follow(self, session: GatewaySession, message_id: str) -> messages.MessageView:
        until, last = trio.current_time() + _RECEIPT_S, ""
        while True:
            message = (await session.ask(messages.SHOW, message_id=message_id)).value.message
            if message.status in _OVER or trio.current_time() > until:
                return message
            sent = N_("The carrier has the SMS. Its receipt comes in a moment.")
            waiting = N_("The SMS waits until the carrier is ready.")
            sentence = sent if message.status == "sent" else waiting
            if sentence != last:
                last = sentence
                self._tell(StageKind.NOW, sentence)
            await trio.sleep(_LOOK_S)

    def _judge(self, message: messages.MessageView, answers: Answers, sender: str) -> None:
        match message.status:
            case "delivered" if answers.get("carrier", "") == TRIAL:
                self._tell(StageKind.ODD, _DELIVERED_ON_TRIAL)
            case "delivered":
                self._tell(StageKind.DONE, N_("Your phone has the SMS."))
            case "sent":
                self._tell(StageKind.ODD, _NO_RECEIPT)
            case "failed" | "undelivered" if message.error_code == "SENDER_REFUSED":
                self._tell(StageKind.BAD, _SENDER_REFUSED, sender=sender)
            case "failed" | "undelivered" | "canceled":
                code, sentence = message.carrier_code or "", N_("The SMS did not arrive.")
                self.report(Stage(StageKind.BAD, sentence, {}, code, message.error_code))
            case _:
                self._tell(StageKind.ODD, _STILL_WAITING)

    def _tell(self, kind: StageKind, sentence: str, **holes: object) -> None:
        self.report(Stage(kind, sentence, holes))


async def _follow_payer(session: GatewaySession, answers: Answers) -> None:
    """Have the service follow the answer, where an operator or an older file says otherwise."""
    now, payer_wanted = (
        (await session.ask(ledger.SHOW_PAYER)).value,
        answers.get("payer", CUSTOMERS),
    )
    parts = int(answers.get("parts_per_day") or now.self_parts_per_day)
    if (payer_wanted, parts) != (now.payer, now.self_parts_per_day):
        await session.ask(ledger.SET_PAYER, payer=payer_wanted, self_parts_per_day=parts, sure=True)


def _program() -> str:
    """How this command is called again: by its name where a shell finds it, else by its path, as
    in a clone of the source."""
    beside = Path(sys.executable).with_name("risala")
    is_found = shutil.which("risala") is not None or not beside.exists()
    return "risala" if is_found else quote(str(beside))


async def _first_key(session: GatewaySession, organization_id: str) -> str | None:
    """The value of a new key; None: the organization has one."""
    if (await session.ask(keys.LIST, organization_id=organization_id)).value.keys:
        return None
    made = await session.ask(
        keys.CREATE, organization_id=organization_id, type="secret", mode="live", name=_KEY_NAME
    )
    return made.value.value


def _curl(base: str, key: str, answers: Answers) -> str:
    """The command that sends a message by a key."""
    to = answers.get("phone") or plan_in(answers).example
    body = json.dumps({"to": to, "body": "Hello"})
    return (
        f"curl {base}/api/sms -H 'x-api-key: {key}' -H 'content-type: application/json' -d '{body}'"
    )
