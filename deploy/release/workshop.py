"""The source that a release is made of: git, commands, and what they said."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

UNSHARED: Final = (
    *("ARGS", "VERSION", "KEY", "PUBLIC", "REGISTRY"),
    *("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "PYTHONPATH"),
)
"""What a make hands on to those that it calls, in two ways: its ARGS are for this tool alone."""
SAID_MAX: Final = 20
"""Lines of a failed command that people see; the rest is in the log."""


@dataclass
class Workshop:
    """A work tree, in which commands run.

    ``make`` is the program that builds: tests have another one.
    """

    top: Path
    make: tuple[str, ...] = ("make",)

    @property
    def log(self) -> Path:
        return self.top / "build/release/log.txt"

    @property
    def dist(self) -> Path:
        return self.top / "dist"

    def git(self, *words: str) -> str:
        """What git says, without the space around it."""
        return self.run("git", *words).strip()

    def run(self, *command: str) -> str:
        """What a command prints; it stands in the log too.

        Raises:
            SystemExit: it failed.
        """
        self.log.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            command,
            cwd=self.top,
            env=self._environment(command[0]),
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if command[0] != "git" else subprocess.PIPE,
            text=True,
        )
        told = done.stdout + (done.stderr or "")
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(command)}\n{told}\n")
        if done.returncode:
            last = "\n".join(told.splitlines()[-SAID_MAX:])
            raise SystemExit(f"{' '.join(command[:4])} failed:\n{last}\nAll of it: {self.log}")
        return done.stdout

    def _environment(self, program: str) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if name not in UNSHARED}
        if program == sys.executable:
            env["PYTHONPATH"] = os.pathsep.join((str(self.top), str(self.top / "src")))
        return env
