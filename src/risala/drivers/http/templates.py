"""Fills templates of requests: texts with ``{holes}``, in JSON, forms, headers and paths. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Template = str | int | float | bool | list[Any] | dict[str, Any] | None
"""A text with holes; or JSON in which each text may have some."""
HOLES: Final[Mapping[str, str]] = {
    "to": "the number, with its `+`",
    "to_digits": "the number without its `+`",
    "from": "the sender",
    "from_digits": "the sender without its `+`",
    "text": "the whole text",
    "id": "our id of this attempt, the same when the attempt is sent again",
    "hops": "the Risala services that the message came through, and this one: for another Risala",
    "coding": "the word of the text's alphabet, from `send.codings`",
    "flash": "the word for a flash message, from `send.flash`; nothing for others",
    "language": "the word of a call's language, from `send.languages`",
    "ring_s": "how long a call rings, in seconds",
    "validity_s": "how long the carrier may try, in seconds",
    "validity_min": "the same in minutes, at least 1",
    "expires": "until when, as `2026-01-31T12:00:00Z`",
    "callback": "the setting `secret_address`: `{callback}/receipt` is where receipts go",
    "carrier": "the carrier's name",
    "user": "the setting `user`",
    "password": "the setting `password`",
    "token": "the setting `token`",
    "carrier_id": "the carrier's id of a message, in `query` only",
    "cursor": "the last id that was read, in `poll` only",
    "time": "now, in seconds since 1970",
    "signature": "the signature, in `auth` only",
}
"""What a hole may be named, and what fills it; besides these ``values.NAME``."""
_HOLE: Final = re.compile(r"\{([a-z_]+(?:\.[A-Za-z0-9_-]+)?)(#?)\}")
_LONE: Final = re.compile(r"[{}]")


def faults_of(template: object, values: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the holes of a template."""
    if isinstance(template, str):
        for name, _ in _HOLE.findall(template):
            kind, _, key = name.partition(".")
            if kind == "values" and key not in values:
                yield f"needs the setting `values.{key}`"
            elif kind != "values" and name not in HOLES:
                yield f"has a hole `{{{name}}}` that nothing fills"
        if _LONE.search(_HOLE.sub("", template)):
            yield "has a `{` or `}` that belongs to no hole"
    for each in _inner(template):
        yield from faults_of(each, values)


def holes_of(template: object) -> set[str]:
    """The names of all holes."""
    if isinstance(template, str):
        return {name for name, _ in _HOLE.findall(template)}
    return set[str]().union(*(holes_of(each) for each in _inner(template)))


def _inner(template: object) -> list[object]:
    if isinstance(template, dict):
        return [*template.values()]
    return [*template] if isinstance(template, list) else []


def filled_text(
    template: str, values: Mapping[str, str], escape: Callable[[str], str] = str
) -> str:
    """A text with its holes filled; a hole that nothing fills is empty."""
    return _HOLE.sub(lambda hole: escape(values.get(hole[1], "")), template)


def filled(template: Template, values: Mapping[str, str]) -> Any:  # noqa: ANN401 -- any JSON
    """JSON with its holes filled; None: it has holes, and nothing fills one of them. Such a member
    is left out. ``{hole#}`` alone becomes a number, or true."""
    if isinstance(template, str):
        holes = _HOLE.findall(template)
        if any(not values.get(name) for name, _ in holes):
            return None
        if len(holes) == 1 and holes[0][1] and _HOLE.fullmatch(template):
            word = values[holes[0][0]]
            return word == "true" or int(word)
        return filled_text(template, values)
    if isinstance(template, dict):
        pairs = ((name, filled(each, values)) for name, each in template.items())
        return {name: each for name, each in pairs if each is not None} or None
    if isinstance(template, list):
        items = [filled(each, values) for each in template]
        return [each for each in items if each is not None] or None
    return template
