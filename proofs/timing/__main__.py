"""``make timing``: whether the time of an answer tells how near a guess was.

Samples of both of a pair are taken in turn, in an order by chance, over one connection to a real
service on this machine; so whatever the machine does falls on both. A pair that is told apart is
tried again with fresh samples: what is there is there again, chance is not.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Final

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from proofs import evidence
from proofs.timing.house import open_house
from proofs.timing.pairs import Pair, pairs
from proofs.timing.statistics import TELLS_FROM, Verdict, compare

SAMPLES: Final = 10_000
"""Of each request of a plain pair: some microseconds are seen among hundreds."""
WARM: Final = 50
"""Requests before the first that counts: caches and the interpreter's own guesses are made then."""
TRIALS: Final = 3
"""A difference counts when it is there in each of as many trials."""
HEADER: Final = (
    *("What is guessed", "One request", "The other", "Times each", "Medians, µs"),
    *("Apart, µs", "Welch t", "Mann-Whitney z", "Told apart"),
)


def main() -> int:
    """0: nothing is told but what was planted; 1: something is, or the rig is blind."""
    parser = argparse.ArgumentParser(prog="make timing", description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES, help="of each request of a pair")
    parser.add_argument("--only", default="", help="pairs with these words in their names")
    parser.add_argument("--seed", type=int, default=None, help="of the order of requests")
    parser.add_argument(
        "--write", action="store_true", help="into the page of evidence, where all pairs were tried"
    )
    given = parser.parse_args()
    console, chance = Console(), random.Random(given.seed)
    found: list[tuple[Pair, Verdict]] = []
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with open_house() as house, Progress(*columns, console=console) as progress:
        for pair in pairs(house):
            if given.only not in pair.name and not pair.planted:
                continue
            verdict = _tried(pair, given.samples, chance, progress)
            found.append((pair, verdict))
            progress.console.print(_said(pair, verdict), highlight=False)
    _show(console, found)
    if given.write and not given.only:
        command = "make timing"
        evidence.write("timing", HEADER, [_row(*each) for each in found], command=command)
    return 0 if all(_right(*each) for each in found) else 1


def _tried(pair: Pair, samples: int, chance: random.Random, progress: Progress) -> Verdict:
    """The verdict of the first trial that tells nothing, else of the last."""
    count = max(20, round(samples * pair.share))
    for trial in range(TRIALS):
        name = pair.name if trial == 0 else f"{pair.name}, again"
        verdict = _trial(pair, name, count, chance, progress)
        if not verdict.tells or pair.planted:
            break
    return verdict


def _trial(pair: Pair, name: str, count: int, chance: random.Random, progress: Progress) -> Verdict:
    times: tuple[list[float], list[float]] = ([], [])
    task = progress.add_task(name, total=count)
    for turn in range(count + WARM):
        for which in chance.sample((0, 1), 2):
            took = pair.ask(which)
            if turn >= WARM:
                times[which].append(took)
        if turn >= WARM:
            progress.advance(task)
    progress.remove_task(task)
    return compare(*times)


def _said(pair: Pair, verdict: Verdict) -> str:
    mark = "[green]as it should be[/]" if _right(pair, verdict) else "[red]NOT AS IT SHOULD BE[/]"
    return f"{mark} {pair.name} ({pair.first}; {pair.second}): {_told(pair, verdict)}"


def _right(pair: Pair, verdict: Verdict) -> bool:
    return pair.planted == verdict.tells or _let_be(pair, verdict)


def _let_be(pair: Pair, verdict: Verdict) -> bool:
    return abs(verdict.difference) < pair.let_be_us


def _told(pair: Pair, verdict: Verdict) -> str:
    if not verdict.tells:
        return "no"
    if pair.planted:
        return "yes, as planted"
    return "yes, and let be: it helps nobody" if _let_be(pair, verdict) else "YES"


def _row(pair: Pair, verdict: Verdict) -> tuple[object, ...]:
    return (
        pair.name,
        pair.first,
        pair.second,
        f"{verdict.samples:,}",
        f"{verdict.first:.1f} and {verdict.second:.1f}",
        f"{verdict.difference:+.2f}",
        f"{verdict.t:+.1f}",
        f"{verdict.u:+.1f}",
        _told(pair, verdict),
    )


def _show(console: Console, found: list[tuple[Pair, Verdict]]) -> None:
    table = Table(*HEADER, title=f"Told apart: both from {TELLS_FROM} standard errors on")
    for each in found:
        table.add_row(*map(str, _row(*each)))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
