"""Ways to pay as plugins like any other: mobile money, cards by Stripe, and a card for demos."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.payments.mobile_money import BANKILY, MASRVI, SEDAD
from risala.drivers.payments.sandbox import SANDBOX
from risala.drivers.payments.stripe import STRIPE
from risala.plugins.hookspecs import hookimpl
from risala.plugins.payment import PaymentMethodFactory


@hookimpl
def risala_register_payment_methods(register: Callable[[PaymentMethodFactory], None]) -> None:
    for factory in (BANKILY, MASRVI, SEDAD, STRIPE, SANDBOX):
        register(factory)
