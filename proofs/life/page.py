"""The section of the page of evidence: each part of ``make life`` has a row, and writes its own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from proofs import evidence

SECTION: Final = "life"
_HEADER: Final = ("What is done to it", "What came of it", "On")


def write_rows(rows: dict[str, str], page: Path = evidence.PAGE) -> None:
    """Write these rows anew, and leave those of other parts as they are."""
    kept = _there(page)
    today = f"{datetime.now(UTC):%Y-%m-%d}, {evidence.commit()}"
    kept |= {name: (said, today) for name, said in rows.items()}
    evidence.write(
        SECTION,
        _HEADER,
        [(name, *cells) for name, cells in sorted(kept.items())],
        command="make life",
        page=page,
    )


def _there(page: Path) -> dict[str, tuple[str, str]]:
    found = evidence.place(SECTION).search(page.read_text("utf-8"))
    lines = [] if found is None else [each for each in found[2].splitlines() if each[:2] == "| "]
    cells = [line.strip("| ").split(" | ") for line in lines[2:]]
    return {name: (said, on) for name, said, on in (each for each in cells if len(each) == 3)}
