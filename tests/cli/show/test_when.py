"""Times as people write them."""

from datetime import UTC, datetime

import pytest

from risala.cli.show.when import moment, span_s

NOW = datetime(2026, 11, 21, 9, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("10m", 600), ("2h", 7200), ("3d", 259200), ("0", 0)],
)
def test_spans(text, seconds):
    assert span_s(text) == seconds


@pytest.mark.parametrize("text", ["", "-1", "1w", "1.5h", "h", "1h30", "٣h", "9" * 20])
def test_no_spans(text):
    assert span_s(text) is None


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2h", "2026-11-21T11:15:30+00:00"),
        ("in 90m", "2026-11-21T10:45:30+00:00"),
        ("09:16", "2026-11-21T09:16:00+00:00"),
        ("09:15", "2026-11-22T09:15:00+00:00"),
        ("2026-11-25T08:30", "2026-11-25T08:30:00+00:00"),
        ("2026-11-25T08:30:00+02:00", "2026-11-25T08:30:00+02:00"),
        ("2026-11-25", "2026-11-25T00:00:00+00:00"),
    ],
)
def test_moments(text, iso):
    assert moment(text, NOW).isoformat() == iso


@pytest.mark.parametrize("text", ["", "soon", "25:00", "12:60", "2026-13-01", "yesterday"])
def test_no_moments(text):
    assert moment(text, NOW) is None
