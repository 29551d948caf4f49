"""Looks after keys from time to time: gives a date to those that are too old for a rule, reminds
owners of those that expire soon, and forgets old places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog
import trio

from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.accounts.keys import KeyRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Unavailable

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 3600.0
"""A mail comes this much late at most."""


class KeyUpkeep:
    """
    Args:
        owed: called when mails are owed.
        items: where a key that breaks is set aside.
    """

    def __init__(
        self,
        accounts: Accounts,
        stored: KeyRepository,
        clock: Clock,
        owed: Callable[[], None],
        items: ItemLoop,
    ) -> None:
        self._items = items
        self._accounts = accounts
        self._stored = stored
        self._clock = clock
        self._owed = owed

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self._care()
            except Unavailable as error:
                log.warning("keys.upkeep", reason=str(error))
            await trio.sleep(LOOK_EVERY_S)

    async def _care(self) -> None:
        with self._items.item("ages"):
            await self._accounts.date_old_keys()
        now_ms = self._clock.now_ms()
        for key_id in self._stored.to_remind(now_ms):
            if self._items.is_free(key_id):
                with self._items.item(key_id):
                    await self._stored.owe_reminder(key_id, now_ms)
                    self._owed()
        await self._stored.forget_old_places(now_ms)
