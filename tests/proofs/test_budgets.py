"""No pure work holds the loop for long, whatever the parts of its input multiply to."""

from __future__ import annotations

import time
from typing import Final

from proofs.budgets import BUDGETS, SMALL, Budget
from proofs.budgets.budget import open_functions

from cases import sweep

SLACK: Final = 5
"""Other tests run beside this one, and processors differ. What a product of bounds costs is beyond
any factor: it was seconds, and minutes."""


@sweep("budget", BUDGETS, named=lambda each: f"{each.function}, {each.given}")
def test_the_largest_input_stays_within_its_budget(budget: Budget):
    assert budget.spent_ms() < budget.ms * SLACK


def test_every_function_that_gets_words_from_outside_has_a_budget_or_a_reason():
    found = {*open_functions()}
    played = {each.function for each in BUDGETS}
    missing = found - played - SMALL.keys()
    assert not missing, f"play their largest input in proofs/budgets, or say why not: {missing}"
    assert not (played | SMALL.keys()) - found, "these are gone, or not public"
    assert not played & SMALL.keys()


def test_work_that_holds_the_loop_is_found():
    def busy() -> None:
        end_s = time.thread_time() + 0.03
        while time.thread_time() < end_s:
            pass

    assert Budget("x", "y", lambda: busy).spent_ms() > Budget("x", "y", lambda: busy).ms
