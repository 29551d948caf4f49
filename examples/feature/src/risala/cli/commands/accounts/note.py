"""The note of an organization."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import required_org
from risala.cli.show import output
from risala.engine.features.notes.feature import NOTE, Note


@click.command("note")
@required_org
@click.option("--text", help='Another text; "" removes it.')
@asks(NOTE)
def org_note(note: Note) -> None:
    """Show the note of an organization, or write it.

    \b
    Examples:
      risala org note "My shop"
      risala org note "My shop" --text "Invoices go to the second floor."
    """
    output.fields({"note": note.text, "changed": output.at(note.changed_at)})
