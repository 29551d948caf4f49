"""Who else is outside: receivers of webhooks, a sink, mailboxes, a till; they outlive kills."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import trio
import trio.lowlevel

from risala.engine.features.payments.records import ACCESS
from risala.engine.model.numbers import FORGOTTEN
from risala.engine.rules.webhooks.schedule import AnswerContent, ReceiverAnswer, ReceiverFault
from risala.engine.rules.webhooks.types import WebhookCall
from risala.plugins.mail import Mail, MailNotSentError
from risala.plugins.payment import (
    Confirmation,
    ForgedCallbackError,
    Payment,
    PaymentCallback,
    PaymentMethodError,
    PaymentOffer,
    PaymentPending,
    PaymentRefused,
    PaymentReport,
    PaymentSettled,
    Progress,
)
from risala.plugins.policy import PolicyMessage, PolicyPass, PolicyRefusal, PolicyVerdict
from risala.plugins.sink import SinkEvent, SinkUnavailableError

if TYPE_CHECKING:
    from tests.simulation.world import World

    from risala.engine.gateway.gateway import Gateway

HEALTHY = "https://healthy.example/"
SICK = "https://sick.example/"
POLLED_S = 5.0
FORBIDDEN = "forbidden"
"""A word that the policy does not let pass."""


class Receivers:
    """The servers that webhooks, and the callbacks of faces, are sent to."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = world.plan.stream("receivers")
        self.got: dict[str, dict[str, bytes]] = defaultdict(dict)
        """By the start of the address: event → body."""
        self.doubled = 0
        self.replies = 0

    async def post(self, call: WebhookCall, /) -> ReceiverAnswer | ReceiverFault:
        life = self._world.life
        sick = self._world.plan.has("sick-endpoints") and not self._world.at_rest
        await trio.sleep(self._dice.choice((0, 0.01, 0.2)))
        if self._world.gone(life):
            return ReceiverFault("connect", "the process is gone")
        if trio.current_time() < self._world.past.away_until_s:
            return ReceiverFault("connect", "no connection")
        if sick and call.url.startswith(SICK):
            match self._dice.choice(("ok", "ok", "500", "slow", "lost", "taken and lost", "429")):
                case "500":
                    return ReceiverAnswer(500, None, "no")
                case "429":
                    return ReceiverAnswer(429, "7", "later")
                case "slow":
                    await trio.sleep(15)
                    return ReceiverFault("timeout", "no answer within 15 s")
                case "lost":
                    return ReceiverFault("connect", "no connection")
                case "taken and lost":
                    self._take(call)
                    return ReceiverFault("timeout", "no answer within 15 s")
        self._take(call)
        return self._answer(call)

    def _answer(self, call: WebhookCall) -> ReceiverAnswer:
        """Thanks; now and then what is replied to a text, each time in other words."""
        told = json.loads(call.body) if call.body.startswith(b"{") else {}
        if told.get("type") not in ("sms.received", "conversation.received"):
            return ReceiverAnswer(200, None, "")
        self.replies += 1
        body = json.dumps({"reply": f"Reply {self.replies} of {call.url}"}).encode()
        return ReceiverAnswer(200, None, "", AnswerContent("application/json", body))

    def _take(self, call: WebhookCall) -> None:
        # A webhook's, or a call's in Twilio's words; a call in Kannel's says all by its address.
        ids = (call.headers.get(each) for each in ("webhook-id", "i-twilio-idempotency-token"))
        event_id = next(filter(None, ids), call.url)
        box = self.got[call.url.partition("?")[0]]
        self.doubled += event_id in box
        before = box.setdefault(event_id, call.body)
        # Once a number is taken out, events that are still to be told say so in its place.
        if before != call.body and FORGOTTEN.encode() not in call.body:
            self._world.fault(f"event {event_id} came with two bodies")


