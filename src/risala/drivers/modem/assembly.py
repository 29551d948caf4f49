"""Joining the parts of received messages, which lie in the modem until the whole is safe. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from risala.drivers.modem.coding import CharacterSet
from risala.drivers.modem.pdu import Deliver
from risala.plugins.contract import Inbound
from risala.sms.segment import join

ASSEMBLIES_MAX: Final = 256
"""A storage holds 255 messages at most; parts that come by +CMT have no other bound."""
Place = tuple[str, int]
"""A storage and an index in it."""
MISSING: Final = "[…]"
"""Stands for a part that never came."""


@dataclass(frozen=True, slots=True)
class Part:
    """A received message as it came: where it lies, and what it is."""

    deliver: Deliver
    digest: str
    """Names this PDU, so that the engine stores once what comes twice."""
    place: Place | None
    """None where it came by +CMT."""


@dataclass(frozen=True, slots=True)
class Whole:
    message: Inbound
    places: tuple[tuple[Place, str], ...]
    """Where its parts lie, with their digests: to delete once the message is safe."""
    missing: int = 0


@dataclass(slots=True)
class _Assembly:
    total: int
    began_ms: int
    parts: dict[int, Part] = field(default_factory=dict)
    spare: list[tuple[Place, str]] = field(default_factory=list)
    """Places of parts that are there twice."""


def digest_of(pdu: str) -> str:
    return hashlib.sha256(pdu.upper().encode()).hexdigest()[:20]


class Assembler:
    def __init__(self) -> None:
        self._assemblies: dict[tuple[object, ...], _Assembly] = {}

    def add(self, part: Part, now_ms: int) -> list[Whole]:
        """What this part makes whole: mostly nothing or one message."""
        place = part.deliver.user_data.concatenation
        if place is None or place.total == 1:
            return [_whole({1: part}, 1, now_ms)]
        key = (part.deliver.originator.text, place.reference, place.bits, place.total)
        done: list[Whole] = []
        there = self._assemblies[key].parts.get(place.number) if key in self._assemblies else None
        if there is not None and text_of(there.deliver) != text_of(part.deliver):
            # Some phones give every message the same reference: another one has begun.
            done.append(self._finish(key, now_ms))
        assembly = self._assemblies.setdefault(key, _Assembly(place.total, now_ms))
        if not done and there and there.place and there.place != part.place:
            assembly.spare.append((there.place, there.digest))
        assembly.parts[place.number] = part
        if len(assembly.parts) == place.total:
            done.append(self._finish(key, now_ms))
        return done

    def overdue(self, before_ms: int, now_ms: int) -> list[Whole]:
        """Messages that began before and are still incomplete, as far as they are."""
        keys = [key for key, it in self._assemblies.items() if it.began_ms < before_ms]
        return [self._finish(key, now_ms) for key in keys]

    def oldest(self, now_ms: int) -> Whole | None:
        """The incomplete message that began first: room is needed."""
        if not self._assemblies:
            return None
        key = min(self._assemblies, key=lambda key: self._assemblies[key].began_ms)
        return self._finish(key, now_ms)

    def crowded(self) -> bool:
        return len(self._assemblies) > ASSEMBLIES_MAX

    def forget_stored(self) -> None:
        """Drop what lies in the modem: it is read anew, and may lie elsewhere now."""
        for key, assembly in list(self._assemblies.items()):
            assembly.parts = {n: it for n, it in assembly.parts.items() if it.place is None}
            assembly.spare.clear()
            if not assembly.parts:
                del self._assemblies[key]

    def _finish(self, key: tuple[object, ...], now_ms: int) -> Whole:
        assembly = self._assemblies.pop(key)
        return _whole(assembly.parts, assembly.total, now_ms, assembly.spare)


def _whole(
    parts: dict[int, Part],
    total: int,
    now_ms: int,
    spare: Iterable[tuple[Place, str]] = (),
) -> Whole:
    ordered = [parts[number] for number in sorted(parts)]
    texts = [text_of(parts[n].deliver) if n in parts else MISSING for n in range(1, total + 1)]
    first = ordered[0].deliver
    places = [(part.place, part.digest) for part in ordered if part.place is not None]
    message = Inbound(
        sender=first.originator.readable,
        recipient=None,
        text=join(texts),
        received_at_ms=now_ms,
        carrier_ids=tuple(part.digest for part in ordered),
    )
    return Whole(message, (*places, *spare), total - len(ordered))


def text_of(deliver: Deliver) -> str:
    """Text as it is; octets that are no text in hexadecimal."""
    data = deliver.user_data
    if data.coding.characters is not CharacterSet.EIGHT_BIT and not data.coding.compressed:
        return data.text
    text = data.data.decode("latin-1")
    return text if text.isprintable() else data.data.hex()
