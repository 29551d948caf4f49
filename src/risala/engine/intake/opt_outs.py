"""Opt-outs: the refusal of a send to somebody who wants no more, and who it was that wrote last."""

from __future__ import annotations

import sqlite3
from typing import Final

import trio

from risala.engine.actors.bell import Bell
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.store.patient import patiently
from risala.engine.model.errors import RecipientOptedOut

LOOK_BACK_MS: Final = 90 * 86_400_000
"""Nobody answers an older message."""
ROWS_AT_ONCE: Final = 500
PAUSE_FACTOR: Final = 10
PAUSE_MIN_S: Final = 0.02


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
            done, took_s = await patiently("opt_outs", self._step)
            if done:
                await self._changed.wait()
            else:
                await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))

    async def _step(self) -> tuple[bool, float]:
        """Whether all is done, and how long this took, in seconds."""
        began_s = trio.current_time()
        since_ms = self._recorder.clock.now_ms() - LOOK_BACK_MS
        done = await self._recorder.journal.commit(
            lambda conn: opt_outs.look_back(conn, since_ms, ROWS_AT_ONCE)
        )
        return done, trio.current_time() - began_s
