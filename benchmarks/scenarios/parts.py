"""Parts by themselves: an actor, the SMPP codec and one link, webhooks.

Each runs in a process of its own against the tree's packages and prints JSON.
"""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks import processes
from benchmarks.measure import Goal, Line, Round, Scenario
from benchmarks.processes import Absent
from benchmarks.stand import Stand
from benchmarks.trees import Tree


def _module(name: str, *lines: Line, part: str = "") -> Scenario:
    def start(_stand: Stand, tree: Tree, _stack: ExitStack) -> Round:
        if not processes.imports(f"benchmarks.{name}", tree):
            raise Absent(f"the parts of {tree.label} have other names")
        return lambda: processes.module(f"benchmarks.{name}", *filter(None, (part,)), tree=tree)

    return Scenario(f"{part} {name}".strip(), lines, start)


_ALONE = "smpplib's codec alone"

SCENARIOS = (
    _module("actors", Line("ask of an idle actor", "µs", (Goal(3, most=True),))),
    _module(
        "codec",
        Line("codec encode", "× smpplib", (Goal(20),)),
        Line("codec decode", "× smpplib", (Goal(20),)),
    ),
    _module(
        "smpp",
        Line(_ALONE, "/s"),
        Line("link, window 10", "PDUs/s", against=_ALONE),
        Line("link, window 100", "PDUs/s", (Goal(5, _ALONE),)),
        Line("link, window 1000", "PDUs/s", against=_ALONE),
    ),
    _module(
        "webhooks",
        Line("the same client in a bare loop", "/s"),
        Line("webhooks to 10 of 5 ms", "/s", (Goal(0.6, "the same client in a bare loop"),)),
        part="usual",
    ),
    _module(
        "webhooks",
        Line("webhooks to 98", "/s"),
        Line("the same beside a dead and a slow one", "/s", (Goal(0.95, "webhooks to 98"),)),
        part="hundred",
    ),
)
