"""Stores the rows that the reader has written, a piece at a time, until the mailing is a draft.

After a crash it goes on behind the last row that is stored. Where the reader's rows are gone, the
file is read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TextIO, TypeVar

import structlog
import trio

from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import concerns_all
from risala.engine.features.mailings.files import TableFiles
from risala.engine.features.mailings.records import Mailing, MailingState
from risala.engine.features.mailings.row_records import StoredMailing
from risala.engine.features.mailings.sources import MailingSources, new_row
from risala.engine.features.tables.fair_places import in_turns
from risala.engine.features.tables.reading import SheetFault
from risala.engine.model.errors import Conflict, Draining, NotFound, Overloaded

log = structlog.get_logger(__name__)

T = TypeVar("T")
_Lines = list[tuple[int, str, str | None, str | None, str | None, int]]
"""Lines as the reader writes rows: ``ReadRequest.rows_path``."""

ROWS_AT_ONCE: Final = 1000
"""Rows of one piece: some ten milliseconds of the writer. Smaller pieces would write the pages of
the index by number more often."""
PIECE_S: Final = 0.16
"""The time from one piece to the next: it needs a tenth of it, the rest is for those who send. The
most rows take sixteen seconds."""
PAUSE_MIN_S: Final = 0.005
"""The pause after a piece that took longer."""
BUSY_PAUSE: Final = 19
"""While the service is busy with messages, the pause is so many times as long as the piece took."""
ROWS_OF_SEND: Final = 3
"""How many rows are stored in the time that accepting a message takes, on fast and slow machines
alike."""
BUSY_SHARE: Final = 0.25
"""The service is busy if accepting messages takes more of its time."""
AGAIN_S: Final = 5.0
"""Seconds until another try if the machine has no room for the reader, or the disk fails."""
AT_ONCE_MAX: Final = 8
"""Mailings that take turns: each has a file open. With more, those of several organizations come
before the second one of any."""


class MailingChecking:
    """The service that stores rows; one task."""

    def __init__(self, sources: MailingSources, files: TableFiles, *, inline: bool = False) -> None:
        """
        Args:
            inline: read on the loop's thread; for tests under a mock clock.
        """
        self._sources = sources
        self._files = files
        self._inline = inline
        self._limiter = trio.CapacityLimiter(1)
        self._open: dict[str, Generator[_Lines]] = {}
        self._items = sources.set_aside.loop("mailing_rows")
        self._read_again: set[str] = set()
        """Mailings whose rows were broken, and whose file is read a second time."""

    async def run(self) -> None:
        """Store the rows of all mailings that are being checked, until cancelled."""
        try:
            while True:
                to_check = self._sources.mailings.to_check(self._items.broken_row)
                due = self._items.free(to_check, _id_of)
                taken = in_turns(due, _organization_of)[:AT_ONCE_MAX]
                self._close_but({stored.mailing.id for stored in taken})
                if not taken:
                    await self._sources.to_check.wait(self._items.again_s)
                # In turns, so that a small one need not wait for a large one.
                for stored in taken:
                    with self._items.item(stored.mailing.id):
                        await self._turn(stored)
        except Draining:
            await trio.sleep_forever()
        finally:
            self._close_but(set())

    def _close_but(self, open_ids: set[str]) -> None:
        """Close the files of mailings that are no longer checked."""
        for mailing_id in self._open.keys() - open_ids:
            self._close(mailing_id)

    async def _turn(self, stored: StoredMailing) -> None:
        began_s = trio.current_time()
        try:
            with suppress(NotFound, Conflict):  # it was deleted or stopped meanwhile
                await retry_until_committed("mailings", partial(self._piece, stored))
        except (OSError, ValueError) as error:
            mailing_id, is_disks = stored.mailing.id, concerns_all(error)
            if not is_disks and mailing_id in self._read_again:
                self._read_again.discard(mailing_id)
                raise
            log.warning("mailings.rows_broken", mailing=mailing_id, reason=str(error))
            await self._files.drop_rows(stored)  # the file is read again
            self._read_again.add(mailing_id)
            if is_disks:
                await trio.sleep(AGAIN_S)
        await self._rest(trio.current_time() - began_s)

    async def _rest(self, took_s: float) -> None:
        """Leave the time to those who send, and take it where few do."""
        until_s = trio.current_time() + BUSY_PAUSE * took_s
        pause_s, send_s = max(PAUSE_MIN_S, PIECE_S - took_s), ROWS_OF_SEND * took_s / ROWS_AT_ONCE
        while pause_s > 0:
            before = self._sources.intake.accepted
            await trio.sleep(pause_s)
            accepted = self._sources.intake.accepted - before
            if accepted * send_s <= BUSY_SHARE * pause_s:
                return
            pause_s = min(PIECE_S, until_s - trio.current_time())

    async def _piece(self, stored: StoredMailing) -> None:
        mailings, mailing = self._sources.mailings, stored.mailing
        if stored.clearing:
            self._close(mailing.id)
            await mailings.clear_rows(mailing.id)
            return
        lines = self._open.get(mailing.id)
        if lines is None:
            path = await self._rows_of(stored)
            if path is None:
                return
            lines = self._open[mailing.id] = _pieces(path, stored.checked)
        try:
            if await self._store_next(mailing, lines):
                return
        except BaseException:
            # These rows were taken: they are read again, from the last one that is stored.
            self._close(mailing.id)
            raise
        self._close(mailing.id)
        self._read_again.discard(mailing.id)
        await mailings.finish_check(mailing.id)
        await self._files.drop_rows(stored)
        self._sources.checked.publish(mailing.id)

    async def _store_next(self, mailing: Mailing, lines: Generator[_Lines]) -> bool:
        """Store the next rows; False: there are no more."""
        piece: _Lines = await self._in_thread(partial(next, lines, []))
        drafts = self._sources.drafts_of(mailing)
        if piece:
            new = [new_row(drafts, *each) for each in piece]
            await self._sources.mailings.store_rows(mailing.id, new)
        return bool(piece)

    def _close(self, mailing_id: str) -> None:
        lines = self._open.pop(mailing_id, None)
        if lines is not None:
            lines.close()

    async def _rows_of(self, stored: StoredMailing) -> Path | None:
        """The file of the rows that the reader wrote; None: they cannot be had."""
        path = self._files.rows_path(stored)
        if path is not None and await self._in_thread(path.exists):
            return path
        try:
            return await self._files.read_stored(stored)
        except (SheetFault, NotFound) as error:
            await self._give_up(stored, str(error))
        except Overloaded:
            await trio.sleep(AGAIN_S)
        return None

    async def _give_up(self, stored: StoredMailing, reason: str) -> None:
        """Stop a mailing whose file is lost: its people are not all known, so nobody is written
        to."""
        log.error("mailings.file_lost", mailing=stored.mailing.id, reason=reason)
        ended = {"state": MailingState.STOPPED, "ended_at": self._sources.clock.now_ms()}
        states = (MailingState.CHECKING,)
        await self._sources.mailings.change(None, stored.mailing.id, ended, states)
        self._sources.checked.publish(stored.mailing.id)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._inline:
            return work()
        return await trio.to_thread.run_sync(work, limiter=self._limiter)


def _organization_of(stored: StoredMailing) -> str:
    return stored.mailing.organization_id


def _id_of(stored: StoredMailing) -> str:
    return stored.mailing.id


def _pieces(path: Path, checked: int) -> Generator[_Lines]:
    """The rows that the reader wrote, after the last one that is stored, by the piece."""
    with open(path, encoding="utf-8") as file:
        while piece := _next_piece(file, checked):
            yield piece


def _next_piece(file: TextIO, checked: int) -> _Lines:
    """The next rows after the last one that is stored; empty: there are no more."""
    while lines := [*islice(file, ROWS_AT_ONCE)]:
        piece: _Lines = json.loads(f"[{','.join(lines)}]")
        if piece[0][0] <= checked:
            piece = [each for each in piece if each[0] > checked]
        if piece:
            return piece
    return []
