"""A watch on the loop: logs which code blocks it, with the stack, while it happens.

Everything runs in one loop, and code that blocks it (``time.sleep``, a request without Trio, a long
computation) blocks all carriers, the API and the journal together. No task can see that. So a
thread asks the loop for a sign of life once a second, and if none comes looks at what the loop's
own thread is doing.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import PurePath
from types import FrameType
from typing import Any, Final

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.delivery.suspects import Suspicion
from risala.engine.model.clock import Clock
from risala.engine.model.times import iso

log = structlog.get_logger(__name__)

TICK_S: Final = 1.0
BLOCKED_S: Final = 2.0
"""Nothing of ours takes a tenth of it; customers begin to notice."""
STOOD_S: Final = 1.0
"""If the thread itself wakes this much too late, the whole process was stopped (suspended, or
native code kept the interpreter), and the stack afterwards shows nothing of use."""
KEPT_MAX: Final = 20
STACK_MAX: Final = 25
"""Innermost calls that are logged."""

Suspect = Callable[[FrameType], Suspicion]
"""Finds whose code is running, from the innermost frame."""


@dataclass(frozen=True, slots=True)
class Blockage:
    """A time in which the loop was blocked."""

    at: str
    """The last sign of life before it; ISO 8601, UTC."""
    for_s: float
    carriers: tuple[str, ...]
    """The carriers of the driver that blocked it: several if they share a driver and cannot be told
    apart; empty if it was no driver."""
    where: str
    """The driver's innermost call (any innermost call if it is no driver): file, line and
    function."""
    plugins: tuple[str, ...] = ()
    """The parts of plugins that blocked it, in words, if it was no driver: ``the policy words``."""


class LoopWatch:
    """Watches the loop that runs :meth:`run`, as long as that runs."""

    def __init__(self, clock: Clock, suspect: Suspect) -> None:
        self._clock = clock
        self._suspect = suspect
        self._over = threading.Event()
        self._beat_s = -math.inf
        self._beat_at_ms = 0
        self._blockage: Blockage | None = None
        self._tell_again_s = 0.0
        self._lock = threading.Lock()
        self._past: deque[Blockage] = deque(maxlen=KEPT_MAX)
        self._count = 0
        self._stood = 0
        self._last_stood: tuple[str, float] | None = None

    async def run(self) -> None:
        """Watch until cancelled. The thread ends before this does."""
        self._over.clear()
        self._beat()
        work = (trio.lowlevel.current_trio_token(), threading.get_ident())
        # A separate limiter: the places of the common one are for work that ends.
        limiter = trio.CapacityLimiter(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: trio.to_thread.run_sync(self._watch, *work, limiter=limiter))
            try:
                await trio.sleep_forever()
            finally:
                self._over.set()

    def statistics(self) -> dict[str, Any]:
        """How often the loop was blocked since the start, and the last times; how often the whole
        process was stopped, and the last time, without the cause."""
        with self._lock:
            past, last = list(self._past), self._last_stood
        return {
            "blockages": self._count,
            "latest": [asdict(blockage) for blockage in past],
            "stops": self._stood,
            "lastStop": None if last is None else {"at": last[0], "for_s": last[1]},
        }

    def _beat(self) -> None:
        # The wall clock too: the thread must not ask a clock that belongs to the loop.
        self._beat_s, self._beat_at_ms = time.monotonic(), self._clock.now_ms()

    # -- in the thread -------------------------------------------------------------------------

    def _watch(self, token: trio.lowlevel.TrioToken, thread_id: int) -> None:
        looked_s = time.monotonic()
        while not self._over.wait(TICK_S):
            now_s = time.monotonic()
            if now_s - looked_s > TICK_S + STOOD_S:
                self._note_stop(round(now_s - looked_s, 1))
                self._beat_s = now_s
            looked_s = now_s
            try:
                token.run_sync_soon(self._beat, idempotent=True)
            except trio.RunFinishedError:
                return
            self.check(now_s, thread_id)

    def _note_stop(self, for_s: float) -> None:
        log.warning("process.stood_still", for_s=for_s)
        with self._lock:
            self._stood += 1
            self._last_stood = (iso(self._beat_at_ms), for_s)

    def check(self, now_s: float, thread_id: int) -> None:
        """Check whether the loop gave a sign of life lately; public for the tests."""
        silent_s = now_s - self._beat_s
        if silent_s < BLOCKED_S:
            if self._blockage is not None:
                self._end(self._blockage)
            return
        if self._blockage is None or silent_s >= self._tell_again_s:
            self._tell_again_s = 2 * silent_s
            frame = sys._current_frames().get(thread_id)
            if frame is not None:
                self._tell(frame, silent_s)
        if self._blockage is not None:
            first = self._blockage
            self._blockage = replace(first, for_s=round(silent_s, 1))

    def _tell(self, frame: FrameType, silent_s: float) -> None:
        stack = stack_of(frame)
        suspicion = self._suspect(frame)
        carriers = suspicion.carriers
        if self._blockage is None:
            at, where = iso(self._beat_at_ms), stack_of(suspicion.frame)[0]
            plugins = suspicion.plugins
            self._blockage = Blockage(at, round(silent_s, 1), carriers, where, plugins)
        who = "Something"
        if carriers:
            who = f"The driver of {' or '.join(carriers)}"
        elif suspicion.plugins:
            who = f"A plugin, {' or '.join(suspicion.plugins)},"
        log.warning(
            "loop.blocked",
            text=f"{who} blocks the whole service. It must wait with Trio, or in a thread.",
            carriers=carriers,
            plugins=suspicion.plugins,
            for_s=round(silent_s, 1),
            stack="\n".join(stack),
        )

    def _end(self, blockage: Blockage) -> None:
        self._blockage = None
        with self._lock:
            self._past.append(blockage)
            self._count += 1
        log.warning("loop.free", carriers=blockage.carriers, for_s=blockage.for_s)


def stack_of(frame: FrameType) -> tuple[str, ...]:
    """The calls that a frame is in, the innermost first: files, lines and functions, no values."""
    calls: list[str] = []
    at: FrameType | None = frame
    while at is not None and len(calls) < STACK_MAX:
        path = PurePath(at.f_code.co_filename)
        calls.append(f"{'/'.join(path.parts[-2:])}:{at.f_lineno} in {at.f_code.co_qualname}")
        at = at.f_back
    return tuple(calls)