class Sink:
    """Takes every event, in its order."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = world.plan.stream("sink")
        self.seen: dict[int, str] = {}
        self.is_away = False
        """For so long that events may go with time before it has them."""

    async def take(self, events: Sequence[SinkEvent]) -> None:
        life = self._world.life
        await trio.sleep(self._dice.choice((0, 0.05)))
        if self._world.gone(life):
            raise SinkUnavailableError("The process is gone.")
        fate = "ok"
        if self.is_away or trio.current_time() < self._world.past.away_until_s:
            fate = "refuse"
        elif self._world.plan.has("sick-sinks") and not self._world.at_rest:
            fate = self._dice.choice(("ok", "ok", "ok", "refuse", "half"))
        if fate == "refuse":
            raise SinkUnavailableError("The sink is away.")
        taken = events[: len(events) // 2] if fate == "half" else events
        for event in taken:
            last = max(self.seen, default=0)
            if event.seq not in self.seen and event.seq < last:
                self._world.fault(f"the sink was given event {event.seq} after {last}")
            self.seen[event.seq] = event.id
        if fate == "half":
            raise SinkUnavailableError("The sink went away in between.")


class Mailboxes:
    """A mailer, and everybody's mail."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = world.plan.stream("mail")
        self.codes: dict[str, str] = {}
        self.sent = 0

    async def send(self, mail: Mail) -> None:
        life = self._world.life
        await trio.sleep(self._dice.choice((0, 0.05)))
        if self._world.gone(life):
            raise MailNotSentError("The process is gone.")
        dead = self._world.plan.has("dead-mail") and not self._world.at_rest
        if dead and self._dice.random() < 0.3:
            raise MailNotSentError("The server is away.")
        self.sent += 1
        if found := re.findall(r"^\d{6}$", mail.text, re.MULTILINE):
            self.codes[mail.to] = found[-1]


class Policy:
    """Refuses a word, and is out of order now and then."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = world.plan.stream("policy")

    async def judge(self, messages: Sequence[PolicyMessage]) -> Sequence[PolicyVerdict]:
        await trio.sleep(self._dice.choice((0, 0, 0, 0.02)))
        return [
            PolicyRefusal("forbidden_words", "No such words.")
            if FORBIDDEN in each.text
            else PolicyPass()
            for each in messages
        ]


class Till:
    """A provider of payments: what it says about a payment it says always, and often."""

    offer = PaymentOffer({"en": "Till"})

    def __init__(self, world: World) -> None:
        self._world = world
        self._dice = world.plan.stream("till")
        self.fates: dict[str, str] = {}
        """By our payment's id: ``paid``, ``declined`` or ``never``."""
        self.references: dict[str, str] = {}
        self.amounts: dict[str, int] = {}

    def _fails(self) -> None:
        bad = self._world.plan.has("bad-till") and not self._world.at_rest
        if bad and self._dice.random() < 0.2:
            raise PaymentMethodError("The till does not answer.")

    async def begin(self, payment: Payment) -> Progress:
        await trio.sleep(self._dice.choice((0, 0.1)))
        self._fails()
        if self._world.dead:  # what a killed process would still ask reaches nobody
            raise PaymentMethodError("The till does not answer.")
        which = payment.payment_id
        if which not in self.fates:
            self.fates[which] = self._dice.choice(("paid", "paid", "paid", "declined", "never"))
            self.references[which] = f"T-{len(self.references)}"
            self.amounts[which] = payment.amount
        self._fails()
        return self._pending(which)

    def _pending(self, which: str) -> PaymentPending:
        reference = self.references[which]
        return PaymentPending(Confirmation.PROVIDER, reference=reference, poll_after_s=POLLED_S)

    async def poll(self, payment: Payment) -> Progress:
        await trio.lowlevel.checkpoint()
        self._fails()
        return self._result(payment.payment_id) or self._pending(payment.payment_id)

    def _result(self, which: str) -> PaymentSettled | PaymentRefused | None:
        match self.fates[which]:
            case "paid":
                return PaymentSettled("till", self.references[which], self.amounts[which], "MRU")
            case "declined":
                return PaymentRefused("declined", {"en": "The bank said no."})
        return None

    def says(self, which: str, now_ms: int, *, forged: bool = False) -> PaymentCallback:
        """What it calls back with; a forger says that everything is paid."""
        fate = "paid" if forged else self.fates[which]
        body = json.dumps({"payment": which, "fate": fate}).encode()
        return PaymentCallback({"x-sign": "?" if forged else "till"}, {}, body, now_ms)

    async def tell_again(self, gateway: Gateway) -> None:
        """A provider calls back until it is heard: who was away for days hears it at last."""
        for which, fate in self.fates.items():
            if fate == "paid":
                told = self.says(which, self._world.now_ms())
                await gateway.access(ACCESS).callback("till", told)

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        if callback.headers.get("x-sign") != "till":
            raise ForgedCallbackError("a callback has no signature")
        which = json.loads(callback.body)["payment"]
        result = self._result(which)
        return () if result is None else (PaymentReport(result, payment_id=which),)
