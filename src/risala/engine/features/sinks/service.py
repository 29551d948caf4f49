"""Gives each sink the events that are owed to it, a batch at a time, until cancelled.

Whatever a sink does, the next sink and the rest of the service go on. A batch that it refused, or
did not take within its deadline, comes again after a pause that doubles; nothing is skipped. Memory
has one batch, however far the sink is behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import structlog
import trio

from risala.config.hooks import SinkTable
from risala.dataclass import dataclass
from risala.engine.features.sinks.beside import SinkBeside
from risala.engine.features.trail_heads.service import FIRST_S, LOOK_S
from risala.engine.follow.cursors import CursorStatus, EventCursor, EventCursors
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageFailed, StorageUnusable, Unavailable
from risala.engine.model.features import Task
from risala.engine.model.following import FollowedEvent
from risala.engine.model.times import iso, maybe_iso
from risala.engine.services import Services
from risala.plugins.kinds import EVENT_SINKS
from risala.plugins.loading import raised_at
from risala.plugins.sink import (
    AuditHeadSink,
    ClosingSink,
    EventSink,
    RunningSink,
    SinkEvent,
    SinkUnavailableError,
)

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = structlog.get_logger(__name__)

AGAIN_FIRST_S: Final = 1.0
AGAIN_MAX_S: Final = 300.0
"""Each pause is twice the one before: a restart of the sink's backend costs seconds, and a backend
that is down for a day is not hammered."""
GRACE_S: Final = 5.0
"""How long a cancelled call may take to return before the sink counts as stuck."""
CLOSE_S: Final = 5.0
"""How long a sink may take to close when the service stops."""
AFTER_S: Final = 60.0
"""After the look that makes a head of the audit trail, so that it is there."""
DEADLINE_S: Final = 30.0
"""For one head, which is a line."""


class SinkState(StrEnum):
    RUNNING = "running"
    FAILING = "failing"
    """The last try failed; it is tried again."""
    STUCK = "stuck"
    """The sink's call does not return though it was cancelled: only a restart or a fixed plugin
    helps."""


@dataclass(frozen=True, slots=True)
class SinkStatus:
    """The state of a sink."""

    name: str
    word: str
    """The plugin's name for the sink."""
    state: SinkState
    text: str
    """Why it is not running; empty if it runs."""
    taken: int
    """Events that it has taken since the start."""
    last_error: str | None
    last_error_at: int | None
    """The last failure since the start, also if it runs again."""
    cursor: CursorStatus | None
    """None: it has no place yet, or the disk cannot be read."""

    def wire(self, now_ms: int) -> dict[str, Any]:
        """As JSON."""
        at = self.cursor
        oldest = None if at is None else at.oldest_at
        return {
            "name": self.name,
            "sink": self.word,
            "state": self.state.value,
            "text": self.text,
            "taken": self.taken,
            "behind": None if at is None else at.behind,
            "behindS": 0 if oldest is None else max(0, now_ms - oldest) // 1000,
            "missed": None if at is None else at.missed,
            "missedAt": None if at is None or at.missed_at is None else iso(at.missed_at),
            "missedAtMs": None if at is None else at.missed_at,
            "lastError": self.last_error,
            "lastErrorAt": maybe_iso(self.last_error_at),
        }


