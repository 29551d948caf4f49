"""A disk of a simulation's, in the place of the machine's own."""

from __future__ import annotations

import sqlite3
from typing import Any, Protocol


class SimulatedDisk(Protocol):
    """Stands between the journal and its file: it may be slow, full, broken, or the last thing that
    a process saw.

    With one the writer is a task and no thread, and waits on the loop's clock. All else is as it is
    with a thread: while one transaction is under way the next one gathers.
    """

    def connect(self, *arguments: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401
        """The writer's connection; takes what :class:`sqlite3.Connection` takes."""

    async def begin(self) -> None:
        """Called before each transaction; what is handed in meanwhile is in it."""

    async def synced(self) -> None:
        """Called after each transaction, before anybody is told of it."""
