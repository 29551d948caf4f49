"""The desk over a real engine: each payment is credited once, whoever says so and however often."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import trio

from payment_shop import service_of
from risala.config.payments import PaymentsSection
from risala.drivers.payments.mobile_money import REFERENCE, MobileMoney, MobileMoneySettings
from risala.drivers.payments.sandbox import DECLINED, TAKEN, SandboxCard, SandboxSettings
from risala.engine.features.payments.service import AGAIN_S
from risala.engine.journal.audit.books import audit
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable
from risala.engine.wiring.connections import Connections
from risala.plugins.mail import Mail
from risala.plugins.payment import (
    Beginner,
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
)

OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)
MINUTE_S = 60


@dataclass
class Till:
    """A method of a test: does what it is told, and writes down what it was asked."""

    offer: PaymentOffer = field(default_factory=lambda: PaymentOffer({"en": "Till"}))
    answers: list[Any] = field(default_factory=list)
    asked: list[Payment] = field(default_factory=list)
    reports: tuple[PaymentReport, ...] = ()
    answered: trio.Event = field(default_factory=trio.Event)

    async def begin(self, payment: Payment) -> Any:
        await trio.lowlevel.checkpoint()
        self.asked.append(payment)
        answer = self.answers.pop(0) if self.answers else PaymentPending(Confirmation.PROVIDER)
        if isinstance(answer, Exception):
            raise answer
        self.answered.set()
        return answer

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        return self.reports


@dataclass
class KeptMails:
    """A mailer that keeps what it is given."""

    sent: list[Mail] = field(default_factory=list)

    async def send(self, mail: Mail) -> None:
        await trio.lowlevel.checkpoint()
        self.sent.append(mail)


def methods() -> dict[str, Any]:
    money = MobileMoneySettings(merchant="038 221")
    return {
        "bankily": MobileMoney("Bankily", money),
        "masrvi": MobileMoney("Masrvi", money),
        "sandbox": SandboxCard(SandboxSettings()),
        "till": Till(),
    }


@pytest.fixture
def open_shop(open_house):
    """A house whose organization has nothing yet but 1000."""
    built = methods()

    def open_one(**sections: Any):
        return open_house(outside=Connections(payments=built, mailer=open_one.mails), **sections)

    open_one.methods, open_one.mails = built, KeptMails()
    return open_one


def owner_of(house):
    return Caller("aicha", CallerKind.DASHBOARD, Role.OWNER, house.principal.organization_id)


async def begin(house, method="bankily", amount="500", caller=None, **more):
    given = {"organization_id": house.principal.organization_id, "method": method, **more}
    who = caller or owner_of(house)
    return await house.gateway.perform("payment.begin", {**given, "amount": amount}, who)


async def claim(house, payment, reference="BK-7710342", caller=None):
    given = {"payment_id": payment["id"], "entered": {"reference": reference}}
    return await house.gateway.perform("payment.claim", given, caller or owner_of(house))


async def begin_short(open_shop, house):
    """A payment that is over in a minute."""
    at_ms = house.gateway.services.recorder.clock.now_ms() + MINUTE_S * 1000
    over = PaymentPending(Confirmation.OPERATOR, asks=(REFERENCE,), expires_at_ms=at_ms)
    open_shop.methods["till"].answers = [over]
    return await begin(house, "till")


async def confirm(house, payment, **more):
    given = {"payment_id": payment["id"], **more}
    return await house.gateway.perform("payment.confirm", given, OPERATOR)


async def entries(house):
    given = {"organization_id": house.principal.organization_id, "by_hand": True}
    found = await house.gateway.perform("ledger.list", given)
    return [(each["kind"], each["amount"], each["reference"]) for each in found["entries"]]


def assert_books_agree(house):
    assert audit(house.gateway.services.repositories._store.reader).faults == ()


async def test_mobile_money_from_its_begin_to_the_ledger(open_shop, quick):
    async with open_shop() as house:
        payment = await begin(house)
        assert payment["state"] == "waiting"
        assert payment["byOperator"]
        assert "038 221" in payment["instructions"]["fr"]
        assert [each["name"] for each in payment["asks"]] == ["reference"]
        claimed = await claim(house, payment)
        assert (claimed["state"], claimed["reference"]) == ("waiting", "BK-7710342")
        assert claimed["asks"] == []
        assert await house.balance() == "1000.00"
        done = await confirm(house, payment)
        assert (done["state"], done["paid"], done["decidedBy"]) == ("confirmed", "500.00", "amina")
        assert await house.balance() == "1500.00"
        assert (await entries(house))[0] == ("topup", "500.00", "bankily BK-7710342")
        # Billing knows of it too, not only the ledger.
        await house.send()
        assert_books_agree(house)


async def test_a_payment_is_credited_once_however_often_it_is_confirmed(open_shop, quick):
    async with open_shop() as house:
        payment = await claim(house, await begin(house))
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(confirm, house, payment)
        assert await house.balance() == "1500.00"
        given = {"payment_id": payment["id"], "reason": "no"}
        with pytest.raises(Conflict, match="confirmed and credited"):
            await house.gateway.perform("payment.refuse", given, OPERATOR)
        assert_books_agree(house)


@pytest.mark.parametrize("other", [{"reference": "BK-99"}, {"amount": "700"}])
async def test_another_credit_of_a_confirmed_payment_is_refused(open_shop, quick, other):
    async with open_shop() as house:
        payment = await claim(house, await begin(house))
        await confirm(house, payment)
        said = (
            r"already confirmed: 500\.00 MRU with the reference BK-7710342\. Nothing was credited"
        )
        with pytest.raises(Conflict, match=said):
            await confirm(house, payment, **other)
        # What is only the same once more is no fault, however the reference is written.
        await confirm(house, payment, reference="bk 7710342")
        assert await house.balance() == "1500.00"
        assert_books_agree(house)


async def test_what_really_came_is_credited(open_shop, quick):
    async with open_shop() as house:
        payment = await begin(house)
        with pytest.raises(Invalid, match="has not entered"):
            await confirm(house, payment)
        done = await confirm(house, payment, amount="450.50", reference="BK 1")
        assert (done["amount"], done["paid"]) == ("500.00", "450.50")
        assert await house.balance() == "1450.50"


@pytest.mark.parametrize("again", ["BK-7710342", "bk 7710342", "BK٧٧١٠٣٤٢", "ＢＫ-7710342"])
async def test_one_reference_is_credited_once_by_whatever_face(open_shop, quick, again):
    async with open_shop() as house:
        mine = {"organization_id": house.principal.organization_id, "amount": "5"}
        first = await claim(house, await begin(house))
        second = await begin(house)
        with pytest.raises(Invalid) as waits:
            await claim(house, second, again)
        assert waits.value.code == "reference_waits"
        await confirm(house, first)
        with pytest.raises(Invalid) as used:
            await claim(house, second, again)
        assert used.value.code == "reference_used"
        with pytest.raises(Conflict, match="already credited"):
            await confirm(house, second, reference=again)
        with pytest.raises(Conflict, match="already credited"):
            await house.gateway.perform("topup", {**mine, "reference": again}, OPERATOR)
        assert await house.balance() == "1500.00"
        assert_books_agree(house)


@pytest.mark.parametrize("again", ["BK-7710342", "bk.77 10342", "BK٧٧١٠٣٤٢"])
async def test_what_was_credited_by_hand_is_credited_by_no_payment(open_shop, quick, again):
    async with open_shop() as house:
        mine = {"organization_id": house.principal.organization_id, "amount": "5"}
        by_hand = {**mine, "reference": "BK/7710342"}
        await house.gateway.perform("topup", by_hand, OPERATOR)
        payment = await begin(house)
        with pytest.raises(Invalid) as used:
            await claim(house, payment, again)
        assert used.value.code == "reference_used"
        with pytest.raises(Conflict, match=r"already credited: 5\.00"):
            await confirm(house, payment, reference=again)
        assert await house.balance() == "1005.00"


async def test_a_reference_typed_in_other_digits_by_hand_is_the_same_one(open_shop, quick):
    async with open_shop() as house:
        mine = {"organization_id": house.principal.organization_id, "amount": "5"}
        await house.gateway.perform("topup", {**mine, "reference": "BK ٧٧١"}, OPERATOR)
        with pytest.raises(Conflict, match="already credited"):
            await house.gateway.perform("topup", {**mine, "reference": "bk-771"}, OPERATOR)


async def test_two_providers_may_give_the_same_reference(open_shop, quick):
    async with open_shop() as house:
        for method in ("bankily", "masrvi"):
            await confirm(house, await claim(house, await begin(house, method), "12345"))
        assert await house.balance() == "2000.00"
        assert_books_agree(house)


async def test_another_organization_cannot_block_whose_money_it_is(open_shop, quick):
    async with open_shop() as house:
        other = await house.organization("0.01")
        stranger = Caller("eve", CallerKind.DASHBOARD, Role.OWNER, other.organization_id)
        given = {"organization_id": other.organization_id, "method": "bankily", "amount": "500"}
        theirs = await house.gateway.perform("payment.begin", given, stranger)
        await claim(house, theirs, caller=stranger)
        mine = await claim(house, await begin(house))
        await confirm(house, mine)
        with pytest.raises(Conflict):
            await confirm(house, theirs)
        assert await house.balance(other) == "0.01"
        with pytest.raises(NotFound):
            await house.gateway.perform("payment.show", {"payment_id": mine["id"]}, stranger)


async def test_a_card_of_the_sandbox(open_shop, quick):
    async with open_shop() as house:
        payment = await begin(house, "sandbox")
        assert payment["checkoutUrl"] == f"/pay/sandbox/checkout/{payment['id']}"
        desk = service_of(house)
        with pytest.raises(Invalid) as wrong:
            await desk.callbacks.play(payment["id"], "4111111111111111")
        assert "4111" not in str(wrong.value)
        refused = await desk.callbacks.play(payment["id"], DECLINED)
        assert (refused.state, refused.cause) == ("refused", "declined")
        assert "banque" in refused.why["fr"]
        another = await begin(house, "sandbox")
        for _ in range(2):
            await desk.callbacks.play(another["id"], TAKEN)
        assert await house.balance() == "1500.00"
        bankily = await begin(house)
        for nowhere in (bankily["id"], "pay_x"):
            with pytest.raises(NotFound):
                desk.callbacks.playable(nowhere)
        assert_books_agree(house)


async def test_a_callback_is_taken_from_its_provider_alone(open_shop, quick):
    async with open_shop() as house:
        desk = service_of(house)
        payment = desk.payment((await begin(house, "sandbox"))["id"])
        card = open_shop.methods["sandbox"]
        handed = Payment(
            payment_id=payment.id,
            organization_id=payment.organization_id,
            amount=payment.amount,
            currency=payment.currency,
            language="fr",
            begun_at_ms=payment.begun_at,
            return_url="",
            callback_url="",
        )
        told = card.played(handed, TAKEN, house.gateway.services.recorder.clock.now_ms())
        forged = PaymentCallback(told.headers, {}, told.body.replace(b"50000", b"90000"), 0)
        for wrong in (forged, PaymentCallback({}, {}, told.body, 0)):
            with pytest.raises(ForgedCallbackError):
                await desk.callbacks.callback("sandbox", wrong)
        late = PaymentCallback(told.headers, {}, told.body, told.received_at_ms + 600_000)
        with pytest.raises(ForgedCallbackError):
            await desk.callbacks.callback("sandbox", late)
        for name in ("bankily", "nobody"):
            with pytest.raises(NotFound):
                await desk.callbacks.callback(name, told)
        for _ in range(3):
            assert await desk.callbacks.callback("sandbox", told) == 1
        assert await house.balance() == "1500.00"


async def test_a_report_without_our_id_is_matched_by_its_reference(open_shop, quick):
    async with open_shop() as house:
        till, desk = open_shop.methods["till"], service_of(house)
        till.answers = [PaymentPending(Confirmation.PROVIDER, reference="T-1")]
        await begin(house, "till")
        callback = PaymentCallback({}, {}, b"", house.gateway.services.recorder.clock.now_ms())
        till.reports = (PaymentReport(PaymentSettled("till", "t 1", 50_000, "MRU")),)
        await desk.callbacks.callback("till", callback)
        assert await house.balance() == "1500.00"
        await desk.callbacks.callback("till", callback)  # the provider tells again
        assert await house.balance() == "1500.00"
        till.reports = (PaymentReport(PaymentSettled("till", "t 2", 20_000, "MRU")),)
        with pytest.raises(NotFound):
            await desk.callbacks.callback("till", callback)


@pytest.mark.parametrize(("amount", "currency"), [(50_000, "EUR"), (5_000_000, "MRU"), (1, "MRU")])
async def test_what_was_not_asked_for_waits_for_the_operator(open_shop, quick, amount, currency):
    """A signed callback says what stands in the provider's account, where others may edit it."""
    async with open_shop() as house:
        till, desk = open_shop.methods["till"], service_of(house)
        till.answers = [PaymentPending(Confirmation.PROVIDER, reference="T-3")]
        payment = await begin(house, "till")
        callback = PaymentCallback({}, {}, b"", house.gateway.services.recorder.clock.now_ms())
        settled = PaymentSettled("till", "T-3", amount, currency)
        till.reports = (PaymentReport(settled, payment["id"]),)
        await desk.callbacks.callback("till", callback)
        shown = await house.gateway.perform("payment.show", {"payment_id": payment["id"]})
        assert (shown["state"], shown["byOperator"]) == ("waiting", True)
        assert await house.balance() == "1000.00"
        await confirm(house, payment, amount="500")
        await desk.callbacks.callback("till", callback)  # told again of what is credited
        assert await house.balance() == "1500.00"


