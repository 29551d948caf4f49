"""The data directory: one holder at a time, and a database that opens or says why not."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import trio
from sqlite_utils import Database
from sqlite_utils.utils import sqlite3

from cases import first
from patience import HANG_S
from risala.engine.journal.store.lock import DataLock, filesystem_of
from risala.engine.journal.store.writer import Journal
from risala.engine.model.errors import DataDirectoryBusy, StorageUnusable

# Takes the lock or says who has it; then holds it until its standard input ends.
STARTER = """
import sys
from pathlib import Path
from risala.engine.journal.store.lock import DataDirectoryBusy, DataLock
try:
    with DataLock(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
except DataDirectoryBusy as busy:
    print("busy", busy.pid, flush=True)
"""


def start(directory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", STARTER, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=HANG_S)


@pytest.mark.slow
def test_a_killed_holder_frees_it_at_once_and_the_file_stays(tmp_path):
    holder = start(tmp_path / "data")
    assert first_line(holder) == "held"
    with pytest.raises(DataDirectoryBusy, match=f"process {holder.pid}") as caught:
        DataLock(tmp_path / "data").acquire()
    assert caught.value.pid == holder.pid
    holder.send_signal(signal.SIGKILL)
    holder.wait(HANG_S)
    with DataLock(tmp_path / "data") as lock:
        assert lock.held
    end(holder)
    assert (tmp_path / "data" / "lock").exists()


@pytest.mark.slow
@pytest.mark.parametrize("count", first(1, [3, 12]))
def test_of_many_starters_one_holds(tmp_path, count):
    starters = [start(tmp_path / "data") for _ in range(count)]
    lines = [first_line(starter) for starter in starters]
    for starter in starters:
        end(starter)
    assert lines.count("held") == 1
    assert sum(line.startswith("busy") for line in lines) == count - 1


def test_the_directory_is_made_for_us_alone(tmp_path):
    directory = tmp_path / "a" / "data"
    with DataLock(directory):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert stat.S_IMODE((directory / "lock").stat().st_mode) == 0o600
        assert (directory / "lock").read_text() == f"{os.getpid()}\n"


def test_free_again_after_the_block_even_when_it_raises(tmp_path):
    with pytest.raises(ZeroDivisionError), DataLock(tmp_path):
        1 / 0  # noqa: B018
    lock = DataLock(tmp_path)
    lock.acquire()
    lock.release()
    lock.release()
    assert not lock.held


def test_a_second_lock_in_the_same_process_is_refused_too(tmp_path):
    with DataLock(tmp_path), pytest.raises(DataDirectoryBusy):
        DataLock(tmp_path).acquire()


def test_busy_without_a_readable_pid(tmp_path):
    with DataLock(tmp_path):
        (tmp_path / "lock").write_text("nonsense")
        with pytest.raises(DataDirectoryBusy, match="another process") as caught:
            DataLock(tmp_path).acquire()
    assert caught.value.pid is None


def test_a_linked_lock_file_is_refused(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageUnusable, match="symbolic link"):
        DataLock(tmp_path).acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_in_the_directory_s_place(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(StorageUnusable, match="is not a directory"):
        DataLock(tmp_path / "data").acquire()


MOUNTS = """\
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 21 0:40 / /srv rw - nfs4 server:/srv rw
31 30 254:1 / /srv/local\\040disk rw - xfs /dev/vdb rw
32 21 0:41 / /mnt/over rw - ext4 /dev/vdc rw
33 32 0:42 / /mnt/over rw - cifs //server/share rw
not a mount
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/a", "ext4"),
        ("/srv", "nfs4"),
        ("/srv/data", "nfs4"),
        ("/srvdata", "ext4"),
        ("/srv/local disk/data", "xfs"),
        ("/mnt/over/x", "cifs"),
    ],
)
def test_filesystem_of(path, kind):
    assert filesystem_of(Path(path), MOUNTS) == kind


