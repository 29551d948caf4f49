"""Customers of every face: each sends its next message as soon as it is answered, and all that was
asked and answered is written down.

A message begins with a word of its own, which names it everywhere: in the service's file, at the
carrier, in receipts and callbacks.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx2
import trio

from proofs.process.channels import CHAT, asks_again
from proofs.process.house import House, marks
from risala.config.channels import SMS
from risala.drivers.smpp.link import Link, LinkError
from risala.drivers.smpp.protocol.pdu import DeliverSm, Pdu
from smpp_peers.house import Customer, submit
from stripe_stand_in import event, signature

SENDING: Final = ("api", "batch", "kannel", "twilio", "smpp", "dashboard")
"""Faces by which texts are sent."""
BATCH: Final = 5
MODEM_EVERY: Final = 4
"""Each so many-th message by the API goes to a number of the modem."""
LONG: Final = " رسالة" * 25
"""Makes a text three segments long."""
_CODE: Final = re.compile(r"\d{6}")
_RECEIPT: Final = re.compile(rb"id:(\S+) ")
_LOOK_S: Final = 0.02


GONE: Final = (httpx2.TransportError, LinkError, OSError, trio.BrokenResourceError)
"""What whoever talks to a service meets when it is killed."""


def leaves(group: BaseException) -> Iterator[BaseException]:
    """The exceptions in groups of groups."""
    if isinstance(group, BaseExceptionGroup):
        for each in group.exceptions:
            yield from leaves(each)
    else:
        yield group


class Refused(Exception):
    """The service answered, and did not take it; ``status``: how."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text[:200]}")
        self.status = status


@dataclass
class Told:
    """What customers asked and were answered, over all lives of the service."""

    begun: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Words by face."""
    taken: dict[str, bytes] = field(default_factory=dict)
    """The answer of each word that was accepted: an id, or a whole answer."""
    texts: dict[str, str] = field(default_factory=dict)
    """The text of each word."""
    refused: list[str] = field(default_factory=list)
    """Answers that were no acceptance, but for 503: a load has no fault in it."""
    codes: dict[str, str] = field(default_factory=dict)
    """The number of each verification that was begun and answered."""
    by_channels: dict[str, str] = field(default_factory=dict)
    """The number of each verification by several channels that was begun and answered."""
    approved: set[str] = field(default_factory=set)
    payments: dict[str, str] = field(default_factory=dict)
    """The Checkout Session of each payment that was begun and answered; empty: it was not paid."""
    credited: set[str] = field(default_factory=set)
    """Payments whose callback was answered 200."""
    waits: str = ""
    """What was waited for last, when everything was to come to its end."""
    receipts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How often each id's receipt came over SMPP."""

    _words: dict[str, int] = field(default_factory=dict)

    def number(self, word: str) -> str:
        """The word's own phone: parts of two messages to one may carry the same reference."""
        at_modem = word.startswith("api") and int(word[-5:]) % MODEM_EVERY == 1
        return f"{'+2222' if at_modem else '+2223'}{self._words[word]:07d}"

    def word(self, face: str, name: str) -> str:
        """The next word of a face; ``name``: of this load."""
        begun = self.begun[face]
        word = f"{face}-{name}-{len(begun):05d}"
        begun.append(word)
        self._words[word] = len(self._words)
        long = len(begun) % 4 == 0
        self.texts[word] = f"{word} {LONG if long else 'text'}".strip()
        return word


class Bound(Customer):
    """A customer's SMPP software, which counts the receipts that it takes."""

    def __init__(self, stream: trio.abc.Stream, told: Told) -> None:
        super().__init__(stream)
        self._told = told

    def on_request(self, link: Link, request: Pdu) -> None:
        super().on_request(link, request)
        if isinstance(request, DeliverSm) and (found := _RECEIPT.match(request.short_message)):
            self._told.receipts[found[1].decode()] += 1


@asynccontextmanager
async def bound(house: House, told: Told) -> AsyncIterator[Bound]:
    """A session until the block ends, or the service does."""
    customer = Bound(await trio.open_tcp_stream("127.0.0.1", house.smpp_port), told)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(customer.link.run)
        try:
            answer = await customer.bind(house.smpp.name, house.smpp.password)
            if answer.command_status != 0:
                raise Refused(503, answer.name)
            yield customer
        finally:
            customer.link.end("the load is over")


