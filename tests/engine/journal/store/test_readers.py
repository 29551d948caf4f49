"""A connection that reads is closed by who cannot use it: nobody else has it."""

from __future__ import annotations

import sqlite3

import pytest

from risala.engine.journal.store import opening


@pytest.fixture
def closed(monkeypatch):
    found = []

    class Noted(sqlite3.Connection):
        def close(self):
            found.append(self)
            super().close()

    monkeypatch.setattr(opening.connect, "__defaults__", (Noted,))
    return found


def test_a_file_that_is_no_database_leaves_no_connection_open(tmp_path, closed):
    path = tmp_path / "risala.db"
    path.write_bytes(b"no database " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        opening.open_reader(path)
    assert len(closed) == 1
