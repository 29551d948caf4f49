"""The pages of presets tell those that there are."""

from __future__ import annotations

import re
from pathlib import Path

from proofs.settings import render_programs

from risala.engine.features.hooks.rules.presets import (
    CUSTOM,
    Preset,
    custom_preset,
    preset,
    presets,
)

PAGE = Path(__file__).parents[5] / "docs/reference/hook-presets.md"


def test_the_table_has_every_preset():
    table = render_programs()
    assert [each.name for each in presets() if f"| `{each.name}` |" not in table] == []


def test_names_that_the_page_tells_are_read():
    """Each name of the second table is one that its presets read."""
    table = PAGE.read_text().partition("These presets take:")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(lines) > 8
    for line in lines:
        names, *words = (re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:-1])
        for name in names:
            read = repr(preset(name))
            assert [word for cell in words for word in cell if f"'{word}'" not in read] == []


def test_the_page_s_own_table_is_one():
    block = re.search(r"```json\n(.*?)```", PAGE.read_text(), re.S)
    assert isinstance(custom_preset(block[1]), Preset)
    assert custom_preset(block[1]).name == CUSTOM
