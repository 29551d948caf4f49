"""What the fields of records and arguments declare in addition to their type.

Records import the standard library alone, so that a command starts without the service.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from risala.dataclass import dataclass


def N_(sentence: str) -> str:
    """Marks a sentence in a table for the catalogues; it is looked up later."""
    return sentence


class WrittenAs(Enum):
    """How a field is written in JSON, if the type alone does not decide it."""

    MOMENT = "moment"
    """UTC epoch milliseconds, written as ISO 8601."""
    MONEY = "money"
    """Minor units, written as a decimal string."""
    DIGITS = "digits"
    """A whole number that may be greater than JSON's exact ones, written as a string."""
    NOTHING = "nothing"
    """A field that is no member: known to the engine alone. Such a field has a default."""


Moment = Annotated[int, WrittenAs.MOMENT]
Money = Annotated[int, WrittenAs.MONEY]
Digits = Annotated[int, WrittenAs.DIGITS]


class Trail(Enum):
    """Whether the audit trail shows a field. Each field of a record that an operation changes
    declares it: a new one is never in the trail, or missing from it, by accident."""

    SHOWN = "shown"
    LEFT_OUT = "left out"


AUDITED = Trail.SHOWN
UNAUDITED = Trail.LEFT_OUT


class SnakeCase:
    """A record whose members are named in JSON as its fields are, not in camelCase."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class JsonName:
    """The name of a field in JSON, if it is not the field's own in camelCase."""

    name: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The values that a text may have."""

    known: tuple[str, ...] | type[Enum]


@dataclass(frozen=True, slots=True)
class Minimum:
    """The least value of a number or amount."""

    value: int


Count = Annotated[int, Minimum(0)]


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a field in a form or list. English, marked by :func:`N_`."""

    text: str


@dataclass(frozen=True, slots=True)
class Hint:
    """The text below a field in a form. English, marked by :func:`N_`."""

    text: str


@dataclass(frozen=True, slots=True)
class Maximum:
    """The most characters of a text."""

    characters: int


NAME_MAX: Final = 100
"""Characters of what people call an organization, a key or another thing, or themselves."""


@dataclass(frozen=True, slots=True)
class Typed:
    """How a field is typed in a form: its example, and whether it reads from left to right in every
    language."""

    example: str | None = None
    left_to_right: bool = False
