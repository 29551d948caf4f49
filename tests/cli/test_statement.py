"""The statement of a month on the terminal, and as a PDF."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from risala.cli.main import cli


@pytest.fixture
def run(tmp_path: Path):
    """Commands of a folder that has one organization, which paid once."""

    def risala(*arguments: str):
        command = [*arguments, "--data", str(tmp_path)]
        return CliRunner().invoke(cli, command, prog_name="risala")

    assert risala("org", "create", "My shop").exit_code == 0
    assert risala("topup", "My shop", "5000").exit_code == 0
    return risala


def test_each_day_has_a_line(run):
    told = run("statement", "My shop")
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()
    assert len(lines) == 4
    assert lines[1].split()[-1] == "0.00"
    assert lines[2].split()[-2:] == ["5000.00", "5000.00"]
    assert lines[3].startswith("together")


@pytest.mark.parametrize("language", ["fr", "ar", "en"])
def test_the_month_as_pdf(run, tmp_path, language):
    file = tmp_path / "month.pdf"
    told = run("statement", "--pdf", str(file), "--language", language)
    assert told.exit_code == 0, told.output
    assert "Wrote the statement of My shop" in told.stdout
    assert file.read_bytes().startswith(b"%PDF-")
    assert f"/Lang ({language})".encode() in file.read_bytes()


def test_what_is_missing_is_said_before_anything_is_written(run, tmp_path, monkeypatch):
    monkeypatch.setattr("risala.cli.commands.accounts.statements.find_spec", lambda _: None)
    told = run("statement", "--pdf", str(tmp_path / "month.pdf"))
    assert told.exit_code == 2
    assert 'pip install "risala[pdf]"' in told.output
    assert not (tmp_path / "month.pdf").exists()


def test_a_month_that_is_none_is_refused(run):
    told = run("statement", "--month", "2026-13")
    assert told.exit_code == 1
    assert "2026-11" in told.output
