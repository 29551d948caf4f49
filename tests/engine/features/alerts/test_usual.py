"""What is usual of a network, and who is not told of an alert."""

import pytest

from risala.engine.features.alerts.records import AlertKind, AlertMute
from risala.engine.features.alerts.rules import BLOCKS_MIN, HourOf, Rate, by_network, latest, usual


def test_the_latest_hours_end_before_the_last_one():
    hours = [HourOf(hour, 10, hour) for hour in range(7, 11)]
    assert latest(hours, 10, 2) == Rate(20, 8 + 9)
    assert latest(hours, 10, 2).share == 17 / 20
    assert Rate(0, 0).share == 0.0


def test_what_is_usual_is_the_middle_of_the_stretches_before_the_latest():
    blocks = range(1, BLOCKS_MIN + 2)
    end = 100
    hours = [HourOf(end - 2 * n - step, 5, n % 5) for n in blocks for step in (1, 2)]
    hours += [HourOf(end - 1, 1000, 0), HourOf(end - 2, 1000, 0)]
    shares = sorted(n % 5 / 5 for n in blocks)
    assert usual(hours, end, 2, 10) == shares[len(shares) // 2]
    assert usual(hours, end, 2, 11) is None


def test_a_bad_day_is_not_the_usual_and_too_few_are_nothing_usual():
    end, good = 1000, [HourOf(1000 - 2 * n - 1, 10, 9) for n in range(1, BLOCKS_MIN + 1)]
    assert usual(good, end, 2, 10) == 0.9
    assert usual(good[1:], end, 2, 10) is None
    assert usual([*good, HourOf(10, 500, 0)], end, 2, 10) == 0.9


def test_rows_are_put_together_by_network():
    rows = [("mattel", 1, 10, 9), ("mauritel", 1, 5, 5), ("mattel", 2, 8, 0)]
    assert by_network(rows) == {
        "mattel": [HourOf(1, 10, 9), HourOf(2, 8, 0)],
        "mauritel": [HourOf(1, 5, 5)],
    }


@pytest.mark.parametrize(
    ("kind", "subject", "now_ms", "is_covered"),
    [
        (AlertKind.CARRIER_DOWN, "a", 999, True),
        (AlertKind.CARRIER_DOWN, "a", 1000, False),
        (AlertKind.CARRIER_DOWN, "b", 999, False),
        (AlertKind.DISK_LOW, "a", 999, False),
    ],
)
def test_whom_a_mute_covers(kind, subject, now_ms, is_covered):
    one = AlertMute(1, AlertKind.CARRIER_DOWN, "a", 1000, "op", 1)
    every = AlertMute(1, AlertKind.CARRIER_DOWN, None, 1000, "op", 1)
    assert one.covers(kind, subject, now_ms) is is_covered
    assert every.covers(AlertKind.CARRIER_DOWN, "b", 999)


def test_stretches_are_counted_back_from_the_end():
    end, good = 100, [(1, 10, 9), (1, 10, 0), (1, 10, 0)]
    hours = [
        HourOf(end - 3 * block - 1 - step, *good[step][1:])
        for block in range(1, BLOCKS_MIN + 1)
        for step in range(3)
    ]
    assert usual(hours, end, 3, 30) == 0.3  # each stretch is whole
