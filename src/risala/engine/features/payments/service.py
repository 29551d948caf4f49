"""The payment service begins, claims, confirms and refuses payments.

Each step is stored before it is shown. Methods only answer; the :class:`CreditWriter` stores the
answers, and credits what came, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.delivery.driver_context import TextTaker
from risala.engine.features.payments.bank_sms_reader import BankSmsReader
from risala.engine.features.payments.credit_writer import CreditWriter, key_of
from risala.engine.features.payments.payers import Payers, payer_of
from risala.engine.features.payments.records import (
    AskedField,
    PaymentChange,
    PaymentState,
    StoredPayment,
)
from risala.engine.features.payments.reports import Callbacks, Polls
from risala.engine.features.payments.sources import PaymentSources
from risala.engine.features.payments.stored.repository import PaymentRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, FieldFault, Invalid, NotFound, Unavailable
from risala.engine.model.features import Task
from risala.engine.model.money import minor_units
from risala.engine.model.people_records import OwedMail
from risala.engine.people.letters import Letters, Values, Words, amount, named
from risala.engine.services import Services
from risala.plugins.payment import (
    ENTERED_CHARACTERS_MAX,
    Claimed,
    PaymentField,
    PaymentOffer,
    PaymentSettled,
)

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = structlog.get_logger(__name__)

UNANSWERED_MS: Final = 86_400_000
"""How long a method may take to answer the first step, before the payment ends."""
_OPEN: Final = (PaymentState.BEGUN, PaymentState.WAITING)
_DAY: Final = (*_OPEN, PaymentState.CONFIRMED, PaymentState.REFUSED)
BEGUN_AT_ONCE: Final = 100
"""Payments that are read together when a start looks for those that a crash has cut off."""
OPERATOR: Final = "operator"
"""The cause of a refusal by an operator."""
UNCHECKED: Final = (
    "The customer has not proven that the payer's number is theirs. If you know whose money it "
    "is, confirm the payment as unchecked."
)
AGAIN_S: Final = 30.0
"""Until a method that did not answer for a payment that was cut off is asked again; then ever
longer."""
AGAIN_MAX_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class PaymentWish:
    """What a customer wants to pay."""

    organization_id: str
    method: str
    amount: int
    language: str
    entered: Mapping[str, str]


class PaymentService:
    def __init__(self, services: Services) -> None:
        self._have = sources = PaymentSources.of(services)
        self._writer = CreditWriter(sources)
        self.callbacks = Callbacks(sources, self._writer)
        self._items = sources.set_aside.loop("payments")
        self.polls = Polls(sources, self._writer)
        self.payers = Payers(sources, self._writer)
        self.reader = BankSmsReader(sources, self._writer)

    # -- reading

    @property
    def offers(self) -> Mapping[str, PaymentOffer]:
        """How each method is offered, by its name."""
        return {name: method.offer for name, method in self._have.methods.items()}

    def most(self, offer: PaymentOffer) -> int:
        """The most that is paid at once, in minor units."""
        most = minor_units(self._have.settings.payments.amount_max)
        return most if offer.amount_max is None else min(offer.amount_max, most)

    def payment(self, payment_id: str) -> StoredPayment:
        """One payment. Raises ``NotFound``."""
        return self._have.payments.payment(payment_id)

    # -- steps

    def draft(self, wish: PaymentWish, begun_by: str) -> StoredPayment:
        """A payment that is not stored yet.

        Raises:
            Invalid: the method does not exist, does not take this amount, or needs an entry first.
            NotFound: the organization does not exist.
        """
        method = self._have.methods.get(wish.method)
        if method is None:
            raise Invalid("method", "unknown_method", "There is no such payment method.")
        offer, now_ms = method.offer, self._have.now_ms()
        if not offer.amount_min <= wish.amount <= self.most(offer):
            text = "The amount is below or above what can be paid at once."
            raise Invalid("amount", "amount_out_of_range", text)
        organization = self._have.accounts.organization(wish.organization_id)
        return StoredPayment(
            id=self._have.ids.new("pay"),
            organization_id=organization.id,
            method=wish.method,
            amount=wish.amount,
            currency=organization.currency,
            language=wish.language,
            state=PaymentState.BEGUN,
            by_operator=False,
            reference=None,
            reference_key=None,
            instructions={},
            checkout_url=None,
            asks=(),
            entered=entered_of(offer.asks_first, wish.entered),
            cause=None,
            why={},
            provider=None,
            paid=None,
            payer=None,
            entry=None,
            begun_by=begun_by,
            decided_by=None,
            begun_at=now_ms,
            claimed_at=None,
            decided_at=None,
            expires_at=now_ms + UNANSWERED_MS,
        )

    async def begin(self, drafted: StoredPayment, by: AuditEntry) -> StoredPayment:
        """Store a payment, then ask its method. If that cannot answer, the payment stays begun.

        Raises:
            Conflict: too many are under way.
        """
        open_max = self._have.settings.payments.open_max
        stored = await self._have.payments.add(by, drafted, open_max)
        try:
            return await self.go_on(stored.id)
        except Unavailable:
            return self.payment(stored.id)

    async def go_on(self, payment_id: str) -> StoredPayment:
        """Ask the method for the first step, if it has not answered yet.

        Raises:
            NotFound: the payment does not exist.
            Unavailable: the method cannot be asked.
        """
        async with self._writer.turn(payment_id):
            payment = self.payment(payment_id)
            if payment.state_at(self._have.now_ms()) is not PaymentState.BEGUN:
                return payment
            return await self._writer.step(payment, self._writer.method(payment).begin)

    async def claim(
        self, payment_id: str, entered: Mapping[str, str], by: AuditEntry
    ) -> StoredPayment:
        """The customer has paid, and enters the method's fields.

        Raises:
            NotFound: the payment does not exist.
            Conflict: no entry is expected any longer.
            Invalid: something is missing, or its reference was credited or waits already.
            Unavailable: the method cannot be asked; the entries are kept.
        """
        async with self._writer.turn(payment_id):
            payment, now_ms = self.payment(payment_id), self._have.now_ms()
            if payment.state_at(now_ms) is not PaymentState.WAITING or not payment.asks:
                raise Conflict("This payment no longer needs anything from you.")
            method = self._writer.method(payment)
            entries = entered_of(payment.asks, entered)
            field_name, reference = reference_of(payment.asks, entries)
            change: PaymentChange = {
                "entered": {**payment.entered, **entries},
                "claimed_at": now_ms,
            }
            if reference is not None:
                key = key_of(field_name, reference)
                self._refuse_used(payment, field_name, key)
                change |= {"reference": reference, "reference_key": key}
            if (number := payer_of(self._have.settings.plan, payment.asks, entries)) is not None:
                change["payer_number"] = number
            claimed = await self._have.payments.change(by, payment_id, change)
            if isinstance(method, Claimed):
                claimed = await self._writer.step(claimed, method.claim)
            claimed = await self.payers.begin(claimed)
        self._have.texts.ring()
        return claimed

    def _refuse_used(self, payment: StoredPayment, field_name: str, key: str) -> None:
        stored, path = self._have.payments, f"entered.{field_name}"
        if stored.is_credited(payment.method, key):
            text = "This reference was already credited."
            raise Invalid(path, "reference_used", text)
        for each in stored.matching(payment.method, key):
            if each.id != payment.id and each.organization_id == payment.organization_id:
                text = "This reference is already waiting for confirmation."
                raise Invalid(path, "reference_waits", text)

    # -- decisions

    async def confirm(
        self,
        payment_id: str,
        reference: str | None,
        amount: int | None,
        who: str,
        by: AuditEntry,
        *,
        unchecked: bool = False,
    ) -> StoredPayment:
        """An operator confirms that the money came: it is credited, once.

        Args:
            reference: the transaction's own; None: the one that the customer entered.
            amount: what really came; None: what the customer wanted to pay.
            unchecked: even if the customer was asked to prove that the payer's number is theirs,
                and has not.

        Raises:
            NotFound: the payment does not exist.
            Invalid: the reference is missing.
            Conflict: the reference was credited already; or the payer's number is not checked.
        """
        payment = self.payment(payment_id)
        reference = reference or payment.reference
        if reference is None:
            text = "`reference` is required: the customer has not entered it."
            raise Invalid("reference", "missing", text)
        if not unchecked and payment.is_open and self.payers.is_owed(payment):
            raise Conflict(UNCHECKED)
        settled = PaymentSettled(
            payment.method,
            reference,
            payment.amount if amount is None else amount,
            payment.currency,
            payment.payer_number,
        )
        await self._writer.credit(payment, settled, who, by)
        return self.payment(payment_id)

    async def refuse(self, payment_id: str, reason: str, who: str, by: AuditEntry) -> StoredPayment:
        """An operator reports that no money came.

        Raises:
            NotFound: the payment does not exist.
            Conflict: it is credited.
        """
        why, at = {"en": reason}, self._have.now_ms()
        refused = await self._have.payments.refuse(
            by, payment_id, cause=OPERATOR, why=why, who=who, at=at
        )
        self._have.owed()
        return refused

    # -- service

    async def run(self) -> None:
        """Ask again about payments that a crash has cut off before their method answered, until
        each has an answer: a method may be down when the service starts."""
        again_s = AGAIN_S
        while await self._ask_cut_off():
            await trio.sleep(again_s)
            again_s = min(2 * again_s, AGAIN_MAX_S)
        await trio.sleep_forever()

    async def _ask_cut_off(self) -> bool:
        """Whether one of them is to be asked about again: its method did not answer, or it cannot
        be read."""
        after, is_silent = "", False

        def pass_over(payment_id: str, fault: Exception) -> None:
            nonlocal is_silent
            is_silent = True
            self._items.broken_row(payment_id, fault)

        while cut_off := self._have.payments.begun(BEGUN_AT_ONCE, after, pass_over):
            for each in cut_off:
                after = each.id
                if self._items.is_free(each.id):
                    with self._items.item(each.id):
                        is_silent = await self._is_silent(each.id) or is_silent
                is_silent = is_silent or not self._items.is_free(each.id)
        return is_silent

    async def _is_silent(self, payment_id: str) -> bool:
        """Whether its method did not answer."""
        try:
            await self.go_on(payment_id)
        except (Unavailable, NotFound, Conflict) as error:
            log.warning("payment.begin", payment_id=payment_id, reason=str(error))
            return isinstance(error, Unavailable)
        return False


def access(services: Services) -> Callbacks:
    return services.part(PaymentService).callbacks


def taker(services: Services, carrier: str) -> TextTaker | None:
    return services.part(PaymentService).reader.taker(carrier)


def tasks(services: Services) -> Sequence[Task]:
    """The ends of payments, providers that are asked, and banks' texts."""
    payments = services.part(PaymentService)
    return (
        ("payments", payments.run, True),
        ("payments' polls", payments.polls.run, True),
        ("payments' texts", payments.reader.run, True),
    )


