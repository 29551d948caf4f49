"""What is read of the WAL after each commit makes the database, whatever was written and failed."""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.standby.stored import wal

PAGE = 4096
FRAME = 24 + PAGE


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def database(tmp_path) -> Path:
    return made(tmp_path / "a.db")


@pytest.fixture
def conn(database, writing) -> sqlite3.Connection:
    return writing(database)


@pytest.fixture
def writing(stack) -> Callable[[Path], sqlite3.Connection]:
    return lambda path: stack.enter_context(closing(writer(path)))


@pytest.fixture
def copy(database, conn, stack) -> Rebuilt:
    found = Rebuilt(database)
    stack.callback(found.tail.close)
    return found


def made(path: Path) -> Path:
    with closing(writer(path)) as conn:
        conn.execute("create table t (id integer primary key, word blob)")
    return path


def writer(path: Path) -> sqlite3.Connection:
    conn = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = wal", "wal_autocheckpoint = 0", "cache_size = 4"):
        conn.execute(f"pragma {pragma}")
    return conn


def put(conn: sqlite3.Connection, key: int, size: int) -> None:
    conn.execute("insert or replace into t values (?, randomblob(?))", (key, size))


class Rebuilt:
    """The database as somebody has it who applies all that is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tail = wal.WalTail(path)
        self.content = bytearray(path.read_bytes())

    def read(self, *, is_sure: bool = True) -> None:
        self.tail.read(is_sure=is_sure)
        part = self.tail.part()
        self.tail.forget()
        if part.pages:
            self.content.extend(bytes(max(0, part.database_pages * PAGE - len(self.content))))
            for number, page in part.pages.items():
                self.content[(number - 1) * PAGE : number * PAGE] = page
            del self.content[part.database_pages * PAGE :]

    def is_the_same(self, conn: sqlite3.Connection) -> bool:
        conn.execute("pragma wal_checkpoint(passive)").fetchone()
        return bytes(self.content) == self.path.read_bytes()


def leave_a_mark(path: Path, conn: sqlite3.Connection, behind: int) -> None:
    """What a commit leaves that failed after it was written: frames, of which the last has the mark
    of a commit, behind the end that SQLite knows."""
    _, frames, _ = conn.execute("pragma wal_checkpoint(passive)").fetchone()
    with wal.beside(path).open("r+b") as file:
        salts = struct.unpack(">8I", file.read(32))[4:6]
        for n in range(behind):
            mark = 9 if n == behind - 1 else 0
            file.seek(32 + (frames + n) * FRAME)
            file.write(struct.pack(">6I", 2, mark, *salts, 0, 0) + b"\xee" * PAGE)


def test_a_read_after_a_commit_opens_nothing_and_folds_nothing(conn, copy, database, monkeypatch):
    opened, connect = [], wal.connect
    monkeypatch.setattr(wal, "connect", lambda *of: (opened.append(of), connect(*of))[1])
    put(conn, 1, 10)
    copy.read()
    for n in range(20):
        put(conn, n, 5000)
        copy.read()
    assert len(opened) == 1
    assert wal.beside(database).stat().st_size > 20 * PAGE
    assert copy.is_the_same(conn)


def test_the_wal_is_folded_in_now_and_then(conn, copy, database):
    sizes = []
    for n in range(150):
        put(conn, n, 20 * PAGE)
        copy.read()
        sizes.append(wal.beside(database).stat().st_size // FRAME)
    assert wal.FOLD_FRAMES <= max(sizes) < wal.FOLD_FRAMES + 100
    assert copy.is_the_same(conn)


def test_while_somebody_reads_nothing_is_missed(conn, copy, database, writing):
    reader = writing(database)
    put(conn, 0, 10)
    copy.read()
    reader.execute("begin")
    reader.execute("select count(*) from t").fetchone()
    for n in range(150):
        put(conn, n, 20 * PAGE)
        copy.read()
    reader.execute("rollback")
    put(conn, 1, 20 * PAGE)
    copy.read()
    assert copy.is_the_same(conn)


@pytest.mark.parametrize("size", [10, 5000, 9 * PAGE])
def test_the_mark_of_a_commit_that_failed_counts_for_nothing(conn, copy, database, writing, size):
    """The next commit may be shorter: then the mark stands behind it, in the same WAL."""
    for n in range(3):
        put(conn, n, 5000)
        copy.read()
    leave_a_mark(database, conn, behind=8)
    copy.read(is_sure=False)
    reader = writing(database)
    reader.execute("begin")  # the WAL cannot begin anew
    reader.execute("select count(*) from t").fetchone()
    put(conn, 7, size)
    copy.read()
    put(conn, 8, size)
    copy.read()
    reader.execute("rollback")
    assert copy.is_the_same(conn)


def test_a_count_that_is_not_sqlites_is_a_gap(conn, copy, database, monkeypatch):
    monkeypatch.setattr(wal, "FOLD_FRAMES", 10)
    for n in range(3):
        put(conn, n, 10)
        copy.read()
    put(conn, 4, 10)
    leave_a_mark(database, conn, behind=30)  # and nobody said that a commit had failed
    with pytest.raises(wal.Gap):
        copy.read()


def test_a_part_of_a_transaction_that_is_undone_counts_for_nothing(conn, copy, database):
    put(conn, 0, 10)
    copy.read()
    for n in range(20):
        conn.execute("begin immediate")
        for each in range(30):  # more than the cache holds: they are in the WAL
            put(conn, each, 2 * PAGE)
        conn.execute("rollback")
        put(conn, n, 10)
        copy.read()
    assert copy.is_the_same(conn)


def test_no_file_stays_open(conn, copy):
    files = []
    for n in range(6):
        put(conn, n, 10)
        copy.read()
        copy.tail.close()
        files.append(len(os.listdir("/proc/self/fd")))
    assert files[-1] == files[1]  # SQLite itself keeps one that another connection has locked
    assert copy.is_the_same(conn)


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "put", "put", "delete", "undone", "reader", "mark", "vacuum"]),
            st.integers(0, 8),
            st.integers(0, 30_000),
        ),
        max_size=30,
    )
)
def test_whatever_is_written_the_copy_is_the_database(tmp_path_factory, steps):
    path = made(tmp_path_factory.mktemp("wal") / "a.db")
    with closing(writer(path)) as conn, closing(writer(path)) as reader:
        copy = Rebuilt(path)
        try:
            play(conn, reader, copy, steps)
            assert copy.is_the_same(conn)
        finally:
            copy.tail.close()


def play(
    conn: sqlite3.Connection,
    reader: sqlite3.Connection,
    copy: Rebuilt,
    steps: list[tuple[str, int, int]],
) -> None:
    copy.read()
    for kind, key, size in steps:
        if kind == "reader":
            if reader.in_transaction:
                reader.execute("rollback")
            else:
                reader.execute("begin")
                reader.execute("select count(*) from t").fetchone()
        elif kind == "mark" and wal.beside(copy.path).stat().st_size:
            leave_a_mark(copy.path, conn, behind=1 + key)
            copy.read(is_sure=False)
        elif kind == "vacuum" and not reader.in_transaction:
            conn.execute("vacuum")
        elif kind == "undone":
            conn.execute("begin immediate")
            put(conn, key, size)
            conn.execute("rollback")
        elif kind == "delete":
            conn.execute("delete from t where id = ?", (key,))
        else:
            put(conn, key, size)
        copy.read()
    if reader.in_transaction:
        reader.execute("rollback")
