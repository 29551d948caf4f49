"""What costs even when nobody sends: the idle service, and the command line beside it."""

from __future__ import annotations

import statistics
import subprocess
import time
from contextlib import ExitStack

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.stand import Stand, new_data
from benchmarks.trees import Tree

_IDLE_S = 5.0
_STARTS = 5
"""Starts of each command in one round; one alone says little."""


def _idle(_stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    def measure() -> dict[str, float]:
        with ExitStack() as stack:
            pid = new_data(stack, tree).serve(stack).pid
            time.sleep(2)  # what a start leaves to do is done by then
            before = processes.cpu_s(pid)
            time.sleep(_IDLE_S)
            share = (processes.cpu_s(pid) - before) / _IDLE_S
            return {"idle RSS": processes.rss_mib(pid), "idle CPU": 100 * share}

    return measure


def _ms(tree: Tree, *arguments: str) -> float:
    took = []
    for _ in range(_STARTS):
        started = time.perf_counter()
        subprocess.run(
            [tree.python, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            env=tree.environment(),
        )
        took.append(time.perf_counter() - started)
    return 1000 * statistics.median(took)


_MAIN = "from risala.__main__ import main; main()"
"""As the installed ``risala`` does it; ``-m risala`` would add the search for the module."""


def _command_line(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree)

    def measure() -> dict[str, float]:
        keys = ("key", "list", "--data", str(data.path))
        return {
            "python -c pass": _ms(tree, "-c", "pass"),
            "risala --version": _ms(tree, "-c", _MAIN, "--version"),
            "risala key list": _ms(tree, "-c", _MAIN, *keys),
        }

    return measure


SCENARIOS = (
    Scenario(
        "idle",
        (
            Line("idle RSS", "MiB", (Goal(60, most=True),)),
            Line("idle CPU", "%", (Goal(0.2, most=True),)),
        ),
        _idle,
    ),
    Scenario(
        "command line",
        (
            Line("python -c pass", "ms"),
            # The goals are 80 and 250 ms on a machine whose bare Python takes 20.
            Line("risala --version", "ms", (Goal(4, "python -c pass", most=True),)),
            Line("risala key list", "ms", (Goal(12.5, "python -c pass", most=True),)),
        ),
        _command_line,
    ),
)
