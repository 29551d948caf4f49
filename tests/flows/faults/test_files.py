"""The database's files: taken, spoiled or not ours, at the start and under the running service."""

from __future__ import annotations

import errno
import shutil
import socket
import sqlite3
from contextlib import closing

import pytest

from bad_machine import Call, Files

pytestmark = [pytest.mark.slow, pytest.mark.long]

PAGE_BYTES = 4096


def test_another_program_holds_it(stand):
    with stand.trial("locked") as trial:
        database = stand.service.data / "risala.db"
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("begin immediate")
            trial.send()
            trial.saw_not_ready()
            trial.saw_log("storage.failed", "reason")
            other.execute("rollback")
        trial.wait_whole()
        trial.saw_log("storage.recovered", "was")


REMOVED = {"database_removed": "risala.db", "wal_removed": "risala.db-wal"}


@pytest.mark.parametrize("name", REMOVED)
def test_it_is_removed_while_the_service_runs(stand, name):
    part = REMOVED[name]
    with stand.trial(name) as trial:
        trial.send_quietly()
        stand.service.wait_settled()  # what is under way would hold the stop to its deadline
        file = stand.service.data / part
        away = stand.service.data.parent / f"away-{part}"
        file.rename(away)
        trial.send()
        trial.saw_not_ready()
        trial.saw_log("storage.failed", "reason")
        away.rename(file)
        trial.send()  # what was written meanwhile went nowhere: only a start finds out
        stand.service.stop()
        stand.service.restart()
        trial.wait_whole()


def test_a_page_is_damaged(stand):
    service = stand.service
    database = service.data / "risala.db"
    with stand.trial("page_damaged") as trial:
        trial.send_quietly()
        service.wait_settled()
        service.stop()
        whole = database.read_bytes()
        at = PAGE_BYTES * (root_page(database, "hour_count") - 1)
        database.write_bytes(whole[:at] + b"\xff" * PAGE_BYTES + whole[at + PAGE_BYTES :])
        service.restart()
        trial.send()
        trial.saw_not_ready()
        trial.saw_log("storage.failed", "reason")
        trial.saw_doctor("database")
        service.stop()
        database.write_bytes(whole)  # as from a backup that is as new as the last message
        service.restart()
        trial.wait_whole()


def root_page(database, table) -> int:
    with closing(sqlite3.connect(database)) as conn:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        (page,) = conn.execute(query, (table,)).fetchone()
    return page


def lock(place):
    conn = sqlite3.connect(place / "risala.db", isolation_level=None)
    conn.execute("pragma locking_mode = exclusive")
    conn.execute("begin exclusive")
    return conn


def newer(place):
    with closing(sqlite3.connect(place / "risala.db")) as conn, conn:
        conn.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('risala', 'm999_of_tomorrow', '2030-01-01')"
        )


def no_database(place):
    (place / "risala.db").write_bytes(b"definitely not SQLite" * 300)


def damaged(place):
    database = place / "risala.db"
    content = bytearray(database.read_bytes())
    content[100:120] = b"\xff" * 20  # the first page, behind the header
    database.write_bytes(content)


def gone(place):
    (place / "risala.db").unlink()


def emptied(place):
    (place / "risala.db").write_bytes(b"")


SPOILED = {
    "locked_at_start": lock,
    "newer_schema": newer,
    "no_database": no_database,
    "damaged_at_start": damaged,
    "gone_at_start": gone,
    "emptied_at_start": emptied,
}


@pytest.fixture(scope="module")
def books(stand, tmp_path_factory):
    """A data directory with a message in it, whole, that nobody runs on."""
    place = tmp_path_factory.mktemp("books")
    assert stand.service.command("backup", str(place / "risala.db")).returncode == 0
    return place


@pytest.mark.parametrize("name", SPOILED)
def test_a_start_says_why_not_in_one_sentence(stand, books, tmp_path, name):
    place = tmp_path / "data"
    shutil.copytree(books, place)
    (place / "made-risala").write_text("There was one.")
    place.chmod(0o700)
    with stand.trial(name) as trial:
        held = SPOILED[name](place)
        trial.saw_start(place)
        if held is not None:
            held.close()


CALLS = {
    "full_at_start": (Call.WRITE, errno.ENOSPC),
    "no_room_for_shm": (Call.WRITE, errno.ENOSPC, Files.SHM),
    "writes_fail_at_start": (Call.WRITE, errno.EIO),
    "reads_fail_at_start": (Call.READ, errno.EIO),
    "read_only_at_start": (Call.OPEN, errno.EROFS),
    "truncates_fail_at_start": (Call.TRUNCATE, errno.EIO),
    "renames_fail_at_start": (Call.RENAME, errno.EIO),
    "unlinks_fail_at_start": (Call.UNLINK, errno.EIO),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_start_on_a_bad_disk_says_so(stand, books, make_machine, tmp_path, name):
    place = tmp_path / "data"
    shutil.copytree(books, place)
    place.chmod(0o700)
    machine = make_machine(place)
    call, error, *files = CALLS[name]
    with stand.trial(name) as trial, machine.failing(call, error, *files):
        trial.saw_start(place, machine.environment)
        assert machine.hits(call)


def test_the_port_is_taken(stand, tmp_path):
    with stand.trial("port_taken") as trial, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        trial.saw_start(tmp_path / "data", port=taken.getsockname()[1])


def test_another_service_runs_there(stand):
    with stand.trial("two_services") as trial:
        trial.saw_start(stand.service.data)
        trial.send()
