"""Moments as the API writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def iso(at_ms: int) -> str:
    """A moment (UTC epoch milliseconds) as the API writes it: ``2026-11-21T08:30:00.123Z``."""
    return f"{_second(at_ms // 1000)}.{at_ms % 1000:03d}Z"


def maybe_iso(at_ms: int | None) -> str | None:
    """The same of what may not have happened yet."""
    return None if at_ms is None else iso(at_ms)


@lru_cache(maxsize=1024)
def _second(at_s: int) -> str:
    """One answer tells several times, mostly of one second, and many answers the same ones."""
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%dT%H:%M:%S}"
