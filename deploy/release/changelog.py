"""The changelog of a version, from notes that are written by hand or from fragments."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

CHANGELOG: Final = "CHANGELOG.md"
START: Final = "<!-- towncrier release notes start -->\n"


def written(top: Path, version: str) -> Path:
    """The notes that somebody wrote for a version; the fragments go with them."""
    return top / f"changes/{version}.md"


def fragments(top: Path) -> list[Path]:
    return sorted((top / "changes").glob("+*.md"))


def has_news(top: Path, version: str) -> bool:
    """Whether there is anything to tell of the version."""
    return written(top, version).exists() or bool(fragments(top))


def fold(top: Path, version: str, day: str, run: Callable[..., str]) -> None:
    """Move what is new into the changelog.

    Args:
        top: the source.
        day: as ``2026-11-27``.
        run: runs a command in it.
    """
    notes = written(top, version)
    if not notes.exists():
        run(sys.executable, *f"-m towncrier build --yes --version {version} --date {day}".split())
        return
    changelog = top / CHANGELOG
    head, start, tail = changelog.read_text("utf-8").partition(START)
    assert start, f"{CHANGELOG} does not say where versions begin."
    body = notes.read_text("utf-8").strip()
    changelog.write_text(f"{head}{start}\n## {version} ({day})\n\n{body}\n{tail}", "utf-8")
    for path in (notes, *fragments(top)):
        path.unlink()


def notes_of(top: Path, version: str) -> str:
    """What the changelog says of a version, with its heading; empty: it does not know it."""
    text = (top / CHANGELOG).read_text("utf-8").partition(START)[2]
    found = re.search(rf"^## {re.escape(version)} .*?(?=^## |\Z)", text, re.M | re.S)
    return f"{found[0].strip()}\n" if found else ""
