"""Signals: the order to stop, with a watchdog that enforces it; the order to reread the
settings."""

from __future__ import annotations

import faulthandler
import math
import os
import signal
import sys
import threading
from dataclasses import dataclass, field
from typing import Final

import structlog
import trio

from risala.config.model import Settings
from risala.engine.actors.alarm import Bell

log = structlog.get_logger(__name__)

WATCHDOG_SPARE_S: Final = 10.0
"""Seconds after all deadlines of an ordered stop at which the watchdog ends the process: anything
that still runs then hangs."""
EXIT_HUNG: Final = 70
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _in_terminal() -> bool:
    return os.isatty(sys.stderr.fileno())


@dataclass(frozen=True, slots=True)
class Stop:
    """The order to stop, and the watchdog that ends a process which does not obey it."""

    settings: Settings
    ordered: trio.Event = field(default_factory=trio.Event)
    reload: Bell = field(default_factory=Bell)
    """Rung by SIGHUP; handled once the engine, whose settings can change, has started."""
    _had_terminal: bool = field(default_factory=_in_terminal)

    async def wait_for_signals(
        self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Order a stop at the first signal, and end the process at the second. SIGHUP makes the
        service read the settings again."""
        with trio.open_signal_receiver(*_SIGNALS) as signals:
            # One that came while we started has waited: see hold_reload.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})
            task_status.started()
            async for number in signals:
                if number == signal.SIGHUP and not self._terminal_is_gone():
                    log.info("settings.reading")
                    self.reload.ring()
                # A closed window may send the signal twice, from the kernel and from its shell: the
                # second one is not a user's request.
                elif number != signal.SIGHUP or not self.ordered.is_set():
                    self._stop(signal.Signals(number).name, 128 + number)

    def _terminal_is_gone(self) -> bool:
        """Whether the terminal window that we ran in was closed: that SIGHUP means the end."""
        return self._had_terminal and not _in_terminal()

    def order(self, reason: str) -> None:
        """Order a stop from within."""
        if not self.ordered.is_set():
            log.info("service.stopping", reason=reason)
            self._start_watchdog()
            self.ordered.set()

    def _stop(self, name: str, status: int) -> None:
        if self.ordered.is_set():
            log.warning("service.killed", signal=name)
            os._exit(status)
        log.info("service.stopping", signal=name)
        self._start_watchdog()
        self.ordered.set()

    def _start_watchdog(self) -> None:
        faces_s = max(self.settings.http.graceful_stop_s, self.settings.smpp_server.graceful_stop_s)
        limit_s = faces_s + self.settings.engine.drain_s + WATCHDOG_SPARE_S
        watchdog = threading.Timer(limit_s, self._bite)
        watchdog.daemon = True
        try:
            watchdog.start()
        except RuntimeError:  # the machine has no threads left; the kernel needs none
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(math.ceil(limit_s))

    @staticmethod
    def _bite() -> None:
        # The database is consistent at every moment, so that ending the process loses nothing.
        faulthandler.dump_traceback()
        os._exit(EXIT_HUNG)
