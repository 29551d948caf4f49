"""How long things are kept, as an organization's owner may choose it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

DAYS_OFFERED: Final = (1, 7, 30, 90, 180, 365)
"""Days among which owners choose: few, because each number of days is a walk of its own over the
events of all organizations."""


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """What an owner chose, in days; None: as the operator has set it."""

    texts: int | None = None
    events: int | None = None
    inbound: int | None = None


def offered(operators_days: int) -> Sequence[int]:
    """The days that an owner may choose: fewer than the operator's, which 0 makes endless."""
    return [days for days in DAYS_OFFERED if not operators_days or days < operators_days]


def holding(chosen: int | None, operators_days: int) -> int:
    """The days that hold, of an owner's choice and the operator's; 0: for ever.

    An owner may only keep things for a shorter time than the operator does.
    """
    if chosen is None:
        return operators_days
    return min(chosen, operators_days) if operators_days else chosen
