"""A simulated disk, in place of the machine's own."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Protocol


class SimulatedDisk(Protocol):
    """Is between the journal and its file: it may be slow, full, broken, or frozen at a crash.

    With it the writer is a task and no thread, and waits on the loop's clock. All else is as with a
    thread: while one transaction is under way the next one gathers.
    """

    def connect(self, *arguments: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401
        """The writer's connection; takes what :class:`sqlite3.Connection` takes."""

    async def begin(self) -> None:
        """Called before each transaction, which includes the units that arrive meanwhile."""

    async def synced(self) -> None:
        """Called after each transaction, before its callers are notified."""

    async def logged(self, is_settled: Callable[[], bool]) -> None:
        """Called after each transaction that a log has to have too; returns once it is settled."""
