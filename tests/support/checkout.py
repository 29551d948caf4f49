"""A checkout of Risala, as far as an installation needs it."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy_sources(place: Path) -> None:
    """Copy what the wheel is built from."""
    for folder in ("src", "clients/python"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, place / folder, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / name)
