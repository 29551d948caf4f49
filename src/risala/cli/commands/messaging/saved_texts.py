"""Saved texts, which an organization writes again and again."""

from __future__ import annotations

from typing import Final

import click

from risala.cli.commands.accounts.asking import asks, says
from risala.cli.commands.accounts.organizations import org_option
from risala.cli.show import output
from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import LANGUAGES, SavedText, SavedTexts

TEXT: Final = click.argument("saved_text_id", metavar="TEXT")
SHOWN: Final = 60
"""Characters of a text in a table."""


@click.group("text")
def saved_text() -> None:
    """Texts that you write again and again, each in its language.

    \b
    Example:
      risala text create Meeting --language fr --text "Bonjour {{name}}, réunion à 16 h."
    """


@saved_text.command("create")
@click.argument("name")
@org_option
@click.option("--language", type=click.Choice(LANGUAGES), required=True)
@click.option(
    "--text",
    required=True,
    help="{{name}} stands for what the column “name” has for each person.",
)
@asks(recipient_lists.TEXT_CREATE)
def text_create(made: SavedText) -> None:
    """Save a text under a name.

    \b
    Example:
      risala text create Meeting --language fr --text "Bonjour {{name}}, réunion à 16 h."
    """
    output.said(f"The text {made.id} ({output.clean(made.name)}) is saved.")


@saved_text.command("list")
@org_option
@asks(recipient_lists.TEXT_LIST)
def text_list(texts: SavedTexts) -> None:
    """List the saved texts of an organization.

    \b
    Example:
      risala text list --org School
    """
    output.table(
        ("Id", "Name", "Language", "Text"),
        ((each.id, each.name, each.language, _shortened(each.text)) for each in texts.texts),
        empty="There are no saved texts yet. Save one with `risala text create NAME`.",
    )


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


@saved_text.command("show")
@TEXT
@asks(recipient_lists.TEXT_SHOW)
def text_show(text: SavedText) -> None:
    """Show a saved text.

    \b
    Example:
      risala text show txt_06DQDPN80275MS289XKD40ZZSFRW35P7
    """
    output.fields(
        {
            "id": text.id,
            "name": text.name,
            "language": text.language,
            "text": text.text,
            "saved": output.at(text.created_at),
            "by": text.created_by,
        }
    )


@saved_text.command("set")
@TEXT
@click.option("--name", help="Another name.")
@click.option("--language", type=click.Choice(LANGUAGES))
@click.option("--text", help="Another text.")
@asks(recipient_lists.TEXT_SET)
def text_set(text: SavedText) -> None:
    """Change the given values of a saved text.

    \b
    Example:
      risala text set txt_06DQDPN80275MS289XKD40ZZSFRW35P7 --text "Bonjour {{name}} !"
    """
    output.said(f"The text {output.clean(text.name)} is changed.")


says(
    saved_text,
    "delete",
    TEXT,
    recipient_lists.TEXT_DELETE,
    lambda deleted: f"The text {output.clean(deleted.name)} is deleted.",
    does="Delete a saved text, for good.",
    example="txt_…",
)
