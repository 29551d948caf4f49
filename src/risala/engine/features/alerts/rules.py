"""When an alert is raised, and when it is over: a reading must persist for a while. Pure.

A carrier's link that goes up and down every minute is not news each time. So a problem must last
for a grace time, and its absence must last for a hold time, which doubles each time that the alert
comes back within a day.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.alerts.records import Alert, AlertKind, Facts

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


@dataclass(frozen=True, slots=True)
class Turning:
    """A problem begins, or is over."""

    reading: Reading
    turn: AlertTurn
    seq: int | None = None
    """The number of the alert that is over; None: none was raised."""


@dataclass(frozen=True, slots=True)
class AlertAudience:
    """People who get alerts, and which."""

    urls: tuple[str, ...]
    """Addresses that are called."""
    by_mail: bool
    """Whether operators get mails."""
    operator: str | None
    """An additional address that gets them."""
    page_only: frozenset[str]
    """Kinds that are only listed, and not sent."""

    def misses(self, alert: Alert) -> bool:
        """Whether someone must get it and has not yet."""
        return alert.told_at is None and alert.kind.value not in self.page_only


@dataclass(frozen=True, slots=True)
class AlertCall:
    """One alert's turn, owed to one address."""

    seq: int
    alert: int
    what: AlertTurn
    url: str
    created_at: int
    due_at: int
    tries: int


BLOCKS_MIN: Final = 12
"""Periods with enough messages before something counts as usual: a day of two hours each."""


@dataclass(frozen=True, slots=True)
class HourOf:
    """One network in one hour."""

    hour: int
    """Since 1970-01-01."""
    whole: int
    """Messages, or codes."""
    good: int
    """The part of them that was delivered, or entered."""


@dataclass(frozen=True, slots=True)
class Rate:
    whole: int
    good: int

    @property
    def share(self) -> float:
        return self.good / self.whole if self.whole else 0.0


def latest(hours: Iterable[HourOf], end: int, length: int) -> Rate:
    """The rate of the ``length`` hours before the hour ``end``."""
    counted = [each for each in hours if end - length <= each.hour < end]
    return Rate(sum(each.whole for each in counted), sum(each.good for each in counted))


def usual(hours: Iterable[HourOf], end: int, length: int, count_min: int) -> float | None:
    """The median rate of all periods of ``length`` hours before the latest one; None: too few have
    at least ``count_min``."""
    blocks: dict[int, list[int]] = {}
    for each in hours:
        if each.hour < end - length:
            block = blocks.setdefault((end - 1 - each.hour) // length, [0, 0])
            block[0] += each.whole
            block[1] += each.good
    shares = [good / whole for whole, good in blocks.values() if whole >= count_min]
    return statistics.median(shares) if len(shares) >= BLOCKS_MIN else None


def by_network(
    rows: Iterable[tuple[str, int, int, int]],
) -> Mapping[str, list[HourOf]]:
    """Rows of network, hour, whole and good, by network."""
    networks: dict[str, list[HourOf]] = {}
    for network, hour, whole, good in rows:
        networks.setdefault(network, []).append(HourOf(hour, whole, good))
    return networks
