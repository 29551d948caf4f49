"""``make life``, and ``make steady``, its last part alone."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import trio
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from proofs.crashes.rounds import Lives, Lost
from proofs.life import ending, page, queue, steady
from proofs.life.steady import Judged, Sample
from proofs.process.books import Books
from proofs.process.faces import leaves
from proofs.process.house import in_thread, opened_house

HERE: Final = Path(__file__).parent
STOPS: Final = 10
FROZEN_S: Final = 60.0
"""Longer than a carrier waits for an answer: it has hung up by then."""
QUEUED: Final = 1_000_000
READY_TIMES: Final = 3.0
"""What a million queued messages may make of the time that a start takes."""


@dataclass(frozen=True)
class Came:
    """What came of a part."""

    rows: dict[str, str]
    held: bool = True


def _ending(options: argparse.Namespace, console: Console) -> Came:
    """Stops, reloads, a freeze: one service under load of every face."""

    async def main(place: Path) -> dict[str, str]:
        async with opened_house(place) as house:
            lives = Lives(house, 1, lambda *_: None, None)
            await lives.start({})
            await in_thread(house.furnish)
            stops = await ending.stopped(lives, STOPS)
            longest_s = max(stops.took_s)
            console.print(f"{STOPS} stops, the longest {longest_s:.1f} s", highlight=False)
            twice_s = await ending.stopped_twice(lives)
            accepted = await ending.reloaded(lives)
            console.print(f"{ending.RELOADS} reloads, {accepted} accepted meanwhile")
            first_s = await ending.frozen(lives, FROZEN_S)
            console.print(f"frozen; the first acceptance {first_s:.1f} s after", highlight=False)
            await lives.judge(0)
            return {
                "SIGTERM under a load of every face": f"{STOPS} times: ended in order after"
                f" {longest_s:.1f} s at the most, of {ending.DEADLINE_S:g} that the settings state;"
                f" {stops.pending} messages waited on the disk, 0 lost, 0 doubled",
                "A second SIGTERM": f"ended {twice_s:.1f} s later; 0 lost, 0 doubled",
                "SIGHUP under load": f"{ending.RELOADS} times: nobody was cut off,"
                f" {accepted} accepted meanwhile; 0 lost, 0 doubled",
                "Frozen (SIGSTOP), and let go on": f"for {FROZEN_S:g} s: the next message was"
                f" accepted {first_s:.1f} s after it; 0 lost, 0 doubled without a word",
            }

    with tempfile.TemporaryDirectory(prefix="risala-life-") as place:
        return Came(trio.run(main, Path(place)))


def _queue(options: argparse.Namespace, console: Console) -> Came:
    """A restart with a long queue."""
    short, long = queue.restarted(options.queued, console.print)
    times = long.ready_s / short.ready_s
    said = (
        f"ready after {long.ready_s:.1f} s, {times:.1f} times what it takes without;"
        f" the carrier had the first message after {long.first_s:.1f} s ({short.first_s:.1f}"
        f" without); {long.memory_mib:.0f} MiB of memory ({short.memory_mib:.0f})"
    )
    return Came({f"Restart with {options.queued:,} queued": said}, times <= READY_TIMES)


def _steady(options: argparse.Namespace, console: Console) -> Came:
    """A steady load."""
    with tempfile.TemporaryDirectory(prefix="risala-life-") as place:
        work = partial(_under_load, Path(place), options.minutes, console)
        samples, books = trio.run(work)
    found = steady.judged(samples)
    _show(console, found, books)
    # Webhooks are what comes of messages, and nobody asked for them.
    faces = [each for face, each in books.tallies.items() if face != "webhooks"]
    sums = [sum(getattr(each, name) for each in faces) for name in _SUMS]
    said = "; ".join(
        f"{each.name.split(',')[0]} {each.low:.0f} to {each.high:.0f}, rise {each.rise:+.1f}"
        f" of {each.allowed:g}"
        for each in found
    )
    name = f"{options.minutes:g} minutes of a steady load"
    told = f"{sums[0]} accepted by every face, {sums[1]} lost, {sums[2]} doubled; {said}"
    return Came({name: told}, all(each.is_flat for each in found) and not books.faults)


_SUMS: Final = ("accepted", "lost", "doubled")


async def _under_load(place: Path, minutes: float, console: Console) -> tuple[list[Sample], Books]:
    more = steady.PLUGIN.format(folder=HERE, path=place / "tasks")
    texts = int(minutes * 60)  # one a second
    columns = (TextColumn("{task.description}"), TimeElapsedColumn(), TimeRemainingColumn())
    last_s = 0.0
    async with opened_house(place, inbound=texts, inbound_per_s=1.0, more=more) as house:
        await house.start()
        await in_thread(house.furnish)
        with Progress(*columns, console=console) as progress:
            task = progress.add_task(f"{minutes:g} minutes of a steady load", total=1.0)

            def tell(share: float, sample: Sample, accepted: int) -> None:
                nonlocal last_s
                progress.update(task, completed=share)
                if time.monotonic() - last_s > 60:
                    last_s = time.monotonic()
                    said = ", ".join(f"{name} {value:.0f}" for name, value in sample.values.items())
                    progress.console.print(f"{accepted} accepted; {said}", highlight=False)

            return await steady.steady(house, minutes, tell)


def _show(console: Console, found: list[Judged], books: Books) -> None:
    table = Table("", "from", "to", "rise by the line", "may be", title="While the load went on")
    for each in found:
        mark = "green" if each.is_flat else "red"
        low, high = f"{each.low:.1f}", f"{each.high:.1f}"
        table.add_row(each.name, low, high, f"[{mark}]{each.rise:+.2f}[/]", f"{each.allowed:g}")
    console.print(table)
    for fault in books.faults:
        console.print(f"[red]{escape(fault)}", highlight=False)


PARTS: Final[dict[str, Callable[[argparse.Namespace, Console], Came]]] = {
    "ending": _ending,
    "queue": _queue,
    "steady": _steady,
}


def main() -> int:
    """0: everything held."""
    parser = argparse.ArgumentParser(prog="make life", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--minutes", type=float, default=float(os.environ.get("MINUTES", "60")))
    parser.add_argument("--queued", type=int, default=QUEUED, help="messages of the long queue")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    options = parser.parse_args()
    console = Console()
    held = True
    for name in options.only:
        try:
            came = PARTS[name](options, console)
        except BaseExceptionGroup as group:
            broken, rest = group.split((Lost, ending.Broken))
            if broken is None or rest is not None:
                raise
            for each in leaves(broken):
                console.print(f"[red]{escape(str(each))}", highlight=False)
            held = False
            continue
        for what, said in came.rows.items():
            console.print(f"[bold]{what}[/]: {said}", highlight=False)
        if not options.no_page:
            page.write_rows(came.rows)
        held = held and came.held
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
