"""``make test CHANGED=1`` runs what imports reach, and no less."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from proofs.changed import ROOT, TESTS, changed, chosen

SMPP, CUT = "drivers/smpp/habits", "sms/test_cut"


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "reached", "spared"),
    [
        (f"src/risala/{SMPP}.py", "tests/drivers/smpp/test_habits.py", CUT),
        # Through what others import, and through a fixture.
        (f"src/risala/{SMPP}.py", "tests/lab/smsc/test_community.py", "lab/modem/test_scenarios"),
        ("src/risala/sms/segment.py", f"tests/{CUT}.py", "client/test_retrying"),
        ("tests/support/kannel_daemons.py", "tests/flows/faces/test_kannel_sendsms.py", CUT),
        ("tests/lab/smsc/conftest.py", "tests/lab/smsc/test_community.py", "lab/test_quirks"),
        (f"tests/{CUT}.py", f"tests/{CUT}.py", "sms/test_cause"),
    ],
)
def test_what_is_reached(path, reached, spared):
    found = chosen([path])
    assert reached in found
    assert f"tests/{spared}.py" not in found


@pytest.fixture
def a_folder(monkeypatch):
    """To read all tests takes seconds: only those of the drivers are there."""
    monkeypatch.setattr("proofs.changed.TESTS", TESTS / "drivers")


def test_what_is_reached_of_a_folder(a_folder):
    found = chosen([f"src/risala/{SMPP}.py"])
    assert f"tests/{SMPP.replace('habits', 'test_habits')}.py" in found
    assert "tests/drivers/modem/at/test_at.py" not in found


@pytest.mark.parametrize(
    ("path", "reached", "spared"),
    [
        ("src/risala/http/web/templates/parts.html", "tests/http", CUT),
        ("src/risala/http/web/locale/fr/web.po", "tests/http", CUT),
        ("docs/how-to/upgrade.md", "tests/docs", CUT),
    ],
)
def test_what_no_module_imports(path, reached, spared):
    found = chosen([path])
    assert reached in found
    assert f"tests/{spared}.py" not in found


def test_what_concerns_everything():
    assert chosen(["pyproject.toml", "docs/how-to/upgrade.md"]) == ["tests"]


def test_a_module_that_is_gone_has_no_importers(a_folder):
    assert chosen(["src/risala/sms/gone.py"]) == []


def test_what_differs_is_told_committed_or_not(tmp_path, monkeypatch):
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(("git", *who, *words), cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("same", "other"):
        (tmp_path / name).write_text("1")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "work")
    (tmp_path / "committed").write_text("1")
    git("add", ".")
    git("commit", "-m", "second")
    (tmp_path / "other").write_text("2")
    (tmp_path / "new").write_text("1")
    monkeypatch.setattr("proofs.changed.ROOT", tmp_path)
    assert changed("main") == {"committed", "other", "new"}


def test_make_runs_only_these():
    said = subprocess.run(
        ("make", "-n", "-o", ".venv/.stamp-dev", "test", "CHANGED=1"),
        cwd=Path(ROOT),
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "-m proofs.changed" in said
    assert "No test imports what was changed." in said
