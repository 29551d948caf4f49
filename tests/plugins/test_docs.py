"""Every hook is documented, with its exact signature."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from risala.plugins import hookspecs
from risala.plugins.kinds import KINDS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"
PAGE = (FOLDER / "plugin-hooks.md").read_text(encoding="utf-8")
OLD = {kind.old_hook for kind in KINDS}
"""Names of before, which the page's table of deprecations has."""
HOOKS = [name for name in vars(hookspecs) if name.startswith("risala_") and name not in OLD]


def signature(name: str) -> str:
    return f"def {name}{inspect.signature(getattr(hookspecs, name))}".replace("'", "")


def section(name: str) -> str:
    found = re.search(rf"^### `{name}`$(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"docs/reference/plugin-hooks.md has no section on {name}"
    return found[1]


def test_there_are_hooks():
    assert HOOKS


@pytest.mark.parametrize("name", HOOKS)
def test_hook_is_documented_with_its_signature(name):
    assert f"```python\n{signature(name)}\n```" in section(name)


@pytest.mark.parametrize("name", HOOKS)
def test_it_says_when_what_a_hook_brings_is_called_on_which_task_and_what_it_may_raise(name):
    head = r"^\| \w+ \| called \| on \| may raise \|\n\|---\|---\|---\|---\|\n"
    rows = re.search(head + r"((?:\|.*\|\n?)+)", section(name), re.MULTILINE)
    assert rows, f"{name} has no table of what is called, when, on which task, raising what"
    for row in rows[1].splitlines():
        assert all(cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]), row


def test_no_hook_is_documented_that_is_not_there():
    assert re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE) == HOOKS


def test_each_kind_of_thing_has_one_hook():
    assert sorted(kind.hook for kind in KINDS) == sorted(HOOKS)
    assert len({kind.key for kind in KINDS}) == len({kind.name for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_every_field_of_a_factory_is_documented(kind):
    name = kind.factory.__name__
    told = re.search(rf"\[`{name}`\]\(([\w-]+\.md)#{name.lower()}\)", section(kind.hook))
    assert told, f"the section of {kind.hook} leads to no contract"
    page = (FOLDER / told[1]).read_text(encoding="utf-8")
    _, _, fields = page.partition(f"### `{name}`\n")
    for field in inspect.get_annotations(kind.factory):
        assert f"\n| `{field}` | `" in fields.partition("\n#")[0]
