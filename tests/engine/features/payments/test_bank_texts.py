"""What a bank writes to a SIM of its own: credited where all of it fits, and kept apart."""

from __future__ import annotations

import sqlite3
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest
import trio

from payment_shop import assert_books_agree, found_shop, service_of, wallet
from risala.config.payments import PaymentsSection
from risala.engine.features.payments.stored import texts
from risala.engine.features.payments.stored.repository import PaymentRepository
from risala.engine.journal.inbound import opt_outs
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.feature_work import RetentionWalk, WalkKind
from risala.engine.wiring.connections import Connections
from risala.plugins.contract import Inbound
from risala.plugins.payment import PaymentSettled
from risala.plugins.payment_texts import TextKind, TextReading
from risala.plugins.testing.fake_driver import FakeDriver

NUMBER = "+22236123456"
CENTRE = "+22236000001"
TEXT = (
    "Vous avez recu {amount} MRU de {payer}. Ref {reference}."
    "(?: Frais {fee} MRU.)? Solde {balance} MRU."
)
SMS = {
    "carrier": "bank",
    "senders": ["Bankily"],
    "service_centres": [CENTRE],
    "by_itself": True,
    "payment_max": "1000",
    "organization_day_max": "1500",
    "day_max": "2000",
    "patterns": [
        {"text": TEXT},
        {"kind": "debit", "text": "Retrait de {amount} MRU. Solde {balance} MRU."},
        {"kind": "notice", "text": "Bienvenue chez Bankily."},
    ],
}
numbers = count(1)


class Bank:
    """A bank that writes to the service's SIM, and a shop that tops up."""

    def __init__(self, house: Any, shop: Any, codes: str) -> None:
        self.house, self.shop, self.codes = house, shop, codes

    async def write(self, text: str, sender: str = "Bankily", centre: str | None = CENTRE, **more):
        ids = more.get("ids") or (f"pdu-{next(numbers)}",)
        message = Inbound(sender, None, text, 1_767_225_600_000, ids, centre)
        await self.house.drivers["bank"].context.inbound(message)
        await trio.testing.wait_all_tasks_blocked()

    async def paid(self, amount="500", reference="BK-1", payer=NUMBER, balance="10500", **how):
        told = f"Vous avez recu {amount} MRU de {payer}. Ref {reference}. Solde {balance} MRU."
        await self.write(told, **how)

    async def reconcile(self, balance="10000"):
        await self.shop.operate("payment.reconcile", method="bankily", balance=balance)

    async def claimed(self, reference="BK-1", amount="500", payer=NUMBER, shop=None):
        """A payment of which the customer has shown that the number is theirs."""
        shop = shop or self.shop
        trio.lowlevel.current_clock().jump(1199)  # a number gets few codes an hour
        await trio.sleep(1)
        payment = await shop.begin(amount=amount)
        await shop.claim(payment, reference, payer=payer)
        return await shop.prove(payment)

    async def texts(self, **wanted):
        return (await self.shop.operate("payment.texts", **wanted))["texts"]

    async def whys(self):
        return [(each["state"], each["why"]) for each in reversed(await self.texts())]

    async def line(self):
        (found,) = (await self.shop.operate("payment.lines"))["lines"]
        return found


@pytest.fixture
def open_bank(open_house, carrier):
    """A house with a SIM for a bank; opened again, the shop is another one."""

    @asynccontextmanager
    async def open_one(codes=None, **sms):
        if codes is None:
            async with open_house() as house:
                codes = house.principal.organization_id
        outside = Connections(payments={"bankily": wallet(sms={**SMS, **sms})})
        section = PaymentsSection(codes_organization=codes)
        lanes = (carrier(), carrier("bank", receives_only=True))
        drivers = {each.name: FakeDriver() for each in lanes}
        async with open_house(*lanes, drivers=drivers, outside=outside, payments=section) as house:
            yield Bank(house, await found_shop(house), codes)

    return open_one


