"""When an alert is raised, and when it is over: a reading must persist for a while. Pure.

A carrier's link that goes up and down every minute is not news each time. So a problem must last
for a grace time, and its absence must last for a hold time, which doubles each time that the alert
comes back within a day.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.rules.alerts.alert import AlertKind, Facts

FLAPS_WITHIN_MS: Final = 86_400_000
"""An alert that is raised again within this time has come back; later it is a new one."""
HOLD_MAX_MS: Final = 4 * 3_600_000
"""A link that flaps all day is reported every eight hours at most."""


class Verdict(StrEnum):
    BAD = "bad"
    GOOD = "good"
    UNKNOWN = "unknown"
    """No verdict, for example on a network without messages: all stays as it is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The measurement of one subject."""

    kind: AlertKind
    subject: str
    verdict: Verdict
    facts: Facts


class AlertTurn(StrEnum):
    RAISED = "raised"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class AlertState:
    """The state of an alert of one kind and subject."""

    is_raised: bool = False
    flaps: int = 0
    since_ms: int | None = None
    """Since when all readings have been the opposite; None: the last one was not."""


WELL: Final = AlertState()


def step(
    standing: AlertState, verdict: Verdict, now_ms: int, grace_ms: int, hold_ms: int
) -> tuple[AlertState, AlertTurn | None]:
    """How a reading changes an alert's state; and its turn, if any."""
    if verdict is Verdict.UNKNOWN:
        return standing, None
    if (verdict is Verdict.BAD) is standing.is_raised:
        return replace(standing, since_ms=None), None
    since_ms = now_ms if standing.since_ms is None else min(standing.since_ms, now_ms)
    wait_ms = held_ms(hold_ms, standing.flaps) if standing.is_raised else grace_ms
    if now_ms - since_ms < wait_ms:
        return replace(standing, since_ms=since_ms), None
    turn = AlertTurn.OVER if standing.is_raised else AlertTurn.RAISED
    return AlertState(not standing.is_raised, standing.flaps), turn


def held_ms(hold_ms: int, flaps: int) -> int:
    """How long all must be well before an alert that came back so often is over."""
    return min(hold_ms << min(flaps, 16), max(HOLD_MAX_MS, hold_ms))


def flaps_of(last_flaps: int, last_over_at: int | None, now_ms: int) -> int:
    """How often an alert that is raised now has come back, given the one before it."""
    if last_over_at is None or now_ms - last_over_at > FLAPS_WITHIN_MS:
        return 0
    return last_flaps + 1