async def test_a_method_that_does_not_answer_is_asked_again(open_shop, quick):
    till = open_shop.methods["till"]
    async with open_shop() as house:
        till.answers = [PaymentMethodError("no route to it"), PaymentMethodError("still none")]
        payment = await begin(house, "till")
        assert payment["state"] == "begun"
        again = {"payment_id": payment["id"]}
        with pytest.raises(Unavailable, match="does not answer"):
            await house.gateway.perform("payment.retry", again, owner_of(house))
    # The next start asks once more, with the same id.
    async with open_shop() as house:
        await till.answered.wait()
        await trio.testing.wait_all_tasks_blocked()
        assert service_of(house).payment(payment["id"]).state == "waiting"
        assert {each.payment_id for each in till.asked} == {payment["id"]}
        assert len(till.asked) == 3


async def test_a_method_that_is_down_at_the_start_is_asked_until_it_answers(open_shop, quick):
    till = open_shop.methods["till"]
    async with open_shop() as house:
        till.answers = [PaymentMethodError("no route to it")]
        payment = await begin(house, "till")
    till.answers = [PaymentMethodError("still none")] * 3
    async with open_shop() as house:
        await trio.sleep(20 * AGAIN_S)
        assert service_of(house).payment(payment["id"]).state == "waiting"
        assert len(till.asked) == 1 + 3 + 1


