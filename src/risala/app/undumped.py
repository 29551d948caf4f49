"""Keeps the process's memory off the disk: it holds texts, codes being sent, and the key.

A crash would write it, into a file or into the machine's program for crash reports, and a program
of the same user could read it. Root still can; root cannot be kept out.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress
from typing import Final

_PR_SET_DUMPABLE: Final = 4
"""``prctl(2)``, ``linux/prctl.h``."""


def forbid_dumps() -> None:
    """Make the kernel write no core file of this process, and let no other program attach to it.

    If the kernel cannot do that (another system than Linux), only the first half applies. Programs
    started from here keep the machine's defaults, except for core files.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A limit of 0 keeps no core from a program that takes them by a pipe (core(5)).
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
