"""Whatever comes twice, late, forged or in the middle of a crash: the books are right.

A seeded world: customers begin, claim and pay; a provider calls back and is polled; a bank writes;
operators confirm, refuse and credit by hand; somebody forges all of it. The engine is cut off at
any moment and opened again.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import trio

from cases import seeds
from payment_shop import OPERATOR, wallet
from risala.config.payments import PaymentsSection
from risala.engine.features.payments.records import ACCESS
from risala.engine.features.payments.stored import payments as rows
from risala.engine.features.payments.stored.repository import PaymentRepository
from risala.engine.journal.audit.books import audit
from risala.engine.model.errors import EngineError
from risala.engine.wiring.connections import Connections
from risala.plugins.contract import Accepted, Inbound, Refused
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
    normalised_reference,
)
from risala.plugins.testing.fake_driver import FakeDriver

pytestmark = pytest.mark.slow

LIVES, ACTIONS = 6, 40
TOP_UP = 2
"""The number of the kind, in the table of entries."""
NUMBER, CENTRE = "+22236123456", "+22236000001"
TEXT = "Recu {amount} MRU de {payer}. Ref {reference}. Solde {balance} MRU."
SMS = {
    "carrier": "bank",
    "senders": ["Bankily"],
    "service_centres": [CENTRE],
    "by_itself": True,
    "payment_max": "400",
    "organization_day_max": "3000",
    "day_max": "5000",
    "patterns": [{"text": TEXT}],
}


@dataclass
class World:
    """What is true, whatever the service knows of it."""

    dice: random.Random
    paid: dict[str, tuple[str, int]] = field(default_factory=dict)
    """What the card provider has: its reference and the amount, by our payment's id."""
    declined: set[str] = field(default_factory=set)
    account: int = 1_000_000
    """What the bank's account has, in minor units."""
    texts: list[str] = field(default_factory=list)
    """What the bank has written."""
    references: list[str] = field(default_factory=list)
    """Of transfers that were made."""
    made: int = 0

    def new_reference(self, kind: str) -> str:
        self.made += 1
        return f"{kind}-{self.made:04}"

    def spelled(self, reference: str) -> str:
        """A reference as somebody types it."""
        return self.dice.choice(
            (reference, reference.lower(), reference.replace("-", " "), f"{reference}.")
        )

    def transfer(self, amount: int) -> tuple[str, str]:
        """Money comes to the account; its reference, and what the bank writes."""
        self.account += amount
        reference = self.new_reference("BK")
        told = TEXT.format(
            amount=amount / 100,
            payer=NUMBER,
            reference=reference,
            balance=self.account / 100,
        )
        self.references.append(reference)
        self.texts.append(told)
        return reference, told


class Card:
    """A provider that calls back, is polled, and is down now and then."""

    offer = PaymentOffer({"en": "Card"})

    def __init__(self, world: World) -> None:
        self._world = world

    async def begin(self, payment: Payment) -> PaymentPending:
        await self._answer()
        return self._pending(payment)

    async def poll(self, payment: Payment) -> Any:
        await self._answer()
        if payment.payment_id in self._world.declined:
            return PaymentRefused("declined", {"en": "No."})
        return self._settled(payment.payment_id) or self._pending(payment)

    async def _answer(self) -> None:
        await trio.sleep(self._world.dice.random())
        if self._world.dice.random() < 0.2:
            raise PaymentMethodError("down")

    def _pending(self, payment: Payment) -> PaymentPending:
        over_ms = payment.begun_at_ms + 3_600_000
        return PaymentPending(Confirmation.PROVIDER, poll_after_s=20, expires_at_ms=over_ms)

    def _settled(self, payment_id: str) -> PaymentSettled | None:
        if payment_id not in self._world.paid:
            return None
        return PaymentSettled("card", *self._world.paid[payment_id], "MRU")

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        if callback.headers.get("signed") != "yes":
            raise ForgedCallbackError("forged")
        payment_id = json.loads(callback.body)
        settled = self._settled(payment_id)
        return () if settled is None else (PaymentReport(settled, payment_id),)


