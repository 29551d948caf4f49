"""A module that moves is found again wherever it is named."""

from __future__ import annotations

import subprocess

import pytest
from proofs.moving import move, rewritten

MODULES = {"engine.old.lists": "engine.lists.stored", "engine.old.keys": "engine.keys"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from risala.engine.old.lists import add\n",
            "from risala.engine.lists.stored import add\n",
        ),
        (
            "from risala.engine.old import lists\n",
            "from risala.engine.lists import stored as lists\n",
        ),
        ("from risala.engine.old import keys\n", "from risala.engine import keys\n"),
        (
            "from risala.engine.old import (\n    keys,\n    other as o,\n)\n",
            "from risala.engine.old import other as o\nfrom risala.engine import keys\n",
        ),
        (
            "def f():\n    from risala.engine.old import lists as x\n",
            "def f():\n    from risala.engine.lists import stored as x\n",
        ),
        ('NAME = "risala.engine.old.lists:add"\n', 'NAME = "risala.engine.lists.stored:add"\n'),
        ("import risala.engine.old.lists_of\n", "import risala.engine.old.lists_of\n"),
    ],
)
def test_imports(before, after):
    assert rewritten(before, MODULES, is_python=True) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("#: src/risala/engine/old/lists.py:12", "#: src/risala/engine/lists/stored.py:12"),
        ("`engine/old/keys.py`", "`engine/keys.py`"),
        ("my-engine/old/keys.py", "my-engine/old/keys.py"),
        ("engine/old/keys.pyc", "engine/old/keys.pyc"),
    ],
)
def test_paths(before, after):
    assert rewritten(before, MODULES, is_python=False) == after


def test_a_package_moves_with_all_that_is_below(tmp_path):
    source = tmp_path / "src/risala/engine/old"
    source.mkdir(parents=True)
    for place, text in (
        ("src/risala/__init__.py", ""),
        ("src/risala/engine/__init__.py", ""),
        ("src/risala/engine/old/__init__.py", ""),
        ("src/risala/engine/old/lists.py", "from risala.engine.old import keys\n"),
        ("src/risala/engine/old/keys.py", "KEY = 1\n"),
        ("notes.md", "See `old/keys.py`, and `engine/old/lists.py`.\n"),
    ):
        (tmp_path / place).write_text(text)
    for words in (("init", "-q"), ("add", ".")):
        subprocess.run(("git", *words), cwd=tmp_path, check=True)
    told = move(tmp_path, {"engine.old": "engine.new.house"})
    moved = tmp_path / "src/risala/engine/new/house"
    assert (moved / "lists.py").read_text() == "from risala.engine.new.house import keys\n"
    assert (moved.parent / "__init__.py").read_text() == ""
    assert "`engine/new/house/lists.py`" in (tmp_path / "notes.md").read_text()
    assert told == ["notes.md:1: See `old/keys.py`, and `engine/new/house/lists.py`."]
