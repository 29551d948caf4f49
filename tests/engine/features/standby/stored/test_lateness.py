"""How often in a row the log was late, and when new work is refused."""

from __future__ import annotations

from risala.engine.features.standby.stored.awaited_log import Lateness


def test_three_spans_of_one_wait_refuse_until_it_ends():
    lateness = Lateness(5.0)
    assert not lateness.refuses(0.0)
    lateness.begin(100.0)
    assert (lateness.late(104.9), lateness.is_late(104.9), lateness.left_s(104.0)) == (0, False, 1)
    assert (lateness.late(105.0), lateness.is_late(105.0)) == (1, True)
    assert not lateness.refuses(114.9)
    assert lateness.refuses(115.0)
    lateness.end(116.0)
    assert not lateness.refuses(116.0)


def test_late_answers_in_a_row_count_and_one_in_time_ends_the_row():
    lateness = Lateness(5.0)
    for began_s in (0.0, 10.0, 20.0):
        lateness.begin(began_s)
        lateness.end(began_s + 6.0)
    assert lateness.late(30.0) == 3
    assert not lateness.refuses(30.0)  # it has answered
    lateness.begin(30.0)
    assert lateness.refuses(30.1)  # until it answers again
    lateness.end(30.2)
    assert lateness.late(31.0) == 0
