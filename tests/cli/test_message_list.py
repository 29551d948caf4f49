"""The list of messages by command: filtered, page by page, without their texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from risala.cli.main import cli

TO = "+22236123456"


@pytest.mark.slow
def test_pages_of_messages(tmp_path: Path):
    def run(*arguments: str, ends: int = 0):
        data = ("--data", str(tmp_path / "data"))
        done = CliRunner().invoke(cli, (*arguments, *data), prog_name="risala")
        assert done.exit_code == ends, done.output
        return done

    run("org", "create", "Shop")
    run("topup", "10")
    for number in range(3):
        run("send", TO, f"the text {number}", "--at", "2h", "--key", f"order-{number}00")
    first = run("message", "list", "--limit", "2")
    assert len(first.stdout.splitlines()) == 3
    assert "the text" not in first.stdout
    assert first.stdout.count("pending") == 2
    (hint,) = [line for line in first.stderr.splitlines() if "--before" in line]
    cursor = hint.split()[-1].rstrip(".")
    second = run("message", "list", "--limit", "2", "--before", cursor)
    assert len(second.stdout.splitlines()) == 2
    ids = [line.split()[2] for line in (first.stdout + second.stdout).splitlines() if TO in line]
    assert len(set(ids)) == 3
    assert "There are no such messages." in run("message", "list", "--status", "failed").stdout
    assert run("message", "list", "--to", "36 12 34 56", "--since", "1h").stdout.count(TO) == 3
    assert "status" in run("message", "list", "--status", "lost", ends=1).stderr
    before = run("org", "list").stdout
    run("send", "36 12 34 00", "a test", "--test")
    assert run("org", "list").stdout == before
    assert run("message", "list", "--test").stdout.count("+22236123400") == 1
    assert "+22236123400" not in run("message", "list").stdout
