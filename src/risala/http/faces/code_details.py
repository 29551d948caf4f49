"""What programs in another gateway's words say of a code, as members of the API: every value is
checked here, even if the face has let it pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Any, Final

from risala.config.verify import VerifySection
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import Invalid
from risala.engine.model.records.verify.sessions import (
    PAYEE_CHARACTERS_MAX,
    TAG_CHARACTERS_MAX,
    TAGS_MAX,
    TEMPLATE_NAME_CHARACTERS_MAX,
)
from risala.engine.model.wire import is_text
from risala.engine.rules.template import VARIABLES_MAX, word_fault, word_of
from risala.http.common.client_address import parse_address
from risala.plugins.face import CompatCodeDetails, CompatPayment
from risala.sms.code_texts.catalogue import language_of

_is_code: Final = re.compile(r"[0-9]{4,8}", re.ASCII).fullmatch
_is_amount: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,4})?", re.ASCII).fullmatch
_is_currency: Final = re.compile(r"[A-Z]{3}", re.ASCII).fullmatch


def code_of(to: str, details: CompatCodeDetails, verify: VerifySection) -> SendCode:
    """A code as a body of the API asks for it.

    Raises:
        Invalid: a value that the API would refuse.
    """
    locale, tag = details.locale, details.language_tag
    if locale is None and tag is not None:
        locale = language_of(tag, verify.texts)
    beside: dict[str, Any] = {
        "clientIp": None if not details.client_ip else _address(details.client_ip),
        "tags": _tags(details),
        "code": details.code,
        "template": details.template,
        "variables": _variables(details.variables, links=verify.links_in_variables),
        **payment_of(details.payment),
    }
    is_code = details.code is None or _is_code(details.code) is not None
    _want(is_code, "code", "A code of your own has 4 to 8 digits.")
    is_name = details.template is None or _fits(details.template, TEMPLATE_NAME_CHARACTERS_MAX)
    _want(is_name, "template", f"A text has a name of 1 to {TEMPLATE_NAME_CHARACTERS_MAX} letters.")
    return SendCode(to, locale, beside={name: value for name, value in beside.items() if value})


def payment_of(payment: CompatPayment | None) -> dict[str, str]:
    """A payment as members of the API name it; empty: there is none.

    Raises:
        Invalid: a value that the API would refuse.
    """
    if payment is None:
        return {}
    _want(_is_amount(payment.amount) is not None, "amount", "An amount is like 1500.00.")
    _want(_is_currency(payment.currency) is not None, "currency", "A currency is like MRU.")
    payee = _word("payee", payment.payee)
    _want(payee != "", "payee", "The payee is missing.")
    return {"amount": payment.amount, "currency": payment.currency, "payee": payee}


def _address(text: str) -> str:
    address = parse_address(text)
    if address is None:
        sentence = "The user's address is neither IPv4 nor IPv6."
        raise Invalid("client_ip", "invalid_address", sentence)
    # Without the name of an interface (%eth0), which tells nothing of the user.
    return str(IPv6Address(int(address)) if address.version == 6 else address)


def _tags(details: CompatCodeDetails) -> list[str]:
    are_few = len(details.tags) <= TAGS_MAX
    _want(
        are_few and all(_fits(each, TAG_CHARACTERS_MAX) for each in details.tags),
        "tags",
        f"There are at most {TAGS_MAX} tags of 1 to {TAG_CHARACTERS_MAX} characters.",
    )
    return [*details.tags]


def _variables(variables: Mapping[str, str], *, links: bool) -> dict[str, str]:
    are_few = len(variables) <= VARIABLES_MAX
    _want(
        are_few and all(_fits(name, TEMPLATE_NAME_CHARACTERS_MAX) for name in variables),
        "variables",
        f"There are at most {VARIABLES_MAX} variables, with names of 1 to"
        f" {TEMPLATE_NAME_CHARACTERS_MAX} characters.",
    )
    return {name: _word("variables", value, links=links) for name, value in variables.items()}


def _word(path: str, text: str, *, links: bool = False) -> str:
    """A word that stands in the text of a code."""
    _want(len(text) <= PAYEE_CHARACTERS_MAX, path, f"At most {PAYEE_CHARACTERS_MAX} characters.")
    word = word_of(text)
    fault = word_fault(word, links=links)
    _want(fault is None, path, f"What the text names {fault}")
    return word


def _fits(text: str, characters_max: int) -> bool:
    return 0 < len(text) <= characters_max and is_text(text)


def _want(is_right: bool, path: str, sentence: str) -> None:
    if not is_right:
        raise Invalid(path, "invalid", sentence)
