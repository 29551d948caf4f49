"""The format of message ids for customers' software: the service's own id, or a number.

Many programs keep ids in a column of numbers, or read them as hexadecimal. A number here is the
message's key, which is unique, stored with the message and less than 2 to the power of 63. So a
number needs no table, and identifies its message for as long as the message is kept. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from risala.engine.model.ids import key_of

MESSAGE_ID: Final = "smpp.id"
"""The metadata's member with the shape of a numeric message id in the submit's answer: receipts use
the same shape, even after the setting was changed."""


class IdShape(StrEnum):
    """The formats of ids."""

    TEXT = "text"
    """The usual format: ``sms_`` and 32 characters."""
    DECIMAL = "decimal"
    """Up to 19 digits."""
    HEX = "hex"
    """Up to 16 digits, letters small."""


def written(message_id: str, shape: IdShape) -> str:
    """A message's id in this shape."""
    key = None if shape is IdShape.TEXT else key_of(message_id)
    if key is None:
        return message_id
    return f"{key}" if shape is IdShape.DECIMAL else f"{key:x}"


def shape_of(metadata: Mapping[str, str]) -> IdShape:
    """The shape of the id in the answer to a message's submit."""
    try:
        return IdShape(metadata.get(MESSAGE_ID, IdShape.TEXT))
    except ValueError:  # metadata that a caller of the API made
        return IdShape.TEXT
