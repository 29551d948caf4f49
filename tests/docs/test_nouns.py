"""Names: one noun is one class, and a name says what the glossary says.

Whoever searches for a class finds one, and whoever reads a name in a room need not ask which of
two is meant. Where a pair has one meaning in rooms that never see each other, its reason is here.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sources import statements_of, trees

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/risala"
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
            *(
                "BalanceEvent",
                "ConversationEvent",
                "InboundEvent",
                "MessageEvent",
                "Page",
                "RepeatEvent",
            ),
            *("SenderEvent", "TrialEvent", "TriedForward", "VerificationEvent"),
        ),
        "of the client, a distribution of its own: the API's words, for who asks it from outside",
    ),
    **dict.fromkeys(
        ("Phones", "Scenario", "Timetable"),
        "of each simulator: they never see one another",
    ),
}
"""Each with its reason. Whoever renames one of a pair takes its line away."""
GLOSSARY = ROOT / "docs/reference/glossary.md"
OLD_NAMES = Path(__file__).with_name("old_names.txt")
LEFT_MAX = 32
"""How many old names there may be at most. Who renames some lowers it; nothing raises it."""

_PLUGIN = "plugins implement it or read it: promised by its name"
_COLUMN = "a column of the database"
_BODY = "the client's half of a logged request, beside `answered`, as operations and pages have it"
_MEMBER = "a member of the API (contract §14), and a column"
HOLDERS = {
    "client/answers.py asked": _MEMBER,
    "engine/model/records/verify/figures.py asked": _MEMBER,
    "engine/features/code_figures/stored/counts.py asked": _MEMBER,
    "engine/features/code_figures/stored/sessions.py asked": _MEMBER,
    "engine/features/compat/records.py told": _COLUMN,
    "engine/intake/policies.py asked": "fields of the counts are columns of the report and metrics",
    "engine/journal/accounts/memberships.py found": "the verb: who has an account founds one",
    "engine/journal/messages/timeline.py told": _COLUMN,
    "engine/journal/state.py told": _COLUMN,
    "engine/features/request_log/records.py asked": _BODY,
    "engine/model/commands.py asked": _BODY,
    "plugins/contract.py given": _PLUGIN,
    "plugins/face.py told": _PLUGIN,
    "plugins/testing/suite.py told": _PLUGIN,
}
"""Parameters, variables and fields that say nothing of what they hold, each with its reason."""


@cache
def named() -> dict[Path, list[tuple[str, int | None]]]:
    """Each class and function of each module, and of public classes at its top the line."""
    found = {}
    for path, tree in trees(sorted(SOURCE.glob("**/*.py"))):
        tops = {id(node) for node in tree.body if isinstance(node, ast.ClassDef)}
        found[path] = [
            (node.name, node.lineno if id(node) in tops and node.name[0] != "_" else None)
            for node in statements_of(tree)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    return found


def nouns() -> dict[str, list[str]]:
    """Every public class at the top of a module, by its name: where it stands."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path, names in named().items():
        for name, line in names:
            if line is not None:
                found[name].append(f"{path.relative_to(SOURCE)}:{line}")
    return found


def test_a_noun_is_one_class():
    twice = {name: places for name, places in nouns().items() if len(places) > 1}
    assert {name: places for name, places in twice.items() if name not in TWICE} == {}


def test_every_reason_is_needed_still():
    found = nouns()
    assert [name for name in TWICE if len(found[name]) < 2] == []


def replaced() -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """What no part of a name may be, and what no whole name may be, as words in small letters."""
    parts, wholes = set(), set()
    page = GLOSSARY.read_text(encoding="utf-8")
    cells = [row.rsplit("|", 2)[1] for row in page.splitlines() if row.startswith("| ")]
    last = re.search(r"^These are no part of any name: (.+)$", page, re.M)
    assert last is not None
    for word, alone in re.findall(r"`(\w+)`( alone)?", " ".join([*cells, last[1]])):
        (wholes if alone else parts).add(tuple(word.split("_")))
    return parts, wholes


def words(name: str) -> tuple[str, ...]:
    """`EndpointQueue` and `endpoint_lane` alike are ("endpoint", "lane")."""
    found = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)
    return tuple(word.lower() for word in found)


def all_names() -> Iterator[str]:
    """Each module, class and function of the package, as `room/module.py name`."""
    for path, names in named().items():
        where = path.relative_to(SOURCE).as_posix()
        yield f"{where} {path.parent.name if path.stem == '__init__' else path.stem}"
        for name, _ in names:
            yield f"{where} {name}"


PROMISED = frozenset({"NotTaken"})
"""Names of the driver contract that say best what they are."""


def is_old(name: str, parts: set[tuple[str, ...]], wholes: set[tuple[str, ...]]) -> bool:
    own = words(name)
    runs = {own[i : i + n] for n in {len(each) for each in parts} for i in range(len(own))}
    is_promised = name in PROMISED
    return own in wholes or (not is_promised and not parts.isdisjoint(runs))


def test_names_are_those_of_the_glossary():
    parts, wholes = replaced()
    old = {each for each in all_names() if is_old(each.split(" ")[1], parts, wholes)}
    listed = OLD_NAMES.read_text(encoding="utf-8").splitlines()
    assert sorted(old - {*listed}) == [], "new names: use the glossary's words"
    assert sorted({*listed} - old) == [], "renamed: take these lines out, and lower LEFT_MAX"
    assert len(listed) <= LEFT_MAX


def test_what_counts_as_an_old_name():
    parts, wholes = {("lane",), ("taken", "along")}, {("sign",)}
    old = ["Lane", "EndpointLane", "lane_down", "taken_along_now", "_sign"]
    assert [name for name in old if not is_old(name, parts, wholes)] == []
    assert [n for n in ("sign_in", "planet", "taken", "Along") if is_old(n, parts, wholes)] == []


def empty_words() -> frozenset[str]:
    """What no parameter, variable or field is called."""
    page = " ".join(GLOSSARY.read_text(encoding="utf-8").split())
    sentence = re.search(r"No parameter, variable or field is called (.+?):", page)
    assert sentence is not None
    return frozenset(re.findall(r"`(\w+)`", sentence[1]))


def holders(tree: ast.AST) -> Iterator[str]:
    """The names of all parameters, and of all that is assigned to or declared."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def test_variables_say_what_they_hold():
    empty = empty_words()
    assigned = rf"\b(?:{'|'.join(sorted(empty))})\b(?: in | as |:=|\s*[=:,)|+])"
    used = {
        f"{path.relative_to(SOURCE).as_posix()} {name}"
        for path, tree in trees(sorted(SOURCE.glob("**/*.py")), assigned)
        for name in holders(tree)
        if name in empty
    }
    assert sorted(used - {*HOLDERS}) == [], "call it by what it holds"
    assert sorted({*HOLDERS} - used) == [], "renamed: take these lines out"


def test_what_holds_something():
    code = "def f(told: int, *given): ...\nfor found, _ in x:\n    y.asked = 1\nlambda said: said"
    assert sorted(holders(ast.parse(code))) == ["_", "found", "given", "said", "told"]
