"""Lists of people, whom an organization writes to again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.commands.messaging.table_files import SHEET, WITH_HIDDEN, content_of, hidden_words
from risala.cli.lazy import LazyCommands, LazyGroup, of_features
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import (
    UNTOLD,
    ListGrowth,
    ListPeople,
    RecipientList,
    RecipientLists,
)
from risala.engine.features.tables.rules.faults import FAULT_WORDS, fault_words

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
_ARGUMENT: Final = click.argument("list_id", metavar="LIST")
_PREFIX: Final = "lst_"
"""The prefix of the ids of lists."""
ROWS_SHOWN: Final = 10
"""Rows without a number that a command names: enough to find them in the file."""


@click.group("list", cls=LazyGroup, commands=LazyCommands({}, partial(of_features, "list")))
def recipient_list() -> None:
    """Lists of people, whom you write to again and again.

    \b
    Example:
      risala list create Parents --org School --file parents.csv
    """


async def list_id_of(session: GatewaySession, organization: str, name: str) -> str:
    """The id of a list, by its id or name.

    Raises:
        CommandRefused: no list, or more than one, has this name.
    """
    if name.startswith(_PREFIX):
        return name
    known = (await session.ask(recipient_lists.LIST, organization_id=organization)).value.lists
    ids = [each.id for each in known if each.name == name]
    if len(ids) != 1:
        what = "no list" if not ids else output.counted(len(ids), "list")
        raise CommandRefused(f"There is {what} named {name!r}. See `risala list list`.")
    return ids[0]


async def _of_list(session: GatewaySession, arguments: Json) -> Json:
    """The arguments of an operation on a list, which is named by its id or name."""
    rest = dict(arguments)
    org, listed = rest.pop("org"), rest.pop("list_id")
    if not listed.startswith(_PREFIX):
        listed = await list_id_of(session, await organization_id(session, org), listed)
    return {"list_id": listed, **rest}


def _list(command: Callable[..., None]) -> Callable[..., None]:
    """The argument of commands on one list, and the option of whose it is."""
    return _ARGUMENT(org_option(command))


def _file_option(command: Callable[..., None]) -> Callable[..., None]:
    file = click.option(
        "--file",
        "file",
        metavar="FILE",
        help="A table of people: CSV, TSV or XLSX; - reads standard input.",
    )
    return file(SHEET(WITH_HIDDEN(command)))


def _read_as(arguments: Json) -> Json:
    """How a file is read: what of it was asked for."""
    options = {"sheet": arguments.pop("sheet"), "with_hidden": arguments.pop("with_hidden")}
    return {name: value for name, value in options.items() if value}


async def _created(session: GatewaySession, arguments: Json) -> Json:
    org, title, file = itemgetter("org", "name", "file")(arguments)
    read_as = _read_as(arguments)
    organization = await organization_id(session, org)
    creation: Json = {"organization_id": organization, "name": title, **read_as}
    if file is not None:
        name, content = content_of(file)
        creation["upload"] = await session.upload(organization, name, content)
    return creation


@recipient_list.command("create")
@click.argument("name")
@org_option
@_file_option
@asks(recipient_lists.CREATE, arguments=_created)
def list_create(grown: ListGrowth) -> None:
    """Create a list, empty or from a file.

    \b
    Examples:
      risala list create Parents
      risala list create Parents --file parents.xlsx
    """
    output.said(f"The list {grown.list.id} ({output.clean(grown.list.name)}) is created.")
    if grown.added or grown.bad:
        _tell(grown)


def _values(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> Json:
    """``COLUMN=VALUE`` as an object."""
    cells = {}
    for each in texts:
        column, equals, value = each.partition("=")
        if not equals or not column.strip():
            raise click.BadParameter(f"{each!r} is not COLUMN=VALUE.")
        cells[column] = value
    return cells


async def _added(session: GatewaySession, arguments: Json) -> Json:
    read_as = _read_as(arguments)
    addition = await _of_list(session, arguments)
    file, cells = addition.pop("file"), addition.pop("cells")
    if file is None:
        return {**addition, "cells": cells}
    name, content = content_of(file)
    reply = await session.ask(recipient_lists.SHOW, list_id=addition.get("list_id"), limit=1)
    upload = await session.upload(reply.value.list.organization_id, name, content)
    return {**addition, "upload": upload, **read_as}


@recipient_list.command("add")
@_list
@click.argument("number", required=False)
@click.option(
    "--value",
    "cells",
    metavar="COLUMN=VALUE",
    multiple=True,
    callback=_values,
    help="What a column has for this number; repeatable. A new column is added to the list.",
)
@_file_option
@asks(recipient_lists.ADD, arguments=_added)
def list_add(grown: ListGrowth) -> None:
    """Add a number, or the people of a file. A number that is there already gets the new values.

    \b
    Examples:
      risala list add Parents NUMBER --value name=Amina
      risala list add Parents --file parents.csv
    """
    _tell(grown)


def _tell(grown: ListGrowth) -> None:
    output.said(f"{grown.added} added, {grown.changed} changed: {grown.list.people} in all.")
    if hidden := hidden_words(grown):
        output.warned(f"The sheet was read {hidden}.")
    if grown.bad:
        shown = ", ".join(map(str, grown.bad_rows[:ROWS_SHOWN]))
        more = ", …" if grown.bad > ROWS_SHOWN else ""
        output.warned(f"{grown.bad} left out, without a phone number: row {shown}{more}.")
    rows = zip_longest(grown.bad_rows, grown.faults, grown.countries)
    for row, fault, country in rows:
        if fault is not None and fault not in UNTOLD:
            output.warned(f"Row {row}: {fault_words(fault, country, FAULT_WORDS)}.")


@recipient_list.command("list")
@org_option
@asks(recipient_lists.LIST)
def list_list(lists: RecipientLists) -> None:
    """List the lists of an organization.

    \b
    Example:
      risala list list --org School
    """
    output.table(
        ("Id", "Name", "People", "Columns", "Changed"),
        (
            (each.id, each.name, each.people, ", ".join(each.columns), output.at(each.changed_at))
            for each in lists.lists
        ),
        empty="There are no lists yet. Create one with `risala list create NAME`.",
    )


@recipient_list.command("show")
@_list
@click.option("--after", metavar="NUMBER", help="The next page: people after this number.")
@click.option("--limit", type=int, metavar="N", help="How many at most.")
@asks(recipient_lists.SHOW, arguments=_of_list)
def list_show(people: ListPeople) -> None:
    """Show the people of a list, by number.

    \b
    Example:
      risala list show Parents
    """
    output.table(
        ("Number", *map(output.clean, people.list.columns), "Opted out"),
        ((each.number, *each.cells, "yes" if each.opted_out else "") for each in people.people),
        empty="There is nobody on this list yet. Add people with `risala list add`.",
    )
    output.warned(f"{people.list.people} in all, {people.opted_out} opted out.")
    if people.after is not None:
        output.warned(f"There are more: --after {people.after}.")


@recipient_list.command("remove")
@_list
@click.argument("number")
@asks(recipient_lists.REMOVE, arguments=_of_list)
def list_remove(left: RecipientList) -> None:
    """Take a number from a list.

    \b
    Example:
      risala list remove Parents NUMBER
    """
    output.said(f"The number is removed: {left.people} in all.")


@recipient_list.command("rename")
@_list
@click.argument("name")
@asks(recipient_lists.SET, arguments=_of_list)
def list_rename(renamed: RecipientList) -> None:
    """Give a list another name.

    \b
    Example:
      risala list rename Parents Pupils
    """
    output.said(f"The list is called {output.clean(renamed.name)}.")


@recipient_list.command("delete")
@_list
@asks(recipient_lists.DELETE, arguments=_of_list)
def list_delete(deleted: RecipientList) -> None:
    """Delete a list with its people, for good.

    \b
    Example:
      risala list delete Parents
    """
    output.said(f"The list {output.clean(deleted.name)} is deleted.")
