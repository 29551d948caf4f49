"""``make same AGAINST=COMMIT``: what has changed for whoever uses the program.

Both commits write their behaviour into files (:mod:`proofs.same.collect`), each by its own code and
its own tests' town, and the files are compared. What differs is printed; nothing else should.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "build/same"
PATHS: Final = ("src", ".", "tests/support", "tests/support/pages")
"""What a tree's own collector imports, before what is installed."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make same", description=__doc__)
    parser.add_argument("--against", required=True, metavar="COMMIT", help="the commit before")
    parser.add_argument("--stat", action="store_true", help="print the files alone")
    options = parser.parse_args()
    commit = _git("rev-parse", "--verify", f"{options.against}^{{commit}}").strip()
    before, after = BUILD / "before", BUILD / "after"
    tree = BUILD / "tree"
    _drop(tree)
    _git("worktree", "add", "--quiet", "--force", "--detach", str(tree), commit)
    try:
        if not (tree / "proofs/same/collect.py").exists():
            print(f"{options.against} cannot write its behaviour: it is older than this command.")
            return 2
        _collect(tree, before)
    finally:
        _drop(tree)
    _collect(ROOT, after)
    return _compare(before, after, stat=options.stat)


def _drop(tree: Path) -> None:
    shutil.rmtree(tree, ignore_errors=True)
    _git("worktree", "prune")


def _git(*words: str) -> str:
    return subprocess.run(
        ("git", *words), cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def _collect(tree: Path, place: Path) -> None:
    """Have a tree write its behaviour."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    paths = os.pathsep.join(str(tree / each) for each in PATHS)
    command = (sys.executable, "-W", "ignore", "-m", "proofs.same.collect", str(place))
    subprocess.run(command, cwd=tree, check=True, env={**os.environ, "PYTHONPATH": paths})


def _compare(before: Path, after: Path, *, stat: bool) -> int:
    """Print what differs; 1 if anything does."""
    counted = sum(each.is_file() for each in after.rglob("*"))
    command = ["git", "--no-pager", "diff", "--no-index", "--stat=120"]
    if not stat:
        command.append("--patch")
    if subprocess.run([*command, str(before), str(after)], check=False).returncode:
        return 1
    print(f"{counted} files are the same.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
