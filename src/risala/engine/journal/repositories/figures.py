"""Figures of one organization, or of all, for pages."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal.pages import deciding, figures, steps
from risala.engine.journal.store.repository import Store, read


@dataclass(frozen=True, slots=True)
class FiguresRepository:
    """Figures. All reads are on the loop's thread: of what is counted as it happens, or by an
    index and of a bounded number of rows.

    Hours and days are numbers since 1970-01-01; the end of a time is the first one after it.
    """

    _store: Store

    # -- of an organization

    hours = read(figures.hours)
    networks = read(figures.networks)
    median_ms = read(figures.whole_median_ms)
    funnel = read(figures.funnel)
    approved_hours = read(figures.approved_hours)
    spent = read(figures.spent)
    spent_by_day = read(figures.spent_by_day)
    sent_by_name = read(figures.sent_by_name)
    uncertain = read(figures.uncertain)
    waiting_since = read(figures.waiting_since)
    first_steps = read(steps.first_steps)

    # -- of all organizations

    deciding = read(deciding.deciding)
