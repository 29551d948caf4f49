"""``backup``, ``restore`` and ``doctor`` as a person meets them."""

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from patience import HANG_S
from risala.engine.journal.store.lock import DataLock


@pytest.fixture
def data(risala, tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RISALA_DATA", str(tmp_path / "data"))
    assert risala("org", "create", "Shop").exit_code == 0
    assert risala("topup", "10").exit_code == 0
    assert risala("send", "36123456", "Salam").exit_code == 0
    return tmp_path / "data"


def test_backup_and_restore_say_what_they_did(data, risala, tmp_path):
    done = risala("backup", "copy.db")
    assert done.exit_code == 0
    assert done.stderr == ""
    assert "1 organization, 1 message, 2 ledger entries" in done.stdout
    done = risala("restore", "copy.db")
    assert done.exit_code == 0
    assert "1 message that may have been sent since: failed and refunded." in done.stdout
    assert "risala.db.before-restore-" in done.stdout
    assert json.loads(risala("org", "show", "--json").stdout)["balance"] == "10.00"
    done = risala("restore", "copy.db", "--resend-pending")
    assert "1 message on the way when the copy was made: sent, and may arrive twice." in done.stdout
    assert json.loads(risala("org", "show", "--json").stdout)["balance"] == "9.50"
    assert risala("audit").exit_code == 0


def test_a_file_that_is_there_is_written_over_only_when_told(data, risala, tmp_path):
    (tmp_path / "copy.db").write_text("mine")
    done = risala("backup", "copy.db")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "--force" in done.stderr
    assert (tmp_path / "copy.db").read_text() == "mine"
    assert risala("backup", "copy.db", "--force").exit_code == 0


def test_books_that_do_not_agree_are_backed_up_and_told(data, risala):
    with closing(sqlite3.connect(data / "risala.db")) as conn, conn:
        conn.execute("update organizations set balance = balance + 1")
    done = risala("backup", "copy.db", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["clean"] is False
    assert "its books do not agree" in done.stderr
    done = risala("restore", "copy.db")
    assert (done.exit_code, done.stdout) == (1, "")
    assert risala("restore", "copy.db", "--force").exit_code == 1  # done, and told again


def test_nothing_to_back_up(risala, tmp_path):
    assert "There is no data in" in risala("backup", "copy.db", "--data", "none").stderr
    (tmp_path / "empty").mkdir()
    done = risala("backup", "copy.db", "--data", "empty")
    assert (done.exit_code, "no database" in done.stderr) == (1, True)
    assert "There is no file" in risala("restore", "copy.db", "--data", "none").stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
@pytest.mark.long
def test_a_backup_in_a_terminal_shows_how_far_it_is_and_ends_by_ctrl_c(data, tmp_path):
    filler = "x" * 100_000
    with closing(sqlite3.connect(data / "risala.db")) as conn, conn:
        conn.execute("create table filler (text)")
        conn.executemany("insert into filler values (?)", [(filler,)] * 3000)  # 300 MB
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "risala", "backup", tmp_path / "copy.db"],
        stderr=theirs,
        stdout=subprocess.PIPE,
        env=os.environ | {"TERM": "xterm"},
        # Whoever runs the tests in the background has Ctrl-C ignored, and a child inherits that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    shown = b""
    try:
        while b"Copying" not in shown:
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=HANG_S)
    finally:
        process.kill()
        os.close(ours)
    assert (process.returncode, output) == (1, b"")
    assert not list(tmp_path.glob("copy.db*"))


class TestDoctor:
    def test_exit_code_0_without_a_failure(self, data, risala):
        done = risala("doctor")
        assert done.exit_code == 0
        assert "harmless here" in done.stdout or "SQLite 3." in done.stdout
        found = json.loads(risala("doctor", "--json").stdout)
        assert found["ok"] is True
        assert found["checks"][0]["name"] == "settings"

    def test_settings_that_do_not_load_are_the_first_of_its_findings(self, data, risala, tmp_path):
        (tmp_path / "risala.toml").write_text("[http]\nhots = 1\n")
        done = risala("doctor", "--data", str(data))
        assert done.exit_code == 1
        assert done.stdout.splitlines()[1].startswith("settings")
        assert "http.hots" in done.stdout
        assert "SQLite finds no fault" in done.stdout
        assert done.stderr == "Failed: settings.\n"

    def test_a_damaged_database(self, data, risala):
        (data / "risala.db").write_bytes(b"nonsense" * 1000)
        done = risala("doctor", "--json")
        assert done.exit_code == 1
        assert json.loads(done.stdout)["ok"] is False

    def test_a_holder_that_does_not_answer(self, data, risala, monkeypatch):
        monkeypatch.setattr("risala.cli.reach.session._PATIENCE_S", 0.1)
        with DataLock(data):
            done = risala("doctor")
        assert done.exit_code == 1
        assert f"Process {os.getpid()} holds the data and does not answer" in done.stdout

    def test_no_data_yet(self, risala):
        done = risala("doctor", "--data", "none")
        assert done.exit_code == 0
        assert "There is no none yet" in done.stdout

    def test_a_redacted_report_shows_nothing_of_the_installation(self, risala, tmp_path):
        """Names that are common words, secrets, numbers, texts and addresses: in the settings, in
        the database, in the faults."""
        data = tmp_path / "kept-in-Nouadhibou"
        there = ("--data", str(data))
        names = ("Every Message", "messages@carriers.mr", "Queue")
        assert risala("org", "create", names[0], *there).exit_code == 0
        made = risala("key", "create", "--name", "loop", *there, "--json")
        secret = json.loads(made.stdout)["value"]
        assert risala("topup", names[0], "10", *there).exit_code == 0
        sent = risala("send", "+22236123456", "Rendezvous-Tevragh", "--org", names[0], *there)
        assert sent.exit_code == 0, sent.stderr
        assert risala("user", "create", names[1], *there).exit_code == 0
        (tmp_path / "risala.toml").write_text(
            "[service]\ndefault_sender = 'Queue'\n[[carriers]]\nname = 'Waiting Disk'\n"
            "driver = 'smpp'\n[carriers.smpp]\nhost = 'smsc.zz9.mr'\nport = 'hunter2'\n"
            "password = 'no backup yet'\n"
        )
        for more in ((), ("--json",)):
            done = risala("doctor", "--redacted", *there, *more)
            assert done.exit_code == 1, "the settings do not load"
            planted = (*names, secret, "36123456", "Tevragh", "smsc.zz9.mr", "hunter2", "Disk,")
            shown = done.stdout + done.stderr
            found = [each for each in (*planted, "no backup yet", "Nouadhibou") if each in shown]
            assert found == []
            assert "SQLite finds no fault" in shown
