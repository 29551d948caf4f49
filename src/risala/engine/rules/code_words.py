"""What of a caller's words may stand in the text of a code, and which payment a check is for.
Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from risala.engine.rules.template import TEMPLATE_MAX, template_fault
from risala.sms.code_texts.catalogue import has_link
from risala.sms.currencies import decimals_of, has_too_many

VARIABLES_MAX: Final = 10
PAYMENT: Final = ("amount", "currency", "payee")
"""Members that name a payment; a request has all of them, or none."""
REPORTS: Final = ("approved", "failed")
"""What a caller may say of a code of its own."""

_JOINERS: Final = "\u200c\u200d"
"""Persian names are written with them."""
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Unicode's categories of control characters, marks of direction, line breaks, and what is no
character."""
_variable: Final = re.compile(r"\{\{(?!code\}\}|expiry_minutes\}\})([a-z][a-z0-9_]{0,39})\}\}")


def word_of(text: str) -> str:
    """A caller's word in the form in which it is sent, stored and compared."""
    return unicodedata.normalize("NFC", text.strip())


def word_fault(word: str, *, links: bool = False) -> str | None:
    """Why a word may not stand in a text, as the end of a sentence; None: it may.

    Args:
        links: whether it may be or contain a link.
    """
    if any(unicodedata.category(each) in _HIDDEN and each not in _JOINERS for each in word):
        return "must be one line without control characters and marks of direction."
    if not links and has_link(word):
        return "must not be or contain a link."
    if "{{" in word or "}}" in word:
        return "must not contain placeholders."
    return None


def named_template_fault(template: str) -> str | None:
    """What is wrong with a template whose variables requests fill in, as a sentence; None:
    nothing."""
    if len(template) > TEMPLATE_MAX:
        return f"A template can have at most {TEMPLATE_MAX} characters."
    if len(variables_of(template)) > VARIABLES_MAX:
        return f"A template can have at most {VARIABLES_MAX} variables."
    return template_fault(_variable.sub("", template))


def variables_of(template: str) -> list[str]:
    """The names of a template's variables."""
    return [*dict.fromkeys(_variable.findall(template))]


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
