"""Has the kernel kill this process at a given moment, whether or not the process runs then.

A process that was stopped goes on at the very instruction where it was. If that is between a check
of the lease and the write that the check was for, no code of ours comes first, however near the two
are. A timer of the kernel does: ``SIGKILL`` ends a stopped process as it is.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import time
from contextlib import suppress
from typing import Final

import structlog

_SIGEV_SIGNAL: Final = 0
_SIGEVENT: Final = struct.Struct("@Pii52x")
"""``struct sigevent``: a value, which signal, how to notify. The kernel reads 64 octets of it."""
_ITIMERSPEC: Final = struct.Struct("@llll")
"""``struct itimerspec``: an interval, then the time; seconds and nanoseconds of each."""
_TIMER_ABSTIME: Final = 1
"""``time.h``: the time of a timer is a moment, not a span."""
_LIBRARIES: Final = (None, "librt.so.1")
"""Where timers are: in the C library, or beside it (glibc before 2.34)."""

log = structlog.get_logger(__name__)


class KillTimer:
    """One timer on the clock of :func:`~risala.engine.upkeep.standby.lease.boot_s`.

    If the system refuses one, as a sandbox may, the log says so, and :meth:`set` does nothing.
    """

    def __init__(self) -> None:
        self._library: ctypes.CDLL | None = None
        self._timer = ctypes.c_void_p()
        event = _SIGEVENT.pack(0, signal.SIGKILL, _SIGEV_SIGNAL)
        for name in _LIBRARIES:
            with suppress(OSError, AttributeError):
                library = ctypes.CDLL(name, use_errno=True)
                timer = ctypes.byref(self._timer)
                _check(library.timer_create(time.CLOCK_BOOTTIME, event, timer))
                self._library = library
                return
        log.warning("lease.no_kill_timer")

    def set(self, at_s: float | None) -> None:
        """Kill this process at that moment instead of the one set before; None: never.

        A moment that has passed is now.
        """
        if self._library is None:
            return
        at = (0, 0) if at_s is None else (int(at_s), int(at_s % 1 * 1e9))
        spec = _ITIMERSPEC.pack(0, 0, *at)
        _check(self._library.timer_settime(self._timer, _TIMER_ABSTIME, spec, None))


def _check(result: int) -> None:
    if result:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
