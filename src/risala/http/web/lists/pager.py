"""Lists by key-set: newer and older from the current place, without page numbers or a total; and
the filters of a list, which are in its address."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup

from risala.dataclass import dataclass

_SEQ_DIGITS_MAX: Final = 18
"""No entry has a number with more digits."""


def is_seq(text: str) -> bool:
    """Whether it can be the number of an entry, for lists with such cursors."""
    return text.isascii() and text.isdigit() and len(text) <= _SEQ_DIGITS_MAX


@dataclass(frozen=True, slots=True)
class Pager:
    """The targets of the two buttons of a list; None: the end."""

    newer: str | None
    older: str | None


def pager_of(
    path: str, query: Mapping[str, str], *, newer: str | int | None, older: str | int | None
) -> Pager:
    """The pager of a list at ``path`` with the filters ``query``; cursors as in reads."""
    kept = {name: value for name, value in query.items() if name not in ("before", "after")}

    def address(name: str, cursor: str | int | None) -> str | None:
        return None if cursor is None else f"{path}?{urlencode({**kept, name: cursor})}"

    return Pager(newer=address("after", newer), older=address("before", older))


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that holds, and the address without it."""

    label: Markup
    without: str


def chips(
    labels: Mapping[str, Markup], kept: Mapping[str, str], at: Callable[..., str], page: str
) -> list[Chip]:
    """A chip for each label.

    Args:
        labels: the label of each filter, by its name in the address.
        kept: the filters of the address, without the place in the list.
    """
    return [
        Chip(label, at(page, **{each: text for each, text in kept.items() if each != name}))
        for name, label in labels.items()
    ]
