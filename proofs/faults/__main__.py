"""``make faults``: makes every fault of the table, and writes what came of it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from proofs import evidence
from proofs.faults import page
from proofs.faults.rows import FAULTS

TESTS: Final = "tests/flows/faults"
HEADER: Final = (
    "Fault",
    "Calls that failed",
    "Accepted",
    "Lost",
    "Doubled without a word",
    "Mis-charged",
    "Seconds until all is well",
)


def main() -> int:
    """0: all faults came out as the table says."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--dry", action="store_true", help="write neither page nor evidence")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="risala-faults-") as place:
        results = Path(place) / "results"
        command = [sys.executable, "-m", "pytest", "-v", "-p", "no:xdist", TESTS]
        variables = {**os.environ, "RISALA_FAULTS": str(results)}
        done = subprocess.run(command, env=variables, check=False)
        lines = results.read_text("utf-8").splitlines() if results.exists() else []
    found = {each["name"]: each for each in map(json.loads, lines)}
    rows = [each for group in FAULTS.values() for each in group]
    missing = [each.title for each in rows if each.name not in found]
    print(f"{len(found)} of {len(rows)} faults came out as the table says.")
    for title in missing:
        print(f"NOT SHOWN: {title}")
    if not options.dry and found:
        page.write()
        shown = [_cells(each.title, found[each.name]) for each in rows if each.name in found]
        evidence.write("faults", HEADER, shown, command="make faults")
    return done.returncode or (1 if missing else 0)


def _cells(title: str, result: dict[str, Any]) -> list[object]:
    names = ("injected", "acknowledged", "lost", "doubled", "wrong", "seconds")
    return [title, *(result[name] for name in names)]


if __name__ == "__main__":
    sys.exit(main())
