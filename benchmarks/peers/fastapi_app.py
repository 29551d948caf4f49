"""What one writes first oneself: FastAPI, SQLite, and a commit for each request.

A table of messages with an index for the sender's key and one for the queue, WAL, and the same
``synchronous=FULL`` as ours: its yes means that the message is on the disk. It charges nothing,
limits nothing, keeps no idempotency and delivers nothing.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel, Field

_TABLES = """
CREATE TABLE IF NOT EXISTS messages (
  id TEXT PRIMARY KEY, key TEXT NOT NULL, recipient TEXT NOT NULL, body TEXT NOT NULL,
  status TEXT NOT NULL, created_at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS queue ON messages (created_at) WHERE status = 'pending';
"""
_local = threading.local()
app = FastAPI()


class Send(BaseModel):
    to: str = Field(pattern=r"^\+222[234][0-9]{7}$")
    body: str = Field(min_length=1, max_length=1600)


def _connection() -> sqlite3.Connection:
    """Of this thread: Starlette runs plain functions in a pool of 40."""
    found = getattr(_local, "connection", None)
    if found is None:
        found = sqlite3.connect(os.environ["PEER_DATABASE"], timeout=60, isolation_level=None)
        found.execute("PRAGMA journal_mode=WAL")
        found.execute("PRAGMA synchronous=FULL")
        found.executescript(_TABLES)
        _local.connection = found
    connection: sqlite3.Connection = found
    return connection


@app.post("/api/sms")
def send(message: Send, x_api_key: Annotated[str, Header()]) -> dict[str, object]:
    if x_api_key != os.environ["PEER_KEY"]:
        raise HTTPException(401)
    made = f"sms_{uuid.uuid4().hex}"
    row = (made, x_api_key, message.to, message.body, "pending", time.time())
    connection = _connection()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.execute("COMMIT")
    return {"accepted": True, "messageId": made}
