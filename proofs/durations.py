"""``make durations``: how long `make test` takes, and which folders of tests take it.

The table is in ``tests/DURATIONS.md``. Seconds are summed over the workers: a test's set-up, its
run and its tear-down. Beside them stands the processor time of the whole tree of processes.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from proofs import evidence
from proofs.evidence import ROOT
from proofs.reach import WORKERS

COMMAND: Final = "make durations"
PAGE: Final = ROOT / "tests/DURATIONS.md"
_REPORT: Final = ROOT / "build/durations.xml"
_DEEP: Final = ("engine", "http", "drivers", "flows", "docs", "cli")
"""Folders whose own folders and files have a row each."""
_LEAST_S: Final = 3.0
"""A row takes as long at least; what is less is summed in one."""
_SET_CHILD_SUBREAPER: Final = 36
"""The option of Linux's ``prctl`` (sys/prctl.h) that hands orphans to this process."""
_ORPHANS_S: Final = 10.0
"""Processes that the tests leave behind end by themselves within some seconds."""
_LOOK_S: Final = 0.1


def main() -> int:
    """The tests' own status."""
    _REPORT.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-n", f"{WORKERS}", "--dist", "worksteal"]
    command += [
        "-m",
        "not long",
        "--hypothesis-profile=quick",
        f"--junitxml={_REPORT}",
        *sys.argv[1:],
    ]
    began_s = time.monotonic()
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = subprocess.run(command, cwd=ROOT).returncode
    took_s = time.monotonic() - began_s
    if status == 0:
        _write(summed(_cases(_REPORT)), took_s, _processor_time())
    return status


def _processor_time() -> tuple[float, float]:
    """User and system seconds of all that ran for the tests.

    A process's time is added to whoever waits for it; those that outlive their parents are waited
    for here.
    """
    until_s = time.monotonic() + _ORPHANS_S
    while time.monotonic() < until_s:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(_LOOK_S)
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime


def _cases(report: Path) -> Iterable[tuple[str, float]]:
    """Each test's module (``tests.engine.test_x``, perhaps with a class) and seconds."""
    for _, element in ElementTree.iterparse(report):
        if element.tag == "testcase":
            yield element.attrib["classname"], float(element.attrib["time"])


def summed(cases: Iterable[tuple[str, float]]) -> dict[str, tuple[int, float]]:
    """Folder → how many tests it has, and their seconds; the longest first."""
    found: dict[str, list[float]] = defaultdict(list)
    for module, took_s in cases:
        parts = module.split(".")[1:]
        found["/".join(parts[: 2 if parts[0] in _DEEP else 1])].append(took_s)
    rows = {name: (len(each), sum(each)) for name, each in found.items()}
    return dict(sorted(rows.items(), key=lambda row: -row[1][1]))


def _write(
    found: dict[str, tuple[int, float]], took_s: float, processor_s: tuple[float, float]
) -> None:
    tests = sum(count for count, _ in found.values())
    rows = [("**all**", f"{tests:,}", f"{sum(took for _, took in found.values()):.0f}")]
    rows += [(n, f"{c:,}", f"{s:.1f}") for n, (c, s) in found.items() if s >= _LEAST_S]
    small = [(count, took) for count, took in found.values() if took < _LEAST_S]
    left = sum(took for _, took in small)
    rows.append((f"{len(small)} others", f"{sum(c for c, _ in small):,}", f"{left:.1f}"))
    user_s, system_s = processor_s
    whole = f"{took_s:.0f} s, {WORKERS} workers, {user_s:.0f} s user and {system_s:.0f} s system"
    header = (f"Folder (all of it in {whole})", "Tests", "Seconds")
    evidence.write("durations", header, rows, command=COMMAND, page=PAGE)


if __name__ == "__main__":
    sys.exit(main())
