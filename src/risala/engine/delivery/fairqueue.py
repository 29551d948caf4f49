"""The next due message, fair between organizations, with a bounded number of rows in memory.

The rows in the journal are the queue; this is only a cursor over it. For each route and priority it
keeps the rotation of the organizations that have something due, each with a few rows, and for those
with only future rows the time when the first falls due. Reads use an indexed range and continue
where the last one ended: their cost does not depend on the backlog or on what is in memory.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.journal.store.named import BrokenRow
from risala.engine.model.records.messages import START, DueRow, Place

SPARE: Final = 64
"""Times that are over, beyond twice the number of queues: with fewer it is not worth removing
them."""
ROWS_MAX: Final = 100
"""Rows of one organization that are read together: as many as a usual window takes."""

Queue = tuple[str, int, str]
"""Route, priority, organization."""


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    rows_buffered: int
    rows_held: int
    organizations_waiting: int
    rows_buffered_peak: int


@dataclass(slots=True)
class _Rotation:
    """The organizations of one route and priority that may have something due."""

    waiting: OrderedDict[str, deque[DueRow]] = field(default_factory=OrderedDict)


@dataclass(slots=True)
class _InHand:
    """The rows of one queue in memory, and how far it was read.

    Every row that could be given out is after the cursor.
    """

    ids: set[str] = field(default_factory=set)
    cursor: Place = START
    passed: dict[str, Place] = field(default_factory=dict)
    """Held rows that a read passed again: after a release they may have to be given out again."""

    def rewind(self, due_at: int) -> None:
        """Read again from this time: something is due that was not there before."""
        self.cursor = min(self.cursor, (due_at, -1))

    def release(self, message_id: str) -> None:
        self.ids.discard(message_id)
        place = self.passed.pop(message_id, None)
        if place is not None:
            self.rewind(place[0])


class FairQueue:
    """Takes rows from the journal in turn. Runs on the loop thread; nothing here awaits."""

    def __init__(
        self, rows: QueueRepository, buffer_rows_max: int, broken: BrokenRow | None = None
    ) -> None:
        """
        Args:
            broken: told of rows that are no message: the reading goes on behind them.
        """
        self._rows = rows
        self._broken = broken
        self._buffer_rows_max = buffer_rows_max
        self._rotations: dict[tuple[str, int], _Rotation] = {}
        self._future: list[tuple[int, str, int, str]] = []
        self._future_at: dict[Queue, int] = {}
        self._held: dict[str, Queue] = {}
        self._in_hand: dict[Queue, _InHand] = {}
        """Only of queues with rows in memory: the others are read from their start."""
        self._met: dict[str, tuple[Queue, int]] = {}
        """Held rows that a read of another queue passed, because they were sorted again meanwhile:
        that queue, and when they are due."""
        self._suspended: set[str] = set()
        self._buffered = 0
        self._peak = 0

    def load(self, suspended: Iterable[str]) -> None:
        """Find every queue that has pending rows: once, at the start."""
        self._suspended.update(suspended)
        for route, priority, organization_id in self._rows.queues(self._broken):
            self.hint(route, priority, organization_id)

    def hint(self, route: str, priority: int, organization_id: str, due_at: int = 0) -> None:
        """Note that something of this organization is due or falls due then (0: at any time).

        Extra calls do no harm.
        """
        in_hand = self._in_hand.get((route, priority, organization_id))
        if in_hand is not None:
            in_hand.rewind(due_at)
        self._admit(route, priority, organization_id, due_at)

    def _admit(self, route: str, priority: int, organization_id: str, due_at: int = 0) -> None:
        rotation = self._rotations.setdefault((route, priority), _Rotation())
        if organization_id in rotation.waiting or organization_id in self._suspended:
            return
        if due_at:
            self._expect((route, priority, organization_id), due_at)
        else:
            rotation.waiting[organization_id] = deque()

    def suspend(self, organization_id: str) -> None:
        """Hold everything of an organization; its rows stay in the journal."""
        self._suspended.add(organization_id)
        for (route, priority), rotation in self._rotations.items():
            rows = rotation.waiting.pop(organization_id, ())
            self._buffered -= len(rows)
            for row in rows:
                self.release(row.id)
            in_hand = self._in_hand.get((route, priority, organization_id))
            if in_hand is not None:
                in_hand.rewind(0)

    def keep_only(self, is_route: Callable[[str], bool]) -> None:
        """Drop what was read of routes that no longer exist: it is sorted again."""
        for (route, priority), rotation in list(self._rotations.items()):
            if is_route(route):
                continue
            del self._rotations[route, priority]
            for rows in rotation.waiting.values():
                self._buffered -= len(rows)
                for row in rows:
                    self.release(row.id)

    def resume(self, organization_id: str) -> None:
        """Let a held organization take its turns again."""
        self._suspended.discard(organization_id)
        for route, priority, waiting in self._rows.queues():
            if waiting == organization_id:
                self.hint(route, priority, organization_id)

    def _expect(self, queue: Queue, due_at: int) -> None:
        if due_at < self._future_at.get(queue, due_at + 1):
            self._future_at[queue] = due_at
            heapq.heappush(self._future, (due_at, *queue))
            if len(self._future) > 2 * len(self._future_at) + SPARE:
                # Each message that is due before its queue's other messages leaves their time
                # behind.
                self._future = [(at, *each) for each, at in self._future_at.items()]
                heapq.heapify(self._future)

    def wake(self, now_ms: int) -> None:
        """Move the queues whose time has come into their rotation."""
        while self._future and self._future[0][0] <= now_ms:
            due_at, route, priority, organization_id = heapq.heappop(self._future)
            if self._future_at.get((route, priority, organization_id)) == due_at:
                del self._future_at[route, priority, organization_id]
                self._admit(route, priority, organization_id)

    def next_due(self) -> int | None:
        """When the next queue without due rows wakes, UTC milliseconds."""
        return self._future[0][0] if self._future else None

    def take(self, routes: Iterable[str], priority: int, now_ms: int) -> DueRow | None:
        """The next row of these routes, or None. It is held until :meth:`release`."""
        for route in routes:
            rotation = self._rotations.get((route, priority))
            if rotation is None or not rotation.waiting:
                continue
            row = self._turn(rotation, route, priority, now_ms)
            if row is not None:
                return row
        return None

    def has_work(self) -> bool:
        """True if :meth:`take` may find something."""
        return any(rotation.waiting for rotation in self._rotations.values())

    def _turn(self, rotation: _Rotation, route: str, priority: int, now_ms: int) -> DueRow | None:
        while rotation.waiting:
            organization_id, rows = rotation.waiting.popitem(last=False)
            if not rows:
                rows.extend(self._read((route, priority, organization_id), now_ms, rotation))
            if rows:
                row = rows.popleft()
                self._buffered -= 1
                rotation.waiting[organization_id] = rows
                return row
            queue = (route, priority, organization_id)
            due_at = self._rows.next_due(*queue, now_ms)
            if due_at is not None:
                self._expect(queue, due_at)
        return None

    def _read(self, queue: Queue, now_ms: int, rotation: _Rotation) -> list[DueRow]:
        room = self._buffer_rows_max - self._buffered
        share = self._buffer_rows_max // (len(rotation.waiting) + 1)
        rows = self._next(queue, now_ms, max(1, min(ROWS_MAX, share, room)))
        self._buffered += len(rows)
        self._peak = max(self._peak, self._buffered)
        return rows

    def _next(self, queue: Queue, now_ms: int, count: int) -> list[DueRow]:
        """The next rows that are not held, up to this number; from now on they are held."""
        in_hand = self._in_hand.get(queue) or _InHand()
        taken: list[DueRow] = []
        more = True
        while more and len(taken) < count:
            # Held rows are among these only after a hint that moved the cursor back.
            missing = count - len(taken)
            rows = self._rows.due(*queue, now_ms, in_hand.cursor, missing, self._broken)
            for row in rows:
                if row.id in in_hand.ids:
                    in_hand.passed[row.id] = row.cursor
                elif row.id in self._held:
                    self._met[row.id] = (queue, row.due_at)
                else:
                    in_hand.ids.add(row.id)
                    self._held[row.id] = queue
                    taken.append(row)
            if rows:
                in_hand.cursor = rows[-1].cursor
            more = len(rows) == missing
        if in_hand.ids:
            self._in_hand[queue] = in_hand
        return taken

    def hold(self, row: DueRow) -> bool:
        """Hold a row that is not taken from the queue, until :meth:`release`; False: it is held
        already."""
        if row.id in self._held:
            return False
        queue = (row.route, row.priority, row.organization_id)
        self._held[row.id] = queue
        self._in_hand.setdefault(queue, _InHand()).ids.add(row.id)
        return True

    def release(self, message_id: str) -> None:
        """The row's result is on disk (or it goes back): only the journal counts again."""
        queue = self._held.pop(message_id, None)
        if queue is not None:
            in_hand = self._in_hand[queue]
            in_hand.release(message_id)
            if not in_hand.ids:
                del self._in_hand[queue]
        if self._met and message_id in self._met:
            met, due_at = self._met.pop(message_id)
            self.hint(*met, due_at)

    def statistics(self) -> QueueStatistics:
        waiting = sum(len(rotation.waiting) for rotation in self._rotations.values())
        return QueueStatistics(self._buffered, len(self._held), waiting, self._peak)
