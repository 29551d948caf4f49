"""The messages in a simulated stick: boxes with one storage, which can be full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Final

INBOX: Final = 1
OUTBOX: Final = 2
SIM_INBOX: Final = 5
PENDING, SENT, FAILED = 2, 3, 4
PLAIN, LONG, DELIVERED, NOT_DELIVERED = 1, 2, 7, 8
FIRST_INDEX: Final = 40_000


@dataclass
class BoxMessage:
    """One message."""

    index: str
    box: int
    phone: str
    text: str = field(repr=False)
    date: str
    kind: int = PLAIN
    state: int = 0


class StickBoxes:
    """All messages of a stick. They stay over a restart.

    Args:
        most: how many there may be.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._messages: list[BoxMessage] = []
        self._indexes = count(FIRST_INDEX)

    def __iter__(self) -> Iterator[BoxMessage]:
        return iter(tuple(self._messages))

    @property
    def is_full(self) -> bool:
        return len(self._messages) >= self.most

    def add(self, box: int, phone: str, text: str, kind: int = PLAIN, state: int = 0) -> BoxMessage:
        """Keep a message, whether there is room or not."""
        date = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"
        message = BoxMessage(str(next(self._indexes)), box, phone, text, date, kind, state)
        self._messages.append(message)
        return message

    def count(self, *boxes: int) -> int:
        """How many messages are in these boxes."""
        return sum(each.box in boxes for each in self._messages)

    def page(self, box: int, number: int, size: int, *, oldest_first: bool) -> Sequence[BoxMessage]:
        """A page of a box."""
        kept = [each for each in self._messages if each.box == box]
        if not oldest_first:
            kept.reverse()
        return kept[(number - 1) * size : number * size]

    def delete(self, index: str) -> None:
        """Delete a message; sticks say nothing where there is none."""
        self._messages = [each for each in self._messages if each.index != index]
