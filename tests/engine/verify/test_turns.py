"""The line of guesses at one session."""

from __future__ import annotations

import pytest

from risala.engine.model.errors import Overloaded
from risala.engine.verify.turns import Turns


def test_one_after_the_other_and_others_beside_them():
    turns = Turns(3)
    first, second, other = turns.join("a"), turns.join("a"), turns.join("b")
    assert [turn.called.is_set() for turn in (first, second, other)] == [True, False, True]
    turns.leave(first)
    assert second.called.is_set()


def test_who_gives_up_in_the_line_holds_nobody():
    turns = Turns(3)
    first, second, third = (turns.join("a") for _ in range(3))
    turns.leave(second)
    assert not third.called.is_set()
    turns.leave(first)
    assert third.called.is_set()


def test_a_full_line_takes_no_more_and_an_empty_one_is_forgotten():
    turns = Turns(2)
    line = [turns.join("a"), turns.join("a")]
    with pytest.raises(Overloaded):
        turns.join("a")
    for turn in line:
        turns.leave(turn)
    assert len(turns) == 0
