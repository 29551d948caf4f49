"""Commands of plugins: beside those of our own, by the same door, and broken ones hurt nobody."""

from __future__ import annotations

import json
import sys

import pytest

from risala.cli.plugged import BRINGING, KNOWN
from risala.plugins.kinds import COMMANDS
from risala.plugins.manager import PluginManager

HEAD = """
import click
from risala.plugins.command import CommandFactory, CommandFailedError
from risala.plugins.hookspecs import hookimpl

"""
GOOD = """
@click.group()
def greet():
    "Greets."

@greet.command()
@click.argument("word")
@click.option("--loud", is_flag=True)
def say(door, word, loud):
    "Says a word."
    if not door.show({"word": word, "json": door.json}):
        click.echo(word.upper() if loud else word)

@greet.command()
def organizations(door):
    found = door.perform("org.list")
    door.table(("Name",), [(each["name"],) for each in found["organizations"]], "None.")

@greet.command()
def refuse(door):
    raise CommandFailedError("Not today.")

@greet.command()
def crash(door):
    raise LookupError("lost")

@hookimpl
def risala_register_commands(register):
    register(CommandFactory("greet", lambda: greet, "Greets people"))
    register(CommandFactory("unbuilt", lambda: [][0], "Cannot be built"))
    register(CommandFactory("number", lambda: 3, "Is no command"))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    before = set(sys.modules)
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "greeting.py").write_text(HEAD + GOOD)
    (folder / "broken.py").write_text("1 / 0")
    monkeypatch.setenv("RISALA_PLUGINS__FOLDER", str(folder))
    yield folder
    for name in set(sys.modules) - before:
        if name.startswith("risala_plugin_"):
            del sys.modules[name]


def test_a_command_has_the_options_of_all(risala):
    assert risala("greet", "say", "hello", "--loud").stdout == "HELLO\n"
    assert json.loads(risala("greet", "say", "hello", "--json").stdout) == {
        "word": "hello",
        "json": True,
    }
    assert "--data DIR" in risala("greet", "say", "--help").stdout
    assert "organizations" in risala("greet", "--help").stdout


def test_it_reaches_the_engine_by_the_same_door(risala):
    risala("org", "create", "Shop")
    assert "Shop" in risala("greet", "organizations").stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("greet", "refuse"), "Not today."),
        (("greet", "crash"), "The command greet crash failed: LookupError: lost"),
        (("unbuilt",), "The command unbuilt of a plugin cannot be built: list index out of range"),
        (("number", "--all"), "The command number of a plugin cannot be built: it is a int"),
    ],
)
def test_what_goes_wrong_is_one_sentence(risala, words, sentence):
    done = risala(*words)
    assert done.exit_code == 1
    assert done.stderr.startswith(sentence)
    assert len(done.stderr.splitlines()) == 1


def test_all_are_listed_and_the_broken_plugin_is_named(risala):
    told = risala("--help").stdout
    for name, summary in (("greet", "Greets people"), ("unbuilt", "Cannot be built")):
        assert f"{name} " in told
        assert summary in told
    assert "sinks" in told
    done = risala("gret")
    assert done.exit_code == 2
    assert "No such command 'gret'." in done.stderr
    assert "Plugins that are not used: broken (ZeroDivisionError: division by zero)." in done.stderr


def test_without_plugins_of_others_none_is_imported_to_list_commands(risala, folder):
    for path in folder.iterdir():
        path.unlink()
    assert "State of the event sinks" in risala("--help").stdout
    manager = PluginManager()
    manager.load(BRINGING, installed=())
    found = {name: each.summary for name, each in manager.of(COMMANDS).items()}
    assert found == KNOWN


def test_how_sinks_do_is_a_command_of_a_plugin(risala):
    risala("org", "create", "Shop")
    assert json.loads(risala("sinks", "--json").stdout) == {"sinks": []}
    assert risala("sinks").stdout.startswith("No event sink runs")
