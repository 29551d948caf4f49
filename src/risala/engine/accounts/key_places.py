"""From which networks keys are used: noted in memory at each use, and written together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import structlog
import trio

from risala.engine.accounts.last_uses import WRITE_EVERY_S
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.model.errors import Unavailable
from risala.engine.rules.people.key_age import network_of

log = structlog.get_logger(__name__)

NOTED_MAX: Final = 10_000
"""Keys' addresses that are held at a time, some 2 MB; more than these are not noted."""


class UsedPlaces:
    """Every place of the last half minute, not only each key's last one: who has stolen a key must
    not hide behind its busy owner.

    Args:
        write: stores the last use by key and network.
        items: where a use that breaks is named; it is lost.
    """

    def __init__(
        self, write: Callable[[Mapping[tuple[str, str], int]], Awaitable[None]], items: ItemLoop
    ) -> None:
        self._write = write
        self._items = items
        self._seen: dict[tuple[str, str], int] = {}

    def note(self, key_id: str, address: str, now_ms: int) -> None:
        """A key is used now, from a client's address."""
        if len(self._seen) < NOTED_MAX or (key_id, address) in self._seen:
            self._seen[key_id, address] = now_ms

    async def keep_writing(self) -> None:
        """Write what is noted, until cancelled."""
        while True:
            await trio.sleep(WRITE_EVERY_S)
            await self.write()

    async def write(self) -> None:
        """Write what is noted; if the disk does not take it, it is lost."""
        if not self._seen:
            return
        seen, self._seen = self._seen, {}
        places: dict[tuple[str, str], int] = {}
        for (key_id, address), at in seen.items():
            if (network := network_of(address)) is not None:
                places[key_id, network] = max(at, places.get((key_id, network), 0))
        try:
            await self._items.together([*places.items()], _key_of, self._write_some)
        except Unavailable as error:
            log.warning("key_places.lost", reason=str(error))

    async def _write_some(self, places: Sequence[tuple[tuple[str, str], int]]) -> None:
        await self._write(dict(places))


def _key_of(place: tuple[tuple[str, str], int]) -> str:
    return place[0][0]
