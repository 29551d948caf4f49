"""Installs npm packages of a test's folder, once, however many workers want them."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest

from patience import HANG_S

INSTALL = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")


def npm_installed(folder: Path, what: str) -> None:
    """What the folder's lock names is there, or the test is skipped and says so.

    Args:
        what: the foreign program, for that sentence.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"NOT TESTED against {what}: {program} is not installed")
    modules = folder / "node_modules"
    with (folder / "package-lock.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # npm ci begins by taking away what is there
        if (modules / ".package-lock.json").exists():  # written last
            return
        done = subprocess.run(INSTALL, cwd=folder, capture_output=True, text=True, timeout=HANG_S)
        if done.returncode:
            pytest.skip(f"NOT TESTED against {what}: npm ci failed: {done.stderr[-300:]}")
