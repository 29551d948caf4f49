"""Opt-outs: refuses sends to people who want no further messages, and finds the last sender to a
number."""

from __future__ import annotations

from typing import Final

import trio

from risala.engine.actors.alarm import Bell
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.inbound.inbound import InboundRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import RecipientOptedOut

LOOK_BACK_MS: Final = 90 * 86_400_000
"""The greatest age of a message that an opt-out is taken to answer."""
ROWS_AT_ONCE: Final = 500
PAUSE_FACTOR: Final = 10
PAUSE_MIN_S: Final = 0.02


class OptOuts:
    """Checked at every send; costs one look-up in a set while the organization allows no
    opt-outs."""

    def __init__(self, inbound: InboundRepository) -> None:
        self._inbound = inbound
        self._heeding = inbound.policies()
        self.changed = Bell()
        """Rings when a policy was changed."""

    def look_again(self) -> None:
        """Read the policies again after a change."""
        self._heeding = self._inbound.policies()
        self.changed.ring()

    def refuse(self, organization_id: str, recipient: str) -> None:
        """Raise if the recipient wants no messages of this organization.

        Raises:
            RecipientOptedOut: they have sent STOP, and no START since.
        """
        if self.wants_none(organization_id, recipient):
            raise RecipientOptedOut

    def wants_none(self, organization_id: str, recipient: str) -> bool:
        """Whether the recipient wants no messages of this organization, and that is heeded."""
        return organization_id in self._heeding and self._inbound.is_out(organization_id, recipient)


class LookBack:
    """Notes the last sender to each number from before the first organization began to honour
    opt-outs.

    A background service that reads old messages: a few at a time, each time followed by a pause ten
    times as long. Its progress is in the journal.
    """

    def __init__(
        self, inbound: InboundRepository, clock: Clock, changed: Bell, items: ItemLoop
    ) -> None:
        """
        Args:
            items: where the reading is set aside if a message breaks it.
        """
        self._items = items
        self._inbound = inbound
        self._clock = clock
        self._changed = changed

    async def run(self) -> None:
        """Read old messages whenever some are unread, until cancelled."""
        while True:
            done, took_s = True, 0.0
            with self._items.item("look back"):
                done, took_s = await retry_until_committed("opt_outs", self._step)
            if done:
                await self._changed.wait(self._items.again_s)
            else:
                await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))

    async def _step(self) -> tuple[bool, float]:
        """Read a few messages; returns whether all are done, and the seconds this took."""
        began_s = trio.current_time()
        since_ms = self._clock.now_ms() - LOOK_BACK_MS
        done, broken = await self._inbound.look_back(since_ms, ROWS_AT_ONCE)
        for key, fault in broken:
            self._items.broken_row(key, fault)
        return done, trio.current_time() - began_s