@dataclass
class Customers:
    """A load of every face.

    Args:
        name: of this load, in each word.
        pause_s: between an answer and the next message of the same customer.
    """

    house: House
    told: Told
    name: str
    pause_s: float = 0.02
    answers: int = 0
    """How many acceptances there were in this load."""
    cut_off: list[str] = field(default_factory=list)
    """What ended customers before the load was to end."""
    _answered: trio.Event = field(default_factory=trio.Event)
    _is_over: bool = False

    async def run(self) -> None:
        """Until the service is gone, refuses, or :meth:`stop` is called."""
        async with self.house.client() as client, trio.open_nursery() as nursery:
            for customer in (
                *(self._api,) * 3,
                self._batch,
                self._kannel,
                self._twilio,
                self._smpp,
                self._dashboard,
                self._verify,
                *(self._channels,) * 3,
                self._payments,
                self._phones,
            ):
                nursery.start_soon(self._guard, customer, client)

    def stop(self) -> None:
        self._is_over = True

    async def wait_answers(self, count: int) -> None:
        while self.answers < count and not self._is_over:
            await self._answered.wait()

    async def _guard(
        self, customer: Callable[[httpx2.AsyncClient], Awaitable[None]], client: httpx2.AsyncClient
    ) -> None:
        while not self._is_over:
            is_cut_off = False
            try:
                await customer(client)
            except* GONE as group:
                is_cut_off = True
                self.cut_off.append(repr(group))
            except* Refused as group:
                is_cut_off = True
                for error in leaves(group):
                    self.cut_off.append(str(error))
                    if isinstance(error, Refused) and error.status != 503:
                        self.told.refused.append(str(error))
            if is_cut_off:
                return
            await trio.sleep(self.pause_s)

    def _took(self, word: str, answer: bytes) -> None:
        self.told.taken[word] = answer
        self.answers += 1
        self._answered.set()
        self._answered = trio.Event()

    # -- the faces

    async def _api(self, client: httpx2.AsyncClient) -> None:
        word = self.told.word("api", self.name)
        answer = await self.post(client, "/api/sms", self.body(word))
        self._took(word, answer.content)

    def body(self, word: str) -> dict[str, str]:
        """What is asked of the API for a word, each time the same."""
        return {"to": self.told.number(word), "body": self.told.texts[word], "idempotencyKey": word}

    async def _batch(self, client: httpx2.AsyncClient) -> None:
        words = [self.told.word("batch", self.name) for _ in range(BATCH)]
        answer = await self.post(client, "/api/sms/batch", {"messages": self.bodies(words)})
        for word, result in zip(words, answer.json()["results"], strict=True):
            if result.get("accepted"):
                self._took(word, json.dumps(result).encode())
            elif result["status"] != 503:
                self.told.refused.append(str(result))

    def bodies(self, words: list[str]) -> list[dict[str, str]]:
        return [
            {"to": self.told.number(word), "body": self.told.texts[word], "idempotencyKey": word}
            for word in words
        ]

    async def post(self, client: httpx2.AsyncClient, path: str, body: object) -> httpx2.Response:
        answer = await client.post(path, json=body, headers=self.house.account.headers)
        if answer.status_code != 200:
            raise Refused(answer.status_code, answer.text)
        return answer

    async def _kannel(self, client: httpx2.AsyncClient) -> None:
        word, badge = self.told.word("kannel", self.name), self.house.kannel
        asked = {
            "user": badge.name,
            "pass": badge.password,
            "to": self.told.number(word),
            "text": self.told.texts[word],
            "charset": "UTF-8",
            "coding": "2",
            # Delivered, not delivered, refused: the ends, each of which is one call.
            "dlr-mask": "19",
            "dlr-url": f"http://127.0.0.1:{self.house.hooks.port}/dlr?word={word}&d=%d",
        }
        if len(self.told.texts[word]) < 100:
            del asked["coding"]
        answer = await client.get("/cgi-bin/sendsms", params=asked)
        if answer.status_code != 202 and not answer.text.startswith("0: Accepted"):
            raise Refused(answer.status_code, answer.text)
        self._took(word, answer.content)

    async def _twilio(self, client: httpx2.AsyncClient) -> None:
        word, badge = self.told.word("twilio", self.name), self.house.twilio
        basic = base64.b64encode(f"{badge.name}:{badge.password}".encode()).decode()
        answer = await client.post(
            f"/2010-04-01/Accounts/{badge.name}/Messages.json",
            data={
                "To": self.told.number(word),
                "Body": self.told.texts[word],
                "StatusCallback": f"http://127.0.0.1:{self.house.hooks.port}/twilio?word={word}",
            },
            headers={"authorization": f"Basic {basic}"},
        )
        if answer.status_code != 201:
            raise Refused(answer.status_code, answer.text)
        self._took(word, answer.content)

    async def _smpp(self, _: httpx2.AsyncClient) -> None:
        async with bound(self.house, self.told) as customer:
            while not self._is_over:
                word = self.told.word("smpp", self.name)
                self.told.texts[word] = text = f"{word} text"  # a submit is one segment
                pdu = submit(
                    text, destination_addr=self.told.number(word)[1:], registered_delivery=1
                )
                answer = await customer.ask(pdu)
                if answer.command_status != 0:
                    raise Refused(503, answer.name)
                self._took(word, getattr(answer, "message_id", "").encode())
                await trio.sleep(self.pause_s)

    async def _dashboard(self, client: httpx2.AsyncClient) -> None:
        word = self.told.word("dashboard", self.name)
        place = f"/app/{self.house.account.organization_id}/messages/new"
        page = await self._page(client, "GET", place)
        fields = {**marks(page.text), "to": self.told.number(word), "body": self.told.texts[word]}
        done = await self._page(client, "POST", place, data=fields)
        self._took(word, done.headers["location"].rpartition("/")[2].encode())

    async def _page(
        self, client: httpx2.AsyncClient, method: str, path: str, data: dict[str, str] | None = None
    ) -> httpx2.Response:
        cookies = "; ".join(f"{name}={value}" for name, value in self.house.cookies.items())
        page = await client.request(method, path, headers={"cookie": cookies}, data=data)
        if page.status_code != (200 if method == "GET" else 303):
            raise Refused(page.status_code, f"{path}: {page.text[-300:]}")
        return page

    async def _verify(self, client: httpx2.AsyncClient) -> None:
        word = self.told.word("verify", self.name)
        to = self.told.number(word)
        answer = await self.post(client, "/api/verify/send", {"to": to})
        verification = answer.json()["verificationId"]
        self.told.codes[verification] = to
        self._took(word, verification.encode())
        await self._enter(client, verification, to)

    async def _channels(self, client: httpx2.AsyncClient) -> None:
        """A code by the chat, which does not reach everybody, and else by SMS."""
        word = self.told.word("channels", self.name)
        to = self.told.number(word)
        asked: dict[str, object] = {"to": to, "channels": [CHAT, SMS]}
        answer = await self.post(client, "/api/verify/send", asked)
        verification = answer.json()["verificationId"]
        self.told.by_channels[verification] = to
        self._took(word, verification.encode())
        if asks_again(to):
            again = {"verificationId": verification, "channel": SMS}
            await self.post(client, "/api/verify/resend", again)
        await self._enter(client, verification, to)

    async def _enter(self, client: httpx2.AsyncClient, verification: str, to: str) -> None:
        """Enter a code once it has come by any way."""
        while (code := self.house.chat.shown(to) or self._texted(to)) is None:
            await trio.sleep(_LOOK_S)
            if self._is_over or self.house.process.popen.poll() is not None:
                return
        asked = {"verificationId": verification, "code": code}
        checked = await self.post(client, "/api/verify/check", asked)
        if checked.json()["status"] == "approved":
            self.told.approved.add(verification)
        else:
            self.told.refused.append(f"the right code was {checked.json()['status']}")

    def _texted(self, to: str) -> str | None:
        """The code in the last text of a phone."""
        text = self.house.carrier.text(to)
        if text is None:
            return None
        found = _CODE.search(text)
        assert found is not None, text
        return found[0]

    async def _payments(self, client: httpx2.AsyncClient) -> None:
        place = f"/app/{self.house.account.organization_id}/billing"
        page = await self._page(client, "GET", place)
        fields = {**marks(page.text), "method": "stripe", "amount": "5"}
        done = await self._page(client, "POST", f"{place}/payments", data=fields)
        payment = done.headers["location"].rpartition("/")[2]
        self.told.payments[payment] = ""
        await trio.sleep(self.pause_s)
        await self.pay(client, payment)

    async def pay(self, client: httpx2.AsyncClient, payment: str) -> None:
        """The customer pays at Stripe, which calls; also again, where no answer came."""
        stripe = self.house.stripe
        for name, session in stripe.sessions.items():
            if session["metadata"].get("payment") == payment:
                self.told.payments[payment] = name
                body = event("checkout.session.completed", stripe.pay(name))
                mark = {"stripe-signature": signature(body, int(time.time()))}
                answer = await client.post("/pay/stripe/callback", content=body, headers=mark)
                if answer.status_code != 200:
                    raise Refused(answer.status_code, answer.text)
                self.told.credited.add(payment)
                return

    async def _phones(self, _: httpx2.AsyncClient) -> None:
        """Somebody writes to the modem's number."""
        self.house.written += 1
        text = f"modem-{self.name}-{self.house.written:05d} Bonjour"
        self.house.phones_sent.append(text)
        self.house.modem.type(f"sms +22225999999 {text}")
        await trio.sleep(0.1)
