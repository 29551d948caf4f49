"""node-smpp, as the lock beside the laboratory's tests has it, and an ESME on it."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from patience import HANG_S

NODE: Final = Path(__file__).parents[2] / "lab/smsc/node"
INSTALL: Final = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]


@pytest.fixture(scope="module")
def node_smpp(tmp_path_factory: pytest.TempPathFactory) -> None:
    """node-smpp as the lock has it, installed once however many run the tests."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            pytest.skip(f"NOT TESTED against node-smpp: {program} is not installed")
    guard = tmp_path_factory.getbasetemp().parent / "node-smpp.lock"
    with guard.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (NODE / "node_modules/smpp/package.json").exists():
            return
        done = subprocess.run(INSTALL, cwd=NODE, capture_output=True, text=True, timeout=HANG_S)
        if done.returncode:
            pytest.skip(f"NOT TESTED against node-smpp: npm ci failed: {done.stderr[-300:]}")


async def run_esme(port: int, **job: object) -> dict[str, Any]:
    """What ``esme.js`` has to tell of a job."""
    command = ["node", str(NODE / "esme.js"), str(port), json.dumps(job)]
    with trio.fail_after(HANG_S):
        done = await trio.run_process(
            command, capture_stdout=True, stderr=subprocess.STDOUT, check=False
        )
    assert done.returncode == 0, done.stdout.decode()
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
