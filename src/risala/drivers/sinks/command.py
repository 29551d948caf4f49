"""``risala sinks``: how event sinks do."""

from __future__ import annotations

from typing import Final

import click

from risala.plugins.command import CommandDoor

COLUMNS: Final = ("name", "sink", "state", "taken", "behind", "missed", "text")


@click.command()
def sinks(terminal: CommandDoor) -> None:
    """State of the event sinks: what they took since the start, and what waits for them.

    \b
    Examples:
      risala sinks
      risala sinks --json
    """
    rows = terminal.perform("statistics").get("sinks", [])
    if terminal.show({"sinks": rows}):
        return
    terminal.table(
        ("Sink", "Is", "State", "Taken", "Behind", "Lost", "What is wrong"),
        ([each[name] for name in COLUMNS] for each in rows),
        "No event sink runs. Configure one in a table [sinks.NAME], and start the service.",
    )
