"""``make fuzz``: hostile octets at every door, led by what the source does with them."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from proofs import evidence
from proofs.fuzz import campaign, corpus
from proofs.fuzz.campaign import Campaign
from proofs.fuzz.table import TARGETS, target_named
from proofs.fuzz.target import FuzzTarget

_HEADER = ("Door", "What is asked of each input", "Inputs", "Seconds", "Edges", "Stored", "Open")


def main() -> int:
    """0: nothing broke; 1: something did, or could not be run."""
    asked = _asked()
    console = Console()
    if asked.replay is not None:
        return _replay(console, asked.replay, asked.store)
    targets = [each for each in TARGETS if asked.only in each.name]
    if not campaign.is_there():
        console.print(f"There is no atheris in {campaign.TOOLS}: `make fuzz` puts it there.")
        return 1
    if asked.plants:
        from proofs.fuzz import plants

        return plants.main(console, asked.only, asked.seconds)
    done = _run_all(console, targets, asked.seconds, asked.jobs)
    if asked.minimise:
        for each in done:
            if not each.error:
                corpus.save(each.target.name, campaign.minimised(each.target))
    _show(console, done, asked.seconds)
    if asked.write:
        evidence.write(
            "fuzz", _HEADER, [_row(each, asked.seconds) for each in done], command="make fuzz"
        )
    return 1 if any(each.error for each in done) else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    add = parser.add_argument
    add("--only", default="", help="targets whose names have these letters")
    add("--seconds", type=int, default=60, help="for each target")
    add("--jobs", type=int, default=2, help="targets at once")
    add("--minimise", action="store_true", help="store the inputs that reach all that was reached")
    add("--plants", action="store_true", help="plant a bug in each family, and see it found")
    add("--replay", type=Path, help="an input that broke a target (build/fuzz/TARGET/found-…)")
    add("--store", help="with --replay: store it under this name, for ever")
    add("--write", action="store_true", help="write the table into the page of evidence")
    return parser.parse_args()


def _run_all(
    console: Console, targets: list[FuzzTarget], seconds: int, jobs: int
) -> list[Campaign]:
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        whole = progress.add_task("all", total=len(targets) * seconds, told="")

        def one(target: FuzzTarget) -> Campaign:
            task = progress.add_task(target.name, total=seconds, told="begins")
            began = time.monotonic()

            def told(now: Campaign) -> None:
                text = f"{now.inputs:>9,} inputs {now.edges:>5} edges"
                progress.update(task, completed=time.monotonic() - began, told=text)

            done = campaign.run(target, seconds, told)
            _tell_found(progress, task, done)
            progress.advance(whole, seconds)
            return done

        with ThreadPoolExecutor(jobs) as pool:
            return list(pool.map(one, targets))


def _tell_found(progress: Progress, task: TaskID, done: Campaign) -> None:
    progress.remove_task(task)
    name = done.target.name
    if not done.error:
        text = f"[green]held[/]  {name:<20} {done.inputs:>10,} inputs  {done.edges:>5} edges"
        progress.console.print(text, highlight=False)
        return
    progress.console.print(f"[red]BROKE[/] {name}", highlight=False)
    progress.console.print(done.error, markup=False, highlight=False)
    if done.found is not None:
        where = done.found.relative_to(evidence.ROOT)
        progress.console.print(f"Once more: make fuzz ARGS='--replay {where}'", highlight=False)


def _row(done: Campaign, seconds: int) -> list[object]:
    target = done.target
    stored = len(corpus.load(target.name))
    is_open = 1 if done.error else 0
    return [
        *(
            target.name,
            target.oracle,
            f"{done.inputs:,}",
            seconds,
            done.edges or "–",
            stored,
            is_open,
        ),
    ]


def _show(console: Console, done: list[Campaign], seconds: int) -> None:
    table = Table(_HEADER[0], *_HEADER[2:], title="Hostile input")
    for each in done:
        row = [*map(str, _row(each, seconds))]
        table.add_row(row[0], *row[2:])
    console.print(table)


def _replay(console: Console, path: Path, name: str | None) -> int:
    """One input again, without atheris, with the whole trace."""
    path = path.resolve()
    target = target_named(path.parent.name)
    octets = path.read_bytes()
    console.print(f"{target.name}: {octets!r}", markup=False, highlight=False)
    if name is not None:
        kept = corpus.load(target.name)
        corpus.save(target.name, {**kept, name: octets})
    try:
        target.run(octets)
    except Exception:  # noqa: BLE001 -- whatever it raises is what is asked about
        traceback.print_exc()
        return 1
    console.print("It holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
