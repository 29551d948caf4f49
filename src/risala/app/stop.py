"""Signals: the order to stop and what makes sure that it is obeyed; the order to read anew."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from typing import Final

import structlog
import trio

from risala.config.model import Settings
from risala.engine.actors.bell import Bell

log = structlog.get_logger(__name__)

WATCHDOG_SPARE_S: Final = 10.0
"""Beyond all the deadlines of an ordered stop: whoever still runs then hangs."""
EXIT_HUNG: Final = 70
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _in_terminal() -> bool:
    return os.isatty(sys.stderr.fileno())


@dataclass(frozen=True, slots=True)
class Stop:
    """The order to stop, and what makes sure that it is obeyed."""

    settings: Settings
    asked: trio.Event = field(default_factory=trio.Event)
    reload: Bell = field(default_factory=Bell)
    """Rung by SIGHUP. Whoever holds what can change hears it, as soon as there is such a one."""
    _had_terminal: bool = field(default_factory=_in_terminal)

    async def wait_for_signals(
        self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Stop at the first signal; at the second at once. SIGHUP reads the settings anew."""
        with trio.open_signal_receiver(*_SIGNALS) as signals:
            task_status.started()
            async for number in signals:
                if number == signal.SIGHUP and not self._terminal_is_gone():
                    log.info("settings.reading")
                    self.reload.ring()
                else:
                    self._stop(signal.Signals(number).name, 128 + number)

    def _terminal_is_gone(self) -> bool:
        """The window that we ran in was closed: that SIGHUP means an end."""
        return self._had_terminal and not _in_terminal()

    def _stop(self, name: str, status: int) -> None:
        if self.asked.is_set():
            log.warning("service.killed", signal=name)
            os._exit(status)
        log.info("service.stopping", signal=name)
        self._start_watchdog()
        self.asked.set()

    def _start_watchdog(self) -> None:
        limit_s = (
            self.settings.http.graceful_stop_s + self.settings.engine.drain_s + WATCHDOG_SPARE_S
        )
        watchdog = threading.Timer(limit_s, self._bite)
        watchdog.daemon = True
        watchdog.start()

    @staticmethod
    def _bite() -> None:
        # What is on disk is whole at every instant, so that this loses nothing.
        faulthandler.dump_traceback()
        os._exit(EXIT_HUNG)