class SinkRunner:
    """Gives one sink its events; see the module's text."""

    def __init__(
        self,
        name: str,
        table: SinkTable,
        sink: EventSink,
        cursors: EventCursors,
        clock: Clock,
        beside: SinkBeside | None = None,
    ) -> None:
        self.name = name
        self.sink = sink
        self._table = table
        self._cursors = cursors
        self._clock = clock
        self.beside = beside
        self._cursor: EventCursor[FollowedEvent] | None = None
        self._state = SinkState.RUNNING
        self._text = ""
        self._taken = 0
        self._last_error: str | None = None
        self._last_error_at: int | None = None

    def status(self) -> SinkStatus:
        """The state of the sink; a bounded query on the disk."""
        try:
            cursor = None if self._cursor is None else self._cursor.status()
        except StorageFailed:
            cursor = None
        state, text = self._state, self._text
        if state is SinkState.RUNNING and self.beside is not None and self.beside.fault:
            state, text = SinkState.FAILING, self.beside.fault
        return SinkStatus(
            self.name,
            self._table.sink,
            state,
            text,
            self._taken,
            self._last_error,
            self._last_error_at,
            cursor,
        )

    async def run(self) -> None:
        """Give events, until cancelled."""
        start = self._table.begin == "start"
        cursor = self._cursor = await self._cursors.open(f"sink:{self.name}", from_start=start)
        missed = cursor.status().missed
        try:
            async with trio.open_nursery() as hands:
                while True:
                    events = await cursor.next(self._table.batch_max)
                    missed = self._tell_missed(missed, cursor.status())
                    await self._give(hands, events)
                    await cursor.keep(events[-1].seq)
                    self._taken += len(events)
        finally:
            self._cursors.close(cursor.consumer)
            await self._close()

    def _tell_missed(self, known: int, standing: CursorStatus) -> int:
        if standing.missed > known:
            log.error(
                "sink.missed",
                sink=self.name,
                count=standing.missed - known,
                text="Retention deleted events before the sink took them.",
            )
        return standing.missed

    async def _give(self, hands: trio.Nursery, events: tuple[FollowedEvent, ...]) -> None:
        """Return once the sink has taken a batch."""
        batch = tuple(
            SinkEvent(
                *(each.seq, each.id, each.type.value, each.at),
                *(each.organization_id, each.is_test, each.body),
            )
            for each in events
        )
        wait_s = AGAIN_FIRST_S
        while (fault := await self._try(hands, batch)) is not None:
            self._state, self._text = SinkState.FAILING, fault
            self._last_error, self._last_error_at = fault, self._clock.now_ms()
            log.warning("sink.failed", sink=self.name, reason=fault, again_in_s=wait_s)
            await trio.sleep(wait_s)
            wait_s = min(2 * wait_s, AGAIN_MAX_S)
        if self._state is not SinkState.RUNNING:
            log.info("sink.recovered", sink=self.name)
        self._state, self._text = SinkState.RUNNING, ""

    async def _try(self, hands: trio.Nursery, batch: tuple[SinkEvent, ...]) -> str | None:
        """Make one call; returns why the batch is not taken, or None.

        The call is a separate task, because a call that swallows its cancellation would otherwise
        block this one, and nothing would be reported.
        """
        call = _Call(self.sink, batch, self.name)
        hands.start_soon(call.run)
        with trio.move_on_after(self._table.deadline_s):
            await call.over.wait()
        call.scope.cancel()
        with trio.move_on_after(GRACE_S):
            await call.over.wait()
        if not call.over.is_set():
            self._state = SinkState.STUCK
            self._text = "Its call did not return, although it was cancelled. Fix the plugin."
            self._last_error, self._last_error_at = self._text, self._clock.now_ms()
            log.error("sink.stuck", sink=self.name, text=self._text)
            await call.over.wait()
        if call.scope.cancelled_caught:
            return f"It took longer than {self._table.deadline_s:g} s."
        return call.fault

    async def _close(self) -> None:
        if isinstance(self.sink, ClosingSink):
            with trio.move_on_after(CLOSE_S, shield=True):
                try:
                    await self.sink.aclose()
                except Exception as error:  # noqa: BLE001 -- its fault, not ours
                    log.error("sink.close_failed", sink=self.name, reason=type(error).__name__)


class _Call:
    """One call of a sink."""

    def __init__(self, sink: EventSink, batch: tuple[SinkEvent, ...], name: str) -> None:
        self._sink = sink
        self._batch = batch
        self._name = name
        self.scope = trio.CancelScope()
        self.over = trio.Event()
        self.fault: str | None = None

    async def run(self) -> None:
        try:
            with self.scope:
                await self._sink.take(self._batch)
        except SinkUnavailableError as error:
            self.fault = str(error) or "It accepts no events now, and gives no reason."
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- its bug, which ends nobody else
            # Not the exception's words: they may quote an event.
            self.fault = f"It raised {type(error).__name__}, which is a bug in the plugin."
            kind = type(error).__name__
            log.error("sink.bug", sink=self._name, reason=kind, at=raised_at(error))
        finally:
            self.over.set()


