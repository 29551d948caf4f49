"""Texts of codes by name."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import optional_org
from risala.cli.show import output
from risala.engine.features.session_details.records import TEMPLATES, CodeTemplates


@click.command("templates")
@optional_org
@click.option("--name", help="Write the text of this name.")
@click.option("--language", help="For codes in this language alone, such as fr.")
@click.option("--text", help='The text; {{code}} must be in it. "" removes it.')
@asks(TEMPLATES)
def templates(shown: CodeTemplates) -> None:
    """List the texts of codes that requests choose by name, or write one.

    \b
    Examples:
      risala verify templates
      risala verify templates "My shop" --name login --text "{{shop}}: {{code}}"
    """
    output.table(
        ("Name", "Language", "Text"),
        ((each.name, each.language or "any", each.text) for each in shown.templates),
        empty="There are no texts by name.",
    )
