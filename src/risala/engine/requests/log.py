"""The log of requests: what each key asked, and what it was answered.

It must never cost a send anything. Who answers a request only puts what it was into a bounded list.
A task takes the list once a second, and a thread of its own writes it into a file of its own. What
does not fit into the list is dropped and counted, which bounds what the log costs under load; a
disk or a file that refuses stops the log and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog
import trio

from risala.config.requests import RequestLogSection
from risala.engine.actors.bell import Bell
from risala.engine.journal.requests import file
from risala.engine.journal.requests.file import (
    NoRoom,
    RequestFilter,
    RequestPage,
    RequestRow,
    open_file,
)
from risala.engine.journal.store.lock import StorageUnusable
from risala.engine.journal.store.opening import sqlite_sentence
from risala.engine.model.clock import Clock
from risala.engine.model.commands import Principal
from risala.engine.model.errors import machine_lacks
from risala.engine.model.ids import first_id, key_ms, key_of
from risala.engine.rules.request_bodies import NotedRequest, answered_text, asked_text, made_thing

T = TypeVar("T")

log = structlog.get_logger(__name__)

WRITE_EVERY_S: Final = 1.0
"""Seconds between two writings: soon enough for whoever looks at the log while they try."""
TRIM_EVERY_S: Final = 3600.0
"""Seconds between two looks at what is too old, where nothing comes."""
AGAIN_S: Final = 30.0
"""Seconds before the next try after the disk or the file refused."""
STOP_S: Final = 2.0
"""Seconds of the last writing at a stop; what takes longer is lost."""
KEYS_COUNTED_MAX: Final = 10_000
"""Keys whose dropped requests are counted each, about 2 MB; with more, counting begins anew."""
_DAY_MS: Final = 86_400_000
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class RequestLogStatistics:
    kept: int
    """Requests written since the start."""
    dropped: int
    """Requests that are not in the log: too many came at once, or it could not be written."""
    ailment: str | None
    """Why nothing is written at this moment; None: it is."""


class RequestLog:
    def __init__(
        self, section: RequestLogSection, data_dir: Path, clock: Clock, *, inline: bool = False
    ) -> None:
        """
        Args:
            inline: write on the loop's thread; for tests under a mock clock.
        """
        self._path = data_dir / file.FILE
        self._section = section
        self._clock = clock
        self._inline = inline
        self._noted: list[NotedRequest] = []
        self._bell = Bell()
        self._forgotten: set[str] = set()
        """Organizations whose requests are still to be forgotten."""
        self._conn: sqlite3.Connection | None = None
        self._limiter = trio.CapacityLimiter(1)
        self._kept = self._dropped = 0
        self._dropped_by: Counter[tuple[str, str]] = Counter()
        """Since the start, by organization and key."""
        self._ailment: str | None = None
        self._not_before_s = 0.0

    # -- for who answers

    def has_room(self, principal: Principal) -> bool:
        """Whether a request can be noted; where it cannot, it is counted as dropped."""
        if not self._section.enabled:
            return False
        if len(self._noted) < self._section.a_second_max:
            return True
        self._drop(principal)
        return False

    def note(self, request: NotedRequest) -> None:
        """Note a request; it is written soon."""
        if not self._noted:
            self._bell.ring()
        self._noted.append(request)

    # -- for who looks

    @property
    def section(self) -> RequestLogSection:
        return self._section

    def statistics(self) -> RequestLogStatistics:
        return RequestLogStatistics(self._kept, self._dropped, self._ailment)

    def numbers(self) -> dict[str, Any]:
        return asdict(self.statistics())

    def dropped(self, organization_id: str | None, key_id: str | None) -> int:
        """How many requests since the start are not in the log; None: of all."""
        return sum(
            count
            for (organization, key), count in self._dropped_by.items()
            if organization_id in (None, organization) and key_id in (None, key)
        )

    async def page(
        self, wanted: RequestFilter, *, before: str | None, after: str | None, limit: int
    ) -> RequestPage:
        """The newest requests, or those before an id, or after one; none where there is no log."""
        read = partial(file.page, self._path, wanted, before=before, after=after, limit=limit)
        with suppress(sqlite3.Error):
            return await self._in_thread(read)
        return RequestPage((), None, None)

    async def one(self, request_id: str) -> RequestRow | None:
        """A request; None where it is not in the log, or no more."""
        with suppress(sqlite3.Error):
            found = await self._in_thread(partial(file.one, self._path, request_id))
            return None if found is None or found.id < self.since_id() else found
        return None

    def since_id(self) -> str:
        """The least id of a request that is still kept."""
        return first_id("req", max(0, self._clock.now_ms() - self._section.keep_days * _DAY_MS))

    async def forget(self, organization_id: str) -> None:
        """Forget all requests of an organization; where that cannot be done now, with the next
        writing that can."""
        kept = [each for each in self._noted if each.principal.organization_id != organization_id]
        self._noted = kept
        self._forgotten.add(organization_id)
        self._bell.ring()
        await self.flush()

    # -- for life

    async def run(self) -> None:
        """Write what is noted, for life."""
        while True:
            await self._bell.wait(trio.current_time() + TRIM_EVERY_S)
            await trio.sleep(max(WRITE_EVERY_S, self._not_before_s - trio.current_time()))
            await self.flush()

    async def close(self) -> None:
        """Write what is left, within moments, and close the file."""
        with trio.move_on_after(STOP_S, shield=True):
            await self.flush()
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    async def flush(self) -> None:
        """Write what is noted by now, and forget what is too old or too much."""
        noted, self._noted = self._noted, []
        if not noted and not self._path.exists():
            return
        try:
            forgotten = frozenset(self._forgotten)
            write = partial(self._write, noted, self.since_id(), forgotten)
            await self._in_thread(partial(self._with_file, write))
        except NoRoom:
            self._fail(noted, f"The disk that holds {self._path} is nearly full.")
        except StorageUnusable as error:
            self._fail(noted, str(error))
        except sqlite3.Error as error:
            self._fail(noted, sqlite_sentence(self._path, error))
        except (MemoryError, RuntimeError, OSError) as error:
            if (lacks := machine_lacks(error)) is None:
                raise
            self._fail(noted, f"The machine has no more {lacks}.")
        else:
            self._kept += len(noted)
            self._forgotten -= forgotten
            if self._ailment is not None:
                log.info("requests.logged_again")
            self._ailment, self._not_before_s = None, 0.0

    def _drop(self, principal: Principal) -> None:
        self._dropped += 1
        self._dropped_by[principal.organization_id, principal.key_id] += 1
        if len(self._dropped_by) > KEYS_COUNTED_MAX:
            self._dropped_by.clear()

    def _fail(self, noted: list[NotedRequest], sentence: str) -> None:
        for each in noted:
            self._drop(each.principal)
        if self._ailment != sentence:
            log.warning("requests.not_logged", reason=sentence)
        self._ailment, self._not_before_s = sentence, trio.current_time() + AGAIN_S

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._inline:
            return work()
        return await trio.to_thread.run_sync(work, limiter=self._limiter)

    def _with_file(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do something with the open file; one that failed is opened anew the next time."""
        if self._conn is None:
            self._conn = open_file(self._path)
        try:
            work(self._conn)
        except BaseException:
            conn, self._conn = self._conn, None
            with suppress(sqlite3.Error):
                conn.close()
            raise

    def _write(
        self,
        noted: list[NotedRequest],
        since_id: str,
        forgotten: frozenset[str],
        conn: sqlite3.Connection,
    ) -> None:
        for organization_id in forgotten:
            file.forget(conn, organization_id)
        if noted:
            file.write(conn, self._path, [_row(each) for each in noted])
        file.trim(conn, since_id, self._section.size_max_mb * _MEGABYTE)


def _row(request: NotedRequest) -> RequestRow:
    principal, answered = request.principal, answered_text(request.answered)
    key = key_of(request.request_id)
    assert key is not None, "we made the id"
    return RequestRow(
        id=request.request_id,
        organization_id=principal.organization_id,
        key_id=principal.key_id,
        mode=principal.mode.value,
        at=key_ms(key),
        method=request.method,
        path=request.path,
        status=request.status,
        took_us=round(request.took_s * 1e6),
        address=request.address,
        asked=asked_text(request.asked),
        answered=answered,
        made=made_thing(request.status, request.path, answered),
    )
