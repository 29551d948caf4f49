"""Output for people: tables in a terminal, plain columns in a pipe; JSON on request.

Control characters are removed from all foreign text: the text of a message must not control the
operator's terminal.
"""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import click

from risala.cli.show import layout
from risala.engine.model import money as minor
from risala.engine.model.times import maybe_iso

_DASH: Final = "–"
_TURNS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks of direction that count beyond themselves, until another ends them."""

_NOT_OURS: Final = _TURNS - {"\u2068", "\u2069"}
"""Marks of direction that :func:`clean` never writes."""


def clean(value: object, *, err: bool = False) -> str:
    """A cell, or a name in a sentence: None as a dash, control characters made visible, and those
    that would turn the direction of what follows; on a terminal, Arabic or Hebrew in an isolate.

    Args:
        err: it goes to stderr, which may be a terminal while stdout is none.
    """
    if value is None:
        return _DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    shown = "".join(
        _visible(character)
        if unicodedata.category(character) == "Cc" or character in _TURNS
        else character
        for character in str(value)
    )
    stream = sys.stderr if err else sys.stdout
    turned = any(unicodedata.bidirectional(each) in ("R", "AL") for each in shown)
    return f"\u2068{shown}\u2069" if turned and stream.isatty() else shown


def _harmless(line: str) -> str:
    """A sentence with whatever in it was not cleaned: nothing of it controls the terminal, or turns
    what follows. Line ends are the sentence's own."""
    return "".join(
        _visible(each)
        if each != "\n" and (unicodedata.category(each) == "Cc" or each in _NOT_OURS)
        else each
        for each in line
    )


def _visible(character: str) -> str:
    code = ord(character)
    other = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return {"\n": "⏎", "\t": " ", "\r": ""}.get(character, other)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Rows under headings; ``empty`` is the text for no rows."""
    cells = [[clean(value) for value in row] for row in rows]
    if not cells:
        click.echo(empty)
    elif sys.stdout.isatty():
        from rich.cells import cell_len

        for line in layout.lines_of(
            columns, cells, _columns(), measure=cell_len, heading=_bold, label=_dim
        ):
            click.echo(line)
    else:
        _plain_table([[column.upper() for column in columns], *cells])


def fields(pairs: Mapping[str, object] | Sequence[tuple[str, object]]) -> None:
    """Names and values, one pair a line; a sequence may have a name twice."""
    named = pairs.items() if isinstance(pairs, Mapping) else pairs
    texts = [(name, clean(value)) for name, value in named]
    if sys.stdout.isatty():
        from rich.cells import cell_len

        for line in layout.pairs_of(texts, _columns(), measure=cell_len, label=_dim):
            click.echo(line)
        return
    width = max(len(name) for name, _ in texts)
    for name, value in texts:
        click.echo(f"{name.ljust(width)}  {value}")


def money(amount: int | str, currency: str) -> str:
    """An amount, in minor units or in the format of operations."""
    return f"{minor.money(amount) if isinstance(amount, int) else amount} {currency}"


def moment(iso: str | None) -> str | None:
    """``2026-11-21T08:30:00.123Z`` as ``2026-11-21 08:30:00.123``, UTC."""
    return None if iso is None else iso.replace("T", " ").removesuffix("Z")


def at(at_ms: int | None) -> str | None:
    """A time (UTC epoch milliseconds) as ``2026-11-21 08:30:00.123``, UTC."""
    return moment(maybe_iso(at_ms))


def utc(at_ms: int) -> str:
    """A time (UTC epoch milliseconds) in a sentence: as :func:`at`, with ``UTC`` behind it."""
    return f"{at(at_ms)} UTC"


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 organization``, ``2 organizations``; ``many`` if it is not ``one`` with an s."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def said(text: str) -> None:
    """One line about a finished action; a name in it went through :func:`clean`."""
    text = _harmless(text)
    click.echo(click.style("✓ ", fg="green") + text if sys.stdout.isatty() else text)


def warned(text: str) -> None:
    """A line for the person, on stderr, out of the way of a pipe. As in :func:`said`, a name in it
    went through :func:`clean`."""
    click.echo(click.style(_harmless(text), fg="yellow"), err=True)


def tell_older(before: object) -> None:
    """Say that a list goes on; ``before``: from where, None where it ends."""
    if before is not None:
        warned(f"There are older ones: --before {before}.")


def _plain_table(rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())


def _columns() -> int:
    """The terminal's width."""
    return shutil.get_terminal_size().columns


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def _bold(text: str) -> str:
    return click.style(text, bold=True)


def show(as_json: bool, payload: Mapping[str, Any]) -> bool:
    """Print ``payload`` if JSON is wanted; True if it was, so that nothing else is printed."""
    if as_json:
        click.echo(json.dumps(payload, indent=2, ensure_ascii=False))
    return as_json
