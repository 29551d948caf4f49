"""What ``risala plugins new`` writes: it passes its own tests, where nothing of ours is."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from clean import copy_sources, environment
from made_once import made_once
from patience import HANG_S
from risala.plugins.skeleton import KINDS, SkeletonRefusedError, write_skeleton

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/driver-plugin"
HTTP = "driver --http"
"""What is tried beside each kind."""
ASKED = [*KINDS, HTTP]


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_is_a_package(kind, tmp_path):
    place, files = write_skeleton("my-own", kind, tmp_path / "place")
    assert [str(file.relative_to(place)) for file in files] == [
        "pyproject.toml",
        "README.md",
        "src/risala_my_own.py",
        "tests/test_risala_my_own.py",
    ]
    for file in files:
        text = file.read_text("utf-8")
        assert not [word for word in text.split() if word.startswith("@") and word.endswith("@")]
        assert max(map(len, text.splitlines())) <= 100
    project = tomllib.loads((place / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["risala"] == {"my-own": "risala_my_own"}


def test_a_driver_over_http_is_the_examples(tmp_path):
    """The templates in ``skeletons/driver-http`` are the example's files: change both, or write the
    example by ``risala plugins new acme --http``. The tutorial shows the example's files."""
    place, files = write_skeleton("acme", "driver", tmp_path / "place", http=True)
    written = {str(path.relative_to(place)): path.read_text("utf-8") for path in files}
    example = {
        name: (EXAMPLE / name).read_text("utf-8") if (EXAMPLE / name).exists() else None
        for name in written
    }
    assert written.pop("README.md") != example.pop("README.md")  # it names files of a checkout
    assert written == example
    there = {str(path.relative_to(EXAMPLE)) for path in EXAMPLE.glob("**/*.py")}
    assert there <= {*written}


@pytest.mark.parametrize("name", ["my-own", "driver", "class", "line"])
def test_a_driver_over_http_may_have_any_name(name, tmp_path):
    place, files = write_skeleton(name, "driver", tmp_path / "place", http=True)
    for file in files:
        text = file.read_text("utf-8")
        assert not re.search(r"@[A-Za-z]+@", text)
        assert "acme" not in text.lower()
        if file.suffix == ".py":
            ast.parse(text)
    project = tomllib.loads((place / "pyproject.toml").read_text("utf-8"))["project"]
    module = f"risala_{name.replace('-', '_')}.plugin"
    assert project["entry-points"]["risala"] == {name: module}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "driver"])
def test_only_a_driver_is_begun_over_http(kind, tmp_path):
    with pytest.raises(SkeletonRefusedError, match="over HTTP cannot be begun yet, only a driver"):
        write_skeleton("acme", kind, tmp_path / "place", http=True)
    assert not (tmp_path / "place").exists()


@pytest.mark.parametrize(
    "name",
    ["", "Acme", "1acme", "acme_one", "acme-", "-acme", "a--b", "été", "a" * 33, "a/b", "../up"],
)
def test_a_name_that_cannot_be_one(name, tmp_path):
    with pytest.raises(SkeletonRefusedError, match="cannot be the name"):
        write_skeleton(name, "driver", tmp_path / "place")
    assert not (tmp_path / "place").exists()


@pytest.mark.parametrize("name", ["smpp", "loopback", "stripe", "outbox", "test"])
def test_a_name_that_is_built_in(name, tmp_path):
    with pytest.raises(SkeletonRefusedError, match="is built in"):
        write_skeleton(name, "driver", tmp_path / "place")


def test_a_kind_that_is_none(tmp_path):
    with pytest.raises(SkeletonRefusedError, match="there are driver, payment, mailer, sink"):
        write_skeleton("acme", "page", tmp_path / "place")


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(SkeletonRefusedError, match="is there already"):
        write_skeleton("acme", "driver", tmp_path)
    with pytest.raises(SkeletonRefusedError, match="is there already"):
        write_skeleton("acme", "driver", tmp_path / "notes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(SkeletonRefusedError, match="cannot be written"):
        write_skeleton("acme", "driver", tmp_path / "notes.txt" / "place")


# -- in an environment apart ---------------------------------------------------------------------


def outside() -> dict[str, str]:
    ours = ("RISALA_", "PYTHON", "VIRTUAL_ENV", "PYTEST_", "COVERAGE_")
    told = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    # Most of what is installed is never imported: what is, Python compiles itself. The builder of
    # packages is installed once: pip would fetch it anew for each of them.
    no = "0"  # so both say no: pip reads it as the option's value
    return {**told, "PIP_NO_COMPILE": no, "PIP_NO_BUILD_ISOLATION": no, "PIP_NO_INDEX": "1"}


def run(*words: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=outside(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=HANG_S * 4,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def apart(tmp_path_factory):
    """An environment with Risala's wheel, what its extra for tests brings, and a package of each
    kind, as it was written."""
    return made_once(tmp_path_factory, "outside", _set_up)


def _set_up(folder):
    source, bin_ = folder / "source", folder / "venv/bin"
    copy_sources(source)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    (wheel,) = folder.glob("risala-*.whl")
    environment(folder / "venv", "risala[testing]", "hatchling", "editables")
    run(bin_ / "pip", "install", "--quiet", f"{wheel}[testing]", cwd=folder)
    for asked in ASKED:
        new = ("plugins", "new", f"a-{_kind(asked)}", "--kind", *asked.split())
        run(bin_ / "risala", *new, cwd=folder)
    packages = [f"--editable=./risala-a-{_kind(asked)}[test]" for asked in ASKED]
    run(bin_ / "pip", "install", "--quiet", *packages, cwd=folder)


def _kind(asked):
    return asked.replace(" --", "-")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("asked", ASKED)
def test_its_tests_pass_as_it_was_written(asked, apart):
    bin_, kind = apart / "venv/bin", _kind(asked)
    place = apart / f"risala-a-{kind}"
    told = run(bin_ / "python", "-m", "pytest", "--risala-report", "report.json", cwd=place)
    assert " failed" not in told
    (suite,) = json.loads((place / "report.json").read_text("utf-8"))["suites"]
    assert suite["passes"]
    assert suite["about"]["package"] == f"risala-a-{kind} 0.1.0"
    assert len(suite["checks"]) >= 12
    assert {one["result"] for one in suite["checks"]} <= {"passed", "does not apply", "not shown"}
    found = json.loads(run(bin_ / "risala", "plugins", "--json", cwd=place))["plugins"]
    (mine,) = [one for one in found if one["name"] == f"a-{kind}"]
    assert (mine["state"], mine["fault"], mine["warnings"]) == ("loaded", None, [])


@pytest.mark.slow
def test_a_skeleton_is_clean_for_ruff_under_any_name(tmp_path):
    """Each has settings of its own beside it: ruff takes these, in one run over all."""
    for kind, name in product(ASKED, ["a", "acme", "zulu", "line", "my-own", "a-carrier-of-mr"]):
        place = tmp_path / f"{_kind(kind)} {name}"
        write_skeleton(name, kind.partition(" ")[0], place, http=kind == HTTP)
    files = sum(path.suffix in (".py", ".md") for path in tmp_path.glob("**/*"))
    for what in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *what, "--no-cache", str(tmp_path)]
        done = subprocess.run(ruff, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    assert done.stdout.startswith(f"{files} files already formatted")
