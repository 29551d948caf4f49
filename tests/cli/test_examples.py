"""The examples of the help pages: each is there, is understood, and where it harms nobody, runs."""

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from cases import sweep
from risala.cli.main import cli

EXAMPLE = re.compile(r"^ *(?:Example: |  )(?:eval \"\$\()?(risala(?: [^)\n]*)?)\)?\"?$", re.M)
NUMBER = "36123456"
"""What stands for the word in examples."""
OF_A_COUNTRY = re.compile(
    r"(?i)mauritan|mauritel|mattel|chinguitel|bankily|masrvi|\bMRU\b|(?:\+222)?[234]6\d{6}"
)
HARMLESS = {
    *("org", "org list", "org show", "key list", "sender", "sender list", "ledger", "price"),
    *("price show", "payment list", "payment texts", "payment lines", "user list", "member list"),
    *("message list", "verify list", "verify config", "webhook list", "inbound list"),
    *("inbound routes", "inbound opt-outs", "log", "alerts", "carriers", "carriers unmatched"),
    *("route", "plugins", "audit", "audit-log", "retention", "retention show", "kept show"),
    *("kept deletions", "openapi", "completion", "topup", "send", "user create"),
}
"""Commands whose examples run on a directory with an organization `My shop`."""


def pages() -> Iterator[tuple[str, click.Command]]:
    def walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
        yield path, command
        if isinstance(command, click.Group):
            for name, inner in command.commands.items():
                yield from walk(inner, f"{path} {name}".strip())

    return walk(cli, "")


def examples(path: str, command: click.Command) -> list[list[str]]:
    with click.Context(cli, info_name="risala") as context:
        told = command.get_help(click.Context(command, context, path, max_content_width=100))
    return [shlex.split(found)[1:] for found in EXAMPLE.findall(told)]


def understood(arguments: list[str]) -> str:
    """The path of the command that click takes these arguments for; raises what click raises."""
    command: click.Command = cli
    context = cli.make_context("risala", list(arguments))
    path = []
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        if not rest:
            break
        name, inner, rest = command.resolve_command(context, rest)
        assert name is not None
        assert inner is not None
        path.append(name)
        command, context = inner, inner.make_context(name, rest, parent=context)
    return " ".join(path)


@sweep("path", [path for path, _ in pages()])
def test_each_page_has_an_example_that_is_understood(path):
    command = dict(pages())[path]
    found = examples(path, command)
    assert found, f"`risala {path} --help` has no example"
    for arguments in found:
        taken = understood(arguments)
        if isinstance(command, click.Group):
            assert taken == path or taken.startswith(f"{path} ".lstrip())
        else:
            assert taken == path


@sweep("path", [path for path, _ in pages()])
def test_no_page_is_about_one_country(path):
    command = dict(pages())[path]
    with click.Context(cli, info_name="risala") as context:
        told = command.get_help(click.Context(command, context, path, max_content_width=100))
    assert not OF_A_COUNTRY.findall(told)


@pytest.mark.slow
def test_examples_that_harm_nobody_run(risala, tmp_path):
    assert risala("org", "create", "My shop").exit_code == 0
    ran = set()
    for path, command in pages():
        if path not in HARMLESS:
            continue
        for written in examples(path, command):
            arguments = [NUMBER if each == "NUMBER" else each for each in written]
            told = " ".join(arguments)
            if "…" in told or "/etc/" in told or "--install" in told or "--from ACME" in told:
                continue  # needs a thing with that id, or writes outside
            if path == "org" and arguments[1] == "create":
                continue  # it is there
            if path == "sender" and arguments[1] == "waive":
                continue  # nobody has asked for it
            if "smsc-1" in arguments or "--follow" in arguments:
                continue  # needs that carrier; never ends
            done = risala(*arguments)
            assert done.exit_code == 0, (told, done.output)
            ran.add(path)
    assert ran == HARMLESS
