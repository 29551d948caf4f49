"""Counts how often in a row the log has not answered in time."""

from __future__ import annotations

from typing import Final

LATE_MAX: Final = 3
"""So many times in a row, and new work is refused at once: one alone may be a failover."""


class Lateness:
    """Of the writer's waits for the log. One thread begins and ends them, others read."""

    def __init__(self, answer_wait_s: float) -> None:
        self._answer_wait_s = answer_wait_s
        self._since_s: float | None = None
        self._late = 0

    def begin(self, now_s: float) -> None:
        """The writer waits from now on."""
        self._since_s = now_s

    def end(self, now_s: float) -> None:
        """The log has answered."""
        late = self._spans(now_s)
        self._since_s = None
        self._late = self._late + late if late else 0

    def late(self, now_s: float) -> int:
        """How often in a row an answer was not there in time; 0: the last one was."""
        return self._late + self._spans(now_s)

    def left_s(self, now_s: float) -> float:
        """Seconds until what is waited for should be there."""
        since_s = self._since_s
        return self._answer_wait_s - (0.0 if since_s is None else now_s - since_s)

    def is_late(self, now_s: float) -> bool:
        """Whether what is waited for now should have been there."""
        return self._spans(now_s) > 0

    def refuses(self, now_s: float) -> bool:
        """Whether new work is refused at once, until the log answers."""
        return self._since_s is not None and self.late(now_s) >= LATE_MAX

    def _spans(self, now_s: float) -> int:
        since_s = self._since_s
        return 0 if since_s is None else int((now_s - since_s) / self._answer_wait_s)
