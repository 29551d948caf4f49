"""The bodies that the SMS endpoints take, and what each fault of theirs is called."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from risala.engine.commands import SendMessage
from risala.http.parse import character_faults, read_object
from risala.http.problems import Issue, bad_body
from risala.sms.address import is_number, sender_fault

BODY_CHARACTERS_MAX: Final = 1600
KEY_CHARACTERS: Final = (8, 128)
METADATA_ENTRIES_MAX: Final = 10


def _number(text: str) -> str:
    if not is_number(text):
        raise PydanticCustomError(
            "invalid_phone_number",
            "`to` must be a Mauritanian number: +222, then 2, 3 or 4, then 7 digits.",
        )
    return text


def _sender(text: str) -> str:
    fault = sender_fault(text)
    if fault is not None:
        raise PydanticCustomError("invalid_sender", "{fault}", {"fault": fault})
    return text


class RequestBody(BaseModel):
    """Unknown members are ignored; nothing is coerced; nothing submitted is in an error's text."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


class SendBody(RequestBody):
    """``POST /api/sms``. Lengths are counted in code points."""

    to: Annotated[str, AfterValidator(_number)]
    sender: Annotated[Annotated[str, AfterValidator(_sender)] | None, Field(alias="from")] = None
    body: Annotated[str, Field(min_length=1, max_length=BODY_CHARACTERS_MAX)]
    idempotency_key: Annotated[
        str | None,
        Field(alias="idempotencyKey", min_length=KEY_CHARACTERS[0], max_length=KEY_CHARACTERS[1]),
    ] = None
    metadata: Annotated[
        dict[
            Annotated[str, Field(min_length=1, max_length=40)],
            Annotated[str, Field(max_length=256)],
        ]
        | None,
        Field(max_length=METADATA_ENTRIES_MAX),
    ] = None


class GetBody(RequestBody):
    """``POST /api/sms/get``."""

    message_id: Annotated[str, Field(alias="messageId", min_length=1)]


Body = TypeVar("Body", bound=RequestBody)

# Pydantic's word → ours. Ours are part of the API: clients may switch on them.
_CODES: Final = {
    "missing": "required",
    "string_type": "not_a_string",
    "string_unicode": "invalid_characters",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "dict_type": "not_an_object",
    "too_long": "too_many_entries",
}
_SENTENCES: Final = {
    "required": "`{name}` is required.",
    "not_a_string": "`{name}` must be a string.",
    "invalid_characters": "NUL and lone surrogates are not allowed.",
    "too_short": "`{name}` must have at least {least} character(s).",
    "too_long": "`{name}` must have at most {most} characters.",
    "not_an_object": "`{name}` must be an object.",
    "too_many_entries": "`{name}` must have at most {most} entries.",
}


def parse_send(raw: bytes) -> SendMessage:
    """The command that a body asks for.

    Raises:
        Problem: 400 with every fault.
    """
    body = parse_body(SendBody, raw)
    return SendMessage(
        to=body.to,
        body=body.body,
        sender=body.sender,
        idempotency_key=body.idempotency_key,
        metadata=body.metadata or {},
    )


def parse_get(raw: bytes) -> str:
    """The message id of a body, as it came."""
    return parse_body(GetBody, raw).message_id


def parse_body(model: type[Body], raw: bytes) -> Body:
    """Validate a body; 400 names every fault at once."""
    members = read_object(raw)
    names = frozenset(field.alias or name for name, field in model.model_fields.items())
    issues = character_faults(raw, members, names)
    try:
        body = model.model_validate(members)
    except ValidationError as error:
        issues += _issues(error.errors(include_url=False, include_context=True), issues, names)
        raise bad_body(issues) from None
    if issues:
        raise bad_body(issues)
    return body


def _issues(
    details: Iterable[ErrorDetails], told: list[Issue], names: frozenset[str]
) -> list[Issue]:
    """One issue for each member that has none yet."""
    paths = {issue.path for issue in told}
    issues = []
    for detail in details:
        # Beneath a member of ours (`metadata`) the names are the client's: not repeated.
        path = tuple(part for part in detail["loc"][:1] if part in names)
        if path not in paths:
            paths.add(path)
            issues.append(_issue(path, detail))
    return issues


def _issue(path: tuple[str | int, ...], detail: ErrorDetails) -> Issue:
    kind = detail["type"]
    if kind == "string_type" and detail["input"] is None and len(detail["loc"]) == 1:
        kind = "missing"  # null is as if omitted
    code = _CODES.get(kind)
    if code is None:
        return Issue(path, kind, detail["msg"])
    context: dict[str, Any] = detail.get("ctx", {})
    name = ".".join(map(str, path)) or "body"
    if len(detail["loc"]) > 1:
        name = f"{name}.*"
    sentence = _SENTENCES[code].format(
        name=name, least=context.get("min_length"), most=context.get("max_length")
    )
    return Issue(path, code, sentence)