@pytest.mark.parametrize("answer", [KeyError("a bug"), "a word"])
async def test_a_bug_of_a_method_hurts_nobody_else(open_shop, quick, answer):
    till = open_shop.methods["till"]
    async with open_shop() as house:
        till.answers = [answer]
        payment = await begin(house, "till")
        assert payment["state"] == "begun"
    till.answers = [answer]
    async with open_shop() as house:
        await trio.testing.wait_all_tasks_blocked()
        assert service_of(house).payment(payment["id"]).state == "begun"
        again = {"payment_id": payment["id"]}
        found = await house.gateway.perform("payment.retry", again, OPERATOR)
        assert found["state"] == "waiting"
        till.answers = [PaymentSettled("till", "R-0", 0, "MRU")]
        nothing = await begin(house, "till")
        assert (nothing["state"], nothing["byOperator"]) == ("begun", True)
        assert_books_agree(house)


async def test_a_method_that_settles_at_once_credits_at_once(open_shop, quick):
    async with open_shop() as house:
        open_shop.methods["till"].answers = [PaymentSettled("till", "R-1", 30_000, "MRU")]
        payment = await begin(house, "till", amount="300")
        assert (payment["state"], payment["decidedBy"]) == ("confirmed", None)
        assert await house.balance() == "1300.00"


