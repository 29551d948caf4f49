"""No picture of the memory is left on a disk: it holds texts, codes on their way, and the key.

A crash would write one, by itself or into whatever program the machine has for that, and a program
of the same user could take one. Root still may; nothing holds root.
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
    """Have the kernel write no core file of this process, nor let another program attach to it.

    Where the kernel does not know how (another system than Linux), the first half holds alone. A
    program that is started from here is as the machine has it, but for core files.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A limit of 0 keeps no core from a program that takes them by a pipe (core(5)).
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
