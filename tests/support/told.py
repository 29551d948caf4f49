"""Events of a database as they are told: their bodies are not stored, but built of their rows."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from risala.engine.journal.webhooks import outbox
from risala.engine.model.following import OutboxEvent

_MAX = 1_000_000


def stored_events(conn: sqlite3.Connection) -> list[OutboxEvent]:
    """All of them, in their order."""
    return outbox.after(conn, 0, _MAX)


def told_bodies(conn: sqlite3.Connection, kind: str | None = None) -> list[dict[str, Any]]:
    """Their bodies, of one type or all."""
    bodies = [json.loads(event.body) for event in stored_events(conn)]
    return [body for body in bodies if kind in (None, body["type"])]