async def test_what_nobody_paid_expires_and_is_credited_if_money_comes_after_all(open_shop, quick):
    async with open_shop() as house:
        payment = await begin_short(open_shop, house)
        await trio.sleep(MINUTE_S)
        shown = await house.gateway.perform("payment.show", {"payment_id": payment["id"]})
        assert (shown["state"], shown["asks"]) == ("expired", [])
        with pytest.raises(Conflict):
            await claim(house, payment)
        await confirm(house, payment, reference="BK-1")
        assert await house.balance() == "1500.00"
        # Who said that they paid waits, however long the operator takes.
        claimed = await begin(house)
        assert claimed["expiresAt"]
        assert (await claim(house, claimed, "BK-2"))["expiresAt"] is None


async def test_so_many_at_once_and_so_much(open_shop, quick):
    limits = PaymentsSection(open_max=2, amount_max="1000")
    async with open_shop(payments=limits) as house:
        for _ in range(2):
            await begin_short(open_shop, house)
        with pytest.raises(Conflict, match="at most 2 open payments"):
            await begin(house)
        await trio.sleep(MINUTE_S)
        await begin(house)
        for wrong in ({"amount": "1000.01"}, {"method": "gold"}, {"entered": {"x": "y"}}):
            with pytest.raises(Invalid):
                await begin(house, **wrong)
        till = open_shop.methods["till"]
        till.offer = PaymentOffer({"en": "Desk"}, begun_by=Beginner.OPERATOR)
        with pytest.raises(Forbidden):
            await begin(house, "till")
        offered = await house.gateway.perform("payment.methods", {}, owner_of(house))
        assert [each["name"] for each in offered["methods"]] == ["bankily", "masrvi", "sandbox"]
        assert offered["methods"][0]["amountMax"] == "1000.00"


