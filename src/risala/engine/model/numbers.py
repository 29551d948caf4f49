"""Words of the closed lists as small integers, for rows.

The numbers are in the database and in its views: none ever gets a new meaning, and a new word gets
the next number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.engine.model.states import SegmentState, Status
from risala.sms.message import Concatenation, ReferenceBits


class Numbered:
    """A list of words; the number of each is its place."""

    def __init__(self, *words: str) -> None:
        self.words: Final[Sequence[str]] = tuple(str(word) for word in words)
        self.numbers: Final = {word: number for number, word in enumerate(self.words)}

    def number(self, word: str) -> int:
        return self.numbers[word]

    def word(self, number: int) -> str:
        return self.words[number]


MODES: Final = Numbered("live", "test")
KINDS: Final = Numbered("sms", "code")
ENCODINGS: Final = Numbered("gsm7", "ucs2")
STATUSES: Final = Numbered(
    Status.PENDING,
    Status.PROCESSING,
    Status.SENT,
    Status.DELIVERED,
    Status.UNDELIVERED,
    Status.FAILED,
    Status.CANCELED,
)
STATES: Final = Numbered(
    SegmentState.WAITING,
    SegmentState.SUBMITTING,
    SegmentState.UNCERTAIN,
    SegmentState.ACCEPTED,
    SegmentState.DELIVERED,
    SegmentState.UNDELIVERED,
    SegmentState.REFUSED,
)
ACTIONS: Final = Numbered("resend", "fail")
ENTRY_KINDS: Final = Numbered("charge", "refund", "topup", "adjustment")
EVENT_TYPES: Final = Numbered(
    *("sms.sent", "sms.delivered", "sms.failed", "verify.sent", "verify.approved"),
    *("verify.failed", "sms.received", "balance.low", "sender.approved", "sender.denied"),
    *("webhook.test", "sms.canceled", "conversation.received", "conversation.assigned"),
    *("conversation.paused", "repeat.begun", "repeat.skipped", "repeat.ended"),
)

PENDING: Final = 0
PROCESSING: Final = 1
SENT: Final = 2
DELIVERED: Final = 3
UNDELIVERED: Final = 4
FAILED: Final = 5
CANCELED: Final = 6
"""Statuses, for SQL statements."""


def action_number(word: str | None) -> int | None:
    """What to do with a message whose outcome is unknown, as a number."""
    return None if word is None else ACTIONS.number(word)


FORGOTTEN: Final = "forgotten"
"""In place of an erased number: the row stays for the ledger's sake."""

_DIGITS_MAX: Final = 18
"""A number of this many digits is an integer of SQLite's in any case."""


def recipient_number(text: str) -> int | str:
    """A recipient for its row: the digits of a whole number as an integer."""
    digits = text[1:]
    is_number = (
        text.isascii() and text[:1] == "+" and digits.isdigit() and digits[0] != "0"
    ) and len(digits) <= _DIGITS_MAX
    return int(digits) if is_number else text


def recipient_text(kept: int | str) -> str:
    """The recipient from a result of :func:`recipient_number`.

    Raises:
        TypeError: the column has neither: SQLite would keep anything in it.
    """
    if isinstance(kept, int):
        return f"+{kept}"
    if not isinstance(kept, str):
        raise TypeError
    return kept


def part_number(place: Concatenation, halves: tuple[str, str] = ("", "")) -> int:
    """A place in a longer message as one number, never 0. From the right: one bit that is 1 for a
    reference of 16 bits, eight of the part's number, eight of the number of parts, sixteen of the
    reference, and eleven each of the halves of characters at its beginning and end."""
    cut = _half_number(halves[1], _HIGH) << 44 | _half_number(halves[0], _LOW) << 33
    return cut | place.reference << 17 | place.total << 9 | place.number << 1 | (place.bits == 16)


def part_of(number: int) -> Concatenation:
    """The reverse of :func:`part_number`, without the halves."""
    bits: ReferenceBits = 16 if number & 1 else 8
    return Concatenation(number >> 17 & 0xFFFF, number >> 9 & 0xFF, number >> 1 & 0xFF, bits)


def halves_of(number: int) -> tuple[str, str]:
    """The halves of characters from :func:`part_number`."""
    return _half(number >> 33 & 0x7FF, _LOW), _half(number >> 44 & 0x7FF, _HIGH)


_ESC: Final = "\x1b"
_LOW, _HIGH = 0xDC00, 0xD800
"""The first of 1,024 low surrogates, and of as many high ones."""


def _half_number(half: str, first: int) -> int:
    """Half of a character in eleven bits: 0 is no half, 1 is ESC."""
    if not half:
        return 0
    return 1 if half == _ESC else ord(half) - first + 2


def _half(number: int, first: int) -> str:
    if number < 2:
        return _ESC if number else ""
    return chr(number - 2 + first)
