"""The table of guards (``make guards``) is true of the source: each stands where it says, once."""

from __future__ import annotations

import ast
from pathlib import Path

from proofs.guards import GUARDS
from proofs.guards.__main__ import _show
from proofs.guards.guard import Guard
from proofs.guards.trial import Found
from rich.console import Console

from cases import sweep

ROOT = Path(__file__).parents[2]
SECRETS = {
    "engine/rules/keyring.py": "is_code",
    "engine/people/tokens.py": "is_form_token",
    "engine/features/compat/credentials.py": "_is",
    "http/web/once.py": "find",
    "drivers/payments/sandbox.py": "callback",
    "drivers/smpp/outbind.py": "wait",
    "client/webhooks.py": "_check",
}
"""Functions that compare what a stranger says with a secret."""


@sweep("file", SECRETS)
def test_secrets_are_compared_in_a_time_that_tells_nothing(file):
    tree = ast.parse((ROOT / "src/risala" / file).read_text("utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    (function,) = (
        each
        for each in ast.walk(tree)
        if isinstance(each, functions) and each.name == SECRETS[file]
    )
    assert "hmac.compare_digest(" in ast.unparse(function)


@sweep("guard", GUARDS, named=lambda each: each.promise)
def test_a_guard_can_be_taken_away(guard: Guard):
    without = guard.take_away(guard.source)
    ast.parse(without)
    assert without != guard.source
    for test in guard.tests:
        place, _, name = test.partition("::")
        path = ROOT / "tests" / place
        assert path.exists(), test
        assert not name or f"def {name}(" in path.read_text("utf-8"), test


def test_there_are_guards_of_every_kind():
    assert len(GUARDS) >= 140
    assert len({each.promise for each in GUARDS}) == len(GUARDS)


def test_a_test_is_named_as_it_is_called():
    console = Console(record=True, width=200)
    _show(console, [Found(GUARDS[0], "tests/test_a.py::test_it[/api/sms]")])
    assert "test_it[/api/sms]" in console.export_text()
