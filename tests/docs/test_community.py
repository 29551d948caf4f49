"""What meets people who come: forms of issues, where to ask, first changes. All of it is true."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
import yaml

from risala.cli.main import cli
from risala.engine.gateway.table import OPERATIONS
from risala.http.operator.audit.sentences import SENTENCES

ROOT = Path(__file__).parents[2]
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
KINDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
COMMAND = re.compile(r"`risala ([a-z][a-z -]*?)(?: [A-Z]+)?(?: (--[a-z-]+))?`")


def forms() -> list[tuple[str, dict]]:
    told = [(path.stem, yaml.safe_load(path.read_text("utf-8"))) for path in FORMS]
    return [(name, form) for name, form in told if name != "config"]


def test_the_forms_are_there_and_no_other():
    assert {name for name, _ in forms()} == {"bug", "modem", "carrier", "question"}
    config = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/config.yml").read_text("utf-8"))
    assert config == {"blank_issues_enabled": False}


@pytest.mark.parametrize(("name", "form"), forms())
def test_a_form_is_one(name, form):
    """As GitHub describes forms: what it does not know, it refuses to show."""
    assert form.keys() <= {"name", "description", "labels", "body"}
    assert form["name"]
    assert form["description"]
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert {part["type"] for part in form["body"]} <= KINDS
    ids = [part["id"] for part in fields]
    assert len(set(ids)) == len(ids)
    assert any(part.get("validations", {}).get("required") for part in fields)
    for part in fields:
        assert part.keys() <= {"type", "id", "attributes", "validations"}
        assert part["attributes"]["label"]
        if part["type"] == "dropdown":
            options = part["attributes"]["options"]
            assert len(set(options)) == len(options)
            assert all(isinstance(each, str) for each in options)
    for part in form["body"]:
        assert part["type"] != "markdown" or set(part["attributes"]) == {"value"}


def command_of(words: str) -> click.Command:
    found: click.Command = cli
    for word in words.split():
        assert isinstance(found, click.Group), words
        found = found.commands[word]
    return found


@pytest.mark.parametrize(
    "page", [*(path for path in FORMS), ROOT / "SUPPORT.md"], ids=lambda path: path.name
)
def test_commands_that_people_are_asked_for_are_there(page):
    for words, option in COMMAND.findall(page.read_text("utf-8")):
        command = command_of(words)
        if option:
            assert any(option in each.opts for each in command.params), (words, option)


def test_who_reports_a_fault_is_asked_for_the_redacted_report():
    told = dict(forms())
    for name in ("bug", "carrier"):
        assert "`risala doctor --redacted`" in str(told[name])
    for name in ("bug", "modem", "carrier"):
        assert "numbers" in str(told[name]["body"][0]), "what must not be posted is said first"


def first_changes() -> list[list[str]]:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = page.partition("## Good first changes")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [row for row in rows if row[0].strip() != "What"]


@pytest.mark.parametrize("row", first_changes(), ids=lambda row: row[0].strip()[:30])
def test_a_first_change_is_where_it_is_said(row):
    _, places, _ = row
    named = [each for each in re.findall(r"`([^`]+)`", places) if "/" in each]
    linked = [each.partition("#")[0] for each in re.findall(r"\]\(([^)]+)\)", places)]
    assert named or linked
    assert [each for each in (*named, *linked) if not (ROOT / each).exists()] == []


def test_first_changes_are_really_missing():
    """Where one of these falls, all of its kind are done: take its row out."""
    assert len(first_changes()) == 7
    assert (ROOT / "tests/docs/old_names.txt").read_text("utf-8").split("\n")[0]
    untold = {name for name, of in OPERATIONS.items() if of.changes} - SENTENCES.keys()
    assert "verify.config" in untold
    counted = (ROOT / "tests/docs/test_declarations.py").read_text("utf-8")
    assert int(re.findall(r"BY_TEXT_MAX = (\d+)", counted)[0]) > 0
    pages = {path.name for path in (ROOT / "docs/how-to").glob("*.md")}
    assert pages - {path.name for path in (ROOT / "docs/fr/how-to").glob("*.md")}
