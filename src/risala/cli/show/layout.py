"""A table in the available width: columns side by side, or each row as lines of its own.

An id broken over two lines cannot be copied, and half a number is a wrong number. So a cell is
folded between words only, and not within a time or an amount; if the columns still do not fit, each
row becomes a record, a line for each column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

Style = Callable[[str], str]
Measure = Callable[[str], int]

GAP: Final = 2
"""Spaces between two columns."""
_TEXT_MIN: Final = 16
"""Places that a column of several words has at least: sentences in fewer are hard to read."""
_WITHIN: Final = re.compile(
    r"(?<=\d{4}-\d\d-\d\d) (?=\d\d:\d\d)"  # a date and its time
    r"|(?<=\d) (?=[A-Z]{3}\b)"  # an amount and its currency
)
_GLUE: Final = "\0"
"""Replaces a space that must not be folded; cells have no control characters."""


def lines_of(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    measure: Measure,
    heading: Style,
    label: Style,
) -> list[str]:
    """The lines of a table that is ``width`` wide. Only unbreakable texts are ever wider.

    Args:
        measure: the width of a text in the terminal.
        heading: the style of the line of headings.
        label: the style of a column's name before its value in a record.
    """
    widths = _widths([columns, *rows], width, measure)
    if widths is None:
        return _records(columns, rows, width, measure, label)
    rule = "─" * (sum(widths) + GAP * (len(widths) - 1))
    head = [heading(line) for line in _side_by_side(columns, widths, measure)]
    body = [line for row in rows for line in _side_by_side(row, widths, measure)]
    return [*head, rule, *body]


def pairs_of(
    pairs: Sequence[tuple[str, str]], width: int, *, measure: Measure, label: Style
) -> list[str]:
    """Names and values, one pair a line, if it fits; values are folded between words."""
    indent = max((measure(name) for name, _ in pairs), default=0) + GAP
    lines = []
    for name, value in pairs:
        head = name + " " * (indent - measure(name))
        if max(map(measure, _units(value)), default=0) > width - indent:
            # Some word is longer than the room next to the name.
            folded = fold(value, width - GAP, measure)
            lines += [*([label(name)] if name else []), *(" " * GAP + line for line in folded)]
        else:
            first, *more = fold(value, width - indent, measure)
            lines += [label(head) + first, *(" " * indent + line for line in more)]
    return lines


def fold(text: str, width: int, measure: Measure) -> list[str]:
    """A text in lines of ``width``; a word, a time or an amount is never broken."""
    lines, line = [], ""
    for unit in _units(text):
        longer = f"{line} {unit}" if line else unit
        if line and measure(longer) > width:
            lines.append(line)
            line = unit
        else:
            line = longer
    return [*lines, line]


def _units(text: str) -> list[str]:
    return [unit.replace(_GLUE, " ") for unit in _WITHIN.sub(_GLUE, text).split(" ")]


def _widths(rows: Sequence[Sequence[str]], width: int, measure: Measure) -> list[int] | None:
    """Each column's width; None if they do not fit side by side."""
    columns = list(zip(*rows, strict=True))
    whole = [max(map(measure, column)) for column in columns]
    least = [
        max(min(_TEXT_MIN, full), *(measure(unit) for cell in column for unit in _units(cell)))
        for column, full in zip(columns, whole, strict=True)
    ]
    left = width - GAP * (len(columns) - 1) - sum(least)
    if left < 0:
        return None
    # Narrow columns get their full width first; columns of long texts share the rest.
    wants = sorted(range(len(columns)), key=lambda index: whole[index] - least[index])
    for place, index in enumerate(wants):
        widened = min(whole[index] - least[index], left // (len(wants) - place))
        least[index] += widened
        left -= widened
    return least


def _side_by_side(row: Sequence[str], widths: Sequence[int], measure: Measure) -> list[str]:
    cells = [fold(cell, width, measure) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for index in range(max(map(len, cells))):
        parts = [cell[index] if index < len(cell) else "" for cell in cells]
        padded = (
            part + " " * (width - measure(part)) for part, width in zip(parts, widths, strict=True)
        )
        lines.append((" " * GAP).join(padded).rstrip())
    return lines


def _records(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    measure: Measure,
    label: Style,
) -> list[str]:
    lines: list[str] = []
    for row in rows:
        pairs = list(zip(columns, row, strict=True))
        lines += [*([""] if lines else []), *pairs_of(pairs, width, measure=measure, label=label)]
    return lines