def test_a_network_file_system_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("risala.engine.journal.store.lock.filesystem_of", lambda *_: "nfs4")
    with pytest.raises(StorageUnusable, match="network file system"):
        DataLock(tmp_path).acquire()


def migrate(db: Database) -> None:
    db.execute("create table if not exists item (id integer primary key)")


def opened(directory: Path) -> list[str]:
    """What this process has open there. Other descriptors come and go: garbage of earlier tests."""
    places = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    return [place for place in places if place.startswith(f"{directory.resolve()}/")]


@pytest.fixture(params=[False, True], ids=["thread", "inline"])
def inline(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "risala.db"


async def test_the_file_is_hardened(path, inline):
    path.touch(mode=0o644)
    async with trio.open_nursery() as nursery:
        journal = Journal(path, migrate, inline=inline)
        await nursery.start(journal.run)

        def pragmas(conn: sqlite3.Connection) -> list[object]:
            names = ("journal_mode", "synchronous", "foreign_keys")
            return [conn.execute(f"pragma {name}").fetchone()[0] for name in names]

        assert await journal.commit(pragmas) == ["wal", 2, 1]
        await journal.commit(lambda conn: conn.execute("insert into item values (1)").rowcount)
        modes = {stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
        assert modes == {0o600}
        journal.stop()


def a_directory(path: Path) -> None:
    path.mkdir()


def a_link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere.db")


def not_a_database(path: Path) -> None:
    path.write_bytes(b"definitely not SQLite" * 300)


def damaged(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("create table item (id)")
    content = bytearray(path.read_bytes())
    content[100:120] = b"\xff" * 20
    path.write_bytes(content)


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (a_directory, "is not an ordinary file"),
        (a_pipe, "is not an ordinary file"),
        (a_link, "symbolic link"),
        (not_a_database, "is not a database"),
        (damaged, "is damaged"),
    ],
)
async def test_opening_says_why_in_one_sentence(path, inline, spoil, sentence):
    spoil(path)
    with pytest.raises(StorageUnusable, match=sentence) as caught:
        await Journal(path, migrate, inline=inline).run()
    assert str(path) in str(caught.value)
    assert not opened(path.parent)


async def test_opening_under_a_missing_directory(tmp_path):
    with pytest.raises(StorageUnusable, match="is not a directory"):
        await Journal(tmp_path / "no" / "risala.db", migrate).run()


async def test_opening_where_nothing_can_be_written(tmp_path):
    with pytest.raises(StorageUnusable, match=r"cannot be (written|used)"):
        await Journal(Path("/sys/risala.db"), migrate).run()


@pytest.mark.slow
async def test_opening_a_locked_file(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("create table t (id)")
        other.execute("begin exclusive")
        with pytest.raises(StorageUnusable, match="locked by another program"):
            await Journal(path, migrate).run()


async def test_opening_on_a_full_disk(path):
    def hungry(db: Database) -> None:
        db.execute("pragma max_page_count = 2").fetchone()
        with db.atomic():
            db.execute("create table a (t text unique)")
            db.execute("create table b (t text unique)")

    with pytest.raises(StorageUnusable, match="is full"):
        await Journal(path, hungry).run()


async def test_a_migration_may_refuse(path, inline):
    def newer(_: Database) -> None:
        raise StorageUnusable("The database was written by a newer Risala.")

    with pytest.raises(StorageUnusable, match="newer Risala"):
        await Journal(path, newer, inline=inline).run()


def test_a_lock_is_taken_once(tmp_path):
    with DataLock(tmp_path) as lock, pytest.raises(RuntimeError, match="already held"):
        lock.acquire()


@pytest.mark.parametrize(("number", "holds"), [(errno.ENOSPC, True), (errno.EIO, False)])
def test_a_full_disk_keeps_nobody_out_and_a_broken_one_does(tmp_path, monkeypatch, number, holds):
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "pwrite", refuse)
    lock = DataLock(tmp_path)
    if holds:
        lock.acquire()
    else:
        with pytest.raises(StorageUnusable, match="cannot be written"):
            lock.acquire()
    assert lock.held is holds
    lock.release()
