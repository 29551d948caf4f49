"""The source trees that are measured: the one that this file stands in, and one to compare with."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Tree:
    """A Risala that can be run: whose ``src`` Python finds first."""

    label: str
    src: Path
    python: str = sys.executable

    def environment(self, **more: str) -> dict[str, str]:
        """That of a process of this tree; compiled modules are kept, as where it is installed."""
        path = os.pathsep.join((str(self.src), str(ROOT)))
        inherited = {key: value for key, value in os.environ.items() if key != _UNCOMPILED}
        return {**inherited, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", **more}


HERE = Tree("this tree", ROOT / "src")


def tree_of(name: str, scratch: Path) -> Tree:
    """The tree that ``--against`` names: a directory with a checkout, or anything git can name.

    A directory that has an environment of its own runs in it; a commit runs in ours.

    Raises:
        SystemExit: it is neither.
    """
    directory = Path(name)
    if (directory / "src" / "risala").is_dir():
        python = directory.resolve() / ".venv" / "bin" / "python"
        return Tree(
            name, directory.resolve() / "src", str(python) if python.exists() else HERE.python
        )
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", name, "src"], capture_output=True, check=False
    )
    if archive.returncode:
        raise SystemExit(
            f"--against {name}: neither a directory with src/risala in it nor a commit"
            f" ({archive.stderr.decode().strip()})."
        )
    subprocess.run(["tar", "-x", "-C", str(scratch)], input=archive.stdout, check=True)
    return Tree(name, scratch / "src")
