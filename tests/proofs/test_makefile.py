"""Long targets of the Makefile find what they import: no test run starts them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
RIG = re.search(r"^RIG := (.*) nice", MAKEFILE, re.M)
COMMANDS = sorted(
    {
        (path, module)
        for line in MAKEFILE.replace("$(RIG)", RIG[1] + " python -m").splitlines()
        if (found := re.search(r"PYTHONPATH=(\S+) .*python -m ((?:proofs|benchmarks)[.\w]*)", line))
        for path, module in [found.groups()]
    }
)


def test_the_targets_are_found():
    modules = {module for _, module in COMMANDS}
    assert {"proofs.worlds", "proofs.pair", "proofs.guards", "benchmarks"} <= modules


@pytest.mark.parametrize(("path", "module"), COMMANDS, ids=lambda each: each)
def test_a_target_begins(path, module):
    # `python -m` imports the module and calls main(); an import is enough here.
    name = f"{module}.__main__" if (ROOT / module.replace(".", "/")).is_dir() else module
    done = subprocess.run(
        [sys.executable, "-c", f"import {name}"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
