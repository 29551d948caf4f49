"""The log of requests: what each key requested, and the answer.

It must never delay a send. A request is only put into a bounded list when it is answered. A task
takes the list once a second, and a separate thread writes it into a separate file. What does not
fit into the list is dropped and counted, which limits the cost under load; an error of the disk or
the file stops the log and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import structlog
import trio

from risala.config.kinds import RequestLogSection
from risala.dataclass import dataclass
from risala.engine.actors.alarm import Bell
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.features.request_log.records import (
    AnsweredDay,
    RequestFilter,
    RequestPage,
    RequestRow,
    RequestsUnwritable,
    ShownRequest,
)
from risala.engine.features.request_log.rules import answered_text, asked_text, made_thing
from risala.engine.features.request_log.stored import RequestRepository
from risala.engine.model.clock import Clock
from risala.engine.model.commands import NotedRequest, Principal
from risala.engine.model.errors import machine_lacks
from risala.engine.model.features import Task
from risala.engine.model.ids import first_id, key_ms, key_of
from risala.engine.services import Services

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = structlog.get_logger(__name__)

WRITE_EVERY_S: Final = 1.0
"""Seconds between two writes: soon enough for people who watch the log while they try."""
TRIM_EVERY_S: Final = 3600.0
"""Seconds between two checks for old entries, if nothing comes."""
AGAIN_S: Final = 30.0
"""Seconds before the next try after an error of the disk or the file."""
STOP_S: Final = 2.0
"""Seconds for the last write at a stop; what takes longer is lost."""
KEYS_COUNTED_MAX: Final = 10_000
"""Keys whose dropped requests are counted separately, about 2 MB; with more, counting restarts."""
_DAY_MS: Final = 86_400_000
_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class RequestLogStatistics:
    kept: int
    """Requests written since the start."""
    dropped: int
    """Requests missing in the log: too many came together, or it could not be written."""
    ailment: str | None
    """Why nothing is written now; None: it is written."""


class RequestLog:
    def __init__(
        self,
        section: RequestLogSection,
        stored: RequestRepository,
        clock: Clock,
        items: ItemLoop,
    ) -> None:
        """
        Args:
            items: where a request that cannot be written is named; it is dropped.
        """
        self._stored = stored
        self._items = items
        self._section = section
        self._clock = clock
        self._noted: list[NotedRequest] = []
        self._bell = Bell()
        self._forgotten: set[str] = set()
        """Organizations whose requests are still to be deleted."""
        self._kept = self._dropped = 0
        self._dropped_by: Counter[tuple[str, str]] = Counter()
        """Since the start, by organization and key."""
        self._ailment: str | None = None
        self._not_before_s = 0.0
        self._runs = False

    # -- for request handlers

    def has_room(self, principal: Principal) -> bool:
        """Whether a request can be noted; if not, it is counted as dropped."""
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

    # -- for readers

    @property
    def section(self) -> RequestLogSection:
        return self._section

    def statistics(self) -> RequestLogStatistics:
        return RequestLogStatistics(self._kept, self._dropped, self._ailment)

    def dropped(self, organization_id: str | None, key_id: str | None) -> int:
        """How many requests since the start are missing in the log; None: of all."""
        return sum(
            count
            for (organization, key), count in self._dropped_by.items()
            if organization_id in (None, organization) and key_id in (None, key)
        )

    async def page(
        self, filtered: RequestFilter, *, before: str | None, after: str | None, limit: int
    ) -> RequestPage:
        """The newest requests, or those before an id, or after one; empty if there is no log."""
        return await self._stored.page(filtered, before=before, after=after, limit=limit)

    async def answered(
        self, filters: RequestFilter, starts: Sequence[int]
    ) -> tuple[AnsweredDay, ...]:
        """The requests of an organization's key in some days, by their answers."""
        return await self._stored.answered(filters, starts)

    async def one(self, request_id: str) -> ShownRequest | None:
        """A request; None if it is not in the log, or no longer."""
        request = await self._stored.one(request_id)
        return None if request is None or request.request_id < self.since_id() else request

    def since_id(self) -> str:
        """The least id of a request that is still kept."""
        return first_id("req", max(0, self._clock.now_ms() - self._section.keep_days * _DAY_MS))

    async def forget(self, organization_id: str) -> None:
        """Delete all requests of an organization; if that fails now, with the next write that
        succeeds."""
        kept = [each for each in self._noted if each.principal.organization_id != organization_id]
        self._noted = kept
        self._forgotten.add(organization_id)
        self._bell.ring()
        await self.flush()

    # -- service

    async def run(self) -> None:
        """Write the noted requests, until cancelled; the file stays open for so long."""
        self._runs = True
        try:
            while True:
                await self._bell.wait(trio.current_time() + TRIM_EVERY_S)
                await trio.sleep(max(WRITE_EVERY_S, self._not_before_s - trio.current_time()))
                await self.flush()
        finally:
            self._runs = False
            await self.close()

    async def close(self) -> None:
        """Write what is left, within moments, and close the file."""
        with trio.move_on_after(STOP_S, shield=True):
            await self.flush()
        self._stored.close()

    async def flush(self) -> None:
        """Write what is noted so far, and delete what is too old or too much."""
        noted, self._noted = self._noted, []
        if noted or self._stored.is_there:
            await self._items.together(noted, lambda each: each.request_id, self._write)
            if not self._runs:
                self._stored.close()

    async def _write(self, noted: Sequence[NotedRequest]) -> None:
        try:
            forgotten = frozenset(self._forgotten)
            await self._stored.write(
                partial(_rows, noted),
                forgotten=forgotten,
                since_id=self.since_id(),
                bytes_max=self._section.size_max_mb * _MEGABYTE,
            )
        except RequestsUnwritable as error:
            self._fail(noted, str(error))
        except Exception as error:
            if (lacks := machine_lacks(error)) is None:
                if len(noted) == 1:
                    self._drop(noted[0].principal)
                raise
            self._fail(noted, f"The machine has run out of {lacks}.")
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

    def _fail(self, noted: Sequence[NotedRequest], sentence: str) -> None:
        for each in noted:
            self._drop(each.principal)
        if self._ailment != sentence:
            log.warning("requests.not_logged", reason=sentence)
        self._ailment, self._not_before_s = sentence, trio.current_time() + AGAIN_S


