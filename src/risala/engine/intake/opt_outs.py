"""Opt-outs: the refusal of a send to somebody who wants no more, and who it was that wrote last."""

from __future__ import annotations

import sqlite3
from typing import Final

import structlog
import trio

from risala.engine.actors.bell import Bell
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.recorder import Recorder
from risala.engine.model.errors import RecipientOptedOut, Unavailable

log = structlog.get_logger(__name__)

LOOK_BACK_MS: Final = 90 * 86_400_000
"""Nobody answers an older message."""
ROWS_AT_ONCE: Final = 500
PAUSE_FACTOR: Final = 10
PAUSE_MIN_S: Final = 0.02
STORAGE_RETRY_S: Final = 5.0


class OptOuts:
    """Asked at every send; costs a look into a set while the organization allows no opt-outs."""

    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader
        self._heeding = opt_outs.policies(reader)
        self.changed = Bell()
        """Rung when a policy was changed."""

    def look_again(self) -> None:
        """A policy was changed."""
        self._heeding = opt_outs.policies(self._reader)
        self.changed.ring()

    def refuse(self, organization_id: str, recipient: str) -> None:
        """Refuse a message to somebody who wants none.

        Raises:
            RecipientOptedOut: until they send START.
        """
        if organization_id in self._heeding and opt_outs.is_out(
            self._reader, organization_id, recipient
        ):
            raise RecipientOptedOut


class LookBack:
    """Looks through what was sent before the first organization began to heed opt-outs.

    A service: a few messages at a time, with pauses ten times as long as each took. How far it is
    stands in the journal.
    """

    def __init__(self, recorder: Recorder, changed: Bell) -> None:
        self._recorder = recorder
        self._changed = changed

    async def run(self) -> None:
        """Look through what there is, for life."""
        while True:
            began_s = trio.current_time()
            try:
                done = await self._step()
            except Unavailable as error:
                log.warning("opt_outs.storage", reason=str(error))
                await trio.sleep(STORAGE_RETRY_S)
                continue
            if done:
                await self._changed.wait()
            else:
                took_s = trio.current_time() - began_s
                await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))

    async def _step(self) -> bool:
        since_ms = self._recorder.clock.now_ms() - LOOK_BACK_MS
        return await self._recorder.journal.commit(
            lambda conn: opt_outs.look_back(conn, since_ms, ROWS_AT_ONCE)
        )
