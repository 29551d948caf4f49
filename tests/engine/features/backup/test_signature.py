"""Signed backups: whatever is not as the key has signed it is refused, plain or encrypted."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from pathlib import Path

import pyrage
import pytest
from click.testing import CliRunner

from risala.cli.main import cli
from risala.engine.journal.store.key_file import TRAIL_KEY_FILE, load_trail_key
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.upkeep import checksum
from risala.engine.rules.trail.heads import public_key

FIXTURE = Path(__file__).parents[2] / "journal" / "fixtures" / "v1.0.db.gz"
OTHER_KEY = public_key(bytes(32))


@pytest.fixture
def home(tmp_path):
    """A data directory with a database and the trail's key."""
    folder = tmp_path / "data"
    folder.mkdir(0o700)
    (folder / "risala.db").write_bytes(gzip.decompress(FIXTURE.read_bytes()))
    with closing(open_writer(folder / "risala.db", migrate)):
        pass
    load_trail_key(folder)
    return folder


@pytest.fixture
def key(home) -> str:
    return public_key(load_trail_key(home))


@pytest.fixture(params=["plain", "encrypted"])
def way(request, tmp_path) -> tuple[str, list[str], list[str]]:
    """A file's name, and the options that write and open it."""
    if request.param == "plain":
        return "today.db", [], []
    identity = pyrage.x25519.Identity.generate()
    (tmp_path / "key.txt").write_text(f"{identity}\n")
    opens = ["--identity", str(tmp_path / "key.txt")]
    return "today.age", ["--to-key", str(identity.to_public())], opens


def run(*words: object):
    return CliRunner().invoke(cli, [str(word) for word in words])


def back_up(home: Path, target: Path, *options: str):
    return run("backup", target, "--data", home, *options)


@pytest.fixture
def signed(home, tmp_path, way) -> Path:
    target = tmp_path / way[0]
    told = back_up(home, target, "--sign", *way[1])
    assert told.exit_code == 0, told.output
    return target


@pytest.fixture
def put_back(tmp_path, way):
    def one(source: Path, key: str, *options: str):
        other = tmp_path / "other"
        given = "--data", other, *way[2], "--expect-key", key, *options
        return run("restore", source, *given)

    return one


@pytest.mark.slow
def test_what_the_key_has_signed_is_restored(home, signed, key, put_back, way, tmp_path):
    told = put_back(signed, key, "--json")
    assert told.exit_code == 0, told.output
    at = json.loads(told.stdout)["signedAt"]
    assert json.loads(checksum.signature_of(signed).read_text())["at"] == at
    assert checksum.signature_of(signed).stat().st_mode & 0o777 == 0o600
    told = back_up(home, signed, "--force", "--json", *way[1])
    assert json.loads(told.stdout)["signedBy"] is None
    assert not checksum.signature_of(signed).exists(), "the former one's"


def changed(signed: Path, **fields: str) -> None:
    path = checksum.signature_of(signed)
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def unsigned(signed: Path) -> None:
    checksum.signature_of(signed).unlink()


def altered(signed: Path) -> None:
    data = bytearray(signed.read_bytes())
    data[-1] ^= 1
    signed.write_bytes(data)
    checksum.write(signed, checksum.of_file(signed, lambda *_: None))


FORGED = {
    "unsigned": (unsigned, "is not signed"),
    "by another key": (lambda signed: changed(signed, key=OTHER_KEY), "by another key"),
    "changed": (altered, "is not what was signed"),
    "another time": (lambda signed: changed(signed, at="2027"), "is wrong"),
    "another name": (lambda signed: changed(signed, name="other.db"), "is wrong"),
    "another checksum": (lambda signed: changed(signed, sha256="0" * 64), "is wrong"),
    "no signature": (lambda signed: changed(signed, signature="x"), "is wrong"),
    "a number": (lambda signed: changed(signed, name=7), "has no signature"),
    "no object": (lambda signed: checksum.signature_of(signed).write_text("[" * 9000), "has no"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FORGED)
def test_whatever_is_not_as_it_was_signed_is_refused(signed, key, put_back, tmp_path, what):
    forge, words = FORGED[what]
    forge(signed)
    told = put_back(signed, key, "--force")
    assert (told.exit_code, words in told.output) == (1, True), told.output
    assert not (tmp_path / "other" / "risala.db").exists()


@pytest.mark.slow
def test_a_signature_is_good_for_its_own_backup_alone(home, signed, key, put_back, way, tmp_path):
    second = tmp_path / f"second{signed.suffix}"
    assert back_up(home, second, *way[1]).exit_code == 0
    signature = checksum.signature_of(signed).read_bytes()
    checksum.signature_of(second).write_bytes(signature)
    assert "is of a file named" in put_back(second, key).output
    signed.write_bytes(second.read_bytes() + b"\0")
    checksum.beside(signed).unlink()
    assert "is not what was signed" in put_back(signed, key).output


@pytest.mark.slow
def test_without_a_key_nothing_is_written(home, tmp_path):
    (home / TRAIL_KEY_FILE).unlink()
    told = back_up(home, tmp_path / "today.db", "--sign")
    assert (told.exit_code, "nothing can sign the backup" in told.output) == (1, True)
    assert not (tmp_path / "today.db").exists()
    assert not (home / TRAIL_KEY_FILE).exists()


@pytest.mark.slow
def test_the_settings_sign_each(home, tmp_path, key):
    (tmp_path / "risala.toml").write_text("[storage]\nsign_backups = true\n")
    told = back_up(home, tmp_path / "a.db", "--config", str(tmp_path / "risala.toml"), "--json")
    assert json.loads(told.stdout)["signedBy"] == key
