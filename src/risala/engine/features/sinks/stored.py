"""What sinks that run between events read of the service: carriers, and organizations' days."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import islice
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.repository import Store, read
from risala.engine.model.numbers import MODES
from risala.engine.rules.days import midnight
from risala.engine.services import Services
from risala.plugins.sink import SinkCarrier, SinkOrganization

ORGANIZATIONS_MAX: Final = 50
"""Organizations whose figures are read at once: a query each, on the loop."""
_HOUR_MS: Final = 3_600_000
_DELIVERED, _UNDELIVERED, _FAILED = 3, 4, 5
"""Statuses as numbers, as hours are counted by them."""
_OUTCOMES: Final = (
    "SELECT outcome, sum(n) FROM hour_count WHERE organization ="
    " (SELECT no FROM organizations WHERE id = ?) AND outcome IN (3, 4, 5) AND hour >= ?"
    " AND mode = ? GROUP BY outcome"
)


def outcomes(conn: sqlite3.Connection, organization_id: str, since: int) -> dict[int, int]:
    """The live messages that were accepted since an hour (its number since 1970-01-01), by what
    has become of them."""
    rows = conn.execute(_OUTCOMES, (organization_id, since, MODES.number("live")))
    return dict(rows.fetchall())


@dataclass(frozen=True, slots=True)
class DayRepository:
    """What has become of an organization's messages: by an index, on the loop's thread."""

    _store: Store

    outcomes = read(outcomes)


class ServiceFigures:
    """A :class:`risala.plugins.sink.SinkFigures`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def carriers(self) -> Sequence[SinkCarrier]:
        """Each carrier's state as its driver tells it."""
        return [
            SinkCarrier(each["name"], each["state"], _number(each["details"].get("signal_dbm")))
            for each in self._services.statistics().get("carriers", [])
        ]

    def organizations(self) -> Sequence[SinkOrganization]:
        """The oldest ones, each with its messages of today."""
        stored = self._services.repositories
        now_ms = self._services.recorder.clock.now_ms()
        days: list[SinkOrganization] = []
        there = (each for each in stored.organizations.all() if each.status != "deleted")
        for each in islice(there, ORGANIZATIONS_MAX):
            since = midnight(each.time_zone, now_ms) // _HOUR_MS
            counts = stored.part(DayRepository).outcomes(each.id, since)
            failed = counts.get(_UNDELIVERED, 0) + counts.get(_FAILED, 0)
            days.append(SinkOrganization(each.id, each.name, counts.get(_DELIVERED, 0), failed))
        return days


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) else None
