"""A table as one test tries all of its cases, and names those that fail."""

from __future__ import annotations

import inspect

import pytest

from cases import sweep


def test_all_cases_are_tried_and_those_that_fail_are_named():
    tried = []

    @sweep("number", [1, 2, 3], lambda number: f"no. {number}")
    def odd(number, fixture):
        tried.append((number, fixture))
        assert number == 2

    assert [*inspect.signature(odd).parameters] == ["fixture"]
    with pytest.raises(ExceptionGroup, match="2 cases failed") as caught:
        odd(fixture="x")
    assert tried == [(1, "x"), (2, "x"), (3, "x")]
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["case: no. 1"],
        ["case: no. 3"],
    ]


async def test_a_sweep_within_a_sweep_that_waits():
    tried = []

    @sweep("one", "ab")
    @sweep("two", "xy")
    async def both(one, two):
        tried.append(one + two)

    await both()
    assert tried == ["ax", "ay", "bx", "by"]


def test_a_case_of_several_arguments():
    tried = []

    @sweep(("first", "second"), [(1, 2), (3, 4)])
    def sums(first, second):
        tried.append(first + second)

    sums()
    assert tried == [3, 7]


def test_nothing_to_try_is_a_mistake():
    with pytest.raises(AssertionError):
        sweep("each", [])
