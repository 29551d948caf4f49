"""Lists of people, whom an organization writes to again and again."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks, says
from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.commands.messaging.mailing_files import content_of
from risala.cli.show import output
from risala.engine.model.records import recipient_lists
from risala.engine.model.records.recipient_lists import (
    ListGrowth,
    ListPeople,
    RecipientList,
    RecipientLists,
)

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
LIST: Final = click.argument("list_id", metavar="LIST")
ROWS_SHOWN: Final = 10
"""Rows without a number that a command names: enough to find them in the file."""


@click.group("list")
def recipient_list() -> None:
    """Lists of people, whom you write to again and again.

    \b
    Example:
      risala list create Parents --org School --file parents.csv
    """


def _file_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--file",
        "file",
        metavar="FILE",
        help="A table of people: CSV, TSV or XLSX; - reads standard input.",
    )(command)


async def _created(session: GatewaySession, given: Json) -> Json:
    org, title, file = itemgetter("org", "name", "file")(given)
    organization = await organization_id(session, org)
    asked: Json = {"organization_id": organization, "name": title}
    if file is not None:
        name, content = content_of(file)
        asked["upload"] = await session.upload(organization, name, content)
    return asked


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
    output.said(output.clean(f"The list {grown.list.id} ({grown.list.name}) is created."))
    if grown.added or grown.bad:
        _tell(grown)


def _values(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> Json:
    """``COLUMN=VALUE`` as an object."""
    found = {}
    for each in given:
        column, equals, value = each.partition("=")
        if not equals or not column.strip():
            raise click.BadParameter(f"{each!r} is not COLUMN=VALUE.")
        found[column] = value
    return found


async def _added(session: GatewaySession, given: Json) -> Json:
    list_id, number, cells, file = itemgetter("list_id", "number", "cells", "file")(given)
    asked: Json = {"list_id": list_id, "number": number}
    if file is None:
        return {**asked, "cells": cells}
    name, content = content_of(file)
    found = await session.ask(recipient_lists.SHOW, list_id=list_id, limit=1)
    upload = await session.upload(found.value.list.organization_id, name, content)
    return {**asked, "upload": upload}


@recipient_list.command("add")
@LIST
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
      risala list add lst_06DQDPN80275MS289XKD40ZZSFRW35P7 36123456 --value name=Amina
      risala list add lst_06DQDPN80275MS289XKD40ZZSFRW35P7 --file parents.csv
    """
    _tell(grown)


def _tell(grown: ListGrowth) -> None:
    output.said(f"{grown.added} added, {grown.changed} changed: {grown.list.people} in all.")
    if grown.bad:
        shown = ", ".join(map(str, grown.bad_rows[:ROWS_SHOWN]))
        more = ", …" if grown.bad > ROWS_SHOWN else ""
        output.warned(f"{grown.bad} left out, without a phone number: row {shown}{more}.")


@recipient_list.command("list")
@org_option
@asks(recipient_lists.LIST)
def list_list(found: RecipientLists) -> None:
    """List the lists of an organization.

    \b
    Example:
      risala list list --org School
    """
    output.table(
        ("Id", "Name", "People", "Columns", "Changed"),
        (
            (each.id, each.name, each.people, ", ".join(each.columns), output.at(each.changed_at))
            for each in found.lists
        ),
        empty="There are no lists yet. Create one with `risala list create NAME`.",
    )


@recipient_list.command("show")
@LIST
@click.option("--after", metavar="NUMBER", help="The next page: people after this number.")
@click.option("--limit", type=int, metavar="N", help="How many at most.")
@asks(recipient_lists.SHOW)
def list_show(found: ListPeople) -> None:
    """Show the people of a list, by number.

    \b
    Example:
      risala list show lst_06DQDPN80275MS289XKD40ZZSFRW35P7
    """
    output.table(
        ("Number", *map(output.clean, found.list.columns), "Opted out"),
        ((each.number, *each.cells, "yes" if each.opted_out else "") for each in found.people),
        empty="There is nobody on this list yet. Add people with `risala list add`.",
    )
    output.warned(f"{found.list.people} in all, {found.opted_out} opted out.")
    if found.after is not None:
        output.warned(f"There are more: --after {found.after}.")


@recipient_list.command("remove")
@LIST
@click.argument("number")
@asks(recipient_lists.REMOVE)
def list_remove(left: RecipientList) -> None:
    """Take a number from a list.

    \b
    Example:
      risala list remove lst_06DQDPN80275MS289XKD40ZZSFRW35P7 36123456
    """
    output.said(f"The number is removed: {left.people} in all.")


@recipient_list.command("rename")
@LIST
@click.argument("name")
@asks(recipient_lists.SET)
def list_rename(found: RecipientList) -> None:
    """Give a list another name.

    \b
    Example:
      risala list rename lst_06DQDPN80275MS289XKD40ZZSFRW35P7 Pupils
    """
    output.said(output.clean(f"The list is called {found.name}."))


says(
    recipient_list,
    "delete",
    LIST,
    recipient_lists.DELETE,
    lambda found: f"The list {found.name} is deleted.",
    does="Delete a list with its people, for good.",
    example="lst_…",
)
