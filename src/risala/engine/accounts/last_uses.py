"""When keys, and whatever else lets somebody in, were last used, and from which networks keys are:
noted in memory at each use, and written together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Generic, TypeVar

import structlog
import trio

from risala.engine.actors.set_aside import ItemLoop
from risala.engine.model.errors import Unavailable
from risala.engine.rules.people.key_age import network_of

log = structlog.get_logger(__name__)

U = TypeVar("U")
"""What is noted of a use: its moment (UTC epoch milliseconds), or that and more."""

WRITE_EVERY_S: Final = 30.0
"""A key may be used a thousand times a second; a row changes twice a minute."""


class LastUses(Generic[U]):
    """Notes uses in memory, and writes them together.

    A crash loses the last half minute of them, which does no harm.
    """

    def __init__(
        self, of: str, touch: Callable[[dict[str, U]], Awaitable[None]], items: ItemLoop
    ) -> None:
        """
        Args:
            of: what is used, for the log.
            touch: writes the last use by id.
            items: where a use that breaks is named; it is lost.
        """
        self._of = of
        self._items = items
        self._touch = touch
        self._used: dict[str, U] = {}

    def note(self, used_id: str, use: U) -> None:
        """Note that a thing is used now."""
        self._used[used_id] = use

    def forget(self, used_id: str) -> None:
        """Drop the note of a deleted thing: nothing of it is written."""
        self._used.pop(used_id, None)

    async def keep_writing(self) -> None:
        """Write what is noted, until cancelled."""
        while True:
            await trio.sleep(WRITE_EVERY_S)
            await self.write()

    async def write(self) -> None:
        """Write what is noted; if the disk does not take it, it is lost."""
        if not self._used:
            return
        used, self._used = self._used, {}
        try:
            await self._items.together([*used.items()], lambda use: use[0], self._write_some)
        except Unavailable as error:
            log.warning("last_uses.lost", uses=self._of, reason=str(error))

    async def _write_some(self, uses: Sequence[tuple[str, U]]) -> None:
        await self._touch(dict(uses))


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