async def test_a_text_that_fits_in_every_respect_credits_once(open_bank, quick):
    async with open_bank() as bank:
        await bank.reconcile()
        payment = await bank.claimed()
        await bank.paid(payer="36 12 34 56")
        done = await bank.shop.show(payment)
        assert (done["state"], done["paid"], done["decidedBy"]) == ("confirmed", "500.00", None)
        assert await bank.shop.balance() == "500.00"
        await bank.paid()
        await bank.paid(balance="11000")
        assert await bank.whys() == [
            ("credited", None),
            ("noted", "credited_before"),
            ("noted", "credited_before"),
        ]
        assert await bank.shop.balance() == "500.00"
        line = await bank.line()
        assert (line["creditedDay"], line["balance"]) == ("500.00", "11000.00")
        assert_books_agree(bank.house)


async def test_it_may_come_before_its_claim_and_its_code(open_bank, quick):
    async with open_bank() as bank:
        await bank.reconcile()
        await bank.paid()
        assert await bank.whys() == [("waiting", "unclaimed")]
        payment = await bank.shop.begin()
        await bank.shop.claim(payment, "bk 1", payer=NUMBER)
        await trio.testing.wait_all_tasks_blocked()
        assert await bank.whys() == [("waiting", "payer_unchecked")]
        await bank.shop.prove(payment)
        await trio.testing.wait_all_tasks_blocked()
        assert await bank.whys() == [("credited", None)]
        assert await bank.shop.balance() == "500.00"


async def test_what_came_while_the_service_was_down_is_read_by_the_next(open_bank, quick):
    async with open_bank() as bank:
        await bank.reconcile()
        payment, codes = await bank.claimed(), bank.codes
        journal = bank.house.gateway.services.recorder.journal
        told = f"Vous avez recu 500 MRU de {NUMBER}. Ref BK-1. Solde 10500 MRU."
        left = Inbound("Bankily", None, told, 0, ("x",), CENTRE)
        await journal.commit(lambda conn: texts.store(conn, "btx_1", "bank", left))
    async with open_bank(codes) as bank:
        await trio.testing.wait_all_tasks_blocked()
        assert service_of(bank.house).payment(payment["id"]).state == "confirmed"
        assert_books_agree(bank.house)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"sender": "BankiIy"}, "foreign_sender"),
        ({"centre": "+34600000001"}, "foreign_centre"),
        ({"centre": None}, "foreign_centre"),
        ({"amount": "50O"}, "no_pattern"),
        ({"amount": "5 00"}, "no_pattern"),
        ({"balance": "10501"}, "balance"),
        ({"balance": "999"}, "balance"),
        ({"amount": "400", "balance": "10400"}, "amount"),
        ({"payer": "+22246999999"}, "payer"),
        ({"payer": "3612"}, "payer"),
        ({"reference": "BK-2"}, "unclaimed"),
    ],
)
async def test_what_does_not_fit_waits_for_the_operator(open_bank, quick, how, why):
    async with open_bank() as bank:
        await bank.reconcile()
        payment = await bank.claimed()
        await bank.paid(**how)
        state = "unmatched" if why.startswith(("foreign", "no_")) else "waiting"
        assert await bank.whys() == [(state, why)]
        assert await bank.shop.balance() == "0.00"
        # The operator looks into the account, and decides.
        done = await bank.shop.operate("payment.confirm", payment_id=payment["id"])
        assert done["state"] == "confirmed"
        if state == "waiting" and why != "unclaimed":
            assert (await bank.texts())[0]["state"] == "credited"
        assert_books_agree(bank.house)


async def test_a_false_text_takes_nothing_from_the_true_one(open_bank, quick):
    """Who knows the reference before the bank has written it says more than came."""
    async with open_bank() as bank:
        await bank.reconcile()
        payment = await bank.claimed()
        await bank.paid(amount="900", balance="10900")
        assert await bank.whys() == [("waiting", "amount")]
        assert (await bank.line())["balance"] == "10900.00"
        await bank.paid()  # the true one: the account has moved by less than the false one said
        assert (await bank.whys())[1] == ("waiting", "repeated")
        line = await bank.line()
        assert line["continues"] is False
        assert (await bank.shop.show(payment))["state"] == "waiting"
        await bank.reconcile("10500")
        await bank.shop.operate("payment.confirm", payment_id=payment["id"])
        second = await bank.claimed("BK-2")
        await bank.paid(reference="BK-2", balance="11000")
        assert (await bank.shop.show(second))["state"] == "confirmed"
        assert await bank.shop.balance() == "1000.00"


