"""Times as SMPP writes them, both ways."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.drivers.smpp.protocol.times import (
    SPAN_MAX_S,
    absolute_time,
    parse_time,
    relative_time,
)

NOW = 1_795_348_799_700  # 2026-11-22 11:59:59.7 UTC


@pytest.mark.parametrize(
    ("epoch_ms", "text"),
    [
        (NOW, "261122115959700+"),
        (NOW - 999, "261122115958700+"),
        (946_684_800_000, "000101000000000+"),
        (946_684_800_099, "000101000000000+"),
        (946_684_800_100, "000101000000100+"),
    ],
)
def test_a_moment_is_written_in_utc(epoch_ms, text):
    assert absolute_time(epoch_ms) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (-5, "000000000001000R"),
        (0, "000000000001000R"),
        (1001, "000000000002000R"),
        (61_000, "000000000101000R"),
        (3_600_000, "000000010000000R"),
        (86_399_000, "000000235959000R"),
        (86_400_000, "000001000000000R"),
        (SPAN_MAX_S * 1000, "000030000000000R"),
        (SPAN_MAX_S * 1000 + 1, "000030000000000R"),
    ],
)
def test_a_span_is_no_shorter_than_it_is(ms, text):
    assert relative_time(ms) == text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("261122115959700+", NOW),
        ("261122125959704+", NOW),  # an hour ahead of UTC
        ("261122105959704-", NOW),
        ("261122235959748+", NOW),
        ("261121235959748-", NOW),
        ("991231235959900+", 4_102_444_799_900),
        ("000000000000000R", NOW),
        ("000000000001000R", NOW + 1000),
        ("000000000100000R", NOW + 60_000),
        ("000000010000000R", NOW + 3_600_000),
        ("000001000000000R", NOW + 86_400_000),
        ("000100000000000R", NOW + 30 * 86_400_000),
        ("010000000000000R", NOW + 365 * 86_400_000),
        ("010203040506900R", NOW + ((365 + 60 + 3) * 86_400 + 4 * 3600 + 5 * 60 + 6) * 1000),
    ],
)
def test_what_a_peers_time_means(text, moment):
    assert parse_time(text, NOW) == moment


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "16 characters"),
        ("26112211595970+", "16 characters"),
        ("261122115959700+0", "16 characters"),
        ("261122115959700Z", "16 characters"),
        ("٢61122115959700+", "16 characters"),
        ("261122115959749+", "at most 48 quarters"),
        ("261122115959749-", "at most 48 quarters"),
        ("261322115959700+", "unconverted data"),
        ("260231115959700+", "day"),
    ],
)
def test_what_is_no_time(text, why):
    with pytest.raises(ValueError, match=why):
        parse_time(text, NOW)


def test_a_moment_is_the_same_wherever_the_machine_stands(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        assert absolute_time(NOW) == "261122115959700+"
        assert parse_time("261122115959700+", 0) == NOW
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.integers(946_684_800_000, 4_102_444_799_999))
def test_a_moment_comes_back_to_a_tenth_of_a_second(epoch_ms):
    assert parse_time(absolute_time(epoch_ms), 0) == epoch_ms // 100 * 100


@given(st.integers(1, SPAN_MAX_S))
def test_a_span_comes_back(seconds):
    assert parse_time(relative_time(seconds * 1000), NOW) == NOW + seconds * 1000
