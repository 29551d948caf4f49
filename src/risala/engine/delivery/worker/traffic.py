"""What went over a carrier's wire in the last minutes, line by line, for the operator.

Drivers report it, without secrets, codes and texts. It is kept only in memory, and little of it: if
more comes in a second than can be read, the rest is only counted, and costs next to nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import trio

from risala.engine.model.clock import Clock
from risala.engine.model.records.carriers.routes import TrafficLine

LINES_MAX: Final = 2000
A_SECOND: Final = 10
"""Lines kept for each second, on average."""
AT_ONCE_MAX: Final = 300
"""Lines kept in one burst after a silence: a modem that starts writes a hundred."""
LINE_CHARACTERS_MAX: Final = 300
KEPT_MS: Final = 15 * 60_000
"""Older lines do not help to find a present problem."""


class WorkerTraffic:
    """The latest lines of one worker's traffic."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._now_s = trio.lowlevel.current_clock().current_time
        """:func:`trio.current_time` without the clock's lookup at each line."""
        self._lines: deque[TrafficLine] = deque(maxlen=LINES_MAX)
        self._room = float(AT_ONCE_MAX)
        self._looked_s = self._now_s()
        self._left_out = self._seq = 0

    def note(self, sent: bool, tell: Callable[..., str], *values: object) -> None:
        """See :meth:`risala.plugins.contract.DriverContext.traffic`."""
        now_s = self._now_s()
        self._room = min(AT_ONCE_MAX, self._room + A_SECOND * (now_s - self._looked_s))
        self._looked_s = now_s
        if self._room < 1:
            self._left_out += 1
            return
        self._room -= 1
        text = "".join(each if each.isprintable() else "." for each in tell(*values))
        self._seq += 1
        self._lines.append(
            TrafficLine(
                self._seq,
                self._clock.now_ms(),
                sent,
                text[:LINE_CHARACTERS_MAX],
                self._left_out,
            )
        )
        self._left_out = 0

    def lines(self, after: int, count: int) -> list[TrafficLine]:
        """The latest lines of the last minutes, the oldest first; only those after a number."""
        since_ms = self._clock.now_ms() - KEPT_MS
        recent = [line for line in self._lines if line.seq > after and line.at >= since_ms]
        return recent[-count:]