async def test_a_forgery_to_the_last_letter_stays_within_the_caps(open_bank, quick, leap):
    """Somebody who sees the account's balance, and forges whatever a text has."""
    async with open_bank() as bank:
        await bank.reconcile()
        other = await found_shop(bank.house)
        balance, refused = 10_000, []
        for number in range(12):
            shop = (bank.shop, other)[number % 2]
            amount = (1001, 900, 800, 700, 600, 200)[number % 6]
            await bank.claimed(f"F-{number}", str(amount), shop=shop)
            balance += amount
            await bank.paid(str(amount), f"F-{number}", balance=str(balance))
            refused.append((await bank.texts())[0]["why"])
        assert {"cap_payment", "cap_organization", "cap_day", None} == {*refused}
        credited = float(await bank.shop.balance()) + float(await other.balance())
        assert credited <= 2000
        for each in (bank.shop, other):
            assert float(await each.balance()) <= 1500
        await leap(86_400)
        await bank.claimed("T-1", "100")
        await bank.paid("100", "T-1", balance=str(balance + 100))
        assert (await bank.whys())[-1] == ("credited", None), "another day"
        assert_books_agree(bank.house)


async def test_nothing_is_credited_before_somebody_says_what_the_account_has(open_bank, quick):
    async with open_bank() as bank:
        await bank.claimed()
        await bank.paid()
        assert await bank.whys() == [("waiting", "no_balance")]
        assert (await bank.line())["balance"] is None
        with pytest.raises(NotFound):
            await bank.shop.operate("payment.reconcile", method="gold", balance="5")


async def test_the_balance_is_followed_through_fees_and_what_goes_out(open_bank, quick):
    async with open_bank() as bank:
        await bank.reconcile()
        await bank.write("Retrait de 1 000,00 MRU. Solde 9 000,00 MRU.")
        await bank.write("Bienvenue chez Bankily.")
        payment = await bank.claimed()
        await bank.write(
            f"Vous avez recu 500 MRU de {NUMBER}. Ref BK-1. Frais 5 MRU. Solde 9495 MRU."
        )
        assert await bank.whys() == [("noted", None), ("noted", None), ("credited", None)]
        assert (await bank.shop.show(payment))["paid"] == "500.00"
        await bank.write("Retrait de 100 MRU. Solde 9 000 MRU.")
        assert (await bank.whys())[-1] == ("waiting", "balance")


async def test_off_unless_the_operator_says_so(open_bank, quick):
    async with open_bank(by_itself=False) as bank:
        await bank.reconcile()
        payment = await bank.claimed()
        await bank.paid()
        (text,) = await bank.texts(open=True)
        assert (text["why"], text["fits"]) == ("by_operator", payment["id"])
        assert await bank.texts(payment_id=payment["id"]) == [text]
        assert (await bank.line())["byItself"] is False
        await bank.shop.operate("payment.confirm", payment_id=payment["id"])
        (text,) = await bank.texts()
        assert (text["state"], text["decidedBy"]) == ("credited", "amina")
        given = {"text_id": text["id"], "reason": "no"}
        with pytest.raises(Conflict, match="already credited"):
            await bank.shop.operate("payment.dismiss_text", **given)


async def test_a_payment_is_found_by_the_number_that_paid(open_bank, quick):
    """The customer has shown the number before, and typed another reference by mistake."""
    async with open_bank() as bank:
        await bank.reconcile()
        payment = await bank.shop.begin()
        values = {"payer_number": NUMBER, "payer_checked_at": 1}
        change = bank.house.gateway.services.repositories.part(PaymentRepository).change
        await change(None, payment["id"], values)
        await bank.paid()
        done = await bank.shop.show(payment)
        assert (done["state"], done["reference"]) == ("confirmed", "BK-1")


async def test_by_hand_settles_its_text_and_another_is_put_away(open_bank, quick):
    async with open_bank() as bank:
        await bank.reconcile()
        await bank.paid()
        given = {"organization_id": bank.shop.organization_id, "amount": "500"}
        await bank.shop.operate("topup", **given, reference="bk1")
        assert [each["state"] for each in await bank.texts()] == ["credited"]
        await bank.write("Buy gold now", sender="GOLD")
        (text,) = await bank.texts(open=True)
        await bank.shop.operate("payment.dismiss_text", text_id=text["id"], reason="Nobody's.")
        assert await bank.texts(open=True) == []


