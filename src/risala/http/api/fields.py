"""The types of members of request bodies: what each takes, and the JSON Schema that says so.

One value serves both, so that what is validated and what is documented cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Final, NamedTuple, cast

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

from risala.engine.model.commands import AHEAD_MAX_S
from risala.engine.model.times import iso
from risala.sms.address import SENDER_MAX, sender_fault
from risala.sms.limits import IDEMPOTENCY_KEY_CHARACTERS, TEXT_CHARACTERS_MAX, VALIDITY_S
from risala.sms.numbering.plan import DEFAULT, EXAMPLE, NumberingPlan

METADATA_ENTRIES_MAX: Final = 10
METADATA_NAME_MAX: Final = 40
METADATA_VALUE_MAX: Final = 256
BATCH_ITEMS_MAX: Final = 1000

NUMBER_PATTERN: Final = DEFAULT.pattern
SENDER_PATTERN: Final = r"^(?=.*[A-Za-z])[A-Za-z0-9 ]+$"
FIT_PATTERN: Final = r"^[^\u0000]*$"
"""How JSON Schema says that a text has no NUL. That it has no lone surrogate cannot be said
there."""
CURSOR_PATTERN: Final = r"^[A-Za-z0-9_-]+$"
INSTANT_PATTERN: Final = (
    r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})$"
)
INSTANT_MAX_MS: Final = 253_402_214_400_000
"""The last day of the year 9999, the last that times are written of."""

PAST: Final = "2025-11-21T08:30:00Z"
"""An example that stays valid: a time to come would one day be over, or too far ahead today."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_is_instant: Final = re.compile(
    r"([1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(?:(:[0-9]{2})(\.[0-9]{1,9})?)?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?",
    re.ASCII,
).fullmatch


class BodyContext(NamedTuple):
    """What bodies are compared with."""

    now_ms: int
    """UTC epoch milliseconds."""
    plan: NumberingPlan
    links: bool = False
    """Whether variables of a code's text may be links."""


Compared = Callable[[], BodyContext]
"""The context of a body that comes now."""


def number(text: str, info: ValidationInfo) -> str:
    """A number of a country that is served."""
    plan = cast(BodyContext, info.context).plan
    if not plan.serves(text):
        holes = {"wanted": plan.wanted}
        raise PydanticCustomError("invalid_phone_number", "`to` must be {wanted}", holes)
    return text


def _sender(text: str) -> str:
    fault = sender_fault(text)
    if fault is not None:
        raise PydanticCustomError("invalid_sender", "{fault}", {"fault": fault})
    return text


def instant_ms(text: str, name: str = "sendAt") -> int:
    """UTC epoch milliseconds of an ISO 8601 time with offset; ``name`` is the member's.

    Raises:
        PydanticCustomError: the text is no such time, or has no offset.
    """
    parts = _is_instant(text)
    if parts is None:
        raise _bad_time(f"`{name}` must be a time like 2026-11-21T08:30:00Z.")
    minute, second, fraction, offset = parts.groups()
    if offset is None:
        raise PydanticCustomError(
            "missing_offset", "`{name}` must end with Z or an offset like +00:00.", {"name": name}
        )
    try:
        at = datetime.fromisoformat(minute + (second or ":00") + offset)
    except ValueError:
        raise _bad_time(f"`{name}` is a day or a time that does not exist.") from None
    # Not by timestamp(), which is a float and inexact. Digits beyond the millisecond are dropped.
    since = at - _EPOCH
    milliseconds = int((fraction or ".")[1:4].ljust(3, "0"))
    return (since.days * 86_400 + since.seconds) * 1000 + milliseconds


def _bad_time(sentence: str) -> PydanticCustomError:
    return PydanticCustomError("invalid_time", "{sentence}", {"sentence": sentence})


def _send_at(value: object, info: ValidationInfo) -> int | None:
    """Refuse a time that is over."""
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "`sendAt` must be a string.")
    at_ms = instant_ms(value)
    now_ms = cast(BodyContext, info.context).now_ms
    if at_ms > now_ms + AHEAD_MAX_S * 1000:
        raise PydanticCustomError("too_far", "`sendAt` must be at most 30 days ahead.")
    return at_ms if at_ms > now_ms else None


def _moment(value: object, info: ValidationInfo) -> str:
    """A time of any year, as operations take it."""
    name = str(info.field_name)
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "`{name}` must be a string.", {"name": name})
    return iso(min(max(0, instant_ms(value, name)), INSTANT_MAX_MS))


def _whole(value: object) -> object:
    """JSON has one kind of number, and its schemas call 3600.0 an integer (2020-12, §6.1.1)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def schema(**keywords: object) -> WithJsonSchema:
    """Annotates a type with a JSON Schema of these keywords."""
    return WithJsonSchema(keywords)


_TEXT: Final = {"pattern": FIT_PATTERN}

Number = Annotated[
    str,
    AfterValidator(number),
    Field(
        description=f"The recipient, {DEFAULT.kind}.",
        examples=[EXAMPLE],
        json_schema_extra={"pattern": NUMBER_PATTERN},
    ),
]
SenderName = Annotated[
    str,
    AfterValidator(_sender),
    schema(type="string", minLength=1, maxLength=SENDER_MAX, pattern=SENDER_PATTERN),
]
MessageText = Annotated[
    str,
    Field(
        repr=False,
        min_length=1,
        max_length=TEXT_CHARACTERS_MAX,
        description=(
            "The text. Its length is counted in Unicode code points; the price depends on the "
            "segments."
        ),
        examples=["Salam from Risala"],
        json_schema_extra=_TEXT,
    ),
]
IdempotencyKey = Annotated[
    str,
    Field(
        min_length=IDEMPOTENCY_KEY_CHARACTERS[0],
        max_length=IDEMPOTENCY_KEY_CHARACTERS[1],
        json_schema_extra=_TEXT,
    ),
]
Metadata = Annotated[
    dict[
        Annotated[str, Field(min_length=1, max_length=METADATA_NAME_MAX)],
        Annotated[str, Field(max_length=METADATA_VALUE_MAX)],
    ],
    Field(max_length=METADATA_ENTRIES_MAX),
    # Written by hand: pydantic's own schema would not tell the rule for the members' names.
    schema(
        type="object",
        maxProperties=METADATA_ENTRIES_MAX,
        propertyNames={"minLength": 1, "maxLength": METADATA_NAME_MAX, **_TEXT},
        additionalProperties={"type": "string", "maxLength": METADATA_VALUE_MAX, **_TEXT},
    ),
]
SendAt = Annotated[
    int | None,
    BeforeValidator(_send_at),
    schema(type="string", format="date-time", pattern=INSTANT_PATTERN),
]
Instant = Annotated[
    str,
    BeforeValidator(_moment),
    schema(type="string", format="date-time", pattern=INSTANT_PATTERN),
]
WHOLE: Final = BeforeValidator(_whole)
"""Put on each member that is an integer, as the last of its annotations: pydantic runs the last one
first."""
ValiditySeconds = Annotated[int, Field(ge=VALIDITY_S[0], le=VALIDITY_S[1]), WHOLE]
MessageClass = Annotated[int, Field(ge=0, le=0), WHOLE]
MessageId = Annotated[
    str,
    Field(
        min_length=1,
        description="The id from the response of `POST /api/sms`.",
        examples=["sms_01KB0ZJ4F0W8J5H7M2N9Q3R6T1V4X8Y0"],
        json_schema_extra=_TEXT,
    ),
]
