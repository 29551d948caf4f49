"""What is measured must hold before anybody is told, and ever longer where it wavers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.alerts.rules import (
    FLAPS_WITHIN_MS,
    HOLD_MAX_MS,
    WELL,
    AlertState,
    AlertTurn,
    Verdict,
    flaps_of,
    held_ms,
    step,
)

GRACE, HOLD = 300_000, 300_000
BAD, GOOD, UNKNOWN = Verdict.BAD, Verdict.GOOD, Verdict.UNKNOWN


def turns(verdicts, flaps=0, every_ms=60_000):
    standing, found = AlertState(flaps=flaps), []
    for n, verdict in enumerate(verdicts):
        standing, turn = step(standing, verdict, n * every_ms, GRACE, HOLD)
        if turn is not None:
            found.append((n, turn.value))
    return found


def test_bad_for_the_grace_time_is_raised_once():
    assert turns([GOOD, *[BAD] * 30]) == [(6, "raised")]


def test_a_good_moment_begins_the_grace_time_anew():
    assert turns([BAD, BAD, BAD, BAD, GOOD, BAD, BAD, BAD, BAD]) == []


def test_it_is_over_once_all_was_well_for_the_hold_time():
    assert turns([*[BAD] * 7, *[GOOD] * 9]) == [(5, "raised"), (12, "over")]
    assert turns([*[BAD] * 7, *[GOOD] * 4, BAD, *[GOOD] * 4, BAD]) == [(5, "raised")]


def test_what_nobody_can_tell_changes_nothing():
    assert turns([*[BAD] * 3, UNKNOWN, UNKNOWN, BAD, BAD]) == [(5, "raised")]
    assert turns([*[BAD] * 7, *[UNKNOWN] * 90]) == [(5, "raised")]


def test_without_a_grace_time_it_is_raised_at_once():
    assert step(WELL, BAD, 7, 0, HOLD) == (AlertState(is_raised=True), AlertTurn.RAISED)


def test_a_clock_that_goes_back_raises_nothing_early():
    standing, _ = step(WELL, BAD, 1_000_000, GRACE, HOLD)
    standing, turn = step(standing, BAD, 900_000, GRACE, HOLD)
    assert turn is None
    _, turn = step(standing, BAD, 1_200_000, GRACE, HOLD)
    assert turn is AlertTurn.RAISED


def test_the_hold_time_doubles_up_to_its_bound():
    assert [held_ms(HOLD, flaps) // 60_000 for flaps in range(8)] == [
        *(5, 10, 20, 40, 80, 160, 240, 240),
    ]
    assert held_ms(HOLD_MAX_MS * 2, 0) == HOLD_MAX_MS * 2
    assert held_ms(1, 1000) == held_ms(1, 16) == 1 << 16  # and no number grows without end


def test_what_comes_back_within_a_day_comes_back():
    assert flaps_of(3, None, 10) == 0
    assert flaps_of(3, 0, FLAPS_WITHIN_MS) == 4
    assert flaps_of(3, 0, FLAPS_WITHIN_MS + 1) == 0


@given(st.lists(st.sampled_from([*Verdict]), max_size=200), st.integers(0, 6))
def test_raised_and_over_take_turns(verdicts, flaps):
    found = [turn for _, turn in turns(verdicts, flaps)]
    assert found == [("raised", "over")[n % 2] for n in range(len(found))]


def test_what_flapped_is_held_longer_and_keeps_its_count():
    raised = AlertState(is_raised=True, flaps=1)
    waiting, turn = step(raised, GOOD, 0, 0, HOLD)
    assert turn is None
    waiting, turn = step(waiting, GOOD, 2 * HOLD - 1, 0, HOLD)
    assert turn is None
    assert step(waiting, GOOD, 2 * HOLD, 0, HOLD) == (AlertState(flaps=1), AlertTurn.OVER)


def test_a_day_is_counted_from_when_it_was_over():
    over_at = 10 * FLAPS_WITHIN_MS
    assert flaps_of(2, over_at, over_at + FLAPS_WITHIN_MS) == 3
    assert flaps_of(2, over_at, over_at + FLAPS_WITHIN_MS + 1) == 0
    assert flaps_of(2, None, over_at) == 0