class Life:
    """One life of the engine, and what people do to it."""

    def __init__(self, house: Any, world: World, shops: list[str]) -> None:
        self.house, self.world, self.shops = house, world, shops
        self.dice = world.dice
        self.gateway = house.gateway

    def _some(self, state: str | None = None) -> Any:
        found = rows.page(self.gateway.services.repositories._store.reader, 200)
        fitting = [each for each in found if state is None or each.state == state]
        return self.dice.choice(fitting) if fitting else None

    async def act(self) -> None:
        """Something that somebody does; that it is refused is no matter."""
        actions = (
            *(self.begin, self.begin, self.claim, self.pay_by_card, self.pay_by_card),
            *(self.call_back, self.call_back, self.forge_a_callback, self.write, self.write),
            *(self.write_again, self.forge_a_text, self.confirm, self.refuse, self.by_hand),
            *(self.adjust, self.send, self.poll, self.wait),
        )
        with suppress(EngineError, ForgedCallbackError):
            await self.dice.choice(actions)()

    async def _operate(self, name: str, **given: Any) -> Any:
        return await self.gateway.perform(name, given, OPERATOR)

    async def begin(self) -> None:
        given = {"organization_id": self.dice.choice(self.shops)}
        amount = str(self.dice.choice((100, 300, 500)))
        method = self.dice.choice(("card", "bankily"))
        await self._operate("payment.begin", method=method, amount=amount, **given)

    async def claim(self) -> None:
        """A customer pays what they have begun, or claims what somebody else has paid."""
        found = self._some("waiting")
        if found is None or found.method != "bankily":
            return
        own = self.dice.random() < 0.7 or not self.world.references
        if own:
            reference, told = self.world.transfer(found.amount)
        else:
            reference = self.dice.choice(self.world.references)
        entered = {"reference": self.world.spelled(reference)}
        await self._operate("payment.claim", payment_id=found.id, entered=entered)
        if own:
            values = {"payer_number": NUMBER, "payer_checked_at": 1}
            await self.gateway.services.repositories.part(PaymentRepository).change(
                None, found.id, values
            )
            if self.dice.random() < 0.8:
                await self._hear(told)

    async def pay_by_card(self) -> None:
        found = self._some()
        if found is None or found.method != "card" or found.id in self.world.paid:
            return
        if self.dice.random() < 0.2:
            self.world.declined.add(found.id)
        else:
            self.world.paid[found.id] = (self.world.new_reference("CARD"), found.amount)

    async def call_back(self) -> None:
        """Late, and as often as it likes."""
        if self.world.paid:
            payment_id = self.dice.choice(sorted(self.world.paid))
            await self._call(payment_id, signed="yes")

    async def forge_a_callback(self) -> None:
        found = self._some()
        if found is not None:
            await self._call(found.id, signed="no")

    async def _call(self, payment_id: str, **headers: str) -> None:
        now_ms = self.gateway.services.recorder.clock.now_ms()
        told = PaymentCallback(headers, {}, json.dumps(payment_id).encode(), now_ms)
        await self.gateway.access(ACCESS).callback("card", told)

    async def write(self) -> None:
        if self.world.texts:
            await self._hear(self.dice.choice(self.world.texts[-3:]))

    async def write_again(self) -> None:
        if self.world.texts:
            await self._hear(self.dice.choice(self.world.texts))

    async def forge_a_text(self) -> None:
        """As the bank would write it, but for the balance; or from elsewhere."""
        found = self._some("waiting")
        reference = self.world.new_reference("FORGED")
        if found is not None and found.reference:
            reference = found.reference
        told = TEXT.format(amount=400, payer=NUMBER, reference=reference, balance=1)
        sender, centre = self.dice.choice((("Bankily", CENTRE), ("Bank", CENTRE), ("Bankily", "")))
        await self._hear(told, sender, centre)

    async def _hear(self, text: str, sender: str = "Bankily", centre: str = CENTRE) -> None:
        self.world.made += 1
        heard = Inbound(sender, None, text, 0, (f"pdu-{self.world.made}",), centre)
        await self.house.drivers["bank"].context.inbound(heard)

    async def confirm(self) -> None:
        found = self._some()
        if found is None or found.method == "card" or not self.world.references:
            return
        reference = self.world.spelled(self.dice.choice(self.world.references))
        await self._operate("payment.confirm", payment_id=found.id, reference=reference)

    async def refuse(self) -> None:
        found = self._some()
        if found is not None:
            await self._operate("payment.refuse", payment_id=found.id, reason="no")

    async def by_hand(self) -> None:
        reference = self.world.new_reference("HAND")
        if self.world.references and self.dice.random() < 0.5:
            reference = self.dice.choice(self.world.references)
        given = {"organization_id": self.dice.choice(self.shops), "amount": "50"}
        await self._operate("topup", reference=self.world.spelled(reference), **given)

    async def adjust(self) -> None:
        given = {"organization_id": self.dice.choice(self.shops), "reason": "a slip"}
        await self._operate("adjust", amount=self.dice.choice(("7.5", "-7.5")), **given)

    async def send(self) -> None:
        given = {"organization_id": self.dice.choice(self.shops), "to": NUMBER, "body": "hello"}
        await self._operate("send", **given)

    async def poll(self) -> None:
        found = self._some()
        if found is not None:
            await self._operate("payment.poll", payment_id=found.id)

    async def wait(self) -> None:
        await trio.sleep(self.dice.choice((1, 60, 1800)))


