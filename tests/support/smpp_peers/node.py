"""node-smpp, as the lock beside the laboratory's tests has it, and an ESME on it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
import trio

from npm import npm_installed
from patience import HANG_S

NODE: Final = Path(__file__).parents[2] / "lab/smsc/node"


@pytest.fixture(scope="module")
def node_smpp() -> None:
    """node-smpp as the lock has it, installed once however many run the tests."""
    npm_installed(NODE, "node-smpp")


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
