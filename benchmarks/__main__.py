"""``make bench``: one interleaved run, printed as ratios with the goals beside them.

Numbers of one run only compare with each other: machines are noisy, so everything is measured
several times in turn, each ratio is taken within one round, and of these the middle is told with
the lowest and the highest. ``--against`` measures another tree in the same rounds: what a change
gained or lost is the ratio of two measurements that stand side by side.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from proofs import evidence
from rich.console import Console

from benchmarks import machine
from benchmarks.measure import Line, Round, Scenario, Series
from benchmarks.pace import Pace
from benchmarks.peers import kannel
from benchmarks.processes import Absent
from benchmarks.report import HEADER, Results, as_json, key_rows, print_report, report_console
from benchmarks.scenarios import (
    accept,
    delivery,
    mailings,
    modem,
    pages,
    parts,
    reads,
    standby,
    standing,
    strangers,
)
from benchmarks.stand import Stand
from benchmarks.trees import HERE, Tree, tree_of

SCENARIOS: tuple[Scenario, ...] = (
    *accept.SCENARIOS,
    *standby.SCENARIOS,
    *kannel.SCENARIOS,
    *reads.SCENARIOS,
    *pages.SCENARIOS,
    *delivery.SCENARIOS,
    *mailings.SCENARIOS,
    *modem.SCENARIOS,
    *standing.SCENARIOS,
    *strangers.SCENARIOS,
    *parts.SCENARIOS,
)


QUICK: Final = (
    *("accept 64", "accept 16", "accept 1", "accept 64 p99"),
    *("accept 1, before_answer", "accept 64, before_answer"),
    *("drain", "drain, CPU a message", "delivered while accepting"),
    *("SMPP server", "webhooks to 10 of 5 ms", "mailing, delivered"),
    *("accept 64, a mailing's file is read", "idle CPU", "idle RSS"),
)
"""The lines that a reader asks for first: some ten minutes, three rounds."""
QUICK_ROUNDS: Final = 3
PAGE: Final = Path(__file__).parent / "README.md"


@dataclass(frozen=True, slots=True)
class Turn:
    """One scenario on one tree, ready to be measured again and again."""

    scenario: Scenario
    tree: str
    series: Series
    measure: Round

    @property
    def name(self) -> str:
        return f"{self.scenario.name}, {self.tree}" if self.scenario.of_tree else self.scenario.name


def chosen(
    scenarios: Iterable[Scenario], words: Sequence[str], *, whole: bool = False
) -> list[Scenario]:
    """Those with a line whose name holds one of the words; all where there is no word.

    What their goals are ratios to comes along.

    Args:
        whole: the words are whole names of lines.
    """
    scenarios = list(scenarios)
    if not words:
        return scenarios
    wanted = {
        line.name
        for scenario in scenarios
        for line in scenario.lines
        if line.name in words
        or (not whole and any(word in line.name or word == scenario.name for word in words))
    }
    lines = [line for scenario in scenarios for line in scenario.lines]
    for line in [each for each in lines if each.name in wanted]:
        wanted.update(goal.of for goal in line.goals if goal.of)
        wanted.update([line.against] if line.against else [])
    return [each for each in scenarios if any(line.name in wanted for line in each.lines)]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "only", nargs="*", metavar="WORD", help="only lines with this in their name"
    )
    parser.add_argument(
        "--quick", action="store_true", help="the lines of the page's table: about ten minutes"
    )
    parser.add_argument("--write", action="store_true", help="write that table into the page")
    parser.add_argument("--rounds", type=int, help="default: 5; with --quick: 3")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each load")
    parser.add_argument("--messages", type=int, default=10_000, help="in a queue to drain")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="no turn begins after them; all rounds or not"
    )
    parser.add_argument("--against", metavar="TREE", help="a commit, or another tree's directory")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value there")
    options = parser.parse_args()
    if options.quick and options.only:
        parser.error("--quick names its own lines")
    if options.rounds is None:
        options.rounds = QUICK_ROUNDS if options.quick else 5
    return options


def opened(
    stand: Stand, scenarios: list[Scenario], trees: dict[str, tuple[Tree, Series]], common: Series
) -> Iterable[Turn | str]:
    """What can be measured here, ready; of the rest the sentence why not."""
    for scenario in scenarios:
        kinds = trees.values() if scenario.of_tree else [(HERE, common)]
        for tree, series in kinds:
            try:
                yield Turn(scenario, tree.label, series, scenario.open(stand, tree, stand.stack))
            except Absent as error:
                yield f"NOT MEASURED: {scenario.name}: {error}"


def _measured(turn: Turn, number: int, console: Console) -> dict[str, float]:
    """What one turn found; nothing where it failed: the rest of a long run is worth having."""
    try:
        return turn.measure()
    except (SystemExit, OSError, subprocess.SubprocessError) as error:
        console.print(f"FAILED: {turn.name}, round {number + 1}: {error}")
        return {}


def run(options: argparse.Namespace, console: Console, scenarios: tuple[Scenario, ...]) -> Results:
    """Open everything, measure it in turn, and give back all values."""
    common, ours, theirs = Series(), Series(), Series()
    picked = chosen(scenarios, QUICK if options.quick else options.only, whole=options.quick)
    others: dict[str, list[float]] = {}
    with ExitStack() as stack:
        trees = {"ours": (HERE, ours)}
        if options.against:
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            trees["theirs"] = (tree_of(options.against, scratch), theirs)
        stand = Stand.new(stack, options.seconds, options.messages)
        turns = []
        for each in opened(stand, picked, trees, common):
            if isinstance(each, str):
                console.print(each)
            else:
                turns.append(each)
        # Every other round backwards: who comes second has no advantage of it.
        plan = [
            (number, turn)
            for number in range(options.rounds)
            for turn in (turns if number % 2 == 0 else turns[::-1])
        ]
        with Pace(console, len(plan), 60 * options.minutes) as pace:
            for number, turn in plan:
                if pace.over:
                    console.print(
                        f"STOPPED in round {number + 1} of {options.rounds}, before {turn.name}:"
                        f" {options.minutes:g} minutes are over (--minutes)"
                    )
                    break
                watch = machine.Others()
                with pace.turn(turn.name):
                    turn.series.put(number, _measured(turn, number, console))
                for line in turn.scenario.lines:
                    others.setdefault(line.name, []).append(watch.cores())
    lines: list[tuple[Line, bool]] = [
        (line, each.of_tree) for each in picked for line in each.lines
    ]
    return Results(lines, common, ours, theirs, others)


def main(scenarios: tuple[Scenario, ...] = SCENARIOS) -> None:
    options = arguments()
    console = report_console()
    console.print(f"{machine.described()}; a sync takes {machine.sync_ms():.2f} ms")
    results = run(options, console, scenarios)
    print_report(console, results, options.against)
    if options.write:
        command = f'make bench ARGS="{" ".join(sys.argv[1:])}"'
        evidence.write("speed", HEADER, key_rows(results, QUICK), command=command, page=PAGE)
    if options.json:
        options.json.write_text(json.dumps(as_json(results), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
