"""Forged pieces and notes: each is refused in a sentence, in little memory, and can be left out."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import tracemalloc
import zlib
from contextlib import closing
from dataclasses import asdict

import pytest
from sqlite_utils.utils import sqlite3

from cases import sweep
from risala.engine.features.standby.lease import LeaseDirectory
from risala.engine.features.standby.stored import notes, pieces
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.stored.piece_store import PieceDirectory
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.errors import StorageUnusable

PAGE = 4096
HEAD = {"generation": "one", "number": 1, "at": 5, "pageBytes": PAGE, "databasePages": 3}
BOMB_MIB = 1024
MEMORY_MIB = 64
"""More than a piece that is refused takes; a bomb takes its own size."""


def page(number: int, fill: bytes = b"\0") -> bytes:
    return struct.pack(">I", number) + fill * PAGE


def forged(body: bytes, **head: object) -> bytes:
    told = {**HEAD, "before": "x", "body": hashlib.sha256(body).hexdigest(), **head}
    return json.dumps(told).encode() + b"\n" + body


def bomb() -> bytes:
    """As of a whole one, whose mebibytes are all packed alike: 1 GiB would take seconds to pack."""
    packer, chunk = zlib.compressobj(9), bytes(1 << 20)
    first, alike = (packer.compress(chunk) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    end = packer.flush()[:-4] + struct.pack(">HH", (BOMB_MIB << 20) % 65521, 1)  # Adler-32 of zeros
    return first + alike * (BOMB_MIB - 1) + end


WHOLE = zlib.compress(page(1) + page(2))
FORGED = {
    "a negative size of pages": forged(WHOLE, pageBytes=-4096),
    "a size of pages of none": forged(zlib.compress(b"1234"), pageBytes=0),
    "a size that SQLite has not": forged(WHOLE, pageBytes=4095),
    "a text for a number": forged(WHOLE, at="5"),
    "a flag for a number": forged(WHOLE, at=True),
    "a time after all calendars": forged(WHOLE, at=1 << 62),
    "a fraction": forged(WHOLE, pageBytes=4096.0),
    "1e300 pages": forged(WHOLE, databasePages=1e300),
    "more pages than there can be": forged(WHOLE, databasePages=1 << 40),
    "a list for a text": forged(WHOLE, before=["x"]),
    "not a number": forged(WHOLE).replace(b'"at": 5', b'"at": NaN'),
    "deep brackets": b"[" * 4000 + b"\n" + WHOLE,
    "deep brackets in a line without an end": b"[" * 5_000_000,
    "no object": b'"x"\n' + WHOLE,
    "a field is missing": json.dumps({"generation": "one"}).encode() + b"\n" + WHOLE,
    "no line": b"\xff" * 100,
    "a page twice": forged(zlib.compress(page(1) + page(1))),
    "page 0": forged(zlib.compress(page(0))),
    "a page after the last": forged(zlib.compress(page(4))),
    "cut": forged(WHOLE[:-5]),
    "more behind": forged(WHOLE + b"more"),
    "a bomb": forged(bomb()),
}


@sweep("name", FORGED)
def test_it_is_refused_in_a_sentence(name):
    with pytest.raises(BadPiece) as refused:
        pieces.decode(FORGED[name], "Piece 1", "one", 1, "x")
    assert str(refused.value).startswith("Piece 1 ")
    assert len(str(refused.value)) < 120


def test_a_bomb_takes_no_memory():
    tracemalloc.start()
    try:
        with pytest.raises(BadPiece):
            pieces.decode(FORGED["a bomb"], "Piece 1", "one", 1, "x")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak >> 20 < MEMORY_MIB


def test_more_pages_than_a_piece_may_have_are_not_unpacked(monkeypatch):
    monkeypatch.setattr(pieces, "RAW_BYTES_MAX", 4 << 20)
    body = zlib.compress(b"".join(map(page, range(1, 2001))))
    with pytest.raises(BadPiece, match="more than 4 MiB of pages"):
        pieces.decode(forged(body, databasePages=2000), "Piece 1", "one", 1, "x")


def test_a_piece_is_not_larger_than_one_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "STORED_BYTES_MAX", 1 << 20)
    path = pieces.file_of(tmp_path, "one", 1)
    path.parent.mkdir()
    path.write_bytes(bytes(2 << 20))
    with pytest.raises(BadPiece, match="larger than 1 MiB"):
        pieces.read(tmp_path, "one", 1, "x")


def test_what_a_primary_writes_is_read():
    found = pieces.decode(forged(WHOLE), "Piece 1", "one", 1, "x")
    assert found.pages == {1: bytes(PAGE), 2: bytes(PAGE)}


@pytest.fixture
def shipped(tmp_path):
    """A whole copy and a forged piece upon it."""
    primary = tmp_path / "primary.db"
    open_writer(primary, migrate).close()
    directory = tmp_path / "shipped"
    snapshot = pieces.folder(directory, "one") / pieces.SNAPSHOT
    snapshot.parent.mkdir(parents=True)
    shutil.copyfile(primary, snapshot)
    current = pieces.Current("one", hashlib.sha256(snapshot.read_bytes()).hexdigest())
    pieces.put(directory / pieces.CURRENT, json.dumps(asdict(current)).encode())
    pieces.put_note(directory / pieces.SHIPPED, pieces.Shipped("one", 1, 5))
    piece = forged(WHOLE, before=current.sha256, pageBytes=-1)
    pieces.put(pieces.file_of(directory, "one", 1), piece)
    return directory


def follow(tmp_path, shipped, **given):
    copy = StandbyCopy(tmp_path / "standby", PieceDirectory(shipped))
    return copy.follow(lambda *_: None, **given)


def test_it_can_be_left_out(tmp_path, shipped):
    with pytest.raises(BadPiece, match="its pageBytes is not what"):
        follow(tmp_path, shipped)
    assert follow(tmp_path, shipped, leaves_out_damaged=True).number == 0


NOTES = ('"x"', "[]", "{}", "[" * 4000, '{"generation": 1, "sha256": ""}', '{"generation": "../x"}')


@sweep("text", (*NOTES, '{"generation": "../../etc", "sha256": "x"}', " " * 10_000_000))
def test_a_forged_note_is_refused(text, tmp_path_factory):
    directory = tmp_path_factory.mktemp("shipped")
    (directory / pieces.CURRENT).write_text(text)
    with pytest.raises(BadPiece, match="is damaged"):
        pieces.current(directory)


@sweep("text", (*NOTES, '{"epoch": 1e300, "holder": "a"}', '{"epoch": -1}'))
def test_a_forged_lease_is_refused(text, tmp_path_factory):
    directory = tmp_path_factory.mktemp("lease")
    (directory / "0000000001.json").write_text(text)
    with pytest.raises(notes.BadPiece, match="is damaged"):
        LeaseDirectory(directory).highest()


def test_a_piece_that_would_fill_the_disk_is_refused(tmp_path, shipped):
    snapshot = hashlib.sha256((pieces.folder(shipped, "one") / pieces.SNAPSHOT).read_bytes())
    piece = forged(WHOLE, before=snapshot.hexdigest(), databasePages=1 << 31)
    pieces.put(pieces.file_of(shipped, "one", 1), piece)
    with pytest.raises(OSError, match="are free there"):
        follow(tmp_path, shipped)


PLANTED = {
    "a trigger": ("CREATE TRIGGER planted AFTER INSERT ON message BEGIN SELECT 1; END", "planted"),
    "a view": ("CREATE VIEW planted AS SELECT 1", "planted"),
    "an index": ("CREATE INDEX planted ON message (status)", "planted"),
    "a table": ("CREATE TABLE planted (id)", "planted"),
    "a table that is a view": ("DROP TABLE names; CREATE VIEW names AS SELECT 1", "names"),
    "a view that is a table": ("DROP VIEW ledger; CREATE TABLE ledger (id)", "ledger"),
    "a guard is gone": ("DROP TRIGGER audit_log_no_delete", "audit_log_no_delete"),
    "a column more": ("ALTER TABLE meta ADD COLUMN planted TEXT", "meta"),
    "a trigger on a view": (
        "CREATE TRIGGER planted INSTEAD OF INSERT ON ledger BEGIN SELECT 1; END",
        "planted",
    ),
    "the list of migrations": (
        "DROP TABLE _sqlite_migrations; CREATE VIEW _sqlite_migrations AS SELECT 1",
        "_sqlite_migrations",
    ),
    # SQLite itself refuses two of a name, but not of the indexes that it makes for a table.
    "an index twice": (
        "pragma writable_schema = on; INSERT INTO sqlite_schema SELECT * FROM sqlite_schema"
        " WHERE name = 'sqlite_autoindex_api_keys_1'",
        "sqlite_autoindex_api_keys_1",
    ),
}


@sweep("what", PLANTED)
def test_a_planted_schema_passes_no_copy(what, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("planted")
    folder = tmp_path / "standby"
    copy = StandbyCopy(tmp_path, PieceDirectory(tmp_path / "shipped"))
    folder.mkdir()
    open_writer(copy.file, migrate).close()
    copy.refuse_wrong()
    with closing(sqlite3.connect(copy.file)) as conn:
        conn.executescript("pragma foreign_keys = off;" + PLANTED[what][0])
        conn.execute("pragma wal_checkpoint(truncate)")
    with pytest.raises(StorageUnusable, match=f"not as Risala makes one.*{PLANTED[what][1]}"):
        copy.refuse_wrong()
