"""Figures of one organization, or of all, for pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from risala.engine.journal.pages import deciding, figures, steps
from risala.engine.journal.repositories.store import Store
from risala.engine.model.records.figures import (
    Deciding,
    FirstSteps,
    Funnel,
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

    def median_ms(self, organization_id: str, mode: str, since: int, until: int) -> int | None:
        """The median time until delivery in some hours; None: nothing was delivered."""
        return figures.whole_median_ms(self._store.reader, organization_id, mode, since, until)

    def funnel(self, organization_id: str, mode: str, since_ms: int, until_ms: int) -> Funnel:
        """The results of a period's verification sessions."""
        return figures.funnel(self._store.reader, organization_id, mode, since_ms, until_ms)

    def spent(self, organization_id: str, since: int, until: int) -> int:
        """What was charged on some days, in minor units."""
        return figures.spent(self._store.reader, organization_id, since, until)

    def sent_by_name(
        self, organization_id: str, names: Sequence[str], since_ms: int
    ) -> dict[str, int]:
        """Live messages by sender since then: a value of ``SENT_MAX`` means that or more."""
        return figures.sent_by_name(self._store.reader, organization_id, names, since_ms)

    def uncertain(self, organization_id: str, mode: str) -> tuple[str, ...]:
        """Ids of messages with an unknown outcome at the carrier, the newest first."""
        return tuple(figures.uncertain(self._store.reader, organization_id, mode))

    def waiting_since(self, organization_id: str, before_ms: int) -> int | None:
        """Since when the oldest live message has waited that was due before then, if any."""
        return figures.waiting_since(self._store.reader, organization_id, before_ms)

    def first_steps(self, organization_id: str) -> FirstSteps:
        """A new organization's progress."""
        return steps.first_steps(self._store.reader, organization_id)

    # -- of all organizations

    def deciding(self) -> Deciding:
        """What waits for an operator's decision."""
        return deciding.deciding(self._store.reader)
