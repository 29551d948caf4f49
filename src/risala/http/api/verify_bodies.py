"""The bodies that the Verify endpoints take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from risala.engine.model.commands import SendCode
from risala.engine.model.errors import FieldFault
from risala.engine.rules.template import BUILT_IN
from risala.http.api import fields
from risala.http.api.quick import CODE_CHARACTERS, quick_check, quick_get, quick_send_code
from risala.http.common.parse import has_escapes, quick_object, read_object
from risala.http.common.problems import Problem, with_faults
from risala.http.common.validation import RequestBody, parse_body, validate

FaultsOf = Callable[[str | None, str | None], Iterable[FieldFault]]
"""Tells what is wrong with an ``appHash`` and an ``origin``."""
_FIT: Final = {"pattern": fields.FIT_PATTERN}


def _locale(text: str) -> str:
    if text not in BUILT_IN:
        raise PydanticCustomError(
            "invalid_locale", "`locale` must be one of {names}.", {"names": ", ".join(BUILT_IN)}
        )
    return text


VerificationId = Annotated[
    str,
    Field(
        alias="verificationId",
        min_length=1,
        description="The id from the response of `POST /api/verify/send`.",
        examples=["ver_01KB0ZJ4F0W8J5H7M2N9Q3R6T1V4X8Y0"],
        json_schema_extra=_FIT,
    ),
]


class SendCodeBody(RequestBody):
    """A code to send."""

    to: fields.Number
    locale: Annotated[
        str | None,
        AfterValidator(lambda text: None if text is None else _locale(text)),
        Field(
            description=(
                "The language of the SMS. If left out, the organization's own template is used."
            ),
            examples=["fr"],
            json_schema_extra={"enum": [*BUILT_IN, None]},
        ),
    ] = None
    app_hash: Annotated[
        str | None,
        Field(
            alias="appHash",
            # These two have no example: no value would be registered for whoever tries it.
            description="For Android's SMS Retriever, 11 characters such as `FA+9qCX9VSu`; must "
            "be registered in the Verify settings.",
        ),
    ] = None
    origin: Annotated[
        str | None,
        Field(
            description="A host, such as `app.example`, to bind the code to (`@host #code`), for "
            "autofill in browsers; must be registered in the Verify settings.",
        ),
    ] = None

    def command(self) -> SendCode:
        return SendCode(self.to, self.locale, self.app_hash, self.origin)


def parse_send_code(raw: bytes, context: fields.BodyContext, faults_of: FaultsOf) -> SendCode:
    """The command that a body asks for. The engine judges a valid body's hash and origin; those
    of a bad one are judged here by ``faults_of``, so that one answer names every fault.

    Raises:
        Problem: 400.
    """
    quick = quick_object(raw)
    command = None if quick is None else quick_send_code(quick, context.plan)
    return command or explained_send_code(raw, context, faults_of)


def explained_send_code(raw: bytes, context: fields.BodyContext, faults_of: FaultsOf) -> SendCode:
    """As :func:`parse_send_code`, by the model alone, which names every fault."""
    members = read_object(raw)
    try:
        return validate(SendCodeBody, members, escapes=has_escapes(raw), context=context).command()
    except Problem as problem:
        app_hash, origin = members.get("appHash"), members.get("origin")
        raise with_faults(problem, faults_of(_text(app_hash), _text(origin))) from None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class CheckCodeBody(RequestBody):
    """What the user typed."""

    verification_id: VerificationId
    code: Annotated[
        str,
        Field(
            min_length=CODE_CHARACTERS[0],
            max_length=CODE_CHARACTERS[1],
            repr=False,
            description="Spaces, dashes and invisible marks between its digits, and signs around"
            " it, are ignored. Digits of every script are accepted.",
            examples=["042137"],
            json_schema_extra=_FIT,
        ),
    ]


class GetVerificationBody(RequestBody):
    """Which verification."""

    verification_id: VerificationId


def parse_check(raw: bytes) -> tuple[str, str]:
    """The verification that a body names, and the code that it guesses.

    Raises:
        Problem: 400.
    """
    members = quick_object(raw)
    return (None if members is None else quick_check(members)) or explained_check(raw)


def explained_check(raw: bytes) -> tuple[str, str]:
    """As :func:`parse_check`, by the model alone, which names every fault."""
    body = parse_body(CheckCodeBody, raw)
    return body.verification_id, body.code


def parse_get(raw: bytes) -> str:
    """The id of a verification, as it came.

    Raises:
        Problem: 400.
    """
    members = quick_object(raw)
    verification_id = None if members is None else quick_get(members, "verificationId")
    return verification_id or parse_body(GetVerificationBody, raw).verification_id
