"""The table that a run ends with, and the same as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Goal, Line, Series, Spread, ratio

HEADER: Final = ("What", "Value", "Ratio", "Goal", "Reached", "Others' cores")
_FILE_COLUMNS = 170
"""The widest row is some 160."""


@dataclass(frozen=True, slots=True)
class Results:
    """All that was measured: the yardsticks, this tree, and the other one where there is one."""

    lines: Sequence[tuple[Line, bool]]
    """With whether it differs from tree to tree."""
    common: Series
    ours: Series
    theirs: Series
    others_cores: Mapping[str, list[float]]
    """By line, what the machine did besides."""

    def values(self, name: str, series: Series) -> dict[int, float] | None:
        return series.values.get(name) or self.common.values.get(name)

    def against(self, line: Line, goal: Goal | None, series: Series) -> Spread | None:
        """The line as what its goal speaks of: a ratio, or itself."""
        base = goal.of if goal else line.against
        upper = self.values(line.name, series)
        if base is None:
            return Spread.of(list(upper.values())) if upper else None
        return ratio(upper, self.values(base, series))


def number(value: float) -> str:
    """Three figures that mean something."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def spread_words(spread: Spread | None) -> str:
    if spread is None:
        return "–"
    if spread.low == spread.high:
        return number(spread.middle)
    return f"{number(spread.middle)} ({number(spread.low)} – {number(spread.high)})"


def verdict(goal: Goal, found: Spread | None) -> str:
    """``yes``, ``no``, or ``some``: not in every round."""
    if found is None:
        return "not measured"
    reached = [goal.reached(each) for each in (found.low, found.middle, found.high)]
    if all(reached):
        return "yes"
    return ("yes, not always" if reached[1] else "no, but once") if any(reached) else "no"


def rows(results: Results) -> Iterable[tuple[str, ...]]:
    """What, value, ratio, goal, reached, load of others; a line with two goals has two rows."""
    for line, of_tree in results.lines:
        series = results.ours if of_tree else results.common
        measured = series.spread(line.name)
        if measured is None:
            continue
        cores = Spread.of(results.others_cores[line.name]).middle
        first = (line.name, f"{spread_words(measured)} {line.unit}")
        goals: tuple[Goal | None, ...] = line.goals or (None,)
        for place, goal in enumerate(goals):
            found = results.against(line, goal, series)
            base = goal.of if goal else line.against
            shown = f"{spread_words(found)} × {base}" if base else ""
            wanted = (goal.words(line.unit), verdict(goal, found)) if goal else ("", "")
            head = first if not place else ("", "")
            yield (*head, shown, *wanted, f"{cores:.1f}" if not place else "")


def key_rows(results: Results, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The rows of some lines, in the order of their names, for a page."""
    found, last = dict[str, list[tuple[str, ...]]](), ""
    for row in rows(results):
        last = row[0] or last
        found.setdefault(last, []).append(row)
    return [row for name in names for row in found.get(name, ())]


def compared(results: Results) -> Iterable[tuple[str, ...]]:
    """What, the other tree's value, ours, and ours as a ratio to it."""
    for line, of_tree in results.lines:
        quotient = ratio(results.ours.values.get(line.name), results.theirs.values.get(line.name))
        if not of_tree or quotient is None:
            continue
        before, after = results.theirs.spread(line.name), results.ours.spread(line.name)
        values = (f"{spread_words(each)} {line.unit}" for each in (before, after))
        yield (line.name, *values, spread_words(quotient))


def report_console() -> Console:
    """As wide as the table wants to be where nobody looks: a file's lines need no folding."""
    console = Console()
    return console if console.is_terminal else Console(width=_FILE_COLUMNS)


def print_report(console: Console, results: Results, against: str | None) -> None:
    title = "In one interleaved run: middle (lowest – highest)"
    _table(
        console,
        title,
        HEADER,
        rows(results),
    )
    if against:
        columns = ("what", against, "this tree", f"this tree / {against}")
        _table(console, "Before and after, in the same run", columns, compared(results))


def _table(
    console: Console, title: str, columns: Sequence[str], lines: Iterable[tuple[str, ...]]
) -> None:
    table = Table(title=title)
    for column in columns:
        table.add_column(column)
    for line in lines:
        table.add_row(*line)
    console.print(table)


def as_json(results: Results) -> dict:
    """Every value of every round."""
    return {
        "units": {line.name: line.unit for line, _ in results.lines},
        "yardsticks": results.common.values,
        "this tree": results.ours.values,
        "other tree": results.theirs.values,
        "others' cores": results.others_cores,
    }
