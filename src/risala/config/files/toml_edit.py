"""Changing single settings in a TOML file; comments, order and all other lines stay.

A setting that is commented out is written in its place, beside its explanation. The result is read
back and compared: a file that is written in a way that this module does not follow (a dotted key, a
table in one line) is refused, and never changed wrongly.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from risala.config.faults import Path
from risala.config.template import toml

Change = tuple[Path, object]
"""A setting's path, and its new value; None takes the setting out. A number in the path counts the
tables of a list; a whole new one has the number behind the last, and a dictionary as its value."""

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_STATEMENT: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_COMMENTED_HEADER: Final = re.compile(r"#\[")


class EditRefused(Exception):
    """The file is written in a way that cannot be changed here; ``str()`` says what to do."""


@dataclass(frozen=True, slots=True)
class _Table:
    path: Path
    begin: int
    """The line behind its header."""
    end: int
    """The line of the next header."""


def edited(text: str, changes: Sequence[Change]) -> str:
    """The text with the changes in it, and nothing else changed.

    Raises:
        EditRefused: a setting is written in a way that cannot be changed line by line.
        tomllib.TOMLDecodeError: the text is no TOML.
    """
    tree = tomllib.loads(text)
    lines = text.splitlines()
    for path, value in changes:
        _apply(tree, path, value)
        _write(lines, path, value)
        new = "\n".join(lines) + "\n"
        if _read(new) != tree:
            key = ".".join(map(str, path))
            raise EditRefused(
                f"The file writes {key} in a way that cannot be changed from here. "
                f"Write it as a line of its own below a header such as [{path[0]}], or set it there"
                " by hand."
            )
    return "\n".join(lines) + "\n"


def _read(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _apply(tree: Any, path: Path, value: object) -> None:  # noqa: ANN401 -- a tree of TOML
    *parents, name = path
    for number, step in enumerate(parents):
        if value is None and not isinstance(step, int) and step not in tree:
            return
        if isinstance(step, int):
            tree = tree[step]
        else:
            after = (*parents, name)[number + 1]
            tree = tree.setdefault(step, [] if isinstance(after, int) else {})
    if isinstance(name, int):
        tree.append(copy.deepcopy(value))
    elif value is None:
        tree.pop(name, None)
    else:
        tree[name] = value


def _write(lines: list[str], path: Path, value: object) -> None:
    *parents, name = path
    tables = list(_tables(lines))
    if isinstance(name, int):
        assert isinstance(value, dict), "a new table of a list"
        lines += ["", *_block(str(parents[0]), value)]
        return
    home = tuple(parents)
    table = next((each for each in tables if each.path == home), None)
    if table is None:
        if value is not None:
            _add_table(lines, tables, home, f"{name} = {toml(value)}")
        return
    place = _place_of(lines, table, str(name))
    if value is None:
        if place is not None and not lines[place[0]].startswith("#"):
            lines[slice(*place)] = [f"#{line}" for line in lines[slice(*place)]]
        return
    if place is None:
        place = (_behind_last(lines, table),) * 2
    lines[slice(*place)] = [f"{name} = {toml(value)}"]


def _block(name: str, table: dict[str, Any]) -> Iterator[str]:
    """A table of a list, with the tables in it."""
    yield f"[[{name}]]"
    inner = {key: each for key, each in table.items() if isinstance(each, dict)}
    for key, each in table.items():
        if key not in inner:
            yield f"{key} = {toml(each)}"
    for key, each in inner.items():
        yield f"[{name}.{key}]"
        yield from (f"{setting} = {toml(content)}" for setting, content in each.items())


def _add_table(lines: list[str], tables: list[_Table], home: Path, line: str) -> None:
    """A table that the file has not; one of a list's table stands right behind that one."""
    title = ".".join(str(step) for step in home if not isinstance(step, int))
    behind = [each.end for each in tables if each.path[:2] == home[:2]]
    inner = len(home) > 1 and isinstance(home[1], int)
    place = max(behind) if inner and behind else len(lines)
    lines[place:place] = ["", f"[{title}]", line, *([""] if place < len(lines) else [])]


def _tables(lines: list[str]) -> Iterator[_Table]:
    counts: dict[str, int] = {}
    path: Path = ()
    begin = at = 0
    while at < len(lines):
        header = _HEADER.fullmatch(lines[at])
        if header is None:
            at = _end_of(lines, at)
            continue
        yield _Table(path, begin, at)
        steps = tuple(step.strip().strip("\"'") for step in header[2].split("."))
        if header[1] == "[[":
            counts[steps[0]] = counts.get(steps[0], -1) + 1
        path = (steps[0], counts[steps[0]], *steps[1:]) if steps[0] in counts else steps
        at += 1
        begin = at
    yield _Table(path, begin, len(lines))


def _end_of(lines: list[str], at: int) -> int:
    """The line behind a statement, which may take several."""
    if _STATEMENT.match(lines[at]) is None:
        return at + 1
    for end in range(at + 1, len(lines) + 1):
        if _read("\n".join(lines[at:end])) is not None:
            return end
    return at + 1


def _place_of(lines: list[str], table: _Table, name: str) -> tuple[int, int] | None:
    """The lines of a setting in a table, else of the setting that is commented out."""
    commented = None
    examples = False
    at = table.begin
    while at < table.end:
        end = _end_of(lines, at)
        match = _STATEMENT.match(lines[at])
        if match is not None and match[1] == name:
            return at, end
        examples = examples or _COMMENTED_HEADER.match(lines[at]) is not None
        if lines[at] == f"# {name} is not set.":
            commented = commented or (at, end)
        shown = _STATEMENT.match(lines[at][1:]) if lines[at].startswith("#") else None
        is_whole = shown is not None and _read(lines[at][1:]) is not None
        if is_whole and shown is not None and shown[1] == name and not examples and not commented:
            commented = (at, end)
        at = end
    return commented


def _behind_last(lines: list[str], table: _Table) -> int:
    """The line behind the last statement of a table, else behind its header."""
    last, at = table.begin, table.begin
    while at < table.end:
        end = _end_of(lines, at)
        if _STATEMENT.match(lines[at]) is not None:
            last = end
        at = end
    return last
