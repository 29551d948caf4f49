"""A shop that tops up: what tests of payments do over and over."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import trio

from risala.drivers.payments.mobile_money import MobileMoneySettings, build_wallet
from risala.engine.features.payments.service import PaymentService
from risala.engine.journal.audit.books import audit
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.plugins.payment import (
    Confirmation,
    Payment,
    PaymentCallback,
    PaymentOffer,
    PaymentPending,
    PaymentReport,
)

OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)
MERCHANT = "038 221"


@dataclass
class Till:
    """A method that does what a test tells it, and writes down what it was asked."""

    offer: PaymentOffer = field(default_factory=lambda: PaymentOffer({"en": "Till"}))
    answers: list[Any] = field(default_factory=list)
    polled: list[Any] = field(default_factory=list)
    """What comes of the next polls; the last one for ever."""
    asked: list[Payment] = field(default_factory=list)
    polls: list[float] = field(default_factory=list)
    """When it was polled, by Trio's clock."""
    reports: tuple[PaymentReport, ...] = ()

    async def begin(self, payment: Payment) -> Any:
        await trio.lowlevel.checkpoint()
        self.asked.append(payment)
        return self._said(self.answers or [PaymentPending(Confirmation.PROVIDER)])

    async def poll(self, payment: Payment) -> Any:
        await trio.lowlevel.checkpoint()
        self.polls.append(trio.current_time())
        return self._said(self.polled)

    def _said(self, answers: list[Any]) -> Any:
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        return self.reports


def wallet(name: str = "bankily", **settings: Any) -> Any:
    """A wallet of this name, by its settings."""
    given = {"merchant": MERCHANT, **settings}
    return build_wallet(name, name.capitalize(), MobileMoneySettings.model_validate(given))


@dataclass
class Shop:
    """An organization of a running house, and its owner at the billing page."""

    house: Any
    organization_id: str

    @property
    def owner(self) -> Caller:
        return Caller("aicha", CallerKind.DASHBOARD, Role.OWNER, self.organization_id)

    async def do(self, name: str, caller: Caller | None = None, /, **given: Any) -> Any:
        return await self.house.gateway.perform(name, given, caller or self.owner)

    async def operate(self, name: str, /, **given: Any) -> Any:
        return await self.house.gateway.perform(name, given, OPERATOR)

    async def begin(self, method: str = "bankily", amount: str = "500") -> Any:
        mine = {"organization_id": self.organization_id}
        return await self.do("payment.begin", method=method, amount=amount, **mine)

    async def claim(self, payment: Any, reference: str = "BK-7710342", **entered: str) -> Any:
        entered = {"reference": reference, **entered}
        return await self.do("payment.claim", payment_id=payment["id"], entered=entered)

    async def show(self, payment: Any) -> Any:
        return await self.do("payment.show", payment_id=payment["id"])

    async def balance(self) -> str:
        given = {"organization_id": self.organization_id}
        return (await self.operate("org.show", **given))["balance"]

    def code(self) -> str:
        """The code that the last phone got."""
        return re.findall(r"\b[0-9]{6}\b", self.house.driver.submitted[-1].text)[-1]

    async def prove(self, payment: Any) -> Any:
        """Type the code that came to the payer's number."""
        await trio.testing.wait_all_tasks_blocked()
        given = {"payment_id": payment["id"], "code": self.code()}
        return await self.do("payment.check_payer", **given)


def service_of(house: Any) -> PaymentService:
    """The payments of a running house."""
    service: PaymentService = house.gateway.services.part(PaymentService)
    return service


async def found_shop(house: Any, balance: str | None = None) -> Shop:
    """A shop with this balance; with none where nothing is said."""
    made = await house.gateway.perform("org.create", {"name": "Shop"})
    if balance is not None:
        given = {"organization_id": made["id"], "amount": balance}
        await house.gateway.perform("topup", given)
    return Shop(house, made["id"])


def assert_books_agree(house: Any) -> None:
    assert audit(house.gateway.services.repositories._store.reader).faults == ()