class HeadSink:
    """Gives one sink the signed heads of the audit trail, each in its order, until it is taken.
    Where it has come is stored, so that a restart leaves none out.

    Args:
        name: the sink's, in the settings.
    """

    def __init__(self, name: str, sink: AuditHeadSink, services: Services) -> None:
        self._name = name
        self._sink = sink
        self._stored = services.repositories.audit
        self._directory = services.settings.storage.data_dir
        self._inline = services.recorder.journal.is_on_loop

    async def run(self) -> None:
        """Look for heads that are not taken yet, until cancelled."""
        await trio.sleep(FIRST_S + AFTER_S)
        while True:
            try:
                await self._give()
            except (SinkUnavailableError, Unavailable, StorageUnusable) as error:
                log.warning("audit.head.kept", sink=self._name, reason=str(error))
            except trio.TooSlowError:
                log.warning("audit.head.kept", sink=self._name, reason="It took too long.")
            except Exception as error:  # noqa: BLE001 -- its bug, which ends nobody else
                kind = type(error).__name__
                log.error("audit.head.kept", sink=self._name, reason=f"It raised {kind}.")
            await trio.sleep(LOOK_S)

    async def _give(self) -> None:
        taken = self._stored.head_taken(self._name)
        read = partial(self._stored.sent_heads, self._directory)
        sent = read() if self._inline else await trio.to_thread.run_sync(read)
        for head in sent:
            if head.end.seq > taken:
                with trio.fail_after(DEADLINE_S):
                    await self._sink.take_audit_head(head.text)
                await self._stored.note_head_taken(self._name, head.end.seq)


class Sinks:
    """All sinks that are configured; each runs separately."""

    def __init__(self, services: Services) -> None:
        self._clock = services.recorder.clock
        cursors, tables = services.surroundings.cursors, services.settings.sinks.by_name
        sinks = services.surroundings.plugged.get(EVENT_SINKS.key, {})
        self.runners = tuple(
            SinkRunner(
                *(name, tables[name], sink, cursors, self._clock),
                SinkBeside(name, sink, services) if isinstance(sink, RunningSink) else None,
            )
            for name, sink in sinks.items()
            if cursors is not None
        )

    def statistics(self) -> Mapping[str, Any]:
        """The state of each; a bounded query on the disk for each."""
        now_ms = self._clock.now_ms()
        return {"sinks": [each.status().wire(now_ms) for each in self.runners]}


def tasks(services: Services) -> Iterator[Task]:
    """Each sink gets its events, and the signed heads of the audit trail if it takes them."""
    for each in services.part(Sinks).runners:
        if isinstance(each.sink, AuditHeadSink):
            heads = HeadSink(each.name, each.sink, services)
            yield f"audit heads to {each.name}", heads.run, True
        if each.beside is not None:
            yield f"beside {each.name}", each.beside.run, True
        yield f"sink {each.name}", each.run, True


def statistics(services: Services) -> Mapping[str, Any]:
    """The state of the sinks among the service's numbers; empty if no service runs."""
    return services.part(Sinks).statistics() if services.delivery.running else {}


def metrics(services: Services) -> Iterator[Metric]:
    """How far each sink is; none without sinks."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import counter, gauge

    sinks = services.part(Sinks).statistics()["sinks"]
    if not sinks:
        return
    labelled = [({"sink": each["name"]}, each) for each in sinks]
    text = "1 while an event sink accepts its events."
    yield gauge("sink_well", text, [(who, each["state"] == "running") for who, each in labelled])
    text = "Events that a sink has taken since the start."
    yield counter("sink_events", text, [(who, each["taken"]) for who, each in labelled])
    known = [(who, each) for who, each in labelled if each["behind"] is not None]
    text = "Events that a sink has not taken yet; not counted beyond 10000."
    yield gauge(
        "sink_behind_events", text, [(who, each["behind"]) for who, each in known], labels=("sink",)
    )
    text = "How long the oldest of them has waited; 0: none waits."
    yield gauge(
        "sink_behind_seconds",
        text,
        [(who, each["behindS"]) for who, each in known],
        labels=("sink",),
    )
    text = "Events that a sink will never get, because retention deleted them first; ever."
    yield gauge(
        "sink_missed_events", text, [(who, each["missed"]) for who, each in known], labels=("sink",)
    )
