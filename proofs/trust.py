"""``make trust``: the tests again and again, on a machine that has other work, and none may fail.

A test that fails once in ten is no test: nobody believes it when it is right. There is no
quarantine; whatever is named here is mended.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from xml.etree import ElementTree

from benchmarks.machine import Others
from rich.console import Console

from proofs import evidence
from proofs.evidence import ROOT

COMMAND: Final = "make trust"
KEPT: Final = ROOT / "build/trust"
"""What a run in which tests failed said of them, as JUnit's XML."""
_WORKERS: Final = 4
"""As ``make test`` has them."""
_BUSY: Final = "while True:\n    sum(range(100_000))\n"
"""Another program's work: it never waits, and so it takes whatever core it gets."""


@dataclass(frozen=True, slots=True)
class Run:
    """One time through all the tests."""

    tests: int
    failed: tuple[str, ...]
    minutes: float
    others_cores: float
    """How many cores programs took meanwhile that are not ours, on average; ours beside it are
    ``--busy``."""


def main() -> int:
    """0: no test failed in any run."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--busy", type=int, default=os.cpu_count(), help="other programs at work")
    parser.add_argument("tests", nargs="*", default=["tests"], help="folders of tests")
    asked = parser.parse_args()
    console, runs = Console(), list[Run]()
    with busy(asked.busy):
        for number in range(1, asked.runs + 1):
            run = once(asked.tests, KEPT / f"run-{number}.xml")
            runs.append(run)
            console.print(
                f"{number} of {asked.runs}: {run.tests} tests, {len(run.failed)} failed,"
                f" {run.minutes:.1f} min; strangers took {run.others_cores:.1f} cores",
                *run.failed,
                *([f"see {KEPT.relative_to(ROOT)}/run-{number}.xml"] if run.failed else []),
                sep="\n  ",
                highlight=False,
                soft_wrap=True,
            )
            if asked.tests == ["tests"]:
                _write(runs, asked.busy)
    return 1 if any(run.failed for run in runs) else 0


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """Other programs that want a core each, as long as the context lasts."""
    children = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(programs)]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def once(tests: list[str], kept: Path) -> Run:
    """The tests of ``make test``, once; the report of a run in which one failed is kept.

    Raises:
        RuntimeError: they could not be run at all.
    """
    with TemporaryDirectory(prefix="risala-trust-") as place:
        results = Path(place) / "results.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", f"{_WORKERS}", "-m", "not long"]
        command += ["--dist", "worksteal", "-p", "no:cacheprovider"]
        command += [f"--junit-xml={results}", *tests]
        others, started = Others(), time.monotonic()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        minutes = (time.monotonic() - started) / 60
        if not results.exists():
            raise RuntimeError(f"the tests cannot be run:\n{done.stdout}{done.stderr}")
        count, failed = outcome(results.read_text("utf-8"))
        if failed:
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(results, kept)
    return Run(count, failed, minutes, others.cores())


def outcome(xml: str) -> tuple[int, tuple[str, ...]]:
    """How many tests a report has, and the names of those that did not pass."""
    cases = list(ElementTree.fromstring(xml).iter("testcase"))
    failed = [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    return len(cases), tuple(dict.fromkeys(failed))


def _write(runs: list[Run], busy_programs: int) -> None:
    rows: list[tuple[object, ...]] = [
        (n, run.tests, len(run.failed), f"{run.minutes:.1f}", busy_programs, _cores(run))
        for n, run in enumerate(runs, 1)
    ]
    failed = Counter(name for run in runs for name in run.failed)
    rows.append(
        (f"**all {len(runs)}**", sum(run.tests for run in runs), failed.total(), "", "", "")
    )
    header = (
        "Run",
        "Tests",
        "Failed",
        "Minutes",
        "Programs that never wait, beside it",
        "Cores taken by others",
    )
    evidence.write("trust", header, rows, command=COMMAND)


def _cores(run: Run) -> str:
    return f"{run.others_cores:.1f}"


if __name__ == "__main__":
    sys.exit(main())
