"""One noun is one class, anywhere in the package: a name that stands twice says which it is.

Whoever searches for a class finds one, and whoever reads a name in a room need not ask which of
two is meant. Where a pair has one meaning in rooms that never see each other, its reason is here.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/risala"
TWICE = {
    "Health": "of a driver, and of the service as the OpenAPI document describes it",
    **dict.fromkeys(
        ("LinkError", "LocalProtocolError", "NoAnswerError"),
        "of each protocol: drivers never see one another",
    ),
    **dict.fromkeys(
        ("InboundSent", "MessageReceived", "Submitted", "Trouble"),
        "told by each simulator: they never see one another",
    ),
    **dict.fromkeys(
        (
            *("BalanceEvent", "InboundEvent", "MessageEvent", "Page"),
            *("SenderEvent", "TrialEvent", "VerificationEvent"),
        ),
        "of the client, a distribution of its own: the API's words, for who asks it from outside",
    ),
    **dict.fromkeys(
        ("Phones", "Scenario", "Timetable"),
        "of each simulator: they never see one another",
    ),
}
"""Each with its reason. Whoever renames one of a pair takes its line away."""


def nouns() -> dict[str, list[str]]:
    """Every public class at the top of a module, by its name: where it stands."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(SOURCE.glob("**/*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    return found


def test_a_noun_is_one_class():
    twice = {name: places for name, places in nouns().items() if len(places) > 1}
    assert {name: places for name, places in twice.items() if name not in TWICE} == {}


def test_every_reason_is_needed_still():
    found = nouns()
    assert [name for name in TWICE if len(found[name]) < 2] == []
