"""``risala search``: anything by some words, some digits, an id or the end of one."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.show import output
from risala.engine.model.records.search import FIND, FoundItems


@click.command("search")
@click.argument("query", metavar="WORDS")
@click.option("--org", "only_org", metavar="NAME", help="Only this organization, and its texts.")
@click.option("--test", "mode", flag_value="test", help="Messages and sessions for tests.")
@asks(FIND)
def search(answer: FoundItems, only_org: str | None) -> None:
    """Find anything by some words, four digits of a number, an id or the end of one.

    Without --org all organizations are searched, without texts and people on lists, and the audit
    trail says so, without the words.

    \b
    Examples:
      risala search 3456
      risala search --org "Baraka Market" UNDELIV
    """
    output.table(
        (
            "Kind",
            "Title",
            "State",
            "At (UTC)",
            "Organization" if only_org is None else "Note",
            "Id",
        ),
        (
            (
                *(each.kind, each.title, each.state, output.at(each.at) if each.at else None),
                *(each.organization if only_org is None else each.note, each.id),
            )
            for each in answer.items
        ),
        empty="Nothing has these words, digits or this id.",
    )
    if answer.cut:
        output.said("There is more: give more of it.")
