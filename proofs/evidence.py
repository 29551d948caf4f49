"""What a target has shown, written into the page of evidence with its date and its machine.

``docs/reference/evidence.md`` has a place for each target between two marks; whoever runs the
target again writes it anew, and nobody types a number by hand.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.machine import described

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs/reference/evidence.md"
WRITTEN: Final = (
    "docs/reference/evidence.md",
    "docs/reference/faults.md",
    "tests/DURATIONS.md",
)
"""By targets: what one of them writes is no change of the source that the next one tries."""
_TEXT_COLUMNS_MAX: Final = 400
"""A cell longer than this is no number and no name: somebody put a log into it."""


def place(section: str) -> re.Pattern[str]:
    """Where a section stands in the page, its marks around it."""
    return re.compile(
        rf"(<!-- {re.escape(section)}: begin -->\n)(.*?)(<!-- {re.escape(section)}: end -->)", re.S
    )


def write(
    section: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    command: str,
    page: Path = PAGE,
) -> None:
    """Put a table into its place.

    Args:
        section: the name in the page's marks.
        header: the columns' names.
        rows: as many cells each.
        command: what anybody types to see it for himself.

    Raises:
        LookupError: the page has no such place, or two.
        ValueError: a row is not as wide as the header, or a cell holds what no table can.
    """
    text = page.read_text("utf-8")
    found = place(section).findall(text)
    if len(found) != 1:
        raise LookupError(f"{page.name} has {len(found)} places for {section!r}")
    lines = [_row(header), _row(["---"] * len(header))]
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"{section}: {row!r} has not {len(header)} cells")
        lines.append(_row([str(cell) for cell in row]))
    table = "\n".join(lines)
    words = f"\nWritten by `{command}` on {today()}, {commit()}, on {_machine()}:\n\n{table}\n\n"
    page.write_text(place(section).sub(lambda at: at[1] + words + at[3], text), "utf-8")


def rows(section: str, *, page: Path = PAGE) -> list[list[str]]:
    """The rows that the page has of a section now, without the header, for a target that tries some
    of them alone.

    Raises:
        LookupError: the page has no such place.
    """
    return _lines(section, page)[2:]


def header(section: str, *, page: Path = PAGE) -> list[str]:
    """The names of the columns that the page has of a section now; nothing: it has no table yet.

    Raises:
        LookupError: the page has no such place.
    """
    return next(iter(_lines(section, page)), [])


def _lines(section: str, page: Path) -> list[list[str]]:
    found = place(section).search(page.read_text("utf-8"))
    if found is None:
        raise LookupError(f"{page.name} has no place for {section!r}")
    lines = (line for line in found[2].splitlines() if line.startswith("| "))
    cells = (line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines)
    return [[cell.replace("\\|", "|") for cell in row] for row in cells]


def _row(cells: Sequence[str]) -> str:
    for cell in cells:
        if "\n" in cell or len(cell) > _TEXT_COLUMNS_MAX:
            raise ValueError(f"no cell of a table: {cell!r}")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def today() -> str:
    """The day in UTC, as pages write it."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def commit(root: Path = ROOT) -> str:
    """Which source it was; ``+``: with changes that no commit holds, but for the pages that
    targets write."""
    git = ("git", "-C", str(root))
    name = [*git, "describe", "--always", "--abbrev=8", "--exclude=*"]
    done = subprocess.run(name, capture_output=True, text=True)
    if done.returncode:
        return "no commit known"
    written = [f":(exclude){path}" for path in WRITTEN]
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", *written]).returncode
    return f"commit {done.stdout.strip()}{'+' if changed else ''}"


def _machine() -> str:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{described()}, {memory:.0f} GiB"
