"""The service that one would write oneself, in an environment of its own (``.venv-peers``)."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks import processes
from benchmarks.measure import Line, Round, Scenario
from benchmarks.processes import Absent
from benchmarks.stand import ONE, Stand
from benchmarks.trees import ROOT, Tree

PROMISE = "on the disk, synced"
_KEY = "k-0123456789abcdef"
_PYTHON = ROOT / ".venv-peers" / "bin" / "python"


def _accept(stand: Stand, _tree: Tree, _stack: ExitStack) -> Round:
    if not _PYTHON.exists():
        raise Absent("FastAPI: `make bench-peers` sets up an environment for it")
    directory = stand.stack.enter_context(tempfile.TemporaryDirectory(prefix="fastapi-bench-"))
    port = processes.free_port()
    tree = Tree("peer", ROOT / "benchmarks", str(_PYTHON))
    environment = tree.environment(PEER_DATABASE=str(Path(directory) / "peer.db"), PEER_KEY=_KEY)
    options = ("--host", "127.0.0.1", "--port", str(port), "--no-access-log", "--log-level=error")
    command = (str(_PYTHON), "-m", "uvicorn", "benchmarks.peers.fastapi_app:app", *options)
    stand.stack.enter_context(processes.program(*command, port=port, environment=environment))

    def measure() -> dict[str, float]:
        found = processes.load(
            flow="same",
            method="POST",
            path="/api/sms",
            headers={"x-api-key": _KEY},
            bodies=[ONE],
            port=port,
            connections=64,
            seconds=stand.seconds,
        )
        return {"FastAPI accept 64": found["per_s"], "FastAPI accept 64 p99": found["p99_ms"]}

    return measure


SCENARIOS = (
    Scenario(
        "FastAPI",
        (Line("FastAPI accept 64", "/s", against="bare 64"), Line("FastAPI accept 64 p99", "ms")),
        _accept,
        of_tree=False,
    ),
)