def _rows(noted: Sequence[NotedRequest]) -> list[RequestRow]:
    return [_row(each) for each in noted]


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
        asked=asked_text(request.asked, request.unknown),
        answered=answered,
        made=made_thing(request.status, request.path, answered),
    )


def request_log(services: Services) -> RequestLog:
    """The log of a service, or of a command that runs alone."""
    settings, recorder = services.settings, services.recorder
    stored = RequestRepository(settings.storage.data_dir, inline=recorder.journal.is_on_loop)
    items = services.set_aside.loop("request_log")
    return RequestLog(settings.request_log, stored, recorder.clock, items)


def tasks(services: Services) -> Sequence[Task]:
    """What writes the log as long as the service runs."""
    return (("requests", services.part(request_log).run, True),)


def statistics(services: Services) -> Mapping[str, Any]:
    """The log's numbers among those of the service; empty if none runs."""
    if not services.delivery.running:
        return {}
    return {"requests": asdict(services.part(request_log).statistics())}


def metrics(services: Services) -> Iterator[Metric]:
    """How many requests were written, and how many not."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import counter, gauge

    numbers = services.part(request_log).statistics()
    text = "Requests of the API that were written into their log."
    yield counter("request_log_kept", text, [({}, numbers.kept)])
    text = "Requests missing from the log: too many at once, or it could not be written."
    yield counter("request_log_dropped", text, [({}, numbers.dropped)])
    text = "1 while the log of requests can be written."
    yield gauge("request_log_well", text, [({}, numbers.ailment is None)])
