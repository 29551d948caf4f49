"""Ratios are taken within a round; a goal that is reached now and then is not called reached."""

from __future__ import annotations

import pytest
from benchmarks.__main__ import QUICK, SCENARIOS, chosen
from benchmarks.measure import Goal, Line, Series, Spread, ratio
from benchmarks.report import Results, compared, key_rows, rows, spread_words, verdict


def test_a_ratio_is_taken_round_by_round():
    # The machine was half as fast in the second round: to both.
    assert ratio({0: 300.0, 1: 150.0}, {0: 100.0, 1: 50.0}) == Spread(3.0, 3.0, 3.0)


def test_a_round_that_lacks_one_of_both_does_not_count():
    assert ratio({0: 300.0, 1: 150.0}, {1: 50.0}) == Spread(3.0, 3.0, 3.0)
    assert ratio({0: 300.0}, {1: 50.0}) is None
    assert ratio(None, {1: 50.0}) is None


@pytest.mark.parametrize(
    ("low", "middle", "high", "word"),
    [
        (2.1, 2.2, 2.4, "yes"),
        (1.9, 2.2, 2.4, "yes, not always"),
        (1.1, 1.9, 2.4, "no, but once"),
        (1.1, 1.2, 1.3, "no"),
    ],
)
def test_a_verdict_looks_at_every_round(low, middle, high, word):
    assert verdict(Goal(2, "bare 64"), Spread(middle, low, high)) == word


def test_a_goal_can_be_a_bound_from_above():
    goal = Goal(60, most=True)
    assert verdict(goal, Spread(50, 45, 59)) == "yes"
    assert verdict(goal, Spread(70, 65, 79)) == "no"
    assert goal.words("MiB") == "≤ 60 MiB"
    assert Goal(8, "bare 64").words("/s") == "≥ 8 × bare 64"


@pytest.fixture
def results() -> Results:
    common, ours, theirs = Series(), Series(), Series()
    for turn, machine in enumerate((1.0, 0.5, 0.9)):
        common.put(turn, {"bare 64": 100 * machine})
        ours.put(turn, {"accept 64": 900 * machine})
        theirs.put(turn, {"accept 64": 300 * machine})
    lines = (
        (Line("bare 64", "/s"), False),
        (Line("accept 64", "/s", (Goal(8, "bare 64"), Goal(0.6, "Kannel accept 64"))), True),
    )
    cores = {"bare 64": [0.1] * 3, "accept 64": [0.2] * 3}
    return Results(lines, common, ours, theirs, cores)


def test_each_goal_has_a_row(results):
    assert list(rows(results)) == [
        ("bare 64", "90.0 (50.0 – 100) /s", "", "", "", "0.1"),
        ("accept 64", "810 (450 – 900) /s", "9.00 × bare 64", "≥ 8 × bare 64", "yes", "0.2"),
        ("", "", "– × Kannel accept 64", "≥ 0.6 × Kannel accept 64", "not measured", ""),
    ]


def test_two_trees_are_compared_within_each_round(results):
    assert list(compared(results)) == [
        ("accept 64", "270 (150 – 300) /s", "810 (450 – 900) /s", "3.00")
    ]


def test_numbers_have_three_figures():
    assert spread_words(Spread(12345.6, 1.234, 98.76)) == "12,346 (1.23 – 98.8)"


def test_a_chosen_line_brings_what_it_is_measured_against():
    names = {line.name for each in chosen(SCENARIOS, ["drain"]) for line in each.lines}
    assert {"drain", "Kannel drain", "bare 64"} <= names
    assert "get 64" not in names


def test_every_goal_speaks_of_a_line_that_is_measured():
    lines = [line for scenario in SCENARIOS for line in scenario.lines]
    names = [line.name for line in lines]
    assert len(set(names)) == len(names)
    for line in lines:
        assert {goal.of for goal in line.goals} | {line.against} <= {*names, None}


def test_the_quick_lines_are_lines_and_bring_what_they_are_ratios_to():
    names = [line.name for each in chosen(SCENARIOS, QUICK, whole=True) for line in each.lines]
    assert {*QUICK, "bare 64", "Kannel drain"} <= {*names}
    assert "accept 256, before_answer" not in names
    assert len(names) < len([line for each in SCENARIOS for line in each.lines]) / 2


def test_a_page_gets_the_rows_of_its_lines_in_their_order(results):
    assert [row[0] for row in key_rows(results, ("accept 64", "bare 64"))] == [
        "accept 64",
        "",
        "bare 64",
    ]
    assert key_rows(results, ("another line",)) == []
