"""``make serve`` on a machine where something is missing: it says what, and a retry is enough."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from patience import HANG_S
from processes import environment

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine"),
]

ROOT = Path(__file__).parents[2]
PYTHON = str(getattr(sys, "_base_executable", sys.executable))

Make = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "venv"


@pytest.fixture
def make(place: Path) -> Make:
    def run(python: str | Path = PYTHON, place: Path = place) -> subprocess.CompletedProcess[str]:
        """What `make serve` does before it serves, less what pip would fetch."""
        return subprocess.run(
            ["make", f"PYTHON={python}", f"VENV={place}", "PIP=:", "INSTALL=:", f"{place}/.stamp"],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=HANG_S,
            check=False,
        )

    return run


def fake(path: Path, when: str, then: str) -> Path:
    """A Python that does something else when its arguments have ``when`` in them."""
    path.write_text(f'#!/bin/sh\ncase "$*" in *{when}*) {then} ;; esac\nexec {PYTHON} "$@"\n')
    path.chmod(0o755)
    return path


def has_pip(place: Path) -> bool:
    done = subprocess.run([f"{place}/bin/python", "-m", "pip", "--version"], capture_output=True)
    return done.returncode == 0


@pytest.mark.long
def test_without_venv_it_says_which_package_and_a_retry_works(make, place, tmp_path):
    python = fake(tmp_path / "python", "ensurepip", "exit 1")
    for _ in range(2):
        done = make(python)
        assert done.returncode != 0
        assert "sudo apt install python3-venv" in done.stderr
        assert not place.exists()
    python.unlink()
    python.symlink_to(PYTHON)  # the package is there now
    done = make(python)
    assert done.returncode == 0, done.stderr
    assert has_pip(place)


@pytest.mark.long
def test_an_environment_that_was_left_without_pip_is_made_anew(make, place):
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(place)], check=True)
    assert not has_pip(place)
    assert make().returncode == 0
    assert has_pip(place)


def test_what_went_wrong_on_the_way_is_told_and_nothing_is_left(make, place, tmp_path):
    half = f"mkdir -p {place}/bin; echo No space left on device >&2; exit 1"
    done = make(fake(tmp_path / "python", "--clear", half))
    assert done.returncode != 0
    assert "No space left on device" in done.stderr
    assert "apt install" not in done.stderr
    assert not place.exists()


def test_a_copy_that_cannot_be_written_in_is_called_so(make):
    done = make(place=Path("/proc/risala-venv"))
    assert done.returncode != 0
    assert "cannot be made: No such file or directory: /proc/risala-venv" in done.stderr
    assert "read-only" in done.stderr
    assert "make VENV=" in done.stderr
    assert "apt install" not in done.stderr


def test_what_is_no_environment_is_left_alone(make, place):
    place.mkdir()
    (place / "mine.txt").write_text("mine")
    done = make()
    assert done.returncode != 0
    assert "is no virtual environment" in done.stderr
    assert (place / "mine.txt").read_text() == "mine"


def test_a_python_that_is_not_there_or_too_old(make, place, tmp_path):
    done = make("python9.9")
    assert "There is no python9.9 here" in done.stderr
    done = make(fake(tmp_path / "python", "version_info", "exit 1"))
    assert "Risala needs Python 3.11, 3.12, 3.13 or 3.14" in done.stderr
    assert not place.exists()
