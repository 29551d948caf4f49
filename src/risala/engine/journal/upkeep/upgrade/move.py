"""A change of the tables that is too long for one transaction: rows that move in steps.

Its migration renames the old tables, each to ``old_NAME``, and makes the new ones; it is as short
as any other. The rows of the old tables are moved afterwards
(:mod:`risala.engine.journal.upkeep.upgrade.upgrade`). The audit sees by the names that some are
left.

The books are audited before and after it, both times by the checks of this version. A migration
that changes the tables of those checks has to bring along the checks for the former tables.
"""

from __future__ import annotations

import sqlite3
from typing import Final, Protocol


class RowMove(Protocol):
    """Moves rows from old tables into new ones.

    The rows left in the old tables are the remaining work: a step removes what it has moved. So
    nothing else has to be stored, and a step that was rolled back has no effect.
    """

    @property
    def migration(self) -> str:
        """The name of the migration that it completes."""
        ...

    def concerns(self, conn: sqlite3.Connection) -> bool:
        """Before its migration: whether there is anything to move."""
        ...

    def is_unfinished(self, conn: sqlite3.Connection) -> bool:
        """After its migration: whether the old tables still exist."""
        ...

    def remaining(self, conn: sqlite3.Connection) -> int:
        """Rows to move; counted once at each start."""
        ...

    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        """Move some rows with everything that belongs to them, in the open transaction.

        Returns how many; 0: none were left. The result of all steps together must not depend on the
        number of rows in each.
        """
        ...

    def finish(self, conn: sqlite3.Connection) -> None:
        """Remove the old tables, which are empty, in the open transaction."""
        ...


# The moves of this version, in the order of their migrations.

MOVES: Final[tuple[RowMove, ...]] = ()
"""None: no released version has rows that this one keeps elsewhere."""