async def test_no_customer_sees_any_of_it(open_bank, quick):
    async with open_bank() as bank:
        mine = {"organization_id": bank.shop.organization_id}
        await bank.house.gateway.perform("inbound.route", mine)
        await bank.house.gateway.perform("inbound.opt_outs", {**mine, "heeds": True})
        before = len(await bank.house.events())
        for text in ("STOP", "Bienvenue chez Bankily.", "words"):
            await bank.write(text)
            await bank.write(text, sender=NUMBER)
        assert (await bank.house.gateway.perform("inbound.list", mine))["messages"] == []
        assert len(await bank.house.events()) == before
        reader = bank.house.gateway.services.repositories._store.reader
        assert reader.execute("SELECT count(*) FROM inbound").fetchone() == (0,)
        assert not opt_outs.is_out(reader, bank.shop.organization_id, NUMBER)
        # The same PDU twice is one text.
        await bank.write("twice", ids=("same",))
        await bank.write("twice", ids=("same",))
        assert [each["text"] for each in await bank.texts()].count("twice") == 1


@pytest.mark.parametrize(
    "settled",
    [
        None,
        PaymentSettled("bankily", "--", 50_000, "MRU"),
        PaymentSettled("bankily", "BK-1", 0, "MRU"),
        PaymentSettled("bankily", "BK-1", 50_000, "EUR"),
        KeyError("amount"),
    ],
    ids=["nothing", "no reference", "no amount", "another currency", "a bug"],
)
async def test_a_bug_of_a_method_is_a_text_that_nobody_reads(open_bank, quick, settled):
    def stumble(message):
        if isinstance(settled, Exception):
            raise settled
        return TextReading(TextKind.CREDIT, settled)

    async with open_bank() as bank:
        service_of(bank.house)._have.methods["bankily"].heard = stumble
        await bank.paid()
        assert await bank.whys() == [("unmatched", "no_pattern")]
        assert await bank.shop.balance() == "0.00"


def test_words_are_forgotten_and_what_was_read_stays(book):
    for number in range(5):
        told = Inbound("Bankily", None, "words", number * 1000, (str(number),), CENTRE)
        book.unit(lambda conn, n=number, t=told: texts.store(conn, f"btx_{n}", "bank", t))
    walk = RetentionWalk(WalkKind.BANK_TEXTS, 0, "bank_texts")
    for done in (False, True):
        forgot = book.unit(partial(texts.forget_words, walk=walk, before_ms=3000, limit=2))
        assert forgot.done is done
    left = [texts.text(book.conn, f"btx_{number}").body for number in range(5)]
    assert left == ["", "", "", "words", "words"]


def test_one_text_is_one_row_whoever_writes_it(book):
    """Who stores one looks first; the index stands for whoever does not."""
    told = Inbound("Bankily", None, "words", 1000, ("7",), CENTRE)
    book.unit(lambda conn: texts.store(conn, "btx_1", "bank", told))
    columns = "carrier, sender, body, carrier_ids, received_at, state"
    with pytest.raises(sqlite3.IntegrityError, match="carrier_ids"):
        book.unit(
            lambda conn: conn.execute(
                f"INSERT INTO bank_texts (id, {columns}) SELECT 'btx_2', {columns} FROM bank_texts"
            )
        )


def test_texts_are_read_in_the_order_in_which_they_were_written(book):
    """What waited on a SIM comes in any order; each balance continues that of the text before."""
    came, first = 1_795_000_000_000, 1_794_000_000_000
    for number, sent in enumerate((first + 2000, None, first, first + 1000)):
        told = Inbound("Bankily", None, "words", came, (str(number),), CENTRE, sent)
        book.unit(lambda conn, n=number, t=told: texts.store(conn, f"btx_{n}", "bank", t))
    assert [each.id for each in texts.unread(book.conn, 9)] == ["btx_2", "btx_3", "btx_0", "btx_1"]
    assert texts.text(book.conn, "btx_2").sent_at == first
