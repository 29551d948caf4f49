"""The programs of this machine that the tests need, and how one is called."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PROGRAMS: Final = {"debootstrap": "debootstrap", "mke2fs": "e2fsprogs"}
"""Each program, and the package of Debian's that has it."""
QEMU: Final = {"qemu-system-x86_64": "qemu-system-x86", "qemu-img": "qemu-utils"}
CONTAINER: Final = {"systemd-nspawn": "systemd-container", "slirp4netns": "slirp4netns"}
PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
"""Debian's users have no folder of root's programs in their path; these programs are there."""
SAID_MAX: Final = 2000
"""Characters of a failed program's output that its error shows: the end says what was wrong."""


class CannotRun(Exception):
    """This machine cannot make or start another one. The text says what to do."""


def missing(programs: Mapping[str, str]) -> list[str]:
    """The packages to install, in the order of the programs."""
    return [package for name, package in programs.items() if not shutil.which(name, path=PATH)]


def check(in_container: bool) -> None:
    """
    Raises:
        CannotRun: a program is not here, or this is not root, who alone may make a root.
    """
    packages = missing(PROGRAMS | (CONTAINER if in_container else QEMU))
    if packages:
        raise CannotRun(f"First: sudo apt-get install --no-install-recommends {' '.join(packages)}")
    if os.geteuid() != 0:
        raise CannotRun("debootstrap needs root: sudo make machine-test")


def run(*command: str, cwd: Path | None = None) -> str:
    """What a program prints.

    Raises:
        CannotRun: it failed; with the end of what it said.
    """
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PATH": PATH, "LC_ALL": "C.UTF-8"},
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        raise CannotRun(f"{command[0]} failed:\n{done.stdout[-SAID_MAX:].strip()}")
    return done.stdout
