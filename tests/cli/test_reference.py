"""The reference of the command line is written from the commands, and has all their options."""

from __future__ import annotations

import click
from proofs.reference import GUIDES, PAGE, leaves, render

from cases import sweep
from risala.cli.main import cli

TEXT = PAGE.read_text(encoding="utf-8")
EVERYWHERE = {"--data", "--config", "--json", "--help", "--org"}
"""What the page's beginning tells of all commands."""
COMMANDS = dict(leaves(cli))


def section(name: str) -> str:
    """What the page has beneath a command's own heading."""
    (found,) = (each for each in TEXT.split("\n### `")[1:] if _words(each) == name)
    return found


def _words(heading: str) -> str:
    """The words of a command, without what it takes."""
    usage = f"{heading.partition('`')[0]} "
    return max((each for each in COMMANDS if usage.startswith(f"{each} ")), key=len, default="")


def test_the_page_is_what_the_commands_say():
    assert render() == TEXT, "`make generated` writes it"


@sweep("name", COMMANDS)
def test_every_command_with_its_options(name):
    told = section(name)
    options = {
        option
        for parameter in COMMANDS[name].params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert {each for each in options - EVERYWHERE if each not in told} == set()
    assert told.partition("\n")[2].strip(), "its help says nothing"


def test_every_guide_is_that_of_a_command():
    nouns = {name.split()[0] for name in COMMANDS}
    assert [each for each in GUIDES if each not in nouns] == []
