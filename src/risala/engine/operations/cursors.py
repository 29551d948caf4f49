"""Cursors: where a page of a list begins, from one request to the next."""

from __future__ import annotations

import re
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.model.records.paging import PAGE_MAX, PAGE_USUAL, Place, Steps
from risala.engine.operations.arguments import ArgumentKind, fault, maybe, text

_TIMED: Final = re.compile(r"([0-9]{1,15})\.([+~\w]{0,60})", re.ASCII)
_PLAIN: Final = re.compile(r"[~\w]{0,60}", re.ASCII)
_FAULT: Final = ("invalid_cursor", "Take `{name}` from another page.")
_KIND: Final = ArgumentKind("`newer` or `older` of a page")


def _timed(value: object) -> Place:
    found = _TIMED.fullmatch(text(value))
    if found is None:
        raise fault(*_FAULT)
    return int(found[1]), found[2]


def _plain(value: object) -> Place:
    found = _PLAIN.fullmatch(text(value))
    if found is None:
        raise fault(*_FAULT)
    return (found[0],)


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


def limit_of(asked: int | None) -> int:
    """The most items on a page."""
    return max(1, min(asked or PAGE_USUAL, PAGE_MAX))
