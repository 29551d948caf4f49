"""The modem's message storages (27.005 §3.2.3). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from risala.drivers.modem.tpdu.pdu import Tpdu

REPORTS: Final = "SR"
"""The storage of status reports, if a modem has one (27.005 §3.2.3)."""
REPORT_PLACES: Final = 50


class Stat(IntEnum):
    """The state of a stored message: ``<stat>`` (27.005 §3.1)."""

    REC_UNREAD = 0
    REC_READ = 1
    STO_UNSENT = 2
    STO_SENT = 3

    @property
    def word(self) -> str:
        """The state's word in text mode: ``REC UNREAD``."""
        return self.name.replace("_", " ")


ALL = 4
"""``<stat>`` in +CMGL: every message."""


@dataclass(slots=True)
class StoredTpdu:
    tpdu: Tpdu
    stat: Stat


class SimulatedStorage:
    def __init__(self, name: str, places: int, first_index: int) -> None:
        self.name = name
        self.places = places
        self._first = first_index
        self._kept: dict[int, StoredTpdu] = {}

    @property
    def used(self) -> int:
        return len(self._kept)

    @property
    def is_full(self) -> bool:
        return self.used >= self.places

    @property
    def indexes(self) -> range:
        return range(self._first, self._first + self.places)

    def add(self, tpdu: Tpdu, stat: Stat) -> int | None:
        """Keep a TPDU; its index, the first free one. None if the storage is full."""
        index = next((each for each in self.indexes if each not in self._kept), None)
        if index is not None:
            self._kept[index] = StoredTpdu(tpdu, stat)
        return index

    def get(self, index: int) -> StoredTpdu | None:
        return self._kept.get(index)

    def remove(self, index: int) -> None:
        self._kept.pop(index, None)

    def remove_all(self, stats: frozenset[Stat]) -> None:
        self._kept = {i: it for i, it in self._kept.items() if it.stat not in stats}

    def list(self, stat: int) -> list[tuple[int, StoredTpdu]]:
        """The messages with a ``<stat>``, each with its index, in order."""
        stored = sorted(self._kept.items())
        return [(i, it) for i, it in stored if stat in (ALL, it.stat)]
