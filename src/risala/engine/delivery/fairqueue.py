"""The next due message, fair between organizations, with a bounded number of rows in memory.

The rows are the queue; here is only a cursor over it: for each route and priority the rotation of
organizations that have something due, each with a handful of its rows, and for those that have
only future rows the moment when the first falls due. Reads go through an indexed range, so that
their cost does not grow with the backlog.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from risala.engine.journal.messages import reads as messages
from risala.engine.journal.rows import DueRow

ROWS_MAX: Final = 8
"""Rows of one organization that are read at once."""


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


class FairQueue:
    """Takes rows from the journal in turn. Lives on the loop thread; nothing here awaits."""

    def __init__(self, reader: sqlite3.Connection, buffer_rows_max: int) -> None:
        self._reader = reader
        self._buffer_rows_max = buffer_rows_max
        self._rotations: dict[tuple[str, int], _Rotation] = {}
        self._future: list[tuple[int, str, int, str]] = []
        self._future_at: dict[tuple[str, int, str], int] = {}
        self._held: dict[str, tuple[str, int, str]] = {}
        self._held_by_queue: dict[tuple[str, int, str], set[str]] = {}
        self._suspended: set[str] = set()
        self._buffered = 0
        self._peak = 0

    def load(self, suspended: Iterable[str]) -> None:
        """Find every queue that has pending rows: once, at the start."""
        self._suspended.update(suspended)
        for route, priority, organization_id in messages.queues(self._reader):
            self.hint(route, priority, organization_id)

    def hint(self, route: str, priority: int, organization_id: str, due_at: int = 0) -> None:
        """Something of this organization is, or falls, due. May be said too often."""
        rotation = self._rotations.setdefault((route, priority), _Rotation())
        if organization_id in rotation.waiting or organization_id in self._suspended:
            return
        if due_at:
            self._expect((route, priority, organization_id), due_at)
        else:
            rotation.waiting[organization_id] = deque()

    def suspend(self, organization_id: str) -> None:
        """Hold everything of an organization; its rows stay where they are."""
        self._suspended.add(organization_id)
        for rotation in self._rotations.values():
            rows = rotation.waiting.pop(organization_id, ())
            self._buffered -= len(rows)
            for row in rows:
                self.release(row.id)

    def resume(self, organization_id: str) -> None:
        """Let a held organization take its turns again."""
        self._suspended.discard(organization_id)
        for route, priority, waiting in messages.queues(self._reader):
            if waiting == organization_id:
                self.hint(route, priority, organization_id)

    def _expect(self, queue: tuple[str, int, str], due_at: int) -> None:
        if due_at < self._future_at.get(queue, due_at + 1):
            self._future_at[queue] = due_at
            heapq.heappush(self._future, (due_at, *queue))

    def wake(self, now_ms: int) -> None:
        """Move the queues whose time has come into their rotation."""
        while self._future and self._future[0][0] <= now_ms:
            due_at, route, priority, organization_id = heapq.heappop(self._future)
            if self._future_at.get((route, priority, organization_id)) == due_at:
                del self._future_at[route, priority, organization_id]
                self.hint(route, priority, organization_id)

    def next_due(self) -> int | None:
        """When the next queue without due rows wakes, UTC milliseconds."""
        return self._future[0][0] if self._future else None

    def take(self, routes: Iterable[str], priority: int, now_ms: int) -> DueRow | None:
        """The next row of these routes, or None. It is held until :meth:`release`."""
        for route in routes:
            rotation = self._rotations.get((route, priority))
            row = rotation and self._turn(rotation, route, priority, now_ms)
            if row:
                return row
        return None

    def has_work(self) -> bool:
        """True where :meth:`take` might find something."""
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
            due_at = messages.next_due(self._reader, *queue, now_ms)
            if due_at is not None:
                self._expect(queue, due_at)
        return None

    def _read(self, queue: tuple[str, int, str], now_ms: int, rotation: _Rotation) -> list[DueRow]:
        room = self._buffer_rows_max - self._buffered
        share = self._buffer_rows_max // (len(rotation.waiting) + 1)
        count = max(1, min(ROWS_MAX, share, room))
        held = self._held_by_queue.setdefault(queue, set())
        rows = messages.due(self._reader, *queue, now_ms, held, count)
        for row in rows:
            held.add(row.id)
            self._held[row.id] = queue
        if not held:
            del self._held_by_queue[queue]
        self._buffered += len(rows)
        self._peak = max(self._peak, self._buffered)
        return rows

    def release(self, message_id: str) -> None:
        """The row's fate is on disk (or it goes back): the journal speaks for it again."""
        queue = self._held.pop(message_id, None)
        if queue is not None:
            held = self._held_by_queue[queue]
            held.discard(message_id)
            if not held:
                del self._held_by_queue[queue]

    def statistics(self) -> QueueStatistics:
        waiting = sum(len(rotation.waiting) for rotation in self._rotations.values())
        return QueueStatistics(self._buffered, len(self._held), waiting, self._peak)
