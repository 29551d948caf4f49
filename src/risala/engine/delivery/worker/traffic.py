"""What went over a carrier's wire in the last minutes, line by line, for the operator.

Drivers say it, without secrets, codes and texts. It is kept in memory alone, and little of it:
where more comes in a second than anybody can read, the rest is only counted, and costs next to
nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import trio

from risala.engine.model.clock import Clock

LINES_MAX: Final = 2000
A_SECOND: Final = 10
"""Lines that are kept of each second, on the average."""
AT_ONCE_MAX: Final = 300
"""And at once after a silence: a modem that starts says a hundred."""
LINE_CHARACTERS_MAX: Final = 300
KEPT_MS: Final = 15 * 60_000
"""What is older helps nobody who looks for what is wrong now."""


@dataclass(frozen=True, slots=True)
class TrafficLine:
    """One thing that went over the wire."""

    seq: int
    at_ms: int
    """UTC epoch milliseconds."""
    sent: bool
    """By us; else it came."""
    text: str
    left_out: int
    """How many before it, since the last line, are not told."""


class WorkerTraffic:
    """Of one lane."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._now_s = trio.lowlevel.current_clock().current_time
        """As :func:`trio.current_time`, without looking for the clock with each line."""
        self._lines: deque[TrafficLine] = deque(maxlen=LINES_MAX)
        self._room = float(AT_ONCE_MAX)
        self._looked_s = self._now_s()
        self._left_out = self._seq = 0

    def note(self, sent: bool, tell: Callable[..., str], *given: object) -> None:
        """See :meth:`risala.plugins.contract.DriverContext.traffic`."""
        now_s = self._now_s()
        self._room = min(AT_ONCE_MAX, self._room + A_SECOND * (now_s - self._looked_s))
        self._looked_s = now_s
        if self._room < 1:
            self._left_out += 1
            return
        self._room -= 1
        text = "".join(each if each.isprintable() else "." for each in tell(*given))
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
        """The latest of the last minutes, the oldest of them first; only those after a number."""
        since_ms = self._clock.now_ms() - KEPT_MS
        found = [line for line in self._lines if line.seq > after and line.at_ms >= since_ms]
        return found[-count:]
