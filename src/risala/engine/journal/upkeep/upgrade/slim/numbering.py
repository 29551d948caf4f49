"""The numbers of organizations and names, looked up once for each step."""

from __future__ import annotations

import sqlite3
from typing import overload

from risala.engine.journal.store import names


class Numbering:
    """Made again for each step: the names of a step that was rolled back are missing."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._names: dict[str, int] = {}
        self._organizations: dict[str, int] = {}

    @overload
    def name(self, name: str) -> int: ...
    @overload
    def name(self, name: str | None) -> int | None: ...
    def name(self, name: str | None) -> int | None:
        """The number of a carrier's, a route's or a sender's name."""
        if name is None:
            return None
        found = self._names.get(name)
        if found is None:
            found = self._names[name] = names.number(self._conn, name)
        return found

    def organization(self, organization_id: str) -> int:
        found = self._organizations.get(organization_id)
        if found is None:
            (found,) = self._conn.execute(
                "SELECT no FROM organizations WHERE id = ?", (organization_id,)
            ).fetchone()
            self._organizations[organization_id] = found
        return found
