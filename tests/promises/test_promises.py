"""What a version 1.x promised is there in each later one (docs/reference/stability.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from proofs.promises import broken, promises

STORED = sorted(Path(__file__).parent.glob("1.*.json"))


@pytest.fixture(scope="module")
def present():
    return promises()


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_nothing_that_a_version_promised_is_gone(path, present):
    found = broken(json.loads(path.read_text("utf-8")), present)
    assert found == [], "See docs/reference/stability.md: 1.x keeps these."


def test_every_kind_of_promise_is_made(present):
    kinds = {name.partition(" ")[0] for name in present}
    assert kinds == {"api", "event", "setting", "command", "operation", "hook", "plugin"}


OLD = {
    "api POST /api/sms": "an endpoint",
    "api POST /api/sms takes to!": "string",
    "api POST /api/sms takes body!": "string",
    "command risala send": "a command",
    "command risala send --json": "an option",
    "command risala send TEXT!": "an argument",
    "operation message.list order": "`newest`, `oldest`",
}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"command risala send --json": None}, ["command risala send --json is gone."]),
        (
            {"api POST /api/sms takes to!": "integer"},
            ["api POST /api/sms takes to! was string, and is integer."],
        ),
        (
            {"command risala send --from!": "an option"},
            ["command risala send --from! must be given now."],
        ),
        (
            {"operation message.list order": "`newest`"},
            ["operation message.list order was `newest`, `oldest`, and is `newest`."],
        ),
        (
            {"api POST /api/sms takes from!": "string"},
            ["api POST /api/sms takes from! must be given now."],
        ),
        (
            {"api POST /api/sms takes body.kind!": "string"},
            ["api POST /api/sms takes body.kind! must be given now."],
        ),
    ],
)
def test_what_is_taken_away_is_found(change, found):
    new = {name: what for name, what in {**OLD, **change}.items() if what is not None}
    assert broken(OLD, new) == found


@pytest.mark.parametrize(
    "change",
    [
        {"api POST /api/sms takes metadata": "object"},
        {"api POST /api/sms takes a": "object", "api POST /api/sms takes a.b!": "string"},
        {"command risala send --later": "an option"},
        {"operation message.list order": "`newest`, `oldest`, `random`"},
        {"command risala list": "a command", "command risala list --org!": "an option"},
        {"api POST /api/sms takes body!": None, "api POST /api/sms takes body": "string"},
        {"command risala send TEXT!": None, "command risala send [TEXT]": "an argument"},
    ],
)
def test_more_may_come_and_less_may_be_asked_for(change):
    new = {name: what for name, what in {**OLD, **change}.items() if what is not None}
    assert broken(OLD, new) == []
