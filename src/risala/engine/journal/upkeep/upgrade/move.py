"""A change of the tables that is too long for one transaction: rows that move in steps.

Its migration renames the old tables and makes the new ones, and is as short as any other. What is
in the old tables is moved afterwards (:mod:`risala.engine.journal.upkeep.upgrade.upgrade`).
"""

from __future__ import annotations

import sqlite3
from typing import Protocol


class RowMove(Protocol):
    """Takes rows out of old tables and puts them into new ones.

    What is left in the old tables is what is left to do: a step takes away what it has moved. So
    nothing else has to be remembered of it, and a step that was rolled back was none.
    """

    @property
    def migration(self) -> str:
        """The name of the migration that it completes."""
        ...

    def concerns(self, conn: sqlite3.Connection) -> bool:
        """Before its migration: whether there is anything to be moved."""
        ...

    def is_unfinished(self, conn: sqlite3.Connection) -> bool:
        """After its migration: whether the old tables are still there."""
        ...

    def remaining(self, conn: sqlite3.Connection) -> int:
        """Rows that are to be moved; counted once at each start."""
        ...

    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        """Move some rows with everything that belongs to them, in the transaction that is open.

        How many; 0: there were none left. What comes of all steps together must not depend on
        how many rows each of them moved.
        """
        ...

    def finish(self, conn: sqlite3.Connection) -> None:
        """Remove the old tables, which are empty, in the transaction that is open."""
        ...
