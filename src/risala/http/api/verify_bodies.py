"""The bodies that the Verify endpoints take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, NamedTuple

from pydantic import (
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from risala.engine.model.commands import NOTHING_BESIDE, Beside, SendCode
from risala.engine.model.errors import FieldFault
from risala.http.api import fields
from risala.http.api.quick import quick_check, quick_get, quick_send_code
from risala.http.common.parse import has_escapes, quick_object, read_object
from risala.http.common.problems import Problem, with_faults
from risala.http.common.validation import RequestBody, parse_body, validate
from risala.sms.code_texts.catalogue import BUILT_IN

FaultsOf = Callable[[str | None, str | None, str | None], Iterable[FieldFault]]
"""Tells what is wrong with a ``locale``, an ``appHash`` and an ``origin``."""
LOCALES: Final = [*BUILT_IN, None]
"""As the reference of the default service lists the languages."""
_FIT: Final = {"pattern": fields.FIT_PATTERN}


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


ChannelName = Annotated[str, Field(min_length=1, max_length=40, json_schema_extra=_FIT)]


class ChallengeAnswer(RequestBody):
    """The answer to a challenge."""

    id: Annotated[
        str,
        Field(
            min_length=1,
            max_length=64,
            description="`data.challenge.id` of the refusal.",
            json_schema_extra=_FIT,
        ),
    ]
    nonce: Annotated[
        str,
        Field(
            min_length=1,
            max_length=255,
            description="The number of each part, with dots between them.",
            json_schema_extra=_FIT,
        ),
    ]


def _challenge(value: object, handler: ValidatorFunctionWrapHandler) -> ChallengeAnswer | None:
    try:
        answer: ChallengeAnswer | None = handler(value)
    except ValidationError:
        text = "`challenge` must be an object with the texts `id` and `nonce`."
        raise PydanticCustomError("invalid_challenge", text) from None
    return answer


class PublishableSendBody(RequestBody):
    """A code to send."""

    to: fields.Number
    locale: Annotated[
        str | None,
        Field(
            description=(
                "The language of the SMS. If left out, the organization's own template is used."
            ),
            examples=["fr"],
            json_schema_extra={"enum": LOCALES},
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

    channels: Annotated[
        list[ChannelName] | None,
        Field(
            description="The channels that bring the code, one after the other until one of them"
            " does; those that your organization opened for this kind of key. If left out, the"
            " organization's own order.",
            examples=[["sms"]],
        ),
    ] = None

    challenge: Annotated[
        ChallengeAnswer | None,
        WrapValidator(_challenge),
        Field(
            description="The answer to the challenge of a refusal with `data.code`"
            " `CHALLENGE_REQUIRED`, where the key asks for one.",
        ),
    ] = None

    def command(self) -> SendCode:
        return SendCode(self.to, self.locale, self.app_hash, self.origin, self.beside())

    def beside(self) -> dict[str, Any]:
        """What features read of it."""
        beside: dict[str, Any] = {}
        if self.channels is not None:
            beside["channels"] = self.channels
        if self.challenge is not None:
            beside["challenge"] = {"id": self.challenge.id, "nonce": self.challenge.nonce}
        return beside


SendModel = Callable[[], type[PublishableSendBody]]
"""Returns the body that the caller's kind of key may send."""


def parse_send_code(
    raw: bytes, context: fields.BodyContext, faults_of: FaultsOf, model: SendModel
) -> SendCode:
    """The command that a body asks for. The engine judges a valid body's language, hash and
    origin; those of a bad one are judged here by ``faults_of``, so that one answer names every
    fault.

    Raises:
        Problem: 400.
    """
    quick = quick_object(raw)
    command = None if quick is None else quick_send_code(quick, context.plan)
    return command or explained_send_code(raw, context, faults_of, model)


def explained_send_code(
    raw: bytes, context: fields.BodyContext, faults_of: FaultsOf, model: SendModel
) -> SendCode:
    """As :func:`parse_send_code`, by the model alone, which names every fault."""
    members = read_object(raw)
    try:
        return validate(model(), members, escapes=has_escapes(raw), context=context).command()
    except Problem as problem:
        texts = (_text(members.get(name)) for name in ("locale", "appHash", "origin"))
        raise with_faults(problem, faults_of(*texts)) from None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


class GetVerificationBody(RequestBody):
    """Which verification."""

    verification_id: VerificationId


class ResendCodeBody(RequestBody):
    """Which verification, and how its code comes next."""

    verification_id: VerificationId
    channel: Annotated[
        ChannelName | None,
        Field(
            description="The channel. If left out, the next one that was not tried.",
            examples=["sms"],
        ),
    ] = None


class CodeGuess(NamedTuple):
    """A check of a code."""

    verification_id: str
    code: str | None
    """None: ``beside`` says something else."""
    beside: Beside = NOTHING_BESIDE


class CheckBody(RequestBody):
    """What the bodies of checks have in common."""

    verification_id: VerificationId

    def guess(self) -> CodeGuess:
        raise NotImplementedError


CheckModel = Callable[[], type[CheckBody]]
"""Returns the body that the caller's kind of key may send."""


def parse_check(raw: bytes, model: CheckModel) -> CodeGuess:
    """The verification that a body names, and the code that it guesses.

    Raises:
        Problem: 400.
    """
    members = quick_object(raw)
    quick = None if members is None else quick_check(members)
    return explained_check(raw, model) if quick is None else CodeGuess(*quick)


def explained_check(raw: bytes, model: CheckModel) -> CodeGuess:
    """As :func:`parse_check`, by the model alone, which names every fault."""
    return parse_body(model(), raw).guess()


def parse_get(raw: bytes) -> str:
    """The id of a verification, as it came.

    Raises:
        Problem: 400.
    """
    members = quick_object(raw)
    verification_id = None if members is None else quick_get(members, "verificationId")
    return verification_id or parse_body(GetVerificationBody, raw).verification_id
