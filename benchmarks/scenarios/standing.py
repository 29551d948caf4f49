"""What costs even when nobody sends: the idle service, with another country, and the command line
beside it."""

from __future__ import annotations

import statistics
import subprocess
import time
from contextlib import ExitStack
from typing import Final

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.processes import Absent
from benchmarks.stand import TO, Data, Stand, new_data, start_smsc
from benchmarks.trees import Tree

_IDLE_S = 5.0
_STARTS = 5
"""Starts of each command in one round; one alone says little."""


def _idle(_stand: Stand, tree: Tree, stack: ExitStack) -> Round:
    smsc = start_smsc(stack)

    def measure() -> dict[str, float]:
        with ExitStack() as running:
            data = new_data(running, tree)
            data.configure(smsc=smsc.port)
            pid = data.serve(running).pid
            processes.wait_ready(data.port)
            start = processes.cpu_s(pid)
            time.sleep(2)  # what a start leaves to do is done by then
            before = processes.cpu_s(pid)
            time.sleep(_IDLE_S)
            share = (processes.cpu_s(pid) - before) / _IDLE_S
            idle = processes.rss_mib(pid)
            processes.get_once(data.port, "/sign-in")
            return {
                "idle RSS": idle,
                "idle CPU": 100 * share,
                "CPU until it is ready": start,
                "RSS after a page": processes.rss_mib(pid),
            }

    return measure


_SENEGAL: Final = """[numbers]
countries = ["MR", "SN"]
[[prices]]
prefix = "+221"
price = "12.00"
"""
_TO_SENEGAL: Final = {"to": "+221701234567", "body": "x"}


def _countries(_stand: Stand, tree: Tree, stack: ExitStack) -> Round:
    if not (tree.src / "risala/sms/numbering").is_dir():
        raise Absent(f"{tree.label} serves one country only")
    home, abroad = new_data(stack, tree), new_data(stack, tree)
    abroad.configure(more=_SENEGAL)
    abroad.risala("country", "open", "SN", "--config", str(abroad.path / "risala.toml"))

    def started(data: Data, body: object) -> tuple[float, float]:
        """The seconds until it listens, and the memory after a message."""
        with ExitStack() as running:
            began = time.perf_counter()
            pid = data.serve(running).pid
            took = time.perf_counter() - began
            processes.post_once(data.port, "/api/sms", data.headers, body)
            time.sleep(2)  # what a start leaves to do is done by then
            return took, processes.rss_mib(pid)

    def measure() -> dict[str, float]:
        start, memory = started(home, {**_TO_SENEGAL, "to": TO})
        start_abroad, memory_abroad = started(abroad, _TO_SENEGAL)
        return {
            "start": start,
            "start with another country": start_abroad,
            "memory of another country": memory_abroad - memory,
        }

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
            Line("idle CPU", "%", (Goal(0.1, most=True),)),
            Line("CPU until it is ready", "s", (Goal(2, most=True),)),
            Line("RSS after a page", "MiB"),
        ),
        _idle,
    ),
    Scenario(
        "countries",
        (
            Line("start", "s"),
            Line("start with another country", "s", against="start"),
            Line("memory of another country", "MiB", (Goal(15, most=True),)),
        ),
        _countries,
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
