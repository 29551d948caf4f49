"""``make mutants``: changes the source a little, again and again; shows what no test sees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from proofs import evidence
from proofs.mutants import same
from proofs.mutants.parts import PARTS
from proofs.mutants.tool import Mutant, Tried, try_part

_HEADER = (
    *("Part", "Tried", "Mutants", "Seen by a test", "Refused by types", "Wording", "Same"),
    "Not seen",
)
_COUNTS = range(2, len(_HEADER))
Row = tuple[str | int, ...]


def main() -> int:
    """0: each mutant is seen or explained; 1: some are not, or an explanation fits none."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("parts", nargs="*", help="parts to try: " + " ".join(p.name for p in PARTS))
    parser.add_argument("--tools", type=Path, required=True, help="the environment of mutmut")
    parser.add_argument("--again", action="store_true", help="only what was not seen the last time")
    parser.add_argument("--write", action="store_true", help="write the page of evidence")
    given = parser.parse_args()
    if unknown := set(given.parts) - {part.name for part in PARTS}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    parts = [part for part in PARTS if not given.parts or part.name in given.parts]
    stored = same.entries()
    console = Console()
    rows, is_good = [], True
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        for part in parts:
            told = _Told(progress, progress.add_task(part.name, total=None))
            tried = try_part(part, given.tools, told, again=given.again)
            here = [one for one in stored if fnmatch(one.path, part.paths)]
            alike, other, unused = same.explained(tried.survived, here)
            rows.append(_row(tried, alike, other))
            is_good = is_good and not other and not unused
            for mutant in other:
                progress.console.print(_shown(mutant), markup=False, highlight=False)
            for entry in unused:
                progress.console.print(f"NO SUCH MUTANT ANY MORE: {entry}", markup=False)
    table = Table(*_HEADER, title="Small changes to the source")
    for row in summed(rows):
        table.add_row(*map(str, row))
    console.print(table)
    if given.write:
        kept = evidence.rows("mutants")
        evidence.write("mutants", _HEADER, summed(beside(rows, kept)), command="make mutants")
    return 0 if is_good else 1


def beside(rows: Sequence[Row], kept: Sequence[Sequence[str]]) -> list[Row]:
    """The rows of all parts: those that were tried now, and the page's rows of the others."""
    found: dict[str, Row] = {
        part: (part, tried, *map(int, counts)) for part, tried, *counts in kept if tried
    }
    found |= {str(row[0]): row for row in rows}
    return [found[part.source] for part in PARTS if part.source in found]


def summed(rows: Sequence[Row]) -> list[Row]:
    """The rows, and their sum behind them."""
    return [*rows, ("all", "", *(sum(int(row[i]) for row in rows) for i in _COUNTS))]


@dataclass(frozen=True, slots=True)
class _Told:
    """Shows how far a part is."""

    progress: Progress
    task: TaskID

    def __call__(self, done: int, total: int) -> None:
        self.progress.update(self.task, completed=done, total=total)


def _row(tried: Tried, alike: list[Mutant], other: list[Mutant]) -> Row:
    worded = sum(same.rule_of(one) == "wording" for one in alike)
    alike_else = len(alike) - worded
    counts = (tried.mutants, tried.by_tests, tried.by_types, worded, alike_else, len(other))
    return (tried.part.source, f"{evidence.today()}, {evidence.commit()}", *counts)


def _shown(mutant: Mutant) -> str:
    return f"NOT SEEN {mutant.path} {mutant.function}\n  - {mutant.gone}\n  + {mutant.new}"


if __name__ == "__main__":
    sys.exit(main())
