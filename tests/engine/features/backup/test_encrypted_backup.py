"""Encrypted backups: only their key opens them, they have the keys of the service in them, and what
is damaged, cut or for somebody else changes nothing."""

from __future__ import annotations

import gzip
import io
import resource
import sqlite3
import subprocess
import sys
import tarfile
import threading
import tracemalloc
from contextlib import closing
from pathlib import Path

import pyrage
import pytest

from risala.engine.features.backup import age_file
from risala.engine.features.backup.stored.backup import back_up, back_up_encrypted
from risala.engine.features.backup.stored.restore import restore, restore_encrypted
from risala.engine.journal.sealed.resealing import lost, sealed_in
from risala.engine.journal.store.opening import open_reader, open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.journal.store.server_key import ServerKeys
from risala.engine.journal.upkeep import checksum
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.messages import Stamp

FIXTURE = Path(__file__).parents[2] / "journal" / "fixtures" / "v1.0.db.gz"
MIB = 1 << 20


def silent(*_: object) -> None:
    pass


class Keeper:
    """Somebody with a key of age, in a file."""

    def __init__(self, folder: Path, name: str) -> None:
        identity = pyrage.x25519.Identity.generate()
        self.public, self.file = str(identity.to_public()), folder / f"{name}.txt"
        self.file.write_text(f"# created: today\n# public key: {self.public}\n{identity}\n")


@pytest.fixture
def home(tmp_path):
    """A data directory with an upgraded database and both keys."""
    folder = tmp_path / "data"
    folder.mkdir(0o700)
    path = folder / "risala.db"
    path.write_bytes(gzip.decompress(FIXTURE.read_bytes()))
    path.chmod(0o600)
    with closing(open_writer(path, sealed_in(SealingKeys(folder, {}), migrate))):
        pass
    ServerKeys(folder, {})
    (folder / "audit.key").write_text("ab" * 32)
    return folder


@pytest.fixture
def keeper(tmp_path):
    return Keeper(tmp_path, "keeper")


@pytest.fixture
def backup(home, tmp_path, keeper):
    target = tmp_path / "today.age"
    back_up_encrypted(home / "risala.db", target, [keeper.public], silent)
    return target


def put_back(source: Path, identity: Path, folder: Path):
    options = {"resend_pending": False, "even_unclean": False, "progress": silent}
    return restore_encrypted(
        identity, source, folder / "risala.db", stamp=lambda: Stamp(1_800_000_000_000), **options
    )


def test_on_another_machine_it_brings_the_keys_and_every_secret_opens(
    tmp_path, home, backup, keeper
):
    other = tmp_path / "other"
    other.mkdir(0o700)
    report = put_back(backup, keeper.file, other)
    assert report.checked
    assert report.lost == ()
    for name in ("server.key", "sealing.key"):
        assert (other / name).read_bytes() == (home / name).read_bytes()
        assert (other / name).stat().st_mode & 0o777 == 0o600
    assert not (other / "audit.key").exists()
    with closing(open_reader(other / "risala.db")) as conn:
        assert list(lost(conn, SealingKeys(other, {}))) == []
    assert sorted(each.name for each in other.iterdir() if each.is_dir()) == []


def test_a_machine_with_keys_keeps_its_own_and_opens_both(tmp_path, backup, keeper):
    other = tmp_path / "other"
    other.mkdir(0o700)
    own, server = SealingKeys(other, {}).ring().newest, ServerKeys(other, {}).ring().newest
    assert put_back(backup, keeper.file, other).lost == ()
    assert SealingKeys(other, {}).ring().newest == own
    assert len(SealingKeys(other, {}).ring().keys) == 2
    assert ServerKeys(other, {}).ring().newest == server


def test_each_of_several_keys_opens_it_and_it_is_for_its_owner_alone(tmp_path, home):
    people = [Keeper(tmp_path, name) for name in ("one", "two")]
    target = tmp_path / "today.age"
    back_up_encrypted(home / "risala.db", target, [each.public for each in people], silent)
    assert target.stat().st_mode & 0o777 == 0o600
    for each in people:
        opened = io.BytesIO()
        pyrage.decrypt_io(
            io.BytesIO(target.read_bytes()), opened, age_file.identities_in(each.file)
        )
        opened.seek(0)
        with tarfile.open(fileobj=opened) as archive:
            assert archive.getnames() == ["risala.db", "server.key", "sealing.key"]


def test_a_wrong_key_gives_one_sentence_and_changes_nothing(tmp_path, home, backup):
    before = sorted((each.name, each.stat().st_size) for each in home.iterdir())
    with pytest.raises(StorageUnusable, match="it is for another one") as refused:
        put_back(backup, Keeper(tmp_path, "stranger").file, home)
    assert str(refused.value).count(".") <= 2
    assert sorted((each.name, each.stat().st_size) for each in home.iterdir()) == before


