"""What follows from rows of a conversation: who wrote, and what is not answerable. Pure."""

from __future__ import annotations

from typing import Final

from risala.engine.model.ids import is_id, message_id
from risala.engine.model.records.conversations import ANSWER_KEY, FORWARD_KEY, WrittenBy

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
    """The sender of a message, and the mailing's id if that is a mailing.

    Args:
        client_key: its idempotency key; None: made by the service.
    """
    if kind == "code":
        return WrittenBy.CODE, None
    if key_id is not None:
        return WrittenBy.PROGRAM, None
    if answered_by(client_key) is not None or is_forward(client_key):
        return WrittenBy.ANSWER, None
    mailing_id, _, row = (client_key or "").partition(":")
    if row.isdigit() and is_id(mailing_id, "mlg"):
        return WrittenBy.MAILING, mailing_id
    return WrittenBy.PERSON, None


def answered_by(client_key: str | None) -> str | None:
    """The text that a message answers by itself, by its idempotency key; None: it is no such
    answer."""
    begin, key, text = (client_key or "").partition(ANSWER_KEY)
    return text if key and not begin and is_id(text, "mo") else None


def is_forward(client_key: str | None) -> bool:
    """Whether a message forwards a text that came in, by its idempotency key."""
    begin, key, text = (client_key or "").partition(FORWARD_KEY)
    return bool(key) and not begin and is_id(text, "mo")


def text_id(place: int) -> str:
    """The least id of a text that came in at a place in a conversation or after it."""
    return "mo" + message_id(place, 0)[len("sms") :]
