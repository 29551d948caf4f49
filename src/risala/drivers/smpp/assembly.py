"""Joining the parts of concatenated messages, in any order, twice, or never complete."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from risala.sms.segment import Concatenation, join

ASSEMBLIES_MAX: Final = 4096
"""Messages that may wait for parts; the one that was touched longest ago gives way."""


@dataclass(slots=True)
class _Assembly:
    parts: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Whole:
    text: str
    segments: int


class Assembler:
    """Holds parts in memory until they are whole. Pure: forgets by number, not by time."""

    def __init__(self, assemblies_max: int = ASSEMBLIES_MAX) -> None:
        self._assemblies_max = assemblies_max
        self._assemblies: OrderedDict[tuple[object, ...], _Assembly] = OrderedDict()

    def add(self, text: str, place: Concatenation | None, *ends: object) -> Whole | None:
        """The whole message, once its last part is here.

        Args:
            ends: who sends to whom; the reference is unique between them only.
        """
        if place is None or place.total == 1:
            return Whole(join([text]), 1)
        key = (place.reference, place.bits, place.total, *ends)
        assembly = self._assemblies.setdefault(key, _Assembly())
        self._assemblies.move_to_end(key)
        assembly.parts[place.number] = text
        if len(assembly.parts) == place.total:
            del self._assemblies[key]
            ordered = (assembly.parts[number] for number in sorted(assembly.parts))
            return Whole(join(ordered), place.total)
        if len(self._assemblies) > self._assemblies_max:
            self._assemblies.popitem(last=False)
        return None
