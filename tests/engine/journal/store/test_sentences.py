"""What SQLite and the disk say, in the words of whoever runs the service."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from risala.engine.journal.store.lock import claim_file
from risala.engine.journal.store.opening import open_writer, sqlite_sentence
from risala.engine.model.errors import StorageUnusable

PATH = Path("/data/risala.db")


def said(code: int | None) -> str:
    error = sqlite3.OperationalError("what SQLite says")
    if code is not None:
        error.sqlite_errorcode = code
    return sqlite_sentence(PATH, error)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "is locked by another program"),
        (sqlite3.SQLITE_LOCKED, "is locked by another program"),
        (sqlite3.SQLITE_FULL, "The disk that holds /data/risala.db is full."),
        (sqlite3.SQLITE_CORRUPT_INDEX, "is damaged. Restore a backup"),
        (sqlite3.SQLITE_NOTADB, "The file /data/risala.db is not a database."),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "or its directory cannot be written"),
        (sqlite3.SQLITE_CANTOPEN, "or its directory cannot be written"),
        (sqlite3.SQLITE_IOERR_FSYNC, "The disk that holds /data/risala.db fails: what SQLite"),
        (sqlite3.SQLITE_NOMEM, "cannot be opened: what SQLite says."),
        (None, "cannot be opened: what SQLite says."),
    ],
)
def test_each_fault_has_its_sentence(code, words):
    assert words in said(code)


def test_a_migration_that_leaves_a_transaction_open_is_a_bug_that_is_noticed(tmp_path):
    with pytest.raises(RuntimeError, match="left a transaction open"):
        open_writer(tmp_path / "risala.db", lambda db: db.conn.execute("BEGIN"))


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "is full"),
        (errno.EACCES, "cannot be written: "),
        (errno.EROFS, "cannot be written: "),
        (errno.EIO, "cannot be used: "),
        (errno.ENOENT, "is not a directory"),
        (errno.ELOOP, "is a symbolic link, which is not allowed"),
    ],
)
def test_a_file_that_cannot_be_claimed_says_why(tmp_path, monkeypatch, number, words):
    def refuse(*_given: object, **_more: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StorageUnusable, match=words):
        claim_file(tmp_path / "risala.db")
