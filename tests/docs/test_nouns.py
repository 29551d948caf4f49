"""One noun is one class: a name that stands twice in one room needs its reason here."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/risala"
SPLIT = {"drivers", "lab"}
"""Their rooms never see each other, as the import contracts prove: there each has its own words."""
TWICE = {
    "drivers/modem": {
        "Verdict": "on an error, and of the doctor",
    },
}
"""By room. Whoever renames one of a pair takes its line away."""


def nouns() -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for path in SOURCE.glob("**/*.py"):
        parts = path.relative_to(SOURCE).parts
        room = "/".join(parts[:2]) if parts[0] in SPLIT else parts[0]
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[room, node.name] += 1
    return found


def test_a_noun_is_one_class_in_its_room():
    twice = {key for key, times in nouns().items() if times > 1}
    assert sorted(twice - {(room, name) for room, names in TWICE.items() for name in names}) == []
