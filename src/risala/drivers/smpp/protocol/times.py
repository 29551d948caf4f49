"""Times as SMPP writes them (SMPP 3.4 §7.1.1): absolute with an offset, or a span. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

SPAN_MAX_S: Final = 30 * 86400
"""The day field of a relative time has two digits, and months have no agreed length."""
_QUARTER_MS: Final = 15 * 60 * 1000
_QUARTERS_MAX: Final = 48
_is_time: Final = re.compile(r"([0-9]{12})([0-9])([0-9]{2})([-+R])", re.ASCII).fullmatch
_MONTH_DAYS: Final = 30
_YEAR_DAYS: Final = 365


def absolute_time(epoch_ms: int) -> str:
    """A time as ``YYMMDDhhmmsst00+`` in UTC (§7.1.1.1)."""
    moment = datetime.fromtimestamp(epoch_ms // 1000, UTC)
    return f"{moment:%y%m%d%H%M%S}{epoch_ms // 100 % 10}00+"


def relative_time(ms: int) -> str:
    """A span as ``YYMMDDhhmmss000R`` (§7.1.1.2): one second at least, thirty days at most."""
    return _span(min(max(-(-ms // 1000), 1), SPAN_MAX_S))


@lru_cache(maxsize=1024)
def _span(seconds: int) -> str:
    """Messages that were accepted together, and leave together, have the same."""
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    return f"0000{days:02}{hours:02}{rest // 60:02}{rest % 60:02}000R"


def parse_time(text: str, now_ms: int) -> int:
    """A peer's time as UTC epoch milliseconds.

    Args:
        now_ms: the start of a span. Its months have 30 days and its years 365.

    Raises:
        ValueError: the text is no time of the standard.
    """
    match = _is_time(text)
    if match is None:
        raise ValueError("16 characters: YYMMDDhhmmsstnnp")
    digits, tenths, quarters, kind = match.groups()
    if kind == "R":
        numbers = [int(digits[at : at + 2]) for at in range(0, 12, 2)]
        years, months, days, hours, minutes, seconds = numbers
        days += years * _YEAR_DAYS + months * _MONTH_DAYS
        span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return now_ms + span // timedelta(milliseconds=1)
    if int(quarters) > _QUARTERS_MAX:
        raise ValueError("at most 48 quarters of an hour from UTC")
    # The year has two digits. It is taken to be 20YY: strptime by itself would read 69 to 99 as
    # 1969 to 1999.
    moment = datetime.strptime(f"20{digits}", "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    ahead_ms = int(quarters) * _QUARTER_MS * (1 if kind == "+" else -1)
    return round(moment.timestamp()) * 1000 + int(tenths) * 100 - ahead_ms
