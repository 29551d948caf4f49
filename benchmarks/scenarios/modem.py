"""A modem takes seconds for a message; the lane must add nothing to that."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.processes import stop
from benchmarks.stand import Data, Stand, new_data
from benchmarks.trees import Tree

_ANSWER_S = 1.0
"""From a message to the modem's answer; real ones take three to six."""
_MESSAGES = 10
_CARRIER = """
[[carriers]]
name = "modem"
driver = "modem"
prefixes = ["+222"]
rate_per_s = 1000
[carriers.modem]
port = "{port}"
"""


def _simulator(stack: ExitStack, data: Data, port: Path) -> subprocess.Popen[str]:
    options = ("--link", str(port), "--json", "--answer-delay-s", str(_ANSWER_S))
    running = subprocess.Popen(
        [data.tree.python, "-m", "risala", "simulate", "modem", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=data.tree.environment(),
    )
    stack.callback(stop, running)
    return running


def _submits(simulator: subprocess.Popen[str]) -> list[float]:
    """When each message was with the modem."""
    found = []
    assert simulator.stdout is not None
    for line in simulator.stdout:
        if json.loads(line)["event"] == "Submitted":
            found.append(time.monotonic())
        if len(found) == _MESSAGES:
            break
    return found


def _lane(_stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            data = new_data(stack, tree)
            port = data.path / "modem"
            simulator = _simulator(stack, data, port)
            data.configure(more=_CARRIER.format(port=port))
            data.serve(stack)
            data.fill(_MESSAGES)
            at = _submits(simulator)
        between = [later - earlier for earlier, later in pairwise(at)]
        return {"between two submits of a modem": statistics.median(between) / _ANSWER_S}

    return measure


SCENARIOS = (
    Scenario(
        "modem",
        (Line("between two submits of a modem", "× its own time", (Goal(1.05, most=True),)),),
        _lane,
    ),
)
