"""Cursors: where a page of a list begins, as it goes from one request to the next.

Opaque to clients, and of one list alone: what another list told is refused. Nothing rests on them
but the place, which a page looks up among its own organization's rows whatever it is.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Final, TypeVar

from pydantic import ValidationInfo
from pydantic_core import PydanticCustomError

from risala.engine.model.records.record import to_json
from risala.http.common.plain import PlainAnswer
from risala.http.common.respond import json_bytes

T = TypeVar("T")
CHARACTERS_MAX: Final = 120
"""The longest place is a time with an id."""
_PLACE_MAX: Final = 2**62
"""More than there will ever be rows, and still a number for SQLite when one is added."""


_is_cursor: Final = re.compile(r"[A-Za-z0-9_-]+").fullmatch


class ListName(StrEnum):
    """The lists that have cursors, by the letter that their cursors begin with."""

    MESSAGES = "m"
    VERIFICATIONS = "v"
    INBOUND = "i"
    LEDGER = "l"
    DELIVERIES = "d"
    CONVERSATIONS = "c"
    THREAD = "t"
    INVOICES = "b"


NUMBERED: Final = frozenset(
    {ListName.MESSAGES, ListName.LEDGER, ListName.DELIVERIES, ListName.THREAD}
)
"""Lists whose places are numbers."""


def written(of: ListName, place: str | int | None) -> str | None:
    """A place as a cursor; None: there is no such page."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(f"{of}{place}".encode()).decode().rstrip("=")


def page(
    of: ListName,
    items: Sequence[T] = (),
    write: Callable[[T], dict[str, Any]] = to_json,
    places: tuple[str | int | None, str | int | None] = (None, None),
) -> PlainAnswer:
    """One page of a list; ``places`` are where the next and the previous page begin."""
    next_, previous = (written(of, each) for each in places)
    members = {"items": [write(each) for each in items], "next": next_, "previous": previous}
    return PlainAnswer(json_bytes(members))


def read(of: ListName, text: str) -> str:
    """The place that a cursor of a list stands for.

    Raises:
        ValueError: it is no cursor of this list.
    """
    if len(text) > CHARACTERS_MAX or not _is_cursor(text):
        raise ValueError("no cursor")
    try:
        decoded = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        raise ValueError("no cursor") from error
    place = decoded.removeprefix(of.value)
    if place == decoded or (of in NUMBERED and not _is_number(place)):
        raise ValueError("a cursor of another list")
    return place


def _is_number(place: str) -> bool:
    return place.isascii() and place.isdigit() and len(place) < 20 and int(place) < _PLACE_MAX


def reader(of: ListName) -> Callable[[str, ValidationInfo], str]:
    """A validator of members that are cursors of a list: it gives the places."""

    def place_of(text: str, info: ValidationInfo) -> str:
        if info.field_name == "after" and info.data.get("before") is not None:
            raise PydanticCustomError("both_ways", "Give `before` or `after`, not both.")
        try:
            return read(of, text)
        except ValueError:
            raise PydanticCustomError(
                "invalid_cursor",
                "`{name}` must be the `next` or `previous` of a page of this list.",
                {"name": info.field_name},
            ) from None

    return place_of