def assert_right(reader: Any, world: World, shops: list[str]) -> None:
    assert audit(reader).faults == ()
    confirmed = [each for each in rows.page(reader, 10_000) if each.state == "confirmed"]
    keys = Counter((each.provider, each.reference_key) for each in confirmed)
    assert max(keys.values()) == 1, "no reference twice"
    assert len({each.entry for each in confirmed}) == len(confirmed)
    by_payment = {each.entry for each in confirmed}
    by_hand: Counter[str] = Counter()
    for shop in shops:
        entries = reader.execute(
            "SELECT seq, kind, amount, reference FROM entry"
            " WHERE organization = (SELECT no FROM organizations WHERE id = ?)",
            (shop,),
        ).fetchall()
        sums: Counter[str] = Counter()
        for seq, kind, amount, reference in entries:
            if kind == TOP_UP and seq not in by_payment:
                by_hand[normalised_reference(reference)] += 1
                sums["by hand"] += amount
            elif kind != TOP_UP:
                sums["charges, refunds, adjustments"] += amount
        sums["payments"] = sum(each.paid for each in confirmed if each.organization_id == shop)
        balance = reader.execute("SELECT balance FROM organizations WHERE id = ?", (shop,))
        assert balance.fetchone() == (sum(sums.values()),)
    assert max(by_hand.values()) == 1
    assert not [key for provider, key in keys if provider == "bankily" and key in by_hand]
    known = {normalised_reference(each) for each in world.references}
    for each in confirmed:
        if each.method == "card":
            assert (each.reference, each.paid) == world.paid[each.id]
        else:
            assert each.reference_key in known, "nothing forged is credited"


@pytest.fixture
def open_world(open_house, carrier):
    """A house over the world; each time it is another life of the same."""

    @asynccontextmanager
    async def open_one(world, codes):
        lanes = (carrier(), carrier("bank", receives_only=True))

        def whimsical(segment):
            refused = world.dice.random() < 0.3
            return Refused("no", "REJECTED") if refused else Accepted(segment.message_id)

        drivers = {each.name: FakeDriver(always=whimsical) for each in lanes}
        methods = {"bankily": wallet(sms=SMS), "card": Card(world)}
        section = PaymentsSection(codes_organization=codes, open_max=1000)
        outside = Connections(payments=methods)
        async with open_house(*lanes, drivers=drivers, outside=outside, payments=section) as house:
            yield house

    return open_one


async def live(life: Life) -> None:
    """Many do something at once; most lives end in the middle of it."""
    balance = str(life.world.account / 100)
    with suppress(EngineError):
        await life._operate("payment.reconcile", method="bankily", balance=balance)
    async with trio.open_nursery() as people:
        for number in range(ACTIONS):
            people.start_soon(life.act)
            if life.dice.random() < 0.5:
                await trio.sleep(life.dice.random())
            if number == ACTIONS - 5 and life.dice.random() < 0.7:
                people.cancel_scope.cancel()


@pytest.mark.parametrize("seed", seeds(1, 8))
async def test_the_books_are_right_whatever_comes(
    open_house, open_world, autojump_clock, leap, seed
):
    world = World(random.Random(seed))
    async with open_house() as house:
        codes = house.principal.organization_id
        shops = [(await house.organization("10")).organization_id for _ in range(3)]
    for _ in range(LIVES):
        async with open_world(world, codes) as house:
            await live(Life(house, world, shops))
    async with open_world(world, codes) as house:
        # Eight are asked about at a time, for up to a second: half-hour steps are too few.
        await leap(12 * 3600, every_s=300)
        reader = house.gateway.services.repositories._store.reader
        assert_right(reader, world, shops)
        stored = rows.page(reader, 10_000)
        states = {each.id: each.state for each in stored if each.id in world.paid}
        assert set(states.values()) <= {"confirmed", "refused"}, "whatever was paid is found"
        told = reader.execute("SELECT DISTINCT state FROM bank_texts").fetchall()
        assert ("credited",) in told
        assert ("unread",) not in told
