"""Tables of people as commands take them: the file, and what its sheet hides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final, Protocol

import click

from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.features.tables.records import FILE_BYTES_MAX

SHEET: Final = click.option("--sheet", help="The sheet of a workbook. If left out, the first one.")
WITH_HIDDEN: Final = click.option(
    "--with-hidden",
    is_flag=True,
    help="Read the rows and columns too that the sheet of a workbook hides.",
)


class ReadSheet(Protocol):
    """What was read of a file, with what its sheet hides."""

    @property
    def hidden_rows(self) -> int: ...

    @property
    def hidden_columns(self) -> int: ...

    @property
    def with_hidden(self) -> bool: ...


def content_of(path: str) -> tuple[str, bytes]:
    """The name and the content of a file; ``-`` is standard input.

    Raises:
        CommandRefused: it cannot be read, or is too large.
    """
    try:
        if path == "-":
            name, content = "stdin", sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
        else:
            with open(path, "rb") as file:
                name, content = Path(path).name, file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise CommandRefused(f"{path} cannot be read: {error.strerror}.") from error
    if len(content) > FILE_BYTES_MAX:
        megabytes = FILE_BYTES_MAX // 1_000_000
        raise CommandRefused(f"{path} is too large: a file has at most {megabytes} MB.")
    return name, content


def hidden_words(sheet: ReadSheet) -> str | None:
    """What the sheet hides, and whether it is read; None: it hides nothing."""
    counts = {"row": sheet.hidden_rows, "column": sheet.hidden_columns}
    hidden = " and ".join(
        output.counted(count, f"hidden {of}") for of, count in counts.items() if count
    )
    if not hidden:
        return None
    return f"with {hidden}" if sheet.with_hidden else f"without {hidden} (--with-hidden)"
