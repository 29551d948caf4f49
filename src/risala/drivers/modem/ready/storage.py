"""Messages in a modem's storage: list, read, delete (27.005 §3.4.2, §3.4.3, §4.1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.at.engine import Row
from risala.drivers.modem.at.fields import first, number, values
from risala.drivers.modem.talk.asking import Asker

_LIST_S: Final = 60.0
"""A full storage at 9600 baud takes most of a minute."""
_PLACES_MAX: Final = 255
Place = tuple[str, int]
"""A storage and an index in it."""
_OWN: Final = (2, 3)
"""``<stat>`` of messages that were stored to be sent, which are not ours to read (27.005 §3.1)."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A received message in the storage."""

    place: Place
    pdu: str
    tpdu_octets: int | None


@dataclass(frozen=True, slots=True)
class Usage:
    """How full a storage is, in messages."""

    used: int
    total: int

    @property
    def is_tight(self) -> bool:
        """Nearly full: a long message must still find room for its parts."""
        return self.total > 0 and self.total - self.used <= max(2, self.total // 5)


class Storage:
    """The modem's message storages; ``current`` is the selected one, empty without +CPMS."""

    def __init__(self, asker: Asker, current: str) -> None:
        self._asker = asker
        self.current = current
        self._can_list = True
        self.total = 0

    async def usage(self) -> Usage | None:
        """How full the current storage is; None if the modem does not report it."""
        if not self.current:
            return None
        fields = first(await self._asker.rows("AT+CPMS?"), "+CPMS")
        used, total = (number(text) for text in fields[1:3]) if len(fields) > 2 else (None, None)
        if used is None or total is None:
            return None
        self.total = total
        return Usage(used, total)

    async def list(self, name: str = "") -> list[Stored]:
        """All received messages; one by one if the modem has no +CMGL."""
        name = name or self.current
        async with self._selected(name):
            if self._can_list:
                answer = await self._asker.try_("AT+CMGL=4", _LIST_S)
                if answer is not None and answer.result.ok:
                    listed = [_listed(name, row) for row in answer.rows]
                    return [stored for stored in listed if stored is not None]
                self._can_list = False
            # Modems count places from 0 or from 1: read one more than there are.
            places = range(min(self.total or _PLACES_MAX, _PLACES_MAX) + 1)
            read = [await self._read((name, index)) for index in places]
            return [stored for stored in read if stored is not None]

    async def read(self, place: Place) -> Stored | None:
        """The message at a place; None if it is empty, or holds no received message."""
        async with self._selected(place[0]):
            return await self._read(place)

    async def _read(self, place: Place) -> Stored | None:
        for row in await self._asker.rows(f"AT+CMGR={place[1]}"):
            fields = values(row.text)
            if row.pdu is None or not fields or number(fields[0]) in _OWN:
                continue
            return Stored(place, row.pdu, number(fields[-1]))
        return None

    async def delete(self, place: Place) -> bool:
        async with self._selected(place[0]):
            return await self._asker.ok(f"AT+CMGD={place[1]}")

    @asynccontextmanager
    async def _selected(self, name: str) -> AsyncIterator[None]:
        """Within this context another storage is selected, and no other task's command comes in
        between."""
        if not name or not self.current or name == self.current:
            yield
            return
        async with self._asker.link.turn():
            await self._asker.ok(f'AT+CPMS="{name}"')
            try:
                yield
            finally:
                await self._asker.ok(f'AT+CPMS="{self.current}"')


def _listed(name: str, row: Row) -> Stored | None:
    fields = values(row.text)
    index = number(fields[0]) if fields else None
    if row.pdu is None or index is None or len(fields) < 3 or number(fields[1]) in _OWN:
        return None
    return Stored((name, index), row.pdu, number(fields[-1]))
