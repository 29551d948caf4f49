"""Payments by command: what waits, what is known of it, and what an operator decides."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from risala.cli.main import cli

pytestmark = pytest.mark.slow
ROW = (
    "INSERT INTO payments (id, organization_id, method, amount, currency, language, state,"
    " by_operator, reference, reference_key, begun_by, begun_at, claimed_at)"
    " VALUES (?, ?, 'bankily', 50000, 'MRU', 'fr', 'waiting', 1, ?, ?, 'aicha', 0, 1)"
)


@pytest.fixture
def run(tmp_path: Path):
    """Commands on a data directory in which two payments wait."""

    def call(*arguments: str, ends: int = 0):
        data = ("--data", str(tmp_path / "data"))
        done = CliRunner().invoke(cli, (*arguments, *data), prog_name="risala")
        assert done.exit_code == ends, done.output
        return done

    shop = json.loads(call("org", "create", "Shop", "--json").stdout)["id"]
    with closing(sqlite3.connect(tmp_path / "data" / "risala.db")) as conn, conn:
        conn.execute(ROW, ("pay_1", shop, "BK-1\x1b[2J", "BK12J"))
        conn.execute(ROW, ("pay_2", shop, "bk 12j", "BK12J"))
    return call


def test_what_waits_is_confirmed_once(run):
    listed = run("payment", "list", "Shop").stdout
    assert [line.split()[0] for line in listed.splitlines()[1:]] == ["pay_2", "pay_1"]
    assert "waiting for you" in listed
    assert "\x1b" not in listed
    assert "begun" in run("payment", "show", "pay_1").stdout.lower()
    done = run("payment", "confirm", "pay_1", "--amount", "450", "--reference", "BK-12J")
    assert "Credited 450.00 MRU to Shop: the balance is 450.00 MRU." in done.stdout
    assert "Credited         450.00 MRU" in run("payment", "show", "pay_1").stdout
    assert "already credited: 450.00" in run("payment", "confirm", "pay_2", ends=1).stderr
    assert "is refused" in run("payment", "refuse", "pay_2", "It is the other one's").stdout
    assert "other one's" in run("payment", "show", "pay_2").stdout
    assert "No payments are waiting." in run("payment", "list").stdout
    assert "refused" in run("payment", "list", "--all").stdout
    assert "already credited" in run("topup", "Shop", "5", "--reference", "bk12j", ends=1).stderr
    run("audit")


def test_what_is_not_there_is_said(run):
    assert "no such payment" in run("payment", "confirm", "pay_x", ends=1).stderr
