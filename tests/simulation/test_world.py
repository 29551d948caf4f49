"""Whole histories by seed: whatever went wrong and when, the books agree and nothing is lost.

``make soak`` plays more of them. A seed that fails fails again, and the failure says how.
"""

from __future__ import annotations

import os

import pytest
from tests.simulation.history import play
from tests.simulation.plan import Plan, read
from tests.simulation.shrink import shrink

from cases import examples, first

WORLDS = int(os.environ.get("RISALA_WORLDS", examples(10)))
"""`make test` plays the first of them; a history with a standby is in test_standby."""
LINES_MAX = 120
"""The end of a story that a test shows; the whole of it is a command away."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", first(1, range(WORLDS)))
def test_nothing_is_lost_doubled_or_mischarged(tmp_path, seed):
    played = play(Plan(seed), tmp_path / "first")
    if played.faults:
        smallest = shrink(played, lambda plan: play(plan, tmp_path / str(hash(plan))))
        story = smallest.told.splitlines()
        pytest.fail("\n".join(story[-LINES_MAX:]), pytrace=False)


@pytest.mark.parametrize(
    "line", ["7", "7 lives=2 customers=1 errands=3", "0 without=clock,full-disk"]
)
def test_a_plan_is_read_as_it_is_written(line):
    plan = read(line)
    assert read(str(plan)) == plan


def test_a_plan_knows_what_may_be_left_out():
    with pytest.raises(LookupError):
        read("7 without=nothing")