# -- what mails say, and what customers enter


def letter(letters: Letters, owed: OwedMail, _: Words) -> Values:
    """What fills the words of a mail about a payment that was confirmed or refused."""
    payment = letters.repositories.part(PaymentRepository).payment(owed.details["payment"])
    organization = letters.accounts.fresh_organization(payment.organization_id)
    return {
        "organization": named(organization),
        "amount": amount(payment.amount if payment.paid is None else payment.paid, owed.language),
        "currency": payment.currency,
        "reference": payment.reference or payment.id,
        "why": payment.why.get(owed.language.value) or payment.why.get("en", ""),
        "balance": amount(organization.balance, owed.language),
        "url": f"{letters.url}/app/{organization.id}/billing/payments/{payment.id}",
    }


def entered_of(
    asks: Sequence[AskedField | PaymentField], texts: Mapping[str, str]
) -> dict[str, str]:
    """The entries, each on one line.

    Raises:
        Invalid: a field is missing, too long, or unknown.
    """
    entered = {name: " ".join(text.split()) for name, text in texts.items()}
    faults = [
        FieldFault(f"entered.{name}", "unknown_argument", "This field is not expected.")
        for name in entered.keys() - {each.name for each in asks}
    ]
    for each in asks:
        path, text = f"entered.{each.name}", entered.get(each.name, "")
        if not text:
            faults.append(FieldFault(path, "missing", f"`{path}` is required."))
        elif len(text) > ENTERED_CHARACTERS_MAX:
            sentence = f"`{path}` has at most {ENTERED_CHARACTERS_MAX} characters."
            faults.append(FieldFault(path, "invalid_length", sentence))
    if faults:
        raise Invalid.of(faults)
    return entered


def reference_of(asks: Sequence[AskedField], entered: Mapping[str, str]) -> tuple[str, str | None]:
    """The field with the transaction's reference, and its value; None if no field asks for one."""
    for each in asks:
        if each.is_reference:
            return each.name, entered[each.name]
    return "", None


def of_payments(repositories: Repositories, now_ms: int) -> Iterator[Metric]:
    """The metrics of payments, by their states. All queries are bounded."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import gauge

    payments = repositories.part(PaymentRepository)
    known = payments.count_open()
    text = "Payments that are not decided yet, by their state; not counted beyond 10000."
    yield gauge(
        "payments_open", text, [({"state": state.value}, known.get(state, 0)) for state in _OPEN]
    )
    today = payments.count_of_day(now_ms)
    text = "Payments begun in the last 24 hours, by their state now; not counted beyond 10000."
    yield gauge(
        "payments_last_day", text, [({"state": state.value}, today.get(state, 0)) for state in _DAY]
    )
