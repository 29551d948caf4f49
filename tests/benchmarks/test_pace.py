"""A run tells how far it is, also where nobody looks, and ends when it is to."""

from __future__ import annotations

import io

import pytest
from benchmarks import __main__ as bench
from benchmarks.measure import Line, Scenario
from benchmarks.pace import Pace
from rich.console import Console


class Hand:
    """A clock that is set by hand."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_file_gets_a_line_for_each_turn_with_what_is_left():
    told, clock = io.StringIO(), Hand()
    with Pace(Console(file=told, width=200), 4, 3600, clock) as pace:
        for name in ("accept", "drain, main"):
            with pace.turn(name):
                clock.now_s += 60
    assert told.getvalue().splitlines() == [
        "1 of 4: accept took 60 s; about 3 min left",
        "2 of 4: drain, main took 60 s; about 2 min left",
    ]


def test_a_turn_that_fails_is_told_too():
    told = io.StringIO()
    with (
        pytest.raises(SystemExit),
        Pace(Console(file=told, width=200), 2, 3600, Hand()) as pace,
        pace.turn("accept"),
    ):
        raise SystemExit
    assert told.getvalue().startswith("1 of 2: accept took 0 s")


def test_it_is_over_after_its_limit():
    clock = Hand()
    with Pace(Console(file=io.StringIO()), 2, 60, clock) as pace:
        assert not pace.over
        clock.now_s += 60
        assert pace.over


def run(monkeypatch, *arguments: str) -> str:
    def open_it(*_):
        return lambda: {"it": 1.0}

    scenario = Scenario("it", (Line("it", "/s"),), open_it)
    told = io.StringIO()
    monkeypatch.setattr("sys.argv", ["bench", "--rounds", "3", *arguments])
    monkeypatch.setattr(bench, "report_console", lambda: Console(file=told, width=170))
    bench.main((scenario,))
    return told.getvalue()


@pytest.mark.slow
def test_a_run_tells_each_turn_and_then_its_table(monkeypatch):
    told = run(monkeypatch)
    assert "1 of 3: it, this tree took 0 s" in told
    assert "3 of 3: it, this tree took 0 s; about 0 min left" in told
    assert "│ it" in told


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_cut_and_said_so(monkeypatch):
    told = run(monkeypatch, "--minutes", "0")
    assert "STOPPED in round 1 of 3, before it, this tree: 0 minutes are over (--minutes)" in told