@pytest.mark.parametrize("how", ["cut", "changed at its end", "changed in its middle", "longer"])
def test_what_is_damaged_is_refused_whole(tmp_path, home, backup, keeper, how):
    octets = bytearray(backup.read_bytes())
    if how == "cut":
        del octets[-70_000:]
    elif how == "longer":
        octets += b"x"
    else:
        octets[-5 if how == "changed at its end" else len(octets) // 2] ^= 1
    backup.write_bytes(octets)
    other = tmp_path / "other"
    other.mkdir(0o700)
    with pytest.raises(StorageUnusable):
        put_back(backup, keeper.file, other)
    assert list(other.iterdir()) == []


def test_a_wish_to_end_ends_it_and_leaves_nothing(tmp_path, home, keeper):
    """It comes from the thread of the call: only that one may ask for it."""
    here = threading.get_ident()

    def told(step, done, total):
        assert threading.get_ident() == here
        if step == "encrypting" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up_encrypted(home / "risala.db", tmp_path / "b.age", [keeper.public], told)
    assert [each.name for each in tmp_path.iterdir() if "b.age" in each.name] == []
    assert [each.name for each in home.iterdir() if each.is_dir()] == []


def test_a_full_disk_is_said(tmp_path, home, keeper):
    target = tmp_path / "b.age"
    (tmp_path / "b.age.partial").symlink_to("/dev/full")
    with pytest.raises(StorageUnusable):
        back_up_encrypted(home / "risala.db", target, [keeper.public], silent)
    with pytest.raises(OSError, match="No space"):
        age_file.encrypt(
            {"risala.db": home / "risala.db"},
            Path("/dev/full"),
            age_file.recipients_of([keeper.public]),
            silent,
        )


def test_nothing_plain_is_beside_it_and_its_checksum_is_right(home, backup):
    assert backup.read_bytes().startswith(age_file.MAGIC)
    assert b"SQLite format 3" not in backup.read_bytes()
    assert checksum.expected(backup) == checksum.of_file(backup, silent)
    assert [each.name for each in backup.parent.iterdir() if "partial" in each.name] == []
    assert [each.name for each in home.iterdir() if each.is_dir()] == []


def test_a_key_that_is_none_is_said_before_anything_is_done(tmp_path, home):
    with pytest.raises(StorageUnusable, match="is no public key of age"):
        back_up_encrypted(home / "risala.db", tmp_path / "b.age", ["age1abc"], silent)
    assert not (tmp_path / "b.age").exists()
    for text, words in (("", "has no key"), ("AGE-SECRET-KEY-1XX\n", "is damaged")):
        (tmp_path / "k").write_text(text)
        with pytest.raises(StorageUnusable, match=words):
            age_file.identities_in(tmp_path / "k")


LARGE_MIB = 96


def test_a_large_file_passes_through_a_small_memory(tmp_path):
    """Both ways, in a process of its own, whose peak is measured."""
    source = tmp_path / "large"
    with open(source, "wb") as file:
        file.truncate(LARGE_MIB * MIB)
    script = f"""
import resource
from pathlib import Path
from risala.engine.features.backup import age_file
import pyrage
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
me, folder = pyrage.x25519.Identity.generate(), Path({str(tmp_path)!r})
small = folder / "small"
small.write_bytes(b"x")
them, heard = [me.to_public()], lambda done: None
age_file.encrypt({{"large": small}}, folder / "s.age", them, heard)
before = peak()
age_file.encrypt({{"large": folder / "large"}}, folder / "l.age", them, heard)
found = age_file.decrypt(folder / "l.age", [me], folder / "out", {{"large": 1 << 40}})
assert found["large"].stat().st_size == {LARGE_MIB * MIB}
print(peak() - before)
"""
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        (sys.executable, "-c", script), capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < LARGE_MIB / 3 * 1024, "in KiB"


# -- what somebody else made for the public key ----------------------------------------------------


def archive_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def member(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info, data


def long_header() -> bytes:
    """A header of 64 MiB before a member."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 64 * MIB
    return info.tobuf() + bytes(64 * MIB)


def headers_without_end() -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 512
    record = b"20 comment=12345678\n"
    return (info.tobuf() + record + bytes(512 - len(record))) * 5000


def sparse() -> bytes:
    """A few octets that unpack to 5 GB of zeros."""
    info = tarfile.TarInfo("risala.db")
    info.type, info.size = tarfile.GNUTYPE_SPARSE, 512
    block = bytearray(info.tobuf())
    block[386:410] = b"00000000000\0" + b"00000001000\0"
    block[483:495] = f"{5 << 30:011o}\0".encode()
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block) + bytes(512) + bytes(1024)


def sparse_in_words() -> bytes:
    """The same in the words of a later form, with less of it."""
    info = tarfile.TarInfo("risala.db")
    words = {"size": f"{256 * MIB}", "map": "0,0", "numblocks": "1"}
    info.pax_headers = {f"GNU.sparse.{name}": value for name, value in words.items()}
    return info.tobuf(tarfile.PAX_FORMAT) + bytes(1024)


def whole(home: Path, **keys: bytes) -> bytes:
    """A good database with these files of keys."""
    named = {name.replace("_", "."): data for name, data in keys.items()}
    files = {"risala.db": (home / "plain.db").read_bytes(), **named}
    return archive_of(*(member(name, data) for name, data in files.items()))


def planted(home: Path) -> bytes:
    with closing(sqlite3.connect(home / "plain.db")) as conn:
        conn.execute("CREATE TRIGGER planted AFTER INSERT ON message BEGIN SELECT 1; END")
    return whole(home, server_key=b"ab" * 32, sealing_key=b"cd" * 32)


FORGED = {
    "an empty key": (lambda home: whole(home, server_key=b""), "not a server key"),
    "a short key": (lambda home: whole(home, sealing_key=b"ab12"), "not a sealing key"),
    "a binary key": (lambda home: whole(home, server_key=b"\xff\0" * 40), "it is no text"),
    "a key of 50 MB": (
        lambda home: whole(home, sealing_key=b"ab" * 25_000_000),
        r"sealing\.key in it has 50000000 octets",
    ),
    "holes": (lambda home: sparse(), "cannot be unpacked"),
    "holes in words": (lambda home: sparse_in_words(), "cannot be unpacked"),
    "a long header": (lambda home: long_header(), "cannot be unpacked"),
    "headers without an end": (lambda home: headers_without_end(), "cannot be unpacked"),
    "many members": (
        lambda home: archive_of(*(member(f"{n}", b"") for n in range(100))),
        "cannot be unpacked",
    ),
    "no database": (lambda home: archive_of(member("server.key", b"ab" * 32)), "not a backup"),
    "a trigger, with good keys": (planted, "trigger 'planted', which Risala does not make"),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_a_forger_made_is_refused_and_leaves_nothing(tmp_path, home, keeper, what):
    """Everybody with the public key can make such a file."""
    back_up(home / "risala.db", home / "plain.db", silent)
    make, words = FORGED[what]
    source, other = tmp_path / "forged.age", tmp_path / "other"
    octets = pyrage.encrypt(make(home), age_file.recipients_of([keeper.public]))
    source.write_bytes(octets)
    other.mkdir(0o700)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_oublock
    with pytest.raises(StorageUnusable, match=words):
        put_back(source, keeper.file, other)
    assert list(other.iterdir()) == []
    written = (resource.getrusage(resource.RUSAGE_SELF).ru_oublock - before) * 512
    assert written < 64 * MIB, "octets on the disk"


def test_a_long_header_takes_no_memory(tmp_path, home, keeper):
    source, other = tmp_path / "forged.age", tmp_path / "other"
    source.write_bytes(pyrage.encrypt(long_header(), age_file.recipients_of([keeper.public])))
    other.mkdir(0o700)
    tracemalloc.start()
    try:
        with pytest.raises(StorageUnusable, match="cannot be unpacked"):
            put_back(source, keeper.file, other)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 * MIB


def test_the_map_of_a_file_with_holes_is_not_read(tmp_path, home, keeper, monkeypatch):
    """It may have as many entries as the file has room for, and each takes memory."""
    monkeypatch.setattr(tarfile.TarInfo, "_proc_sparse", lambda *_: pytest.fail("it is read"))
    source, other = tmp_path / "forged.age", tmp_path / "other"
    source.write_bytes(pyrage.encrypt(sparse(), age_file.recipients_of([keeper.public])))
    other.mkdir(0o700)
    with pytest.raises(StorageUnusable, match="cannot be unpacked"):
        put_back(source, keeper.file, other)


def test_a_missing_checksum_is_told(tmp_path, backup, keeper):
    checksum.beside(backup).unlink()
    other = tmp_path / "other"
    other.mkdir(0o700)
    assert not put_back(backup, keeper.file, other).checked


def test_a_plain_restore_into_an_empty_directory_makes_no_sealing_key(tmp_path, home):
    plain = tmp_path / "plain.db"
    back_up(home / "risala.db", plain, silent)
    other = tmp_path / "other"
    other.mkdir(0o700)
    given = {"resend_pending": False, "even_unclean": False, "progress": silent}
    report = restore(plain, other / "risala.db", stamp=lambda: Stamp(1_800_000_000_000), **given)
    assert report.lost
    assert not (other / "sealing.key").exists()
    (other / "sealing.key").write_bytes((home / "sealing.key").read_bytes())
    with closing(open_reader(other / "risala.db")) as conn:
        assert list(lost(conn, SealingKeys(other, {}))) == []
