"""What came of the steps and of the clock: on the screen, and on the page of evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.table import Table

from proofs import evidence
from proofs.machine.clock import Walked

SECTION: Final = "machine"
CLOCK: Final = "clock"
COMMAND: Final = "make machine-test"
SAID_MAX: Final = 160
"""Characters in a cell; the first line of an error fits."""
STEP: Final = "What is done"
CLOCK_HEADER: Final = ("The way", "Debian", "Minutes", "Commands", "Words read")
WHERE: Final = "Where"


@dataclass(frozen=True)
class Came:
    """What came of a step on one Debian."""

    step: str
    debian: str
    said: str
    seconds: float
    held: bool = True


def shortened(said: str) -> str:
    line = " ".join(said.split("\n", 1)[0].split())
    return line if len(line) <= SAID_MAX else f"{line[: SAID_MAX - 1]}…"


def rows(came: Sequence[Came]) -> list[tuple[str, ...]]:
    """A row for each step, with a cell for each Debian."""
    debians = sorted({each.debian for each in came})
    steps = list(dict.fromkeys(each.step for each in came))
    at = {(each.step, each.debian): each for each in came}
    return [(step, *(_cell(at.get((step, debian))) for debian in debians)) for step in steps]


def header(came: Sequence[Came]) -> tuple[str, ...]:
    return (STEP, *(f"Debian {each}" for each in sorted({each.debian for each in came})))


def _cell(came: Came | None) -> str:
    if came is None:
        return "not tried"
    mark = "" if came.held else "**failed**: "
    return f"{mark}{shortened(came.said)} ({came.seconds:.0f} s)"


def clock_rows(walked: Sequence[Walked]) -> list[tuple[str, ...]]:
    return [
        (
            each.way.name,
            each.debian,
            f"{each.seconds / 60:.1f}",
            str(each.commands),
            str(each.words),
        )
        for each in walked
    ]


def table(title: str, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    shown = Table(title=title, title_justify="left")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for line in lines:
        shown.add_row(*line)
    return shown


def write(
    came: Sequence[Came], walked: Sequence[Walked], kind: str, page: Path = evidence.PAGE
) -> None:
    """Write what was tried into the page; what it has of another Debian, or another way, stays.

    Args:
        came: the steps of one Debian, or none.
        walked: the ways to the first message on it.
        kind: what the machines were made of.
        page: where.
    """
    if came:
        columns, lines = _merged(came, kind, page)
        evidence.write(SECTION, columns, lines, command=COMMAND, page=page)
    if walked:
        new = {(line[0], line[1]): [*line, kind] for line in clock_rows(walked)}
        old = {(line[0], line[1]): line for line in evidence.rows(CLOCK, page=page)}
        lines = [each for _, each in sorted((old | new).items(), key=lambda item: item[0][1])]
        evidence.write(CLOCK, (*CLOCK_HEADER, WHERE), lines, command=COMMAND, page=page)


def _merged(came: Sequence[Came], kind: str, page: Path) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of the page, with the new column instead of the old one."""
    (debian,) = {each.debian for each in came}
    names, old = evidence.header(SECTION, page=page), evidence.rows(SECTION, page=page)
    columns = {
        name: {line[0]: line[at] for line in old}
        for at, name in enumerate(names)
        if at and not name.startswith(f"Debian {debian},")
    }
    columns[f"Debian {debian}, {kind}, {evidence.commit()}"] = {
        line[0]: line[1] for line in rows(came)
    }
    steps = dict.fromkeys([each.step for each in came] + [line[0] for line in old])
    ordered = sorted(columns.items())
    lines = [[step, *(cells.get(step, _cell(None)) for _, cells in ordered)] for step in steps]
    return [STEP, *(name for name, _ in ordered)], lines
