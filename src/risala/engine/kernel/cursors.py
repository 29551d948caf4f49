"""Cursors: where a page of a list begins, from one request to the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.kernel.arguments import ArgumentKind, fault, maybe, text
from risala.engine.model.errors import Invalid
from risala.engine.model.records.asks import (
    PAGE_MAX,
    PAGE_USUAL,
    NumberPart,
    Place,
    Steps,
    TooManyNumbersError,
)
from risala.engine.model.records.message_lists import KEY_END
from risala.sms.numbering.plan import NumberingPlan

_TIMED: Final = re.compile(r"([0-9]{1,15})\.([+~\w]{0,60})", re.ASCII)
_PLAIN: Final = re.compile(r"[~\w]{0,60}", re.ASCII)
_FAULT: Final = ("invalid_cursor", "Take `{name}` from another page.")
_KIND: Final = ArgumentKind("`newer` or `older` of a page")


def _timed(value: object) -> Place:
    match = _TIMED.fullmatch(text(value))
    if match is None:
        raise fault(*_FAULT)
    return int(match[1]), match[2]


def _plain(value: object) -> Place:
    match = _PLAIN.fullmatch(text(value))
    if match is None:
        raise fault(*_FAULT)
    return (match[0],)


def cursor(value: object) -> int:
    """The number of a row. Raises a fault."""
    digits = text(value)
    if not (digits.isascii() and digits.isdigit() and int(digits) <= KEY_END):
        raise fault(*_FAULT)
    return int(digits)


MaybeCursor = Annotated[int | None, PlainValidator(maybe(cursor)), _KIND]
"""For rows in the order of their numbers."""
MaybeTimedPlace = Annotated[Place | None, PlainValidator(maybe(_timed)), _KIND]
"""For rows in the order of a time and an id."""
MaybeIdPlace = Annotated[Place | None, PlainValidator(maybe(_plain)), _KIND]
"""For rows in the order of their ids."""


def written(place: Place | None) -> str | None:
    """A place as text, for the next request."""
    return None if place is None else ".".join(map(str, place))


def steps_of(limit: int | None, before: Place | None, after: Place | None) -> Steps:
    """The page that arguments name."""
    return Steps(limit_of(limit), before=before, after=after)


def limit_of(limit: int | None) -> int:
    """The most items on a page."""
    return max(1, min(limit or PAGE_USUAL, PAGE_MAX))


def part_of(plan: NumberingPlan, digits: str | None) -> NumberPart | None:
    """The part of a number that is looked for; None: none is."""
    return None if digits is None else NumberPart(digits, plan.ranges_of(digits))


@contextmanager
def few_numbers() -> Iterator[None]:
    """Reads numbers by a part of them. Raises ``Invalid`` where too many have it."""
    try:
        yield
    except TooManyNumbersError as error:
        advice = f"More than {error.most} numbers have these digits: give more of them."
        raise Invalid("digits", "too_many_numbers", advice) from error
