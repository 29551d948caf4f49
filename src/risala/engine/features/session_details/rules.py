"""Templates whose variables requests fill in, and which payment a check is for. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from risala.engine.rules.template import (
    TEMPLATE_MAX,
    VARIABLE,
    VARIABLES_MAX,
    template_fault,
    variables_of,
    word_of,
)
from risala.sms.currencies import decimals_of, has_too_many

PAYMENT: Final = ("amount", "currency", "payee")
"""Members that name a payment; a request has all of them, or none."""


def named_template_fault(template: str) -> str | None:
    """What is wrong with a template whose variables requests fill in, as a sentence; None:
    nothing."""
    if len(template) > TEMPLATE_MAX:
        return f"A template can have at most {TEMPLATE_MAX} characters."
    if len(variables_of(template)) > VARIABLES_MAX:
        return f"A template can have at most {VARIABLES_MAX} variables."
    return template_fault(VARIABLE.sub("", template))


def names_payment(template: str) -> bool:
    """Whether a template itself names the payment that a code is for."""
    return set(PAYMENT) <= {*variables_of(template)}


def minor_of(amount: str, currency: str) -> int | None:
    """A decimal string in minor units of its currency; None: it has more decimals than that."""
    whole, _, part = amount.partition(".")
    places = decimals_of(currency)
    if has_too_many(part, places):
        return None
    return int(whole + part[:places].ljust(places, "0"))


def shown_amount(minor: int, currency: str) -> str:
    """An amount as texts name it: with all decimals of its currency."""
    places = decimals_of(currency)
    digits = str(minor).zfill(places + 1)
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def same_payment(stored: Mapping[str, Any], checked: Mapping[str, Any]) -> bool:
    """Whether a check names the payment that its code is for.

    Args:
        stored: the amount in minor units, currency and payee.
        checked: the amount as a decimal string, currency and payee.
    """
    try:
        amount = Decimal(checked["amount"]).scaleb(decimals_of(stored["currency"]))
    except InvalidOperation:
        return False
    payment = (amount, checked["currency"], word_of(checked["payee"]))
    return payment == (stored["amount"], stored["currency"], stored["payee"])
