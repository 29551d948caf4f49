"""Which phone fetched which message, over a restart and over a change of phones.

A phone that fetched a message may be asked to send it again: it knows the id. Another phone does
not, and would send it a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from risala.drivers.phone.messages import PhoneMessage

PREFIX: Final = "fetched/"
KEPT_MS: Final = 86_400_000
"""How long it is kept: the app remembers an id for a day at least, and so long an attempt may be
submitted again."""
FETCHED_MAX: Final = 5000
"""The most that are kept: half of the notes that a carrier may have."""


class FetchedMessages:
    """What phones have fetched in the last day.

    Args:
        notes: what was remembered, by key.
    """

    def __init__(self, notes: Mapping[str, str]) -> None:
        self._fetched: dict[str, tuple[int, str]] = {}
        for key, text in notes.items():
            at_ms, _, phone_id = text.partition(" ")
            self._fetched[key.removeprefix(PREFIX)] = int(at_ms), phone_id
        self._fetched = dict(sorted(self._fetched.items(), key=lambda each: each[1]))

    def phone_of(self, message_id: str) -> str | None:
        """The phone that fetched a message; None: none has, or it is too long ago."""
        entry = self._fetched.get(message_id)
        return None if entry is None else entry[1]

    def give(
        self, messages: Iterable[PhoneMessage], phone_id: str, now_ms: int
    ) -> dict[str, str | None]:
        """Count messages as fetched; the notes to write before they leave."""
        notes: dict[str, str | None] = {}
        for message in messages:
            self._fetched[message.id] = now_ms, phone_id
            notes[PREFIX + message.id] = f"{now_ms} {phone_id}"
        for message_id in self._outdated(now_ms):
            del self._fetched[message_id]
            notes[PREFIX + message_id] = None
        return notes

    def _outdated(self, now_ms: int) -> list[str]:
        over = len(self._fetched) - FETCHED_MAX
        return [
            message_id
            for index, (message_id, (at_ms, _)) in enumerate(self._fetched.items())
            if index < over or now_ms - at_ms > KEPT_MS
        ]
