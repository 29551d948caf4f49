"""What follows from a conversation's rows: who wrote, whose name a cell is, and whether something
can be answered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.engine.features.tables.rules.rendering import folded
from risala.engine.model.ids import is_id, message_id
from risala.engine.model.records.conversations import ANSWER_KEY, WrittenBy

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
NO_NUMBER: Final = (
    "The sender is a name or a short number, and no phone: nobody gets an answer. Write to the"
    " person's own number."
)
NO_CARRIER: Final = (
    "The carrier that brought the last text sends nothing now: it was removed or disabled, or only"
    " receives. Write to the number with a new message."
)


def writer_of(
    kind: str, key_id: str | None, client_key: str | None
) -> tuple[WrittenBy, str | None]:
    """Who sent a message, and the mailing's id if that is a mailing.

    Args:
        client_key: its idempotency key; None: made by the service.
    """
    if kind == "code":
        return WrittenBy.CODE, None
    if key_id is not None:
        return WrittenBy.PROGRAM, None
    if is_id((client_key or "").removeprefix(ANSWER_KEY), "mo"):
        return WrittenBy.ANSWER, None
    mailing_id, _, row = (client_key or "").partition(":")
    if row.isdigit() and is_id(mailing_id, "mlg"):
        return WrittenBy.MAILING, mailing_id
    return WrittenBy.PERSON, None


def name_in(columns: Sequence[str], cells: Sequence[str]) -> str | None:
    """A person's name among the cells of a list; None: no column is for names, or it is empty."""
    places = {folded(column): place for place, column in enumerate(columns)}
    for name in NAMES:
        place = places.get(name)
        if place is not None and place < len(cells) and cells[place].strip():
            return cells[place].strip()
    return None


def text_id(place: int) -> str:
    """The least id of a text that came in at a place in a conversation or after it."""
    return "mo" + message_id(place, 0)[len("sms") :]
