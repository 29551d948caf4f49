"""What callers with a secret key may say of a code besides (contract §14): the members, and what
each may be.

Loaded with the first such request: a page with a publishable key never says any of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Annotated, Any, Final, cast

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from risala.engine.model.commands import SendCode
from risala.engine.model.records.verify.sessions import (
    PAYEE_CHARACTERS_MAX,
    TAG_CHARACTERS_MAX,
    TAGS_MAX,
    TEMPLATE_NAME_CHARACTERS_MAX,
    USER_AGENT_CHARACTERS_MAX,
)
from risala.engine.rules.people.emails import normalised
from risala.engine.rules.template import REPORTS, VARIABLES_MAX, word_fault, word_of
from risala.http.api import fields
from risala.http.api.quick import CODE_CHARACTERS
from risala.http.api.verify_bodies import CheckBody, CodeGuess, PublishableSendBody
from risala.http.common.client_address import parse_address
from risala.http.common.parse import has_escapes, read_object
from risala.http.common.validation import RequestBody, validate
from risala.sms.numbering.plan import DEFAULT, EXAMPLE

_FIT: Final = {"pattern": fields.FIT_PATTERN}
_ONLY: Final = "From secret keys alone; ignored from publishable ones."


def _client_ip(text: str) -> str:
    address = parse_address(text)
    if address is None:
        raise PydanticCustomError("invalid_address", "`clientIp` must be an IPv4 or IPv6 address.")
    # Without the name of an interface (%eth0), which tells nothing of the user.
    return str(IPv6Address(int(address)) if address.version == 6 else address)


def _payee(text: str) -> str:
    payee = word_of(text)
    fault = word_fault(payee) if payee else "must have at least 1 character(s)."
    if fault is not None:
        raise PydanticCustomError("invalid_payee", "`payee` {fault}", {"fault": fault})
    return payee


def _pattern(code: str, pattern: str, sentence: str) -> AfterValidator:
    """Refuses a text that has not the pattern."""
    matches = re.compile(pattern, re.ASCII).fullmatch

    def check(text: str) -> str:
        if matches(text) is None:
            raise PydanticCustomError(code, "{sentence}", {"sentence": sentence})
        return text

    return AfterValidator(check)


_AMOUNT: Final = r"[0-9]{1,12}(\.[0-9]{1,4})?"
_CURRENCY: Final = "[A-Z]{3}"
_CODE: Final = "[0-9]{4,8}"
Amount = Annotated[
    str,
    _pattern("invalid_amount", _AMOUNT, "`amount` must be a decimal number like 1500.00."),
    Field(examples=["1500.00"], json_schema_extra={"pattern": f"^{_AMOUNT}$"}),
]
Currency = Annotated[
    str,
    _pattern("invalid_currency", _CURRENCY, "`currency` must be a code like MRU."),
    Field(examples=["MRU"], json_schema_extra={"pattern": f"^{_CURRENCY}$"}),
]
OwnCode = Annotated[
    str,
    _pattern("invalid_code", _CODE, "`code` must have 4 to 8 digits."),
    Field(json_schema_extra={"pattern": f"^{_CODE}$"}),
]
_ClientIp = Annotated[str, AfterValidator(_client_ip)]
_Tag = Annotated[
    str,
    Field(
        min_length=1,
        max_length=TAG_CHARACTERS_MAX,
        examples=["sign-up"],
        json_schema_extra=_FIT,
    ),
]


_Payee = Annotated[
    str, Field(max_length=PAYEE_CHARACTERS_MAX, json_schema_extra=_FIT), AfterValidator(_payee)
]


def _recipient(text: str, info: ValidationInfo) -> str:
    address = normalised(text) if "@" in text else None
    return fields.number(text, info) if address is None else address


def _variable(text: str, info: ValidationInfo) -> str:
    word = word_of(text)
    fault = word_fault(word, links=cast(fields.BodyContext, info.context).links)
    if fault is not None:
        raise PydanticCustomError(
            "invalid_variable", "Each of `variables` {fault}", {"fault": fault}
        )
    return word


_VariableName = Annotated[
    str, Field(min_length=1, max_length=TEMPLATE_NAME_CHARACTERS_MAX, json_schema_extra=_FIT)
]
_Variable = Annotated[
    str, Field(max_length=PAYEE_CHARACTERS_MAX, json_schema_extra=_FIT), AfterValidator(_variable)
]


class SendCodeBody(PublishableSendBody):
    """A code to send."""

    to: Annotated[
        str,
        AfterValidator(_recipient),
        Field(
            description=f"The recipient, {DEFAULT.kind}; or an e-mail address, where your"
            " organization allows it.",
            examples=[EXAMPLE],
            json_schema_extra={"pattern": f"{fields.NUMBER_PATTERN}|@"},
        ),
    ]

    client_ip: Annotated[
        _ClientIp | None,
        Field(
            alias="clientIp",
            description="The IP address of your user. It is kept as a keyed mark, for 30 days, and"
            f" counts where the Verify settings limit it. {_ONLY}",
            examples=["203.0.113.9"],
        ),
    ] = None
    user_agent: Annotated[
        str | None,
        Field(
            alias="userAgent",
            max_length=USER_AGENT_CHARACTERS_MAX,
            description=f"The browser or application of your user. {_ONLY}",
            json_schema_extra=_FIT,
        ),
    ] = None
    tags: Annotated[
        list[_Tag] | None,
        Field(
            max_length=TAGS_MAX,
            description=f"Words of your own, which `POST /api/verify/get` answers. {_ONLY}",
        ),
    ] = None

    code: Annotated[
        OwnCode | None,
        Field(
            repr=False,
            description="A code of your own, where the Verify settings allow it. No answer, event"
            f" or page has it. {_ONLY}",
        ),
    ] = None
    template: Annotated[
        str | None,
        Field(
            max_length=TEMPLATE_NAME_CHARACTERS_MAX,
            description="The name of one of the organization's texts of codes"
            f" (`risala verify templates`). {_ONLY}",
            json_schema_extra=_FIT,
        ),
    ] = None
    variables: Annotated[
        dict[_VariableName, _Variable] | None,
        Field(
            max_length=VARIABLES_MAX,
            repr=False,
            description="What is written into that text, by its placeholders; each one line of at"
            f" most {PAYEE_CHARACTERS_MAX} characters, no link unless the operator allows it."
            f" {_ONLY}",
        ),
    ] = None
    amount: Annotated[
        Amount | None,
        Field(
            description="The amount of the payment that the code is for. The SMS names it, and"
            f" the check has to. Together with `currency` and `payee`. {_ONLY}",
        ),
    ] = None
    currency: Annotated[
        Currency | None, Field(description=f"The payment's currency (ISO 4217). {_ONLY}")
    ] = None
    payee: Annotated[
        _Payee | None,
        Field(
            description=f"Who gets the payment; no link, one line. {_ONLY}",
            examples=["Boutique Nour"],
        ),
    ] = None

    def command(self) -> SendCode:
        beside = {**self.beside(), **_beside(self, _SAID)}
        if "@" in self.to:
            beside["address"] = True
        return SendCode(self.to, self.locale, self.app_hash, self.origin, beside)


_SAID: Final = {
    "clientIp": "client_ip",
    "userAgent": "user_agent",
    "tags": "tags",
    "code": "code",
    "template": "template",
    "variables": "variables",
    "amount": "amount",
    "currency": "currency",
    "payee": "payee",
}
_PAYMENT: Final = {name: name for name in ("amount", "currency", "payee")}


def _beside(body: RequestBody, names: Mapping[str, str]) -> dict[str, Any]:
    """What a body says besides, by the names in the API."""
    values = ((name, getattr(body, own)) for name, own in names.items())
    return {name: value for name, value in values if value}


_Guess = Annotated[
    str,
    Field(min_length=CODE_CHARACTERS[0], max_length=CODE_CHARACTERS[1], json_schema_extra=_FIT),
]
_OF_GUESSES: Final = (
    "Spaces, dashes and invisible marks between its digits, and signs around it, are ignored."
    " Digits of every script are accepted."
)


class PaymentCheckBody(CheckBody):
    """A check, and the payment that it is for."""

    amount: Annotated[
        Amount | None,
        Field(description="As the code was sent with, if it was; else it is not looked at."),
    ] = None
    currency: Annotated[Currency | None, Field(description="As `amount`.")] = None
    payee: Annotated[
        str | None,
        Field(
            max_length=PAYEE_CHARACTERS_MAX,
            description="As `amount`.",
            examples=["Boutique Nour"],
            json_schema_extra=_FIT,
        ),
    ] = None


class PublishableCheckBody(PaymentCheckBody):
    """What the user typed."""

    code: Annotated[_Guess, Field(repr=False, description=_OF_GUESSES, examples=["042137"])]

    def guess(self) -> CodeGuess:
        return CodeGuess(self.verification_id, self.code, _beside(self, _PAYMENT))


def _reported(text: str) -> str:
    if text not in REPORTS:
        names = " or ".join(f"`{each}`" for each in REPORTS)
        raise PydanticCustomError("invalid_report", "`reported` must be {names}.", {"names": names})
    return text


def _one_of_two(code: str | None, info: ValidationInfo) -> str | None:
    """Either a code, or what the caller found out without us."""
    reported = info.data.get("reported")
    if code is None and reported is None:
        raise PydanticCustomError("missing", "`code` is required.")
    if code is not None and reported is not None:
        raise PydanticCustomError("not_together", "Give `code` or `reported`, not both.")
    return code


def _either(schema: dict[str, Any]) -> None:
    """The reference of :class:`CheckCodeBody` and :class:`CheckNumberBody` in one."""
    to = "Instead of `verificationId`: the newest pending session of this number is meant."
    schema["properties"]["to"] = {
        "type": "string",
        "pattern": fields.NUMBER_PATTERN,
        "description": f"{to} {_ONLY}",
        "examples": [EXAMPLE],
    }
    schema["required"] = []
    schema["anyOf"] = [{"required": ["verificationId"]}, {"required": ["to"]}]
    # Null is as left out.
    schema["oneOf"] = [
        {"required": [each], "properties": {each: {"type": "string"}}}
        for each in ("code", "reported")
    ]


class CheckCodeBody(PaymentCheckBody):
    """What the user typed."""

    model_config = ConfigDict(json_schema_extra=_either)

    reported: Annotated[
        Annotated[str, AfterValidator(_reported)] | None,
        Field(
            description="In place of `code`, of a session whose code you gave yourself: what you"
            f" found out. {_ONLY}",
            json_schema_extra={"enum": [*REPORTS, None]},
        ),
    ] = None
    code: Annotated[
        _Guess | None,
        AfterValidator(_one_of_two),
        Field(validate_default=True, repr=False, description=_OF_GUESSES, examples=["042137"]),
    ] = None

    def guess(self) -> CodeGuess:
        beside = _beside(self, {**_PAYMENT, "reported": "reported"})
        return CodeGuess(self.verification_id, self.code, beside)


class CheckNumberBody(CheckCodeBody):
    """What the user of a number typed."""

    verification_id: Annotated[str, Field(alias="verificationId")] = ""
    to: fields.Number


def parse_check_by_number(raw: bytes, context: fields.BodyContext) -> tuple[str, CodeGuess] | None:
    """The number that a body names instead of a verification, and the rest of the check; None: it
    names none.

    Raises:
        Problem: 400.
    """
    members = read_object(raw)
    if "to" not in members or "verificationId" in members:
        return None
    body = validate(CheckNumberBody, members, escapes=has_escapes(raw), context=context)
    return body.to, body.guess()
