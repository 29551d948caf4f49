"""Mailings and their rows."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.features.mailings.records import Mailing, MailingState
from risala.engine.features.mailings.row_records import StoredMailing
from risala.engine.features.mailings.stored import (
    checking,
    figures,
    mailings,
    rows,
    settling,
)
from risala.engine.journal.store.named import BrokenRow
from risala.engine.journal.store.repository import Store, audited_command, command, read, scan
from risala.engine.model.audit import AuditEntry


@dataclass(frozen=True, slots=True)
class MailingRepository:
    """Mailings. Reads on the loop's thread are by an index, and of as many rows as is asked for;
    those over all rows of a mailing are on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    Each that names a mailing raises ``NotFound`` if the id is unknown.
    """

    _store: Store

    # -- reads

    mailing = read(mailings.mailing)
    stored = read(mailings.stored)
    page = read(mailings.page)
    rows_after = read(rows.after)
    row = read(rows.row)
    ready = read(rows.ready)
    left_by_list = read(checking.left_by_list)
    failed_after = read(rows.failed_after)
    neighbour = read(figures.neighbour)
    queued = read(settling.queued)

    def to_check(self, broken: BrokenRow | None = None) -> list[StoredMailing]:
        """Mailings whose rows are being checked."""
        return mailings.of_state(self._store.reader, MailingState.CHECKING, broken)

    def to_send(self, broken: BrokenRow | None = None) -> list[StoredMailing]:
        """Mailings that send."""
        return mailings.of_state(self._store.reader, MailingState.SENDING, broken)

    # -- reads on a thread

    outcomes = scan(figures.outcomes)
    run = scan(figures.run)
    shares = scan(figures.shares)
    by_place = scan(figures.by_place)
    place_of = scan(figures.place_of)

    # -- commands

    add = audited_command(mailings.add)
    change = audited_command(mailings.change)
    begin_check = audited_command(checking.begin_check)
    clear_rows = command(checking.clear_rows)
    store_rows = command(checking.store_rows)
    finish_check = command(checking.finish_check)
    mend = audited_command(checking.mend)
    settle = command(settling.settle)
    note_accepted = command(settling.note_accepted)
    wait = command(mailings.wait)
    end = audited_command(mailings.end)
    delete = audited_command(mailings.delete)

    async def leave_out(
        self, by: AuditEntry | None, mailing_id: str, row: int | None = None
    ) -> Mailing:
        """Leave out a row, or all bad ones, piece by piece; they are not sent then.

        Raises:
            NotFound: the mailing or the row is unknown.
            Conflict: the row is sent, or the mailing has ended.
            Unavailable: it could not be written.
        """
        left = await self._store.commit(lambda conn: checking.leave_out(conn, mailing_id, row), by)
        while row is None and left.bad:
            left = await self._store.commit(lambda conn: checking.leave_out(conn, mailing_id, None))
        return left
