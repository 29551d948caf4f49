"""``make coverage``: which branches of the engine and of the rules of SMS the tests of CI take.

What is not taken is named, file by file; below the share that is promised the run fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from proofs import evidence
from proofs.evidence import ROOT

PROMISED: Final = 0.95
ROOMS: Final = ("engine", "sms")
COMMAND: Final = "make coverage"
WORKERS: Final = 4
"""As ``make test-all`` has them."""
_PLACE: Final = ROOT / "build/coverage"
_LEFT_OUT: Final = (
    # What is imported cannot be told while the tool that counts imports things itself.
    "tests/cli/commands/test_completion.py::test_a_press_of_the_key_imports_no_engine",
    # A thread that is cut down inside the tool keeps the tool's lock, and all others wait for it.
    "tests/plugins/testing/test_apart.py",
)
_DEPTH: Final = {"engine": 2, "engine/journal": 3, "sms": 1}
"""How many folders name a row: the engine is a house of its own, and the journal another."""


@dataclass
class Reach:
    """How much of one room is reached."""

    branches: int = 0
    taken: int = 0
    missed: dict[str, str] = field(default_factory=dict)
    """File → its lines from which a way was never taken."""

    @property
    def share(self) -> float:
        return self.taken / self.branches if self.branches else 1.0


def main() -> int:
    """0: more than the promised share of branches is taken in each room."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--no-run", action="store_true", help="count what the last run has left")
    parser.add_argument("tests", nargs="*", default=["tests"], help="folders of tests")
    asked = parser.parse_args()
    if not asked.no_run and (status := _run(asked.tests)) != 0:
        return status
    found = counted(_report())
    whole = {room: _sum(found, room) for room in ROOMS}
    _show(found, whole)
    if asked.tests == ["tests"]:
        _write(found, whole)
    return 0 if all(each.share > PROMISED for each in whole.values()) else 1


def _run(tests: list[str]) -> int:
    """The tests as CI runs them, but for browsers, which look at pages."""
    shutil.rmtree(_PLACE, ignore_errors=True)
    _PLACE.mkdir(parents=True)
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-n", f"{WORKERS}"]
    command += ["--dist", "worksteal"]
    command += [f"--deselect={each}" for each in _LEFT_OUT]
    command += tests
    return subprocess.run(command, cwd=ROOT).returncode


def _report() -> dict[str, Any]:
    tool = [sys.executable, "-m", "coverage"]
    if any(_PLACE.glob("data.*")):
        subprocess.run([*tool, "combine", "--quiet"], cwd=ROOT, check=True)
    path = _PLACE / "report.json"
    subprocess.run([*tool, "json", "--quiet", "-o", os.fspath(path)], cwd=ROOT, check=True)
    report: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return report


def counted(report: dict[str, Any]) -> dict[str, Reach]:
    """Room → its reach, from the tool's report."""
    found: dict[str, Reach] = defaultdict(Reach)
    for name, each in sorted(report["files"].items()):
        parts = Path(name).relative_to("src/risala").parts
        depth = _DEPTH.get("/".join(parts[:2]), _DEPTH[parts[0]])
        room = "/".join(parts[: min(depth, len(parts) - 1)])
        found[room].branches += each["summary"]["num_branches"]
        found[room].taken += each["summary"]["covered_branches"]
        lines = sorted({abs(start) for start, _ in each["missing_branches"]})
        if lines:
            found[room].missed["/".join(parts)] = ", ".join(map(str, lines))
    return dict(found)


def _sum(found: dict[str, Reach], room: str) -> Reach:
    inside = [each for name, each in found.items() if name.split("/")[0] == room]
    return Reach(sum(each.branches for each in inside), sum(each.taken for each in inside))


def _show(found: dict[str, Reach], whole: dict[str, Reach]) -> None:
    console = Console()
    table = Table("Room", "Branches", "Taken", "Share", title="Branches that the tests take")
    for name, each in [*found.items(), *whole.items()]:
        table.add_row(name, f"{each.branches}", f"{each.taken}", f"{each.share:.1%}")
    console.print(table)
    for each in found.values():
        for file, lines in each.missed.items():
            console.print(f"{file}: {lines}", highlight=False)


def _write(found: dict[str, Reach], whole: dict[str, Reach]) -> None:
    rows = [
        (f"**all of {name}**", each.branches, each.taken, f"{each.share:.1%}", "")
        for name, each in whole.items()
    ]
    rows += [
        (name, each.branches, each.taken, f"{each.share:.1%}", _named(each))
        for name, each in found.items()
    ]
    header = ("Room", "Branches", "Taken", "Share", "Files with ways not taken, and how many")
    evidence.write("coverage", header, rows, command=COMMAND)


def _named(room: Reach) -> str:
    """The files, the worst first; all their lines are in the run's output."""
    counts = {file: lines.count(",") + 1 for file, lines in room.missed.items()}
    worst = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{file.rsplit('/', 1)[-1]} {count}" for file, count in worst)


if __name__ == "__main__":
    sys.exit(main())
