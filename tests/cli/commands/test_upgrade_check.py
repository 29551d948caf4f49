"""`risala upgrade --check`: what the new version would meet, by reading alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

import stones
from processes import run
from risala.engine.features.doctor import upgrade_check
from risala.engine.journal.upkeep import backup_note
from risala.engine.journal.upkeep.upgrade.upgrade import forecast
from risala.engine.model.clock import SystemClock
from risala.engine.model.records.upkeep.service import BackupNote
from stones import StonesMove, write_stones

FIXTURES = Path(__file__).parents[2] / "engine/journal/fixtures"
HOUR_MS = 3_600_000
pytestmark = pytest.mark.slow


@pytest.fixture
def data(tmp_path) -> Path:
    (tmp_path / "risala-data").mkdir(0o700)
    return tmp_path / "risala-data"


def put(data: Path, name: str) -> None:
    (data / "risala.db").write_bytes(gzip.decompress((FIXTURES / name).read_bytes()))


def back_up(data: Path, hours_ago: int) -> None:
    at = SystemClock().now_ms() - hours_ago * HOUR_MS
    backup_note.write(data, BackupNote(at, 1000))


def checked(risala) -> tuple[int, dict[str, tuple[str, str]]]:
    done = risala("upgrade", "--check", "--json")
    told = json.loads(done.stdout)
    assert told["ready"] == (done.exit_code == 0)
    return done.exit_code, {each["name"]: (each["state"], each["text"]) for each in told["checks"]}


def test_rows_that_have_to_move_are_counted_and_nothing_is_changed(risala, data, monkeypatch):
    monkeypatch.setattr(upgrade_check, "forecast", partial(forecast, moves=[StonesMove()]))
    with stones.migrations():
        write_stones(data / "risala.db", 3)
        back_up(data, 1)
        before = hashlib.sha256((data / "risala.db").read_bytes()).hexdigest()
        code, found = checked(risala)
    assert code == 0
    assert stones.MIGRATION in found["schema"][1]
    assert "messages must be moved" in found["time"][1]
    assert "MB of free disk" in found["disk"][1]
    assert hashlib.sha256((data / "risala.db").read_bytes()).hexdigest() == before


def test_short_changes_are_named(risala, data):
    put(data, "v1.0.db.gz")
    back_up(data, 1)
    with stones.migrations():
        code, found = checked(risala)
    assert code == 0
    assert stones.EARLIER in found["schema"][1]
    assert "No rows" in found["time"][1]


@pytest.mark.parametrize("hours", [None, 30])
def test_without_a_fresh_backup_it_is_not_ready(risala, data, hours):
    put(data, "v1.0.db.gz")
    if hours is not None:
        back_up(data, hours)
    code, found = checked(risala)
    assert code == 1
    assert found["backup"][0] == "fail"


def test_settings_and_plugins_of_another_time_are_named(risala, data, tmp_path):
    put(data, "v1.0.db.gz")
    back_up(data, 1)
    (tmp_path / "risala.toml").write_text("[http]\nport = 8080\ngone_since = 3\n")
    code, found = checked(risala)
    assert code == 1
    assert "gone_since" in found["settings"][1]
    assert found["schema"][0] == "ok"  # the data is looked at all the same
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "broken.py").write_text("raise RuntimeError('made for another version')\n")
    (tmp_path / "risala.toml").write_text('[plugins]\nfolder = "plugins"\n')
    code, found = checked(risala)
    assert code == 1
    assert "broken" in found["plugins"][1]


def test_names_of_before_are_a_note(risala, data, tmp_path):
    put(data, "v1.0.db.gz")
    back_up(data, 1)
    (tmp_path / "risala.toml").write_text("[faces.kannel]\nenabled = true\n")
    code, found = checked(risala)
    assert (code, found["settings"][0]) == (0, "warn")
    assert "write [compat], and no longer [faces]" in found["settings"][1]


def test_a_secret_that_the_service_alone_has_is_a_note(risala, data, tmp_path):
    """The shell of whoever looks has no secrets: systemd gives them to the service."""
    put(data, "v1.0.db.gz")
    back_up(data, 1)
    carrier = """
[[carriers]]
name = "mattel"
driver = "smpp"
[carriers.smpp]
host = "127.0.0.1"
port = 2775
system_id = "shop"
password_env = "MATTEL_PASSWORD"
"""
    (tmp_path / "risala.toml").write_text(carrier)
    code, found = checked(risala)
    assert (code, found["plugins"][0], found["secrets"][0]) == (0, "ok", "warn")
    assert "MATTEL_PASSWORD" in found["secrets"][1]
    (tmp_path / "risala.toml").write_text(carrier + "unheard_of = 3\n")
    code, found = checked(risala)
    assert (code, found["plugins"][0]) == (1, "fail")
    assert "unheard_of" in found["plugins"][1]


def put_newer(data: Path) -> None:
    put(data, "v1.0.db.gz")
    with closing(sqlite3.connect(data / "risala.db")) as conn, conn:
        conn.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " SELECT migration_set, 'v9.9_later', applied_at FROM _sqlite_migrations LIMIT 1"
        )


def said_of_a_newer(stderr: str) -> bool:
    (sentence,) = stderr.strip().splitlines()
    words = "was written by a newer Risala (it has 'v9.9_later'). Install that version, or restore"
    return words in sentence


def test_an_older_service_does_not_start_and_touches_nothing(data):
    put_newer(data)
    before = (data / "risala.db").read_bytes()
    command = [sys.executable, "-m", "risala", "serve", "--port", "0", "--data", str(data)]
    done = run(command, data.parent)
    assert (done.returncode, done.stdout) == (1, "")
    assert said_of_a_newer(done.stderr)
    assert {path.name for path in data.iterdir()} == {"lock", "risala.db"}
    assert (data / "risala.db").read_bytes() == before


@pytest.mark.parametrize("command", ["audit", "org list", "topup org_1 5 --note cash"])
def test_an_older_version_says_so_in_one_sentence_and_touches_nothing(risala, data, command):
    put_newer(data)
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    done = risala(*command.split())
    assert done.exit_code == 1
    assert said_of_a_newer(done.stderr)
    after = {path.name: path.read_bytes() for path in data.iterdir()}
    assert {name: after[name] for name in after.keys() - {"lock"}} == before


def test_a_newer_database_is_refused(risala, data):
    put_newer(data)
    back_up(data, 1)
    code, found = checked(risala)
    assert code == 1
    assert "newer Risala" in found["schema"][1]


def test_the_flag_is_asked_for(risala):
    assert risala("upgrade").exit_code == 2
