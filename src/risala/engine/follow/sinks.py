"""One sink: gets the events that are owed to it, a batch at a time, until cancelled.

Whatever a sink does, the next sink and the rest of the service go on. A batch that it refused, or
did not take within its deadline, comes again after a pause that doubles; nothing is skipped. Memory
has one batch, however far the sink is behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any, Final

import structlog
import trio

from risala.config.hooks import SinkTable
from risala.dataclass import dataclass
from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.follow.cursors import CursorStatus, EventCursor, EventCursors
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageFailed
from risala.engine.model.following import FollowedEvent
from risala.engine.model.times import iso, maybe_iso
from risala.plugins.loading import raised_at
from risala.plugins.sink import ClosingSink, EventSink, SinkEvent, SinkUnavailableError

log = structlog.get_logger(__name__)

AGAIN_FIRST_S: Final = 1.0
AGAIN_MAX_S: Final = 300.0
"""Each pause is twice the one before: a restart of the sink's backend costs seconds, and a backend
that is down for a day is not hammered."""
GRACE_S: Final = 5.0
"""How long a cancelled call may take to return before the sink counts as stuck."""
CLOSE_S: Final = 5.0
"""How long a sink may take to close when the service stops."""


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
        self, name: str, table: SinkTable, sink: EventSink, cursors: EventCursors, clock: Clock
    ) -> None:
        self.name = name
        self.sink = sink
        self._table = table
        self._cursors = cursors
        self._clock = clock
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
        return SinkStatus(
            self.name,
            self._table.sink,
            self._state,
            self._text,
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


# All sinks that are configured: each runs separately.

POLICY: Final = RestartPolicy(restarts_max=None)
"""A sink is restarted without limit: its faults must not end the sending of messages."""


class Sinks:
    """All sinks, by their configured names."""

    def __init__(
        self,
        tables: Mapping[str, SinkTable],
        sinks: Mapping[str, EventSink],
        cursors: EventCursors,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._runners = tuple(
            SinkRunner(name, tables[name], sink, cursors, clock) for name, sink in sinks.items()
        )

    @property
    def by_name(self) -> Mapping[str, EventSink]:
        """The plugins' parts, to find whose code is running."""
        return {each.name: each.sink for each in self._runners}

    async def start(self, supervisor: Supervisor) -> None:
        """Run each until cancelled."""
        start = partial(supervisor.start_service, policy=POLICY)
        for each in self._runners:
            await start(f"sink {each.name}", each.run)

    def standings(self) -> list[dict[str, Any]]:
        """The state of each; a bounded query on the disk for each."""
        now_ms = self._clock.now_ms()
        return [each.status().wire(now_ms) for each in self._runners]
