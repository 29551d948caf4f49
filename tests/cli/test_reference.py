"""The reference of the command line names every command and every option."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from cases import sweep
from risala.cli.main import cli

REFERENCE = Path(__file__).parents[2] / "docs/reference"
PAGE = (REFERENCE / "cli.md").read_text(encoding="utf-8")
ELSEWHERE = {"simulate smsc": "smsc-simulator.md", "simulate modem": "modem-simulator.md"}
"""Commands that have a page of their own."""
EVERYWHERE = {"--data", "--config", "--json", "--help"}


def leaves(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name, inner in command.commands.items():
        yield from leaves(inner, f"{path} {name}".strip())


COMMANDS = dict(leaves(cli))


@sweep("name", COMMANDS)
def test_every_command_with_its_options(name):
    rows = [line for line in PAGE.splitlines() if re.search(rf"^\|.*`{name}[ `]", line)]
    assert rows, f"docs/reference/cli.md has no row on `{name}`"
    options = {
        option
        for parameter in COMMANDS[name].params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    told = " ".join(rows)
    # What `webhook update` takes is told with `webhook create`.
    told += " ".join(re.findall(r"^\| `webhook create.*$", PAGE, re.M)) * ("webhook" in name)
    if name in ELSEWHERE:
        told += (REFERENCE / ELSEWHERE[name]).read_text(encoding="utf-8")
    lacking = {each for each in options - EVERYWHERE if each not in told}
    assert not lacking, f"docs/reference/cli.md lacks them in the row on `{name}`"


def test_every_row_is_a_command():
    named = re.findall(r"^\| `([a-z][a-z -]*[a-z])", PAGE, re.M)
    known = {*COMMANDS, *cli.list_commands(click.Context(cli))}  # built-in plugins' too
    assert [name for name in named if name not in known] == []
