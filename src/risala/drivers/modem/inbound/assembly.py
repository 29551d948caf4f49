"""Joining the parts of received messages. Pure."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from risala.drivers.modem.tpdu.coding import CharacterSet
from risala.drivers.modem.tpdu.pdu import Deliver
from risala.plugins.contract import Inbound
from risala.sms.segment import Concatenation, join

ASSEMBLIES_MAX: Final = 256
PARTS_MAX: Final = 2000
"""Of all incomplete messages together; each is a note, of which a carrier has 10,000."""
MISSING: Final = "[…]"
"""Stands for a part that never came."""


@dataclass(frozen=True, slots=True)
class Part:
    """A received message as it came."""

    deliver: Deliver
    digest: str
    """Names this PDU, so that the engine stores once what comes twice."""


@dataclass(frozen=True, slots=True)
class Whole:
    message: Inbound
    digests: tuple[str, ...] = ()
    """Of all parts that went into it, and of those that were there twice."""
    missing: int = 0
    why: str = ""
    """Why it is handed over although some are missing."""


@dataclass(slots=True)
class _Assembly:
    total: int
    began_ms: int
    parts: dict[int, Part] = field(default_factory=dict)
    spare: list[str] = field(default_factory=list)
    """Digests of parts that were there twice."""


def digest_of(pdu: str) -> str:
    return hashlib.sha256(pdu.upper().encode()).hexdigest()[:20]


def place_of(deliver: Deliver) -> Concatenation | None:
    """Which part of a long message it is; None for a message of its own."""
    place = deliver.user_data.concatenation
    return None if place is None or place.total == 1 else place


class Assembler:
    """Messages of several parts. What is done waits in :attr:`outgoing` until it is safe."""

    def __init__(self) -> None:
        self._assemblies: dict[tuple[object, ...], _Assembly] = {}
        self.outgoing: deque[Whole] = deque()
        self._parts = 0

    def add(self, part: Part, now_ms: int) -> None:
        """Take a part. What it makes whole is outgoing then: mostly nothing or one message."""
        place = place_of(part.deliver)
        if place is None:
            raise ValueError("this is no part")
        key = (part.deliver.originator.text, place.reference, place.bits, place.total)
        there = self._assemblies[key].parts.get(place.number) if key in self._assemblies else None
        if there is not None and text_of(there.deliver) != text_of(part.deliver):
            # Some phones give every message the same reference: another one has begun.
            self._finish(key, now_ms, "another message began")
            there = None
        assembly = self._assemblies.setdefault(key, _Assembly(place.total, now_ms))
        if there is None:
            self._parts += 1
        elif there.digest != part.digest:
            assembly.spare.append(there.digest)
        assembly.parts[place.number] = part
        if len(assembly.parts) == place.total:
            self._finish(key, now_ms)

    def end_overdue(self, before_ms: int, now_ms: int) -> None:
        """Messages that began before and are still incomplete go as far as they are."""
        for key in [key for key, it in self._assemblies.items() if it.began_ms < before_ms]:
            self._finish(key, now_ms, "they did not come")

    def end_crowd(self, now_ms: int) -> None:
        """The incomplete messages that began first go: room is needed."""
        while len(self._assemblies) > ASSEMBLIES_MAX or self._parts > PARTS_MAX:
            key = min(self._assemblies, key=lambda key: self._assemblies[key].began_ms)
            self._finish(key, now_ms, "too many messages wait for parts")

    def _finish(self, key: tuple[object, ...], now_ms: int, why: str = "") -> None:
        assembly = self._assemblies.pop(key)
        self._parts -= len(assembly.parts)
        self.outgoing.append(_whole(assembly, now_ms, why))


def message_of(parts: Iterable[Part], texts: Iterable[str], now_ms: int) -> Inbound:
    """The message that these parts are."""
    ordered = list(parts)
    return Inbound(
        sender=ordered[0].deliver.originator.readable,
        recipient=None,
        text=join(list(texts)),
        received_at_ms=now_ms,
        carrier_ids=tuple(part.digest for part in ordered),
    )


def _whole(assembly: _Assembly, now_ms: int, why: str) -> Whole:
    parts = assembly.parts
    ordered = [parts[number] for number in sorted(parts)]
    numbers = range(1, assembly.total + 1)
    texts = [text_of(parts[n].deliver) if n in parts else MISSING for n in numbers]
    digests = (*(part.digest for part in ordered), *assembly.spare)
    missing = assembly.total - len(ordered)
    return Whole(message_of(ordered, texts, now_ms), digests, missing, why)


def text_of(deliver: Deliver) -> str:
    """Text as it is; octets that are no text in hexadecimal."""
    data = deliver.user_data
    if data.coding.characters is not CharacterSet.EIGHT_BIT and not data.coding.compressed:
        return data.text
    text = data.data.decode("latin-1")
    return text if text.isprintable() else data.data.hex()
