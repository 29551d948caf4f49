"""Opt-outs: refuses sends to people who want no more messages, and finds out who wrote to whom
last."""

from __future__ import annotations

from typing import Final

import trio

from risala.engine.actors.bell import Bell
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.journal.repositories.inbound import InboundRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import RecipientOptedOut

LOOK_BACK_MS: Final = 90 * 86_400_000
"""How old a message may be whose sender an opt-out is meant for: nobody answers an older one."""
ROWS_AT_ONCE: Final = 500
PAUSE_FACTOR: Final = 10
PAUSE_MIN_S: Final = 0.02


class OptOuts:
    """Asked at every send; costs a look into a set while the organization allows no opt-outs."""

    def __init__(self, inbound: InboundRepository) -> None:
        self._inbound = inbound
        self._heeding = inbound.policies()
        self.changed = Bell()
        """Rung when a policy was changed."""

    def look_again(self) -> None:
        """Read the policies again: one was changed."""
        self._heeding = self._inbound.policies()
        self.changed.ring()

    def refuse(self, organization_id: str, recipient: str) -> None:
        """Raise where the recipient wants no messages of this organization.

        Raises:
            RecipientOptedOut: they have sent STOP, and no START since.
        """
        if organization_id in self._heeding and self._inbound.is_out(organization_id, recipient):
            raise RecipientOptedOut


class LookBack:
    """Notes who wrote last to each number before the first organization began to heed opt-outs.

    A service that looks through old messages: a few at a time, each time followed by a pause ten
    times as long. How far it has come stands in the journal.
    """

    def __init__(self, inbound: InboundRepository, clock: Clock, changed: Bell) -> None:
        self._inbound = inbound
        self._clock = clock
        self._changed = changed

    async def run(self) -> None:
        """Look through old messages whenever there are some to look through, for life."""
        while True:
            done, took_s = await retry_until_committed("opt_outs", self._step)
            if done:
                await self._changed.wait()
            else:
                await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))

    async def _step(self) -> tuple[bool, float]:
        """Look through a few messages; whether all are done, and how many seconds this took."""
        began_s = trio.current_time()
        since_ms = self._clock.now_ms() - LOOK_BACK_MS
        done = await self._inbound.look_back(since_ms, ROWS_AT_ONCE)
        return done, trio.current_time() - began_s
