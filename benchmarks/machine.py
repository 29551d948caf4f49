"""The machine that is measured on: what it is, how long its disk syncs, and who else is at work."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_SYNCS = 20
"""Enough for a median; twenty of the slowest disks' 20 ms are less than half a second."""


def described() -> str:
    return (
        f"{os.cpu_count()} x {platform.machine()}, {platform.platform()},"
        f" Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )


def sync_ms() -> float:
    """How long the disk takes for a small write that must last."""
    took = []
    with tempfile.TemporaryFile() as file:
        for _ in range(_SYNCS):
            file.write(b"x" * 4096)
            file.flush()
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - started)
    return 1000 * statistics.median(took)


@dataclass(frozen=True, slots=True)
class _Ticks:
    at: float
    busy_s: float
    ours_s: float


class Others:
    """How many cores other programs took, and other tenants of a virtual machine."""

    def __init__(self) -> None:
        self._before = _ticks()

    def cores(self) -> float:
        """On average since this object was made; 0 is a quiet machine."""
        now, before = _ticks(), self._before
        theirs_s = (now.busy_s - before.busy_s) - (now.ours_s - before.ours_s)
        return max(0.0, theirs_s / max(now.at - before.at, 0.001))


def _ticks() -> _Ticks:
    hertz = os.sysconf("SC_CLK_TCK")
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _idle, _wait, irq, softirq, steal = map(
            int, file.readline().split()[1:9]
        )
    busy = user + nice + system + irq + softirq + steal
    return _Ticks(time.monotonic(), busy / hertz, _ours() / hertz)


def _ours() -> int:
    """Ticks of this process and of all below it, those that have ended included."""
    spent: dict[int, int] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:  # it ended while we looked
            continue
        after_name = fields.rpartition(")")[2].split()
        children[int(after_name[1])].append(int(entry.name))
        spent[int(entry.name)] = sum(map(int, after_name[11:15]))
    total, todo = 0, [os.getpid()]
    while todo:
        pid = todo.pop()
        total += spent.get(pid, 0)
        todo += children[pid]
    return total
