"""The files of a mailing: what is read for it, its rows, and its report."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.messaging.mailing_words import show_rows, state_words
from risala.cli.commands.messaging.table_files import SHEET, WITH_HIDDEN
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.records import Mailing, MailingRow, MailingRows, RowState
from risala.engine.features.mailings.rules import (
    WORDS,
    report_cells,
    report_heading,
    wrong_of,
)
from risala.engine.features.tables.records import COLUMNS_MAX

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
_SEPARATORS: Final = {"semicolon": ";", "comma": ",", "tab": "\t", "bar": "|"}
ROWS_SHOWN: Final = 50
"""Rows of one page."""


def _separator(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    return None if value is None else _SEPARATORS[value]


def _from_one(_: click.Context, __: click.Parameter, value: int | None) -> int | None:
    return None if value is None else value - 1


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of how a file is read, for one that is not recognised."""
    for option in reversed(
        (
            click.option(
                "--encoding",
                type=click.Choice(
                    ["utf-8", "utf-16", "windows-1252", "windows-1256", "macintosh", "ibm850"]
                ),
                help="Of the file, if it is not recognised.",
            ),
            click.option(
                "--separator",
                type=click.Choice(list(_SEPARATORS)),
                callback=_separator,
                help="Of its cells, if it is not recognised.",
            ),
            SHEET,
            click.option(
                "--header/--no-header",
                "has_header",
                default=None,
                help="Whether its first row names the columns, if it is not recognised.",
            ),
            click.option(
                "--number-column",
                type=click.IntRange(1, COLUMNS_MAX),
                callback=_from_one,
                help="The column of the phone numbers, from 1, if it is not recognised.",
            ),
            WITH_HIDDEN,
        )
    ):
        command = option(command)
    return command


async def _rows_asked(_: GatewaySession, arguments: Json) -> Json:
    return {name: None if value == "all" else value for name, value in arguments.items()}


@click.command("rows")
@click.argument("mailing_id", metavar="MAILING")
@click.option(
    "--state",
    type=click.Choice([*(each.value for each in RowState), "all"]),
    default="bad",
    show_default=True,
    help="Which rows.",
)
@click.option("--after", type=int, metavar="ROW", help="The next page: rows after this one.")
@click.option("--limit", type=click.IntRange(1, 200), default=ROWS_SHOWN, show_default=True)
@asks(mailings.ROWS, arguments=_rows_asked)
def mailing_rows(rows: MailingRows) -> None:
    """List the bad rows of a mailing, and what is wrong with each.

    \b
    Example: risala mailing rows mlg_…
    """
    show_rows(rows, rows.rows)
    if rows.after is not None:
        output.warned(f"There are more: --after {rows.after}.")


async def _mended(session: GatewaySession, arguments: Json) -> Json:
    """The arguments of `mailing.mend`: the row's cells, with the given ones in their places.

    Raises:
        CommandRefused: there is no such row or column.
    """
    mailing_id, row, values = itemgetter("mailing_id", "row", "values")(arguments)
    query = {"mailing_id": mailing_id, "after": row - 1, "limit": 1}
    page = (await session.ask(mailings.ROWS, **query)).value
    if not page.rows or page.rows[0].row != row:
        raise CommandRefused(f"{mailing_id} has no row {row}.")
    cells = list(page.rows[0].cells)
    cells += [""] * (len(page.columns) - len(cells))
    for each in values:
        column, _, value = each.partition("=")
        if column not in page.columns:
            known = ", ".join(page.columns)
            raise CommandRefused(f"There is no column {column!r}, only {known}.")
        cells[page.columns.index(column)] = value
    return {"mailing_id": mailing_id, "row": row, "cells": cells}


def _value(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    if not all("=" in each for each in values):
        raise click.BadParameter("write COLUMN=VALUE.")
    return values


@click.command("mend")
@click.argument("mailing_id", metavar="MAILING")
@click.argument("row", type=click.IntRange(min=1), metavar="ROW")
@click.argument("values", nargs=-1, required=True, callback=_value, metavar="COLUMN=VALUE...")
@asks(mailings.MEND, arguments=_mended)
def mailing_mend(row: MailingRow) -> None:
    """Write other values into a row of a draft, and check it again.

    \b
    Example: risala mailing mend mlg_… 5 Phone=NUMBER
    """
    wrong = wrong_of(row, WORDS)
    if wrong is None:
        output.said(f"Row {row.row} is {state_words(row)}: {row.number}.")
    else:
        output.warned(f"Row {row.row} is still bad: {wrong}.")


@click.command("leave-out")
@click.argument("mailing_id", metavar="MAILING")
@click.argument("row", type=click.IntRange(min=1), metavar="[ROW]", required=False)
@asks(mailings.LEAVE_OUT)
def mailing_leave_out(mailing: Mailing) -> None:
    """Leave out a row, whose person gets nothing; without ROW all bad ones.

    \b
    Example: risala mailing leave-out mlg_… 5
    """
    rows = output.counted(mailing.left_out, "row")
    output.said(f"{mailing.id} leaves out {rows}: {mailing.ready} to send, {mailing.bad} bad.")


@click.command("report")
@click.argument("mailing_id", metavar="MAILING")
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--semicolon", is_flag=True, help="Separate cells by semicolons, for French Excel.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@common
def mailing_report(
    options: Options, mailing_id: str, target: Path, semicolon: bool, force: bool
) -> None:
    """Write what became of each row into FILE, a .csv or an .xlsx.

    No cell of it is a formula, whatever it contains.

    \b
    Example: risala mailing report mlg_… report.xlsx
    """
    if target.suffix.lower() not in (".csv", ".xlsx"):
        raise click.UsageError("FILE ends in .csv or .xlsx.")
    if target.exists() and not force:
        raise CommandRefused(f"{target} already exists. Use --force to overwrite it.")

    async def work(session: GatewaySession) -> int:
        try:
            if target.suffix.lower() == ".csv":
                return await _write_csv(session, mailing_id, target, semicolon=semicolon)
            return await _write_workbook(session, mailing_id, target)
        except OSError as error:
            raise CommandRefused(f"{target} cannot be written: {error.strerror}.") from error

    rows = options.run(work)
    if not output.show(options.json, {"path": str(target), "rows": rows}):
        output.said(f"{target}: {output.counted(rows, 'row')}.")


async def _write_csv(
    session: GatewaySession, mailing_id: str, target: Path, *, semicolon: bool
) -> int:
    # Imported here: other commands do not need it.
    from risala.http.web.files.spreadsheet import COMMA, SEMICOLON

    form, count = (SEMICOLON if semicolon else COMMA), 0
    query: Json = {"mailing_id": mailing_id}
    with target.open("w", encoding="utf-8", newline="") as file:
        file.write(form.mark)
        while True:
            part = (await session.ask(mailings.REPORT, **query)).value
            if "after" not in query:
                file.write(form.line(report_heading(part.columns, WORDS)))
            for row in part.rows:
                file.write(form.line(report_cells(row, part.columns, WORDS)))
            count += len(part.rows)
            if part.after is None:
                return count
            query |= {"after": part.after, "export": part.export}


async def _write_workbook(session: GatewaySession, mailing_id: str, target: Path) -> int:
    written = (await session.ask(mailings.WORKBOOK, mailing_id=mailing_id)).value
    shutil.copyfile(written.path, target)
    return written.mailing.rows
