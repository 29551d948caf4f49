"""Times as the API writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def iso(at_ms: int) -> str:
    """A time (UTC epoch milliseconds) as the API writes it: ``2026-11-21T08:30:00.123Z``."""
    return f"{_second(at_ms // 1000)}.{at_ms % 1000:03d}Z"


def maybe_iso(at_ms: int | None) -> str | None:
    """A time as the API writes it; None for None."""
    return None if at_ms is None else iso(at_ms)


def moment(written: str) -> int:
    """A time that the API wrote, in UTC epoch milliseconds.

    Raises:
        ValueError: it is no time.
    """
    return round(datetime.fromisoformat(written).timestamp() * 1000)


@lru_cache(maxsize=1024)
def _second(at_s: int) -> str:
    """Cached: one answer has several times, mostly of one second, and many share them."""
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%dT%H:%M:%S}"