@pytest.mark.parametrize("reference", ["", "   ", "—", "x" * 201])
async def test_a_reference_has_letters_or_digits(open_shop, quick, reference):
    async with open_shop() as house:
        payment = await begin(house)
        with pytest.raises(Invalid) as wrong:
            await claim(house, payment, reference)
        assert wrong.value.path == "entered.reference"


async def test_a_suspended_organization_tops_up(open_shop, quick):
    async with open_shop() as house:
        mine = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("org.suspend", mine, OPERATOR)
        await confirm(house, await claim(house, await begin(house)))
        assert await house.balance() == "1500.00"


async def test_lists_go_on_by_key(open_shop, quick):
    async with open_shop() as house:
        made = []
        for _ in range(5):
            made.append((await begin(house))["id"])
            await trio.sleep(1)
        refused = {"payment_id": made[1], "reason": "nothing came"}
        told = await house.gateway.perform("payment.refuse", refused, OPERATOR)
        assert told["why"] == {"en": "nothing came"}
        asked = {"organization_id": house.principal.organization_id, "limit": 2, "open": True}
        page = await house.gateway.perform("payment.list", asked, owner_of(house))
        assert [each["id"] for each in page["payments"]] == [made[4], made[3]]
        asked["before"] = page["next"]
        page = await house.gateway.perform("payment.list", asked, owner_of(house))
        assert [each["id"] for each in page["payments"]] == [made[2], made[0]]
        assert page["next"] is None


async def test_owners_are_told_by_mail_what_became_of_it(open_shop, quick):
    async with open_shop() as house:
        mine = {"organization_id": house.principal.organization_id}
        for email, role, language in (("a@x.mr", "owner", "fr"), ("b@x.mr", "developer", "en")):
            await house.gateway.perform("user.create", {"email": email, "language": language})
            await house.gateway.perform("member.add", {**mine, "email": email, "role": role})
        await confirm(house, await claim(house, await begin(house)), amount="450")
        await trio.testing.wait_all_tasks_blocked()
        (mail,) = open_shop.mails.sent
        assert mail.to == "a@x.mr"
        assert mail.subject.replace("\u00a0", " ").startswith("450,00 MRU sont crédités")
        assert "BK-7710342" in mail.text
        payment = await claim(house, await begin(house), "BK-2\u202e")
        refused = {"payment_id": payment["id"], "reason": "Not in the account."}
        for _ in range(2):
            await house.gateway.perform("payment.refuse", refused, OPERATOR)
        await trio.testing.wait_all_tasks_blocked()
        assert len(open_shop.mails.sent) == 2
        assert "Not in the account." in open_shop.mails.sent[1].text
        assert f"/billing/payments/{payment['id']}" in open_shop.mails.sent[1].text
        assert "\u202e" not in open_shop.mails.sent[1].subject


async def test_the_audit_proves_payments_by_the_ledger(open_shop, quick):
    async with open_shop() as house:
        payment = await confirm(house, await claim(house, await begin(house)))
        journal = house.gateway.services.recorder.journal
        assert_books_agree(house)
        await journal.commit(lambda conn: conn.execute("UPDATE payments SET paid = 1") and None)
        (fault,) = audit(house.gateway.services.repositories._store.reader).faults
        assert payment["id"] in fault


async def test_a_report_of_another_method_s_payment_or_of_nothing_is_refused(open_shop, quick):
    async with open_shop() as house:
        till, desk = open_shop.methods["till"], service_of(house)
        theirs = await begin(house, "bankily")
        callback = PaymentCallback({}, {}, b"", house.gateway.services.recorder.clock.now_ms())
        settled = PaymentSettled("till", "T-9", 50_000, "MRU")
        for report in (
            PaymentReport(settled, theirs["id"]),
            PaymentReport(PaymentRefused("declined", {"en": "No."})),
        ):
            till.reports = (report,)
            with pytest.raises(NotFound, match="no such payment"):
                await desk.callbacks.callback("till", callback)
        assert desk.payment(theirs["id"]).state == "waiting"
        assert await house.balance() == "1000.00"
