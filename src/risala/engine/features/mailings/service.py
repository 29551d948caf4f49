"""Mailings, as operations use them: made, changed, started, paused and ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from functools import partial
from typing import Any, Final

from risala.engine.actors.broadcast import Broadcast
from risala.engine.features.lists.growing import write_rows
from risala.engine.features.lists.stored import RecipientListRepository
from risala.engine.features.mailings.checking import MailingChecking
from risala.engine.features.mailings.figures import MailingFigures
from risala.engine.features.mailings.files import ReadTable, TableFiles
from risala.engine.features.mailings.mailing_sending import MailingNews, MailingSending
from risala.engine.features.mailings.people import MailingPeople
from risala.engine.features.mailings.records import (
    FROM_HOUR,
    TO_HOUR,
    Mailing,
    MailingRow,
    MailingRows,
    Mailings,
    MailingState,
    MailingView,
    MailingWait,
    NewMailing,
    Person,
    ReportPart,
    RowState,
    TableColumns,
)
from risala.engine.features.mailings.row_records import StoreBeside
from risala.engine.features.mailings.sources import MailingSources, new_row
from risala.engine.features.mailings.stored.repository import MailingRepository
from risala.engine.features.tables.reading import WriteWorkbook, table_processes
from risala.engine.features.tables.records import NAME_MAX, Chosen, Recognised, cells_text
from risala.engine.features.tables.rules.checking import check_row
from risala.engine.features.tables.rules.rendering import unknown_placeholders
from risala.engine.features.tables.uploads import Uploads, uploads_of
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, Forbidden, Invalid
from risala.engine.model.features import Task
from risala.engine.model.states import Mode
from risala.engine.rules.days import date_of
from risala.engine.services import Services

PAGE_MAX: Final = 50
"""Mailings of one page."""
FAILED_AT_ONCE: Final = 200
"""Failed rows that are read together: some milliseconds of the loop."""
SENT_AT_ONCE: Final = 100
"""Rows whose messages may be accepted and not noted: those of one turn."""
_UNENDED: Final = (
    MailingState.CHECKING,
    MailingState.DRAFT,
    MailingState.SENDING,
    MailingState.PAUSED,
)


class MailingService:
    """See the module's text. Each method that names a mailing raises ``NotFound`` if there is none,
    and each that changes one raises ``Conflict`` if its state does not allow it.
    """

    def __init__(
        self,
        sources: MailingSources,
        files: TableFiles,
        checking: MailingChecking,
        sending: MailingSending,
    ) -> None:
        self._sources = sources
        self._mailings = sources.mailings
        self._files = files
        self._checking = checking
        self._sending = sending
        self._figures = MailingFigures(sources)
        self._people = MailingPeople(sources)
        self._busy: set[str] = set()
        """Mailings whose files are being read."""

    @property
    def uploads(self) -> Uploads:
        return self._sources.uploads

    @property
    def checked(self) -> Broadcast[str]:
        """Mailings whose rows are all checked, by their ids."""
        return self._sources.checked

    @property
    def tasks(self) -> Mapping[str, Callable[[], Awaitable[None]]]:
        """What a service runs, by name; a command that opens the engine alone runs none."""
        return {
            "mailings' rows": self._checking.run,
            "mailings": self._sending.run,
        }

    def counts(self) -> tuple[int, int]:
        """How many mailings send now, and how many of these wait for something."""
        return self._sending.counts()

    @property
    def write_report(self) -> WriteWorkbook:
        return self._sources.tables.write_workbook

    # -- looking

    def mailing(self, mailing_id: str) -> Mailing:
        """One mailing.

        Raises:
            NotFound: the id is unknown.
        """
        return self._mailings.mailing(mailing_id)

    def page(self, organization_id: str, older: str | None) -> Mailings:
        """A page of an organization's mailings, the newest first."""
        return self._mailings.page(organization_id, older, PAGE_MAX)

    async def view(self, mailing_id: str) -> MailingView:
        """A mailing with its outcomes, the organization's balance, and how long it will take."""
        return await self._figures.view(self._mailings.stored(mailing_id))

    async def rows(
        self, mailing_id: str, state: RowState | None, after: int, limit: int
    ) -> MailingRows:
        """Rows after one of them, in the order of the file.

        Args:
            state: only those in this state; None: all.
        """
        return self._people.rows(self._mailings.stored(mailing_id), state, after, limit)

    async def person(
        self,
        mailing_id: str,
        *,
        place: int | None = None,
        row: int | None = None,
        step: str | None = None,
    ) -> Person:
        """One person with their text. Nothing given: the first.

        Args:
            place: among the rows that are ready or accepted, from 1.
            row: this row, or where the step begins.
            step: ``next`` or ``previous``, or ``random``.

        Raises:
            NotFound: there is no such person.
        """
        return await self._people.person(self._mailings.stored(mailing_id), place, row, step)

    async def report(self, mailing_id: str, after: int) -> ReportPart:
        """The rows of the report after one of them."""
        return self._people.report(self._mailings.stored(mailing_id), after)

    # -- drafts

    async def create(
        self,
        new: NewMailing,
        *,
        settings: Mapping[str, Any] | None = None,
        beside: StoreBeside | None = None,
        by: AuditEntry | None = None,
    ) -> Mailing:
        """Read what is given, and make a mailing of it whose rows are then stored and checked.

        Args:
            settings: by the names of the record's fields, those that are not the usual ones.
            beside: as the journal's ``add`` takes it.

        Raises:
            NotFound: there is no such upload or list.
            Conflict: the upload is used already, the list is empty, or there are too many mailings.
            Invalid: it is no table of people, or the text names a column that it does not have.
            SenderNotApproved: the sender is not on the account.
        """
        self._refuse_sender(new.organization_id, new.sender)
        with ExitStack() as stack:
            upload = None
            if new.upload is not None:
                used = self.uploads.used(new.upload, new.organization_id)
                upload = stack.enter_context(used)
            table = await self._files.read_new(new, upload)
            return await self._add(by, new, table, settings or {}, beside)

    async def columns(self, organization_id: str, upload: str) -> TableColumns:
        """What an uploaded file has, before anything is made of it.

        Raises:
            NotFound: there is no such upload.
            Conflict: the upload is used already.
            Invalid: it is no table of people.
        """
        new = NewMailing(organization_id=organization_id, mode=Mode.LIVE, created_by="")
        with self.uploads.used(upload, organization_id) as file:
            result = await self._files.read_columns(new, file)
        known = result.recognised
        return TableColumns(known.columns, known.number_column, result.rows)

    async def read(
        self, mailing_id: str, chosen: Chosen, *, by: AuditEntry | None = None
    ) -> Mailing:
        """Read the file of a draft in another way; all its rows are checked again.

        Raises:
            Invalid: so it is no table of people; nothing is changed.
        """
        with self._reading(mailing_id):
            stored = self._mailings.stored(mailing_id)
            _require(stored.mailing, MailingState.DRAFT)
            result = await self._files.read_again(stored, chosen)
            values = _recognised_values(result.recognised)
            begun = await self._mailings.begin_check(
                by,
                mailing_id,
                values,
                clears=True,
                size=await self._files.size(stored.upload),
                bytes_max=self._sources.settings.limits.stored_bytes,
            )
        self._sources.to_check.ring()
        return begun

    async def change(
        self, mailing_id: str, values: Mapping[str, Any], *, by: AuditEntry | None = None
    ) -> Mailing:
        """Change settings, by the names of the record's fields: text and sender of a draft, whose
        rows are then checked again; the others until it ends.

        Raises:
            Invalid: the text names a column that there is not.
            SenderNotApproved: the sender is not on the account.
        """
        mailing = self._mailings.mailing(mailing_id)
        of_draft = "text" in values or "sender" in values
        if "sender" in values:
            self._refuse_sender(mailing.organization_id, values["sender"])
        if "text" in values and values["text"] != mailing.text:
            return await self._change_text(mailing_id, dict(values), by)
        states = (MailingState.DRAFT,) if of_draft else _UNENDED
        changed = await self._mailings.change(by, mailing_id, dict(values), states)
        self._sending.changed()
        return changed

    async def mend(
        self, mailing_id: str, row: int, cells: tuple[str, ...], *, by: AuditEntry | None = None
    ) -> MailingRow:
        """Give a row other cells, and check it again.

        Raises:
            NotFound: there is no such row.
        """
        mailing = self._mailings.mailing(mailing_id)
        organization = self._sources.accounts.organization(mailing.organization_id)
        checked = check_row(
            cells,
            mailing.columns,
            mailing.number_column,
            mailing.text,
            self._sources.settings.plan,
            organization.smart_encoding,
            row=row,
        )
        new = new_row(
            self._sources.drafts_of(mailing),
            checked.row,
            cells_text(checked.cells),
            checked.number,
            checked.fault,
            checked.column,
            checked.segments,
        )
        mended = await self._mailings.mend(by, mailing_id, new)
        self._figures.forget(mailing_id)
        self._sending.changed()
        return self._people.with_country(mended, mailing.number_column)

    async def leave_out(
        self, mailing_id: str, row: int | None, *, by: AuditEntry | None = None
    ) -> Mailing:
        """Leave a row out, which is not sent then; None: all bad ones."""
        left = await self._mailings.leave_out(by, mailing_id, row)
        self._figures.forget(mailing_id)
        return left

    # -- its life

    async def start(self, mailing_id: str, *, by: AuditEntry | None = None) -> Mailing:
        """Send a draft to all rows that are ready.

        Raises:
            Conflict: it is no draft, or has no row that is ready.
            Invalid: it has no text, or the text names a column that there is not.
            Forbidden: the organization is not active.
            SenderNotApproved: the sender is not on the account.
        """
        mailing = self._mailings.mailing(mailing_id)
        _require(mailing, MailingState.DRAFT)
        if not mailing.text.strip():
            raise Invalid("text", "empty", "Write the text first.")
        _refuse_unknown(mailing.text, mailing.columns)
        if not mailing.ready:
            raise Conflict("No row of this mailing can be sent. Fix the bad ones first.")
        self._refuse_inactive(mailing)
        self._refuse_sender(mailing.organization_id, mailing.sender)
        now_ms = self._sources.clock.now_ms()
        wait = None if mailing.send_at is None or mailing.send_at <= now_ms else MailingWait.SEND_AT
        values = {
            "state": MailingState.SENDING,
            "started_at": now_ms,
            "wait": wait,
            "again_at": None if wait is None else mailing.send_at,
        }
        return await self._moved(by, mailing_id, values, MailingState.DRAFT)

    async def pause(self, mailing_id: str, *, by: AuditEntry | None = None) -> Mailing:
        """Send nothing more for the moment; messages that wait for a carrier are still sent."""
        values = {"state": MailingState.PAUSED, "wait": None, "again_at": None}
        return await self._moved(by, mailing_id, values, MailingState.SENDING)

    async def go_on(self, mailing_id: str, *, by: AuditEntry | None = None) -> Mailing:
        """Go on where it was paused.

        Raises:
            Forbidden: the organization is not active.
        """
        self._refuse_inactive(self._mailings.mailing(mailing_id))
        values = {"state": MailingState.SENDING}
        return await self._moved(by, mailing_id, values, MailingState.PAUSED)

    async def stop(self, mailing_id: str, *, by: AuditEntry | None = None) -> Mailing:
        """End it: the rows that are left are never sent."""
        paused = {"state": MailingState.PAUSED, "wait": None, "again_at": None}
        with suppress(Conflict):  # it does not send
            await self._mailings.change(None, mailing_id, paused, (MailingState.SENDING,))
        # The turn under way is noted to its end: once it is stopped, nobody looks at its rows any
        # more. Nor is a message whose note a crash took: it is noted now.
        async with self._sending.between_turns:
            await self._mailings.note_accepted(mailing_id, SENT_AT_ONCE)
            now_ms = self._sources.clock.now_ms()
            stopped = await self._mailings.end(by, mailing_id, MailingState.STOPPED, now_ms)
        self._sending.changed()
        return stopped

    async def again(
        self, mailing_id: str, *, created_by: str, by: AuditEntry | None = None
    ) -> Mailing:
        """Make a mailing of the rows whose people got nothing.

        Raises:
            Conflict: no message has failed, its rows are no longer kept, or it was not started.
        """
        former = self._mailings.stored(mailing_id)
        mailing = former.mailing
        if mailing.started_at is None:
            raise Conflict("This mailing has not been started.")
        if not mailing.keeps_rows:
            raise Conflict("The rows of this mailing are no longer kept.")
        new = NewMailing(
            organization_id=mailing.organization_id,
            mode=mailing.mode,
            created_by=created_by,
            name=mailing.name,
            text=mailing.text,
            sender=mailing.sender,
            list_id=former.list_id,  # whose opt-outs count here too
        )
        table = await self._files.read_rows(new, mailing, self._failed(former.key))
        settings = {name: getattr(mailing, name) for name in ("pace", "from_hour", "to_hour")}
        return await self._add(by, new, table, settings)

    async def delete(self, mailing_id: str, *, by: AuditEntry | None = None) -> Mailing:
        """Delete a mailing that does not send, with its rows and its file."""
        with self._reading(mailing_id):
            upload = self._mailings.stored(mailing_id).upload
            now_ms = self._sources.clock.now_ms()
            deleted = await self._mailings.delete(by, mailing_id, now_ms)
        self._figures.forget(mailing_id)
        if upload is not None:
            await self.uploads.drop(upload)
        return deleted

    # -- parts of these

    async def _add(
        self,
        by: AuditEntry | None,
        new: NewMailing,
        table: ReadTable,
        settings: Mapping[str, Any],
        beside: StoreBeside | None = None,
    ) -> Mailing:
        try:
            _refuse_unknown(new.text, table.result.recognised.columns)
            draft = self._drafted(new, table, settings)
            added = await self._mailings.add(
                by,
                draft,
                table.upload,
                new.list_id,
                size=await self._files.size(table.upload),
                bytes_max=self._sources.settings.limits.stored_bytes,
                beside=beside,
            )
        except BaseException:
            if new.upload is None:  # what was uploaded can be used again
                await self._files.drop(table.upload)
            raise
        self._sources.to_check.ring()
        return added

    def _drafted(self, new: NewMailing, table: ReadTable, settings: Mapping[str, Any]) -> Mailing:
        now_ms = self._sources.clock.now_ms()
        zone = self._sources.accounts.organization(new.organization_id).time_zone
        name = new.name or table.name or date_of(zone, now_ms).isoformat()
        values: dict[str, Any] = {
            **dict.fromkeys(each.name for each in fields(Mailing)),
            "id": self._sources.ids.new("mlg"),
            "organization_id": new.organization_id,
            "mode": new.mode,
            "name": name[:NAME_MAX],
            "state": MailingState.CHECKING,
            "source": table.source,
            "text": new.text,
            "sender": new.sender,
            **_recognised_values(table.result.recognised),
            "from_hour": FROM_HOUR,
            "to_hour": TO_HOUR,
            "created_at": now_ms,
            "created_by": new.created_by,
            **dict.fromkeys(_COUNTS, 0),
            **settings,
            "keeps_rows": True,
        }
        return Mailing(**values)

    async def _change_text(
        self, mailing_id: str, values: dict[str, Any], by: AuditEntry | None
    ) -> Mailing:
        with self._reading(mailing_id):
            stored = self._mailings.stored(mailing_id)
            _require(stored.mailing, MailingState.DRAFT)
            _refuse_unknown(values["text"], stored.mailing.columns)
            values["upload"] = await self._files.read_text(stored, values["text"])
            begun = await self._mailings.begin_check(by, mailing_id, values, clears=False)
        self._figures.forget(mailing_id)
        self._sources.to_check.ring()
        return begun

    async def _moved(
        self, by: AuditEntry | None, mailing_id: str, values: dict[str, Any], state: MailingState
    ) -> Mailing:
        """Change what a mailing does; it must be in this state."""
        moved = await self._mailings.change(by, mailing_id, values, (state,))
        self._sending.changed()
        return moved

    async def _failed(self, key: int) -> AsyncIterator[list[MailingRow]]:
        after: int | None = 0
        while after is not None:
            failed = self._mailings.failed_after(key, after, FAILED_AT_ONCE)
            yield list(failed.rows)
            after = failed.after

    @contextmanager
    def _reading(self, mailing_id: str) -> Iterator[None]:
        """Nobody else reads the files of this mailing meanwhile."""
        if mailing_id in self._busy:
            raise Conflict("This mailing is being read. Try again in a moment.")
        self._busy.add(mailing_id)
        try:
            yield
        finally:
            self._busy.discard(mailing_id)

    def _refuse_inactive(self, mailing: Mailing) -> None:
        organization = self._sources.accounts.organization(mailing.organization_id)
        if organization.status != "active":
            raise Forbidden("The organization is not active.")

    def _refuse_sender(self, organization_id: str, sender: str | None) -> None:
        self._sources.intake.drafts.sender_of(organization_id, sender)


