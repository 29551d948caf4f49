"""The rows of a mailing as people look at them: by the page, one with its text, and as a report."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from risala.engine.features.mailings.records import (
    MailingRow,
    MailingRows,
    Person,
    ReportPart,
    RowState,
)
from risala.engine.features.mailings.row_records import StoredMailing
from risala.engine.features.mailings.sources import MailingSources
from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.rules.rendering import render
from risala.engine.model.errors import NotFound
from risala.sms.segment import count
from risala.sms.unseen import as_sent

REPORT_ROWS: Final = 500
"""Rows of one part of a report: some milliseconds of the loop."""
_WITH_TEXT: Final = (RowState.READY, RowState.ACCEPTED)


class MailingPeople:
    """See the module's text."""

    def __init__(self, sources: MailingSources) -> None:
        self._sources = sources
        self._mailings = sources.mailings

    def rows(
        self, stored: StoredMailing, state: RowState | None, after: int, limit: int
    ) -> MailingRows:
        """A page of rows after one of them; of one state, if given."""
        place = stored.mailing.number_column
        read_rows = self._mailings.rows_after(stored.key, after, limit + 1, state)
        shown = tuple(self.with_country(each, place) for each in read_rows[:limit])
        last = shown[-1].row if len(read_rows) > limit else None
        return MailingRows(stored.mailing.columns, place, shown, last)

    def with_country(self, row: MailingRow, place: int) -> MailingRow:
        """A row whose number is of a country that is not served, with that country.

        Args:
            place: the column of the numbers.
        """
        if row.fault is not RowFault.NOT_SERVED or place >= len(row.cells):
            return row
        return replace(row, country=self._sources.settings.plan.abroad(row.cells[place]))

    def report(self, stored: StoredMailing, after: int) -> ReportPart:
        """The part of the report after a row."""
        page = self.rows(stored, None, after, REPORT_ROWS)
        return ReportPart(page.columns, page.rows, page.after)

    async def person(
        self, stored: StoredMailing, place: int | None, row: int | None, step: str | None
    ) -> Person:
        """One person, by their place, their row, or a step from it.

        Raises:
            NotFound: there is none.
        """
        row_number = await self._wanted(stored, place, row, step)
        if row_number is None:
            raise NotFound("This mailing has no such person.")
        mailing, mailing_row = stored.mailing, self._mailings.row(stored.key, row_number)
        text = render(mailing.text, mailing.columns, mailing_row.cells)
        organization = self._sources.accounts.organization(mailing.organization_id)
        text = as_sent(text, smart=organization.smart_encoding)
        at = 0
        if mailing_row.state in _WITH_TEXT:
            at = await self._mailings.place_of(stored.key, row_number)
        return Person(mailing_row, text, len(text), count(text).alphabet.value, at)

    async def _wanted(
        self, stored: StoredMailing, place: int | None, row: int | None, step: str | None
    ) -> int | None:
        """The row that is meant; None: there is none."""
        key, mailing = stored.key, stored.mailing
        if step == "random":
            people = mailing.ready + mailing.accepted
            return await self._mailings.by_place(key, 1 + int(self._sources.ids.chance() * people))
        if step is not None and row is not None:
            return self._mailings.neighbour(key, row, forward=step == "next")
        if row is not None:
            return row
        return await self._mailings.by_place(key, 1 if place is None else place)
