"""Figures of one organization, or of all, for pages."""

from __future__ import annotations

from dataclasses import dataclass

from risala.engine.journal.pages import deciding, figures, steps
from risala.engine.journal.repositories.store import Store, read
from risala.engine.model.records.figures import (
    HourFigures,
    NetworkFigures,
)


@dataclass(frozen=True, slots=True)
class FiguresRepository:
    """Figures. All reads are on the loop's thread: of what is counted as it happens, or by an
    index and of a bounded number of rows.

    Hours and days are numbers since 1970-01-01; the end of a time is the first one after it.
    """

    _store: Store

    # -- of an organization

    def hours(
        self, organization_id: str, mode: str, since: int, until: int
    ) -> tuple[HourFigures, ...]:
        """The hours of a period with accepted messages."""
        return tuple(figures.hours(self._store.reader, organization_id, mode, since, until))

    def networks(
        self, organization_id: str, mode: str, since: int, until: int
    ) -> tuple[NetworkFigures, ...]:
        """The networks of some hours, the busiest first."""
        return tuple(figures.networks(self._store.reader, organization_id, mode, since, until))

    median_ms = read(figures.whole_median_ms)
    funnel = read(figures.funnel)
    spent = read(figures.spent)
    sent_by_name = read(figures.sent_by_name)

    def uncertain(self, organization_id: str, mode: str) -> tuple[str, ...]:
        """Ids of messages with an unknown outcome at the carrier, the newest first."""
        return tuple(figures.uncertain(self._store.reader, organization_id, mode))

    waiting_since = read(figures.waiting_since)
    first_steps = read(steps.first_steps)

    # -- of all organizations

    deciding = read(deciding.deciding)
