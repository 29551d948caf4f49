"""An environment into which nothing but Risala was installed, and what that is built from."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import Distribution, distribution
from importlib.util import cache_from_source
from pathlib import Path

from packaging.requirements import Requirement

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


def environment(place: Path, *wanted: str) -> None:
    """Make one with pip, these distributions and all that they need, as the tests have them.

    A pip that is told so (``--no-index``) then installs Risala without the indexes of packages, and
    refuses if something is missing: to read each package's index takes it four fifths of its time.
    Half of the rest would be that a pip is unpacked and all is compiled that is compiled here.
    """
    venv.create(place, with_pip=False, symlinks=True)
    (site,) = place.glob("lib/python*/site-packages")
    here = Path(sysconfig.get_paths()["purelib"])
    for each in _needed(["pip", *wanted]):
        for file in each.files or ():
            source = here / file
            if source.is_file() and source.suffix != ".pyc" and ".." not in file.parts:
                _copy(source, site / file)
    pip = place / "bin/pip"
    pip.write_text(f"#!{place / 'bin/python'}\nfrom pip._internal.cli.main import main\nmain()\n")
    pip.chmod(0o755)


def _copy(source: Path, to: Path) -> None:
    """With what Python has compiled of it, which knows it by its size and its time."""
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, to)
    if source.suffix == ".py":
        with suppress(FileNotFoundError):
            compiled = Path(cache_from_source(to))
            compiled.parent.mkdir(exist_ok=True)
            shutil.copy2(cache_from_source(source), compiled)


def _needed(wanted: Sequence[str]) -> Iterator[Distribution]:
    """What is installed here of these requirements and theirs, without Risala itself."""
    left, known = [Requirement(each) for each in wanted], set[tuple[str, str]]()
    while left:
        asked = left.pop()
        for extra in ("", *asked.extras):
            if (asked.name, extra) in known:
                continue
            known.add((asked.name, extra))
            found = distribution(asked.name)
            for further in map(Requirement, found.requires or ()):
                is_asked = further.marker is None or further.marker.evaluate({"extra": extra})
                left += [further] if is_asked else []
            if extra == "" and asked.name != "risala":
                yield found


def copy_sources(place: Path) -> None:
    """Copy what the wheel is built from."""
    for folder in ("src", "clients/python"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, place / folder, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / name)
