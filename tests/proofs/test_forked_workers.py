"""Workers that are forked: the tests are imported once, and else they are workers as ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from patience import HANG_S

SUPPORT = Path(__file__).parents[1] / "support"
CONFTEST = """
import os
from pathlib import Path
from forked_processes.workers import fork_workers

def pytest_xdist_setupnodes(config, specs):
    if os.environ["FORKED"] == "yes":
        fork_workers(config, specs)
"""
TESTS = """
import os
import random
from pathlib import Path
import pytest

HERE = Path(__file__).parent
with HERE.joinpath("imported").open("a") as told:
    print(os.getpid(), file=told)

@pytest.mark.parametrize("number", range(20))
def test_one(number):
    assert __name__ == "test_here"
    with HERE.joinpath("drawn").open("a") as told:
        print(os.getpid(), random.random(), file=told)

def test_it_is_seen_that_a_worker_ended():
    os._exit(3)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("forked", "imports"), [("yes", 1), ("no", 3)])
def test_the_tests_are_imported_once_and_a_worker_that_ended_is_replaced(forked, imports, tmp_path):
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {SUPPORT}\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_here.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-n2", "--import-mode=importlib"]
    given = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    # Of the plugins only what is tried: each process would import them all.
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "xdist"],
        cwd=tmp_path,
        env=given | {"FORKED": forked, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert "1 failed, 20 passed" in done.stdout, done.stdout + done.stderr
    assert "crashed while running 'test_here.py::test_it_is_seen_that_a_worker_ended" in done.stdout
    assert len((tmp_path / "imported").read_text().split()) == imports
    drawn = dict(map(str.split, (tmp_path / "drawn").read_text().splitlines()))
    assert len({*drawn.values()}) == len(drawn) >= 2  # no worker has the random numbers of another