_COUNTS: Final = ("rows", "ready", "bad", "left_out", "accepted", "refused", "segments", "price")


def _recognised_values(recognised: Recognised) -> dict[str, Any]:
    return {each.name: getattr(recognised, each.name) for each in fields(Recognised)}


def _require(mailing: Mailing, state: MailingState) -> None:
    """Refuse early what the journal would refuse after a file was read."""
    if mailing.state is not state:
        raise Conflict("This is possible only with a draft.")


def _refuse_unknown(text: str, columns: tuple[str, ...]) -> None:
    unknown = unknown_placeholders(text, columns)
    if unknown:
        names = ", ".join(f"{{{{{each}}}}}" for each in unknown)
        raise Invalid("text", "unknown_column", f"The table has no column for {names}.")


def mailing_service(services: Services) -> MailingService:
    """The mailings of a service; their tasks are started with it alone."""
    inline = services.recorder.journal.is_on_loop
    lists = services.repositories.part(RecipientListRepository)
    sources = MailingSources(
        settings=services.settings,
        clock=services.recorder.clock,
        ids=services.ids,
        accounts=services.accounts,
        intake=services.intake,
        mailings=services.repositories.part(MailingRepository),
        router=services.router,
        uploads=services.part(uploads_of),
        write_list=partial(write_rows, lists, inline=inline),
        set_aside=services.set_aside,
        paces=services.delivery.paces,
        tables=services.part(table_processes),
    )
    files = TableFiles(sources)
    checking = MailingChecking(sources, files, inline=inline)
    news = MailingNews(services.accounts.changed, services.credits, services.recorder.life)
    return MailingService(sources, files, checking, MailingSending(sources, news))


def tasks(services: Services) -> Sequence[Task]:
    each_task = services.part(mailing_service).tasks.items()
    return [(name, run, True) for name, run in each_task]
