"""Repositories over a connection that a test has in its hands: for reading alone."""

from __future__ import annotations

from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.journal.store.repository import Store


def queue_of(conn):
    return QueueRepository(Store(None, conn, None))
