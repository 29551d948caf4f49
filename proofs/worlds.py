"""Whole histories by seed, as many as there is time for: ``make worlds``, ``make world PLAN=…``.

What they are is in ``tests/simulation``; here they are played side by side, summed up, and where
one fails, cut short and told.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from threading import Semaphore
from types import FrameType
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from tests.simulation.history import Played, play
from tests.simulation.plan import Plan, read
from tests.simulation.shrink import shrink

from proofs import evidence

HANG_S: Final = 900
"""A world takes a second or two of a core; one that takes so long stands still, and is told so."""
CRASHES: Final = (
    "kills-at-steps",
    "kills-at-commits",
    "broken-syncs",
    "ended by itself",
    "bugs struck",
)
"""How lives ended, or were shaken, as worlds count it."""
KINDS_OF_FAULT: Final = {"lost": "LOST", "doubled without a word": "DOUBLED", "mis-charged": "MIS"}


@dataclass
class Sum:
    """What came of all worlds."""

    worlds: int = 0
    seeds: list[int] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)
    bounds: dict[str, tuple[int, str]] = field(default_factory=dict)
    failed: list[Played] = field(default_factory=list)

    def add(self, played: Played) -> None:
        self.worlds += 1
        self.seeds.append(played.plan.seed)
        self.tally.update(played.tally)
        self.tally["lives"] += played.plan.lives + 2
        for what, (used, most) in played.bounds.items():
            self.bounds[what] = (max(used, self.bounds.get(what, (0, ""))[0]), most)
        if played.faults:
            self.failed.append(played)

    def faults(self, word: str) -> int:
        return sum(1 for played in self.failed for fault in played.faults if fault.startswith(word))

    def rows(self) -> list[tuple[str, str]]:
        """What the page of evidence tells."""
        tally = self.tally
        crashes = sum(tally[each] for each in CRASHES)
        seeds = f"{min(self.seeds)} to {max(self.seeds)}" if self.seeds else "none"
        return [
            ("histories", f"{self.worlds:,} (seeds {seeds})"),
            ("steps of tasks", f"{tally['steps']:,}"),
            ("commits", f"{tally['commits']:,}"),
            ("lives of the process", f"{tally['lives']:,}"),
            ("crashes survived", f"{crashes:,}"),
            *((f"… {name}", f"{tally[key]:,}") for key, name in NAMES.items()),
            ("messages accepted", f"{tally['accepted']:,}"),
            ("… of them by Kannel's or Twilio's words", f"{tally['accepted by a face']:,}"),
            ("… of them by SMPP", f"{tally['accepted by smpp']:,}"),
            ("… whose SMPP receipts had to come", f"{tally['receipts by smpp']:,}"),
            ("… whose customers had to be called back", f"{tally['called back']:,}"),
            ("mailings that members made", f"{tally['mailings']:,}"),
            ("… messages of their rows", f"{tally['messages of mailings']:,}"),
            ("… texts of theirs at phones, each once", f"{tally['people of mailings']:,}"),
            ("uncertain, and sent again with a word", f"{tally['uncertain sent again']:,}"),
            (
                "… again as the same attempt, with the same id",
                f"{tally['submitted again as the same attempt']:,}",
            ),
            (
                "… that the carrier had already, each one text",
                f"{tally['texts that came again with the same id']:,}",
            ),
            (
                "answers of carriers that they surely do not have a submit",
                f"{tally['submits that a carrier surely did not have']:,}",
            ),
            *((name, f"{tally[key]:,}") for key, name in CARRIERS.items()),
            ("organizations that a phone told to stop", f"{tally['stops']:,}"),
            ("messages refused for that", f"{tally['refused after STOP']:,}"),
            ("conversations that people began", f"{tally['conversations']:,}"),
            ("… answers of members in them", f"{tally['answers in conversations']:,}"),
            ("… automatic answers, each text at most one", f"{tally['automatic answers']:,}"),
            ("… texts that phones answered", f"{tally['texts that phones answered']:,}"),
            ("days that passed with the service off", f"{tally['days']:,}"),
            ("… texts that went with time", f"{tally['texts that went with time']:,}"),
            ("… events that went with time", f"{tally['events that went with time']:,}"),
            ("… of them missed by a sink that was away", f"{tally['missed by the sink']:,}"),
            (
                "files of an organization, whole at the end",
                f"{tally['files of an organization']:,}",
            ),
            ("numbers that an owner had taken out", f"{tally['numbers taken out']:,}"),
            (
                "… messages without their number since",
                f"{tally['messages without their number']:,}",
            ),
            (
                "looks at a standby's copy, each as the database was",
                f"{tally['looks at a standby']:,}",
            ),
            ("… takeovers of it, each with clean books", f"{tally['takeovers']:,}"),
            ("… messages accepted after one", f"{tally['accepted after a takeover']:,}"),
            *((name, f"{tally[key]:,}") for key, name in PAIRS.items()),
            ("payments' callbacks believed", f"{tally['callbacks']:,}"),
            ("people who signed in", f"{tally['sign-ins']:,}"),
            ("events, each told to an endpoint and a sink", f"{tally['events']:,}"),
            *((name, f"{self.faults(word):,}") for name, word in KINDS_OF_FAULT.items()),
            ("histories in which anything was wrong", f"{len(self.failed):,}"),
        ]


NAMES: Final = {
    "kills-at-steps": "killed at a step of a task",
    "kills-at-commits": "killed right before or after a commit",
    "broken-syncs": "power cut after a sync that failed, and held",
    "broken syncs": "syncs that failed",
    "bugs struck": "a bug ended one actor or service",
    "ended by itself": "the process ended by itself",
    "refused by a full disk": "transactions that a full disk refused",
    "slow-disk": "times when the disk was slow",
    "clock": "times when the clock was set an hour forth or back",
}


CARRIERS: Final = {
    "codes that a channel took": "codes that a channel took, beside SMS",
    "sessions with channels": "… sessions whose code may come by several channels",
    "deliveries after the first": "… deliveries after a session's first one",
    "texts that left a phone": "texts that left an Android phone, through its own driver",
    "moods of a phone": "… bad days of such phones: asleep, killed, cut off, late, mute",
    "phones that were wiped": "… times when such a phone lost all that it knew",
    "texts that an aggregator took": "texts that an HTTP aggregator took, through its own driver",
}


PAIRS: Final = {
    "lost within what the doctor said": "… messages that async mode lost, each within the time "
    "that the doctor said",
    "copies compared page by page": "times when a copy was compared page by page with the database "
    "as it was at that commit",
    "takeovers of a pair": "takeovers where answers wait for the second machine, and nothing lost",
    "takeovers beside a living machine": "… while the first machine still ran",
    "takeovers without a last unanswered batch": "… without a last batch that nobody was answered",
    "orders to go on alone": "orders to go on without the second machine",
    "outcomes unknown": "answers that the outcome is unknown",
    "refused, as the log was silent": "… and refusals at once after three such",
}


_TOLD_EACH = 10
"""Histories, of which a file gets a line."""


def main() -> int:
    given = _given()
    if given.plan:
        return _one(read(given.plan))
    total = Sum()
    until_s = None if given.hours is None else time.monotonic() + given.hours * 3600
    seeds = count(given.first) if until_s else iter(range(given.first, given.first + given.worlds))
    console = Console()
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.completed} histories"),
        BarColumn(),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
        console=console,
        auto_refresh=console.is_terminal,  # into a file it would only take time
    )
    with bar, multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=50) as pool:
        task = bar.add_task("", total=None if until_s else given.worlds, told="")
        room = Semaphore(2 * given.jobs)
        for played in pool.imap_unordered(_play_seed, _until(seeds, until_s, room)):
            room.release()
            total.add(played)
            told = f"{total.tally['accepted']:,} messages, {len(total.failed)} failed"
            bar.update(task, advance=1, told=told)
            if not console.is_terminal and total.worlds % _TOLD_EACH == 0:
                console.print(f"{total.worlds} histories, {told}")
            if played.faults:
                console.print(_smallest(played).told, markup=False, highlight=False)
    _show(console, total)
    if given.write and total.worlds:
        evidence.write("worlds", ("What", "How many"), total.rows(), command=given.command)
        rows = [
            (f"`{what.partition(' ')[0]}`", f"`{what.partition(' ')[2]}`", f"{used:,}", most)
            for what, (used, most) in sorted(total.bounds.items())
        ]
        header = ("Where", "What", "Most ever", "Limit")
        evidence.write("bounds", header, rows, command=given.command)
    return 1 if total.failed else 0


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", help="one history, told")
    parser.add_argument("--worlds", type=int, default=500)
    parser.add_argument("--hours", type=float, help="so long, however many histories that is")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--write", action="store_true", help="into the page of evidence")
    parser.add_argument("--command", default="make worlds", help="what the page says was typed")
    return parser.parse_args()


def _until(seeds: Iterator[int], until_s: float | None, room: Semaphore) -> Iterator[int]:
    """Seeds until the time is over. A pool takes at once whatever it is given: so no more than a
    few beyond what is played."""
    for seed in seeds:
        room.acquire()
        if until_s is not None and time.monotonic() > until_s:
            return
        yield seed


def _play_seed(seed: int) -> Played:
    return _play(Plan(seed))


def _play(plan: Plan) -> Played:
    """In a folder of its own, in memory where there is such a disk."""
    signal.signal(signal.SIGALRM, partial(_hangs, plan))
    signal.alarm(HANG_S)
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="risala-world-", dir=memory if memory.is_dir() else None)
    try:
        return play(plan, Path(folder) / "world")
    finally:
        signal.alarm(0)
        shutil.rmtree(folder)


def _hangs(plan: Plan, _: int, __: FrameType | None) -> None:
    raise TimeoutError(f"the history {plan} stands still")


def _smallest(failed: Played) -> Played:
    return shrink(failed, _play)


def _one(plan: Plan) -> int:
    played = _play(plan)
    print("\n".join(played.story) if not played.faults else played.told)
    return 1 if played.faults else 0


def _show(console: Console, total: Sum) -> None:
    table = Table("What", "How many", title="Histories")
    for what, how_many in total.rows():
        table.add_row(what, how_many)
    console.print(table)
    if total.failed:
        console.print(f"[bold red]{len(total.failed)} histories failed[/]")


if __name__ == "__main__":
    sys.exit(main())
