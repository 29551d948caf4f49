"""``make guards``: takes each guard away, and shows which test misses it."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys

from rich.console import Console
from rich.markup import escape
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from proofs import evidence
from proofs.guards import GUARDS
from proofs.guards.guard import ROOT, Guard
from proofs.guards.trial import Found, Trials, trials


def main() -> int:
    """0: each guard is missed by a test; 1: some are not, or such a test fails with all of them."""
    parser = argparse.ArgumentParser(prog="make guards", description=__doc__)
    parser.add_argument("--only", default="", help="guards whose promise or file has these words")
    parser.add_argument(
        "--changed",
        nargs="?",
        const="HEAD",
        metavar="SINCE",
        help="guards in files, or watched by tests, that are not as in this commit (HEAD)",
    )
    parser.add_argument(
        "--new", action="store_true", help="those that no test was seen to miss, on this machine"
    )
    parser.add_argument(
        "--known", action="store_true", help="only by the test that missed it the last time"
    )
    parser.add_argument(
        "--part", default="1/1", metavar="I/N", help="one of N parts, for as many processes at once"
    )
    parser.add_argument("--list", action="store_true", help="tell them, and try nothing")
    parser.add_argument("--write", action="store_true", help="write the page of evidence anew")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    guards = _wanted(options.only, options.changed)[part - 1 :: parts]
    console = Console()
    if options.list:
        for each in guards:
            console.print(f"{each.promise}  [dim]{each.file}[/]", highlight=False)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with trials(only_known=options.known) as rig:
        guards = [each for each in guards if not (options.new and rig.is_known(each))]
        found = _try_all(console, rig, guards)
        _show(console, found)
        missed_by = [each.by for each in found if each.by is not None]
        console.print(f"Once more with all guards in place: {len(set(missed_by))} tests …")
        if (failed := rig.failing(missed_by) if missed_by else None) is not None:
            console.print(f"[red]{failed} fails with all guards in place, and so proves nothing.")
            return 1
    if options.write:
        _write(found)
    return 0 if all(each.by for each in found) else 1


def _wanted(only: str, since: str | None) -> list[Guard]:
    guards = [each for each in GUARDS if only.lower() in f"{each.promise} {each.file}".lower()]
    if since is None:
        return guards
    command = ["git", "-C", str(ROOT), "diff", "--name-only", since, "--"]
    changed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return [each for each in guards if _is_of(each, changed)]


def _is_of(guard: Guard, changed: list[str]) -> bool:
    places = (f"src/risala/{guard.file}", *(f"tests/{each}".split("::")[0] for each in guard.tests))
    return any(path == at or path.startswith(f"{at}/") for path in changed for at in places)


def _try_all(console: Console, rig: Trials, guards: list[Guard]) -> list[Found]:
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    found = []
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("Guards taken away", total=len(guards))
        for guard in guards:
            one = rig.without(guard)
            found.append(one)
            rig.remember()
            mark = "[green]found[/]" if one.by else "[red]NOT FOUND[/]"
            progress.console.print(f"{mark} {guard.promise}  [dim]{_by(one)}[/]", highlight=False)
            progress.advance(task)
    return found


def _show(console: Console, found: list[Found]) -> None:
    table = Table("What holds", "Where", "Missed by", title="Guards that were taken away")
    for each in found:
        table.add_row(each.guard.promise, each.guard.file, _by(each) or "[red]nobody")
    console.print(table)
    missed = sum(each.by is not None for each in found)
    console.print(f"{missed} of {len(found)} guards are watched by a test.")


def _by(found: Found) -> str:
    """As it is shown: an example's own values may look like markup."""
    return escape(f"{found.by} (waits for ever)" if found.hangs else found.by or "")


def _write(found: list[Found]) -> None:
    rows = [
        (each.guard.promise, f"`{each.guard.file}`", f"`{_short(each)}`" if each.by else "nobody")
        for each in found
    ]
    missed = sum(each.by is not None for each in found)
    rows.append((f"{missed} of {len(found)} are missed by a test", "", ""))
    header = ("What holds because of it", "Where it stands", "Which test misses it")
    evidence.write("guards", header, rows, command='make guards ARGS="--write"')


def _short(found: Found) -> str:
    """Without an example's own values, which may be as long as they like."""
    return (found.by or "").removeprefix("tests/").split("[")[0]


if __name__ == "__main__":
    sys.exit(main())
