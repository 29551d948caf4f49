"""Log lines that strangers can cause: a flood of connections must not flood the log."""

from __future__ import annotations

from typing import Final

import structlog
import trio

log = structlog.get_logger("risala.smpp_server")

LINES_EVERY_S: Final = 1.0
"""Seconds between two such lines; suppressed lines are counted in the next one."""


class QuietLines:
    """Logs events of unbound clients, at most once a second."""

    def __init__(self) -> None:
        self._next_at_s = -1.0
        self._unsaid = 0

    def say(self, event: str, **told: object) -> None:
        """Write a line, or count it."""
        now_s = trio.current_time()
        if now_s < self._next_at_s:
            self._unsaid += 1
            return
        self._next_at_s = now_s + LINES_EVERY_S
        log.warning(event, **told, unsaid=self._unsaid)
        self._unsaid = 0
