"""Long targets of the Makefile find what they import: no test run starts them."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
RIG = re.search(r"^RIG := (.*) nice", MAKEFILE, re.M)
COMMANDS: dict[str, set[str]] = defaultdict(set)
"""Where modules are looked for → the modules that are run so."""
for line in MAKEFILE.replace("$(RIG)", RIG[1] + " python -m").splitlines():
    if found := re.search(r"PYTHONPATH=(\S+) .*python -m ((?:proofs|benchmarks)[.\w]*)", line):
        COMMANDS[found[1]].add(found[2])
# In one process, as they import much of the same: each alone would take a second.
IMPORT = """
import importlib, sys, traceback
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except BaseException:
        print(name, traceback.format_exc())
"""


def test_the_targets_are_found():
    modules = set().union(*COMMANDS.values())
    assert {"proofs.worlds", "proofs.pair", "proofs.guards", "benchmarks"} <= modules


@pytest.mark.parametrize("path", COMMANDS)
def test_the_targets_begin(path):
    # `python -m` imports the module and calls main(); an import is enough here.
    names = [
        f"{module}.__main__" if (ROOT / module.replace(".", "/")).is_dir() else module
        for module in sorted(COMMANDS[path])
    ]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT, *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0
