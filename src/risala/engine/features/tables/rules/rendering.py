"""The text of each person: a text whose placeholders are filled by a row's cells. Pure.

``{{name}}`` stands for the cell of the column ``name``. Case, kinds of spaces, quotation marks and
digits, and marks that nobody sees do not matter: people copy a column's name by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from risala.dataclass import dataclass
from risala.sms.typed import Purpose, typed
from risala.sms.unseen import as_value

TEXTS_REMEMBERED: Final = 64
"""Texts that are kept taken apart, so that many rows of one mailing share the work."""
_placeholders: Final = re.compile(r"\{\{([^{}]*)\}\}").finditer


def folded(name: str) -> str:
    """A column's name or a placeholder's, in the form in which both are compared."""
    return typed(name, Purpose.HEADING)


def placeholders(text: str) -> tuple[str, ...]:
    """The names in a text's placeholders as they are written, without doubles, in their order."""
    names: dict[str, str] = {}
    for _, name in _pieces(text):
        if name is not None:
            names.setdefault(folded(name), name.strip())
    return tuple(names.values())


def unknown_placeholders(text: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The names in a text's placeholders that no column has."""
    known = {folded(column) for column in columns}
    return tuple(name for name in placeholders(text) if folded(name) not in known)


def render(text: str, columns: Sequence[str], cells: Sequence[str]) -> str:
    """The text of one person.

    A placeholder that no column has is left as it is written; a cell that the row does not have is
    empty.
    """
    return text_pieces(text, tuple(columns)).filled(cells)


@dataclass(frozen=True, slots=True)
class TextPieces:
    """A text, taken apart at its placeholders."""

    pieces: tuple[str | int, ...]
    """Words of the text, and the places of the columns between them."""
    used: tuple[int, ...]
    """The places of the columns that it names, in their order in the text."""
    unknown: tuple[str, ...]
    """Placeholders that no column has."""

    def filled(self, cells: Sequence[str]) -> str:
        """The text with a row's cells (:func:`risala.sms.unseen.as_value`)."""
        return "".join(
            each if isinstance(each, str) else as_value(cell_at(cells, each))
            for each in self.pieces
        )


@lru_cache(maxsize=TEXTS_REMEMBERED)
def text_pieces(text: str, columns: tuple[str, ...]) -> TextPieces:
    """A text taken apart for a table's columns; of columns with the same name, the first counts."""
    places = {folded(name): place for place, name in reversed([*enumerate(columns)])}
    pieces: list[str | int] = []
    for written, name in _pieces(text):
        place = None if name is None else places.get(folded(name))
        pieces.append(written if place is None else place)
    used = dict.fromkeys(each for each in pieces if isinstance(each, int))
    return TextPieces(tuple(pieces), tuple(used), unknown_placeholders(text, columns))


def _pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """The pieces of a text as they are written, each with the name in it if it is a
    placeholder."""
    end = 0
    for match in _placeholders(text):
        if folded(match[1]):
            yield text[end : match.start()], None
            yield match[0], match[1]
            end = match.end()
    yield text[end:], None


def cell_at(cells: Sequence[str], place: int) -> str:
    """A row's cell; empty if the row is too short."""
    return cells[place] if place < len(cells) else ""


NAMES: Final = tuple(
    map(
        folded,
        (
            *("name", "full name", "first name", "nom", "nom complet", "prénom", "الاسم", "اسم"),
            *("customer", "client", "العميل", "الزبون", "last name"),
        ),
    )
)
"""Columns that have a person's name, the best first."""


def name_in(columns: Sequence[str], cells: Sequence[str]) -> str | None:
    """A person's name among the cells of a list; None: no column is for names, or it is empty."""
    places = {folded(column): place for place, column in enumerate(columns)}
    for name in NAMES:
        place = places.get(name)
        if place is not None and place < len(cells) and cells[place].strip():
            return cells[place].strip()
    return None
