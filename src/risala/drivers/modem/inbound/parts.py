"""Parts of long messages, on disk before they are deleted from the modem or the network.

A part is noted on disk before it is deleted from the modem or acknowledged to the network; its note
is deleted in the transaction that stores the whole message. A note of its digest stays for some
days: after a crash before the modem had deleted the part, it comes again and is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from risala.drivers.modem.inbound.assembly import (
    JoinedMessage,
    ReceivedPdu,
    TpduAssembler,
    as_evident,
    readable_of,
)
from risala.drivers.modem.notefile import ModemNotes
from risala.drivers.modem.tpdu.pdu import Deliver, Direction, PduError, from_hex
from risala.sms.evident import InboundCoding

_PART: Final = "part/"
"""Begins the key of a part's note, which holds the time when the part came, the number of octets of
its TPDU, and the PDU."""
_SEEN: Final = "seen/"
_SEEN_MAX: Final = 2000
_SEEN_MS: Final = 8 * 86_400_000
"""How long a part's digest is kept: longer than any message waits for its parts, and longer than
networks try to deliver one."""


class ModemParts:
    """The parts of one modem's messages, kept in its notes over restarts."""

    def __init__(self, notes: ModemNotes, coding: InboundCoding = InboundCoding.AUTO) -> None:
        self._notes = notes
        self._assembler = TpduAssembler(coding)
        seen = ((int(text), key) for key, text in notes.recall(_SEEN).items())
        self._seen = {key.removeprefix(_SEEN): at_ms for at_ms, key in sorted(seen)}
        for part, at_ms in _recalled(notes, coding):
            self._assembler.add(part, at_ms)

    def knows(self, digest: str) -> bool:
        """Whether a part with this digest was kept before: the modem may delete the repetition."""
        return digest in self._seen

    async def keep(self, part: ReceivedPdu, pdu: str, tpdu_octets: int | None, now_ms: int) -> None:
        """Make a part durable, and join it to the others.

        Raises:
            NotStoredError: the disk did not take it; the part is not joined.
        """
        notes: dict[str, str | None] = {
            f"{_PART}{part.digest}": f"{now_ms} {tpdu_octets or 0} {pdu}",
            f"{_SEEN}{part.digest}": str(now_ms),
        }
        notes.update(dict.fromkeys(self._outdated(now_ms)))
        await self._notes.remember(notes)
        self._seen[part.digest] = now_ms
        for key, text in notes.items():
            if text is None:
                self._seen.pop(key.removeprefix(_SEEN), None)
        self._assembler.add(part, now_ms)

    def _outdated(self, now_ms: int) -> list[str]:
        oldest_first = iter(self._seen.items())
        too_many = len(self._seen) + 1 - _SEEN_MAX
        keys = []
        for at, (digest, at_ms) in enumerate(oldest_first):
            if at >= too_many and at_ms >= now_ms - _SEEN_MS:
                break
            keys.append(f"{_SEEN}{digest}")
        return keys

    def end_waiting(self, before_ms: int, now_ms: int) -> None:
        """Make messages that began before ``before_ms`` outgoing, incomplete, and the oldest ones
        if too many wait."""
        self._assembler.end_overdue(before_ms, now_ms)
        self._assembler.end_crowd(now_ms)

    @property
    def outgoing(self) -> JoinedMessage | None:
        """The next message to hand over, None if none is ready; call :meth:`is_safe` once it is
        stored."""
        return self._assembler.outgoing[0] if self._assembler.outgoing else None

    def is_safe(self, whole: JoinedMessage) -> None:
        """Take note that a message was stored, and the notes of its parts deleted with it."""
        assert self._assembler.outgoing[0] is whole
        self._assembler.outgoing.popleft()


def notes_of(whole: JoinedMessage) -> Iterable[str]:
    """The keys of the notes to delete when this message is stored."""
    return [f"{_PART}{digest}" for digest in whole.digests]


def _recalled(notes: ModemNotes, coding: InboundCoding) -> list[tuple[ReceivedPdu, int]]:
    parts: list[tuple[ReceivedPdu, int]] = []
    for key, text in notes.recall(_PART).items():
        at_ms, octets, pdu = text.split(" ")
        try:
            centre, tpdu = from_hex(pdu, Direction.TO_PHONE, int(octets) or None)
        except PduError:
            continue  # this version cannot read the PDU; its outdated note is deleted later
        if isinstance(tpdu, Deliver):
            evident = as_evident(tpdu, coding)
            known = (key.removeprefix(_PART), readable_of(centre), evident.label)
            part = ReceivedPdu(evident.deliver, *known)
            parts.append((part, int(at_ms)))
    return sorted(parts, key=lambda each: each[1])
