"""An environment into which nothing but Risala was installed, and what that is built from."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from doc_blocks import ROOT


def clean_environment(place: Path) -> Path:
    """A fresh one with Risala as a package.

    Nothing is fetched: what Risala needs is looked up where the tests have it.
    """
    venv.create(place, with_pip=False)
    (site,) = place.glob("lib/python*/site-packages")
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", *offline]
    subprocess.run([*pip, "--target", str(site), str(ROOT)], check=True)
    python = place / "bin/python"
    command = place / "bin/risala"  # pip's own would run in the environment that pip is in
    command.write_text(f"#!{python} -P\nfrom risala.__main__ import main\nmain()\n")
    command.chmod(0o755)
    (site / "needed.pth").write_text(sysconfig.get_paths()["purelib"])
    (place / ".stamp").touch()
    where = "import risala; print(risala.__file__)"
    found = subprocess.run([python, "-P", "-c", where], capture_output=True, text=True, check=True)
    assert found.stdout.startswith(str(site)), "the package, not our source"
    return place


def copy_sources(place: Path) -> None:
    """Copy what the wheel is built from."""
    for folder in ("src", "clients/python"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, place / folder, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / name)
