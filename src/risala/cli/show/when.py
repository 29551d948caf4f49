"""Times as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import click

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def span_s(text: str) -> int | None:
    """The seconds of a span such as ``90``, ``90s``, ``10m``, ``2h``, ``3d``; None for no span."""
    match = re.fullmatch(r"(\d{1,9})([smhd]?)", text.strip(), re.ASCII)
    return None if match is None else int(match[1]) * _UNITS[match[2] or "s"]


def moment(text: str, now: datetime) -> datetime | None:
    """A time as people write it, with its offset; None for no time.

    ``08:30`` is the next such time, ``2h`` is two hours from now.

    Args:
        now: the present, with an offset, which is also used for times written without one.
    """
    text = text.strip().removeprefix("in ")
    if (span := span_s(text)) is not None:
        return now + timedelta(seconds=span)
    if re.fullmatch(r"\d{1,2}:\d{2}", text, re.ASCII):
        hour, minute = map(int, text.split(":"))
        if hour > 23 or minute > 59:
            return None
        at = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
        return at if at > now else at + timedelta(days=1)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=now.tzinfo)


def option(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """A click callback: the time as ``2026-11-21T08:30:00.000Z``."""
    if value is None:
        return None
    at = moment(value, datetime.now().astimezone())
    if at is None:
        raise click.BadParameter("write 2026-11-21T08:30, 08:30, 90m, 2h or 3d.")
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def past_option(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """A click callback: ``2h`` is two hours ago, ``08:30`` the last such time."""
    if text is None:
        return None
    now = datetime.now().astimezone()
    if (ago_s := span_s(text)) is not None:
        at: datetime | None = now - timedelta(seconds=ago_s)
    else:
        at = moment(text, now)
        if at is not None and at > now and re.fullmatch(r"\d{1,2}:\d{2}", text):
            at -= timedelta(days=1)
    if at is None:
        raise click.BadParameter("write 2026-11-21T08:30, 08:30, 90m, 2h or 3d.")
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def span_option(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """A click callback: the seconds of a span."""
    if value is None:
        return None
    seconds = span_s(value)
    if seconds is None:
        raise click.BadParameter("write 90s, 10m, 2h or 3d.")
    return seconds
