"""Databases of development versions from before 1.0.0: refused, and left alone."""

from __future__ import annotations

import gzip
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from processes import run
from risala.cli.main import cli
from risala.engine.features.backup.stored.backup import back_up
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import FIRST, migrate
from risala.engine.journal.upkeep.upgrade.upgrade import is_due
from risala.engine.model.errors import StorageUnusable

EARLY = Path(__file__).parents[1] / "fixtures" / "early" / "m047.db.gz"
WHAT = "was written by a development version from before 1.0.0. Start with a new data directory"


@pytest.fixture
def early(tmp_path) -> Path:
    """A data directory whose database is of the last of them, as a backup has it."""
    data = tmp_path / "risala-data"
    data.mkdir(0o700)
    path = data / "risala.db"
    path.write_bytes(gzip.decompress(EARLY.read_bytes()))
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA journal_mode = delete")
    return path


def beside(path: Path) -> set[str]:
    return {each.name for each in path.parent.iterdir()} - {"lock"}


def test_it_is_refused_before_anything_is_changed(early):
    before = early.read_bytes()
    assert not is_due(early)
    with pytest.raises(StorageUnusable, match=WHAT):
        open_writer(early, migrate)
    assert early.read_bytes() == before
    assert beside(early) == {"risala.db"}


def test_one_of_them_is_enough(tmp_path):
    """Whatever else is in the file."""
    path = tmp_path / "risala.db"
    with closing(open_writer(path, migrate)) as conn:
        conn.execute("UPDATE _sqlite_migrations SET name = 'm001_accounts' WHERE id = 1")
    with pytest.raises(StorageUnusable, match=WHAT):
        open_writer(path, migrate)


def test_a_new_file_whose_first_start_was_cut_short_goes_on(tmp_path):
    """It has the table of migrations, and none in it."""
    path = tmp_path / "risala.db"
    open_writer(path, lambda db: migrate(db, before=FIRST)).close()
    open_writer(path, migrate).close()


@pytest.mark.slow
def test_the_service_says_so_in_one_sentence(early):
    before = early.read_bytes()
    command = ("serve", "--port", "0", "--data", str(early.parent))
    done = run((sys.executable, "-m", "risala", *command), early.parent)
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.strip().splitlines()
    assert WHAT in sentence
    assert early.read_bytes() == before
    assert beside(early) == {"risala.db"}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["audit", "org list", "topup org_1 5 --note cash", "backup"])
def test_a_command_says_so_in_one_sentence(early, command):
    before = early.read_bytes()
    arguments = [*command.split(), "--data", str(early.parent)]
    if command == "backup":
        arguments.insert(1, str(early.with_name("copy.db")))
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert WHAT in done.stderr
    assert early.read_bytes() == before
    assert not early.with_name("copy.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"), [("doctor", "database"), ("upgrade --check", "schema")]
)
def test_the_checks_say_so(early, command, name):
    before = early.read_bytes()
    data = ("--data", str(early.parent))
    done = CliRunner().invoke(cli, [*command.split(), "--json", *data])
    assert done.exit_code == 1
    (check,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == name]
    assert check["state"] == "fail"
    assert WHAT in check["text"]
    assert check["text"].endswith("export what you need.")
    assert early.read_bytes() == before


@pytest.mark.slow
def test_a_backup_of_one_is_not_restored(early, tmp_path):
    database = tmp_path / "new" / "risala.db"
    database.parent.mkdir(0o700)
    open_writer(database, migrate).close()
    before, there = database.read_bytes(), early.read_bytes()
    done = CliRunner().invoke(cli, ["restore", str(early), "--data", str(database.parent)])
    assert done.exit_code == 1
    assert WHAT in done.stderr
    assert str(early) in done.stderr
    assert (database.read_bytes(), early.read_bytes()) == (before, there)
    assert beside(database) == {"risala.db"}


def test_the_books_of_one_are_not_audited(early, tmp_path):
    with pytest.raises(StorageUnusable, match=WHAT):
        back_up(early, tmp_path / "copy.db", lambda *_: None)
    assert not (tmp_path / "copy.db").exists()
