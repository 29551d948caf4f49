"""The page of presets lists those that there are."""

from __future__ import annotations

import re
from pathlib import Path

from risala.engine.features.hooks.rules.presets import (
    CUSTOM,
    Preset,
    custom_preset,
    preset,
    presets,
)

PAGE = Path(__file__).parents[5] / "docs/reference/hook-presets.md"
HOW = {"run": "run here", "source": "by its source"}


def row(each: Preset) -> str:
    to = "its own numbers" if each.to == "fixed" else "the request's number"
    proofs = ", ".join(f"`{proof}`" for proof in each.proofs)
    read, how = ("", "")
    if each.tried is not None:
        read, how = f"{each.tried.version}, {each.tried.at}", HOW[each.tried.how]
    cells = [each.title, f"`{each.name}`", each.sends, to, proofs, read, how]
    return re.sub(" +", " ", f"| {' | '.join(cells)} |")


def test_the_table_has_every_preset():
    table = PAGE.read_text().partition("|---|---|---|---|---|---|---|\n")[2].partition("\n\n")[0]
    assert table.splitlines() == [row(each) for each in presets()]


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
