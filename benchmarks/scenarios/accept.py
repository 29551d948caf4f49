"""Accepting: the answer leaves when the message is on the disk."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.scenarios.pages import open_pages, reader_of, somebody_searching
from benchmarks.stand import ONE, Stand, batch_of
from benchmarks.trees import Tree


def _bare(connections: int) -> Scenario:
    name = f"bare {connections}"

    def start(stand: Stand, _tree: Tree, _stack: ExitStack) -> Round:
        port = stand.bare()

        def measure() -> dict[str, float]:
            found = processes.load(
                flow="same",
                method="POST",
                path="/api/sms",
                headers={},
                bodies=[ONE],
                port=port,
                connections=connections,
                seconds=stand.seconds,
            )
            return {name: found["per_s"], f"{name} p99": found["p99_ms"]}

        return measure

    lines = (Line(name, "/s"), Line(f"{name} p99", "ms"))
    return Scenario(name, lines, start, of_tree=False)


def _accept(
    connections: int, goals: tuple[Goal, ...], late: Goal | None = None, slower_ms: int = 0
) -> Scenario:
    name = f"accept {connections}" + (f", disk +{slower_ms} ms" if slower_ms else "")

    def start(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
        data = stand.service(tree, slower_ms)

        def measure() -> dict[str, float]:
            found = data.post("/api/sms", [ONE], connections=connections, seconds=stand.seconds)
            return {name: found["per_s"], f"{name} p99": found["p99_ms"]}

        return measure

    p99 = Line(f"{name} p99", "ms", (late,) if late else ())
    return Scenario(name, (Line(name, "/s", goals), p99), start)


def _unlogged(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree, more=_NO_LOG)

    def measure() -> dict[str, float]:
        found = data.post("/api/sms", [ONE], connections=64, seconds=stand.seconds)
        return {_UNLOGGED: found["per_s"]}

    return measure


def _watched(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree)
    home, cookie = reader_of(data)

    def measure() -> dict[str, float]:
        with open_pages(data, home, cookie):
            found = data.post("/api/sms", [ONE], connections=64, seconds=stand.seconds)
        return {_WATCHED: found["per_s"]}

    return measure


def _searched(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree)
    home, cookie = reader_of(data)

    def measure() -> dict[str, float]:
        with somebody_searching(data, home, cookie):
            found = data.post("/api/sms", [ONE], connections=64, seconds=stand.seconds)
        return {_SEARCHED: found["per_s"]}

    return measure


def _batch(stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
    data = stand.service(tree)

    def measure() -> dict[str, float]:
        bodies = [batch_of(100)]
        found = data.post("/api/sms/batch", bodies, connections=4, seconds=stand.seconds)
        return {"batch of 100": 100 * found["per_s"]}

    return measure


_NO_LOG = "\n[request_log]\nenabled = false\n"
_UNLOGGED = "accept 64, no request is logged"
_WATCHED = "accept 64, pages are open"
_SEARCHED = "accept 64, somebody searches"
_BATCH_GOALS = (Goal(60, "bare 64"), Goal(4, "Kannel accept 64"))

SCENARIOS = (
    _bare(64),
    _bare(1),
    _accept(
        64,
        (Goal(8, "bare 64"), Goal(0.9, "Kannel accept 64"), Goal(0.9, _UNLOGGED)),
        Goal(1, "bare 64 p99", most=True),
    ),
    Scenario(_UNLOGGED, (Line(_UNLOGGED, "/s"),), _unlogged),
    Scenario(_WATCHED, (Line(_WATCHED, "/s", (Goal(0.9, "accept 64"),)),), _watched),
    Scenario(_SEARCHED, (Line(_SEARCHED, "/s", (Goal(0.9, "accept 64"),)),), _searched),
    _accept(16, (Goal(4, "bare 64"),)),
    _accept(1, (Goal(1.2, "bare 1"),)),
    Scenario("batch", (Line("batch of 100", "messages/s", _BATCH_GOALS),), _batch),
    _accept(64, (Goal(6, "bare 64"),), slower_ms=2),
    _accept(64, (Goal(3, "bare 64"),), slower_ms=10),
)
