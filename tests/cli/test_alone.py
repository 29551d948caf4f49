"""The commands while nothing runs: the engine opened by their own hand, on a real database."""

import json
import socket
import sqlite3
import sys
from contextlib import closing

import pytest

from processes import run


@pytest.mark.slow
def test_from_an_empty_directory_to_a_message_that_waits(risala, tmp_path, monkeypatch):
    monkeypatch.setenv("RISALA_DATA", str(tmp_path / "data"))

    def done(*arguments: str) -> dict:
        result = risala(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    made = done("org", "create", "Shop", "--price", "0.40")
    assert done("topup", "Shop", "1")["balanceAfter"] == "1.00"
    assert done("key", "create")["value"].startswith("sk_live_")
    sent = done("send", "36 12 34 56", "Hello", "--key", "k" * 8)
    assert done("send", "36 12 34 56", "Hello", "--key", "k" * 8) == sent
    shown = done("message", "show", sent["messageId"])
    assert (shown["message"]["status"], shown["message"]["price"]) == ("pending", "0.40")
    assert done("org", "show")["balance"] == "0.60"
    assert done("audit")["clean"]
    assert done("org", "suspend", made["id"])["status"] == "suspended"
    assert done("carriers")["carriers"] == []

    warned = risala("send", "36123456", "Hello")
    assert (warned.exit_code, warned.stdout) == (1, "")  # suspended
    done("org", "resume", "Shop")
    warned = risala("send", "36123456", "Hello")
    assert "no enabled carrier serves this number" in warned.stderr
    assert risala("send", "36123456", "Hello").exit_code == 1  # 0.20 are left
    done("topup", "Shop", "1")
    monkeypatch.setenv("RISALA_CARRIERS", '[{"name": "m", "driver": "loopback"}]')
    warned = risala("send", "36123456", "Hello")
    assert "is sent when it starts" in warned.stderr


@pytest.mark.slow
def test_serve_on_a_port_in_use_is_one_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "risala", "serve", "--port", port, "--data", tmp_path]
        done = run(command, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert f"127.0.0.1:{port} is in use" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [("org", "list"), ("audit",), ("send", "36123456", "Hello")])
def test_a_lost_or_damaged_database_is_one_sentence(risala, tmp_path, monkeypatch, command):
    monkeypatch.setenv("RISALA_DATA", str(tmp_path))
    database = tmp_path / "risala.db"
    assert risala("org", "create", "Shop").exit_code == 0
    whole = database.read_bytes()
    database.unlink()
    lost = risala(*command)
    assert (lost.exit_code, lost.stdout) == (1, "")
    assert "is gone, and there was one: put it back" in lost.stderr
    assert not database.exists()
    backup = risala("backup", str(tmp_path / "backup.db"))
    assert backup.exit_code == 1
    assert "is gone, and there was one" in backup.stderr

    database.write_bytes(whole)
    with closing(sqlite3.connect(database)) as conn:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'organizations'"
        (page,) = conn.execute(query).fetchone()
    with open(database, "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    damaged = risala(*command)
    assert (damaged.exit_code, damaged.stdout) == (1, "")
    assert "is damaged" in damaged.stderr
    assert "restore a backup" in damaged.stderr
