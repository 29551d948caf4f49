"""``make kills``: the service killed under a load of every face, and in the middle of a mailing;
and what came of it."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio
from rich.console import Console
from rich.markup import escape
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from proofs import evidence
from proofs.crashes import mailings
from proofs.crashes.instants import Instant, When
from proofs.crashes.rounds import Lost, Result, live
from proofs.process.books import Books, Tally
from proofs.process.faces import leaves

T = TypeVar("T")

ROUNDS = 20
"""That one file goes through: a file of thousands of messages is looked through after each."""
PARTS = ("faces", "mailing")
OF_MAILINGS = 4
"""Of so many kills under the load of all faces there is one more in the middle of a mailing."""


def main() -> int:
    """0: everything held."""
    parser = argparse.ArgumentParser(prog="make kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=int(os.environ.get("KILLS", "200")))
    parser.add_argument("--seed", type=int, default=1, help="of the first file; then one more each")
    parser.add_argument("--only", choices=PARTS, help="one part alone")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    options = parser.parse_args()
    console = Console()
    statuses = []
    if options.only != "mailing":
        statuses.append(_faces(options, console))
    if options.only != "faces" and not any(statuses):
        kills = options.kills if options.only else max(1, options.kills // OF_MAILINGS)
        statuses.append(_mailings(options, console, kills))
    return max(statuses)


def _faces(options: argparse.Namespace, console: Console) -> int:
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    results: list[Result] = []
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("Killed", total=options.kills)

        def tell(number: int, instant: Instant, books: Books) -> None:
            progress.advance(task)
            accepted = sum(each.accepted for each in books.tallies.values())
            also = f" (and the {instant.disturbed})" if instant.disturbed else ""
            text = f"{number:3}  {instant.when}{also}; {accepted} accepted so far"
            progress.console.print(text, highlight=False)

        for at in range(0, options.kills, ROUNDS):
            seed, rounds = options.seed + at // ROUNDS, min(ROUNDS, options.kills - at)
            place = Path(tempfile.mkdtemp(prefix=f"risala-kills-{seed}-"))
            result = attempt(console, partial(live, place, seed, rounds, tell))
            if result is None:
                again = f"make kills ARGS='--only faces --seed {seed} --kills {rounds} --no-page'"
                console.print(f"Again: {again}", highlight=False)
                return 1
            results.append(result)
            shutil.rmtree(place)
    rows = table(results)
    shown = Table(*HEADER, title="What came of it, by face")
    for row in rows:
        shown.add_row(*map(str, row))
    console.print(shown)
    if not options.no_page:
        evidence.write("crashes", HEADER, rows, command=f"make kills KILLS={options.kills}")
    return 0


def _mailings(options: argparse.Namespace, console: Console, kills: int) -> int:
    def tell(number: int, strike: str, found: str) -> None:
        console.print(f"{number:3}  {strike}; {found}", highlight=False)

    seed = options.seed
    place = Path(tempfile.mkdtemp(prefix=f"risala-kills-mailing-{seed}-"))
    result = attempt(console, partial(mailings.live_mailings, place, seed, kills, tell))
    command = f"make kills ARGS='--only mailing --kills {kills}'"
    if result is None:
        console.print(f"Again: {command[:-1]} --seed {seed} --no-page'", highlight=False)
        return 1
    shutil.rmtree(place)
    shown = Table(*mailings.HEADER, title="What came of mailings")
    rows = mailings.table(result)
    for row in rows:
        shown.add_row(*row)
    console.print(shown)
    if not options.no_page:
        evidence.write("crashes-mailings", mailings.HEADER, rows, command=command)
    return 0


def attempt(console: Console, run: Callable[[], Awaitable[T]]) -> T | None:
    """None: a promise did not hold, and it was said which."""
    try:
        return trio.run(run)
    except BaseExceptionGroup as group:
        lost, rest = group.split(Lost)
        if lost is None or rest is not None:
            raise
        for each in leaves(lost):
            console.print(f"[red]{escape(str(each))}", highlight=False)
        return None


HEADER = (
    "Face",
    "asked",
    "accepted",
    "lost",
    "doubled",
    "without a word",
    "mis-charged",
    "uncertain",
    "receipt gone",
    "owed",
    "told",
)


def table(results: list[Result]) -> list[tuple[object, ...]]:
    """A row for each face, and how often it was killed at which instant."""
    sums: dict[str, Counter[str]] = {}
    for result in results:
        for face, tally in result.tallies.items():
            sums.setdefault(face, Counter()).update(asdict(tally))
    names = list(asdict(Tally()))
    order = (
        "asked",
        "accepted",
        "lost",
        "doubled",
        "unsaid",
        "mischarged",
        "uncertain",
        "unreported",
        "owed",
    )
    assert set(names) == {*order, "told"}
    rows: list[tuple[object, ...]] = [
        (face, *(counted[name] for name in order), counted["told"])
        for face, counted in sums.items()
    ]
    kills = sum((result.kills for result in results), Counter[str]())
    others = sum((result.others for result in results), Counter[str]())
    starts = [each for result in results for each in result.start_s]
    empty = ("",) * (len(HEADER) - 2)
    rows += [(f"killed {when}", kills[when], *empty) for when in When]
    rows += [(f"besides, the {who} killed", count, *empty) for who, count in others.items()]
    middle = f"{statistics.median(starts):.1f} s"
    return [*rows, ("from a start to an open door, in the middle", middle, *empty)]


if __name__ == "__main__":
    sys.exit(main())
