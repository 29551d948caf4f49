"""``make pair``: two machines, a PostgreSQL with its synchronous replica, and a proxy before them,
in a network of their own; struck again and again under load, and what came of it."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import trio
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from proofs import evidence
from proofs.pair.books import PairTally
from proofs.pair.machines import ROOT
from proofs.pair.network import NoNamespaces
from proofs.pair.rig import PairBroken, Rig, Struck
from proofs.process.faces import leaves

MODES = ("before_answer", "async")
HEADER = ("What", "how many")
INTERRUPTED = 130
"""What a program that Ctrl-C has ended leaves with."""
BROKEN = (PairBroken, NoNamespaces, AssertionError, OSError)
"""What ends a run, with what was done until then: as where a machine is too busy to begin."""
NEVER = ("lost", "by_two", "mischarged", "unsaid")
"""Rows that have to be 0."""


def main() -> int:
    """0: everything held."""
    parser = argparse.ArgumentParser(prog="make pair", description=__doc__)
    parser.add_argument("--kills", type=int, default=int(os.environ.get("KILLS", "200")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60, help="no strike after so many")
    parser.add_argument("--mode", choices=(*MODES, "both"), default="both")
    parser.add_argument("--keep", action="store_true", help="leave the files where they are")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    options = parser.parse_args()
    modes = MODES if options.mode == "both" else (options.mode,)
    console, until_s, statuses = Console(), time.monotonic() + options.minutes * 60, []
    left = options.kills
    for number, mode in enumerate(modes):
        parts = len(modes) - number  # those that are left share what is left, of both
        kills, left = left - left * (parts - 1) // parts, left * (parts - 1) // parts
        span_s = max(0.0, until_s - time.monotonic()) / parts
        if kills:
            statuses.append(_one_mode(options, mode, kills, span_s, console))
        if statuses and statuses[-1] == INTERRUPTED:
            break
    return 1 if any(statuses) else 0


def _one_mode(
    options: argparse.Namespace, mode: str, kills: int, span_s: float, console: Console
) -> int:
    began_s, so_far = time.monotonic(), ROOT / f"build/pair/{mode}.md"
    so_far.parent.mkdir(parents=True, exist_ok=True)
    told = f"{mode}: {kills} strikes, within {span_s / 60:.0f} min. {so_far.relative_to(ROOT)} has "
    console.print(f"{told}the table of what is done, after each strike.", highlight=False)

    def tell(number: int, struck: Struck, tally: PairTally, accepted: int) -> None:
        came = "the standby took over" if struck.taken_over else "the primary went on"
        wrong = sum(getattr(tally, name) for name in NEVER)
        text = f"{number:3}  {struck.name}; {came}; {struck.outage_s:.1f} s without an answer; "
        console.print(f"{text}{accepted} accepted, {wrong} wrong", highlight=False)
        so_far.write_text(_table(rig, time.monotonic() - began_s))

    place = Path(tempfile.mkdtemp(prefix="risala-pair-"))
    place.chmod(0o755)  # PostgreSQL runs as another user
    rig = Rig(place, mode, options.seed, tell)
    status = _played(rig, kills, span_s, console)
    rows = _rows(rig, time.monotonic() - began_s)
    so_far.write_text(_table(rig, time.monotonic() - began_s))
    shown = Table(*HEADER, title=f"Two machines, {mode}, PostgreSQL {rig.version}")
    for row in rows:
        shown.add_row(*row)
    console.print(shown)
    for fault in (*rig.tally.faults, *rig.unplayed, *rig.stuck):
        console.print(f"[red]{escape(fault)}", highlight=False)
    if any(getattr(rig.tally, name) for name in NEVER):
        status = 1
    if status or options.keep:
        console.print(f"The files are in {place}.", highlight=False)
    else:
        shutil.rmtree(place, ignore_errors=True)
    if not options.no_page and not status and rig.is_over and not rig.is_interrupted:
        command = f"make pair KILLS={len(rig.struck)} ARGS='--mode {mode}'"
        evidence.write(f"pair-{mode}", HEADER, rows, command=command)
    return status or (INTERRUPTED if rig.is_interrupted else 0)


def _table(rig: Rig, span_s: float) -> str:
    """What was done so far, for who finds the file of a run that was broken off."""
    lines = [HEADER, ("---", "---"), *_rows(rig, span_s)]
    table = "\n".join(f"| {what} | {how_many} |" for what, how_many in lines)
    said = [*rig.tally.faults, *rig.unplayed, *rig.stuck]
    return "\n".join([f"# {rig.mode}", "", table, "", *(f"- {each}" for each in said), ""])


def _played(rig: Rig, kills: int, span_s: float, console: Console) -> int:
    try:
        trio.run(rig.run, kills, span_s)
    except BaseExceptionGroup as group:
        expected, rest = group.split(BROKEN)
        if expected is None or rest is not None:
            raise
        for each in leaves(expected):
            console.print(f"[red]{escape(str(each))}", highlight=False)
        return 1
    except BROKEN as error:
        console.print(f"[red]{escape(str(error))}", highlight=False)
        return 1
    return 0


def _rows(rig: Rig, span_s: float) -> list[tuple[str, str]]:
    tally, struck = rig.tally, rig.struck
    asked = rig.customers.asked
    kinds = Counter(each.name for each in struck)
    took = Counter(each.name for each in struck if each.taken_over)
    numbers = [
        ("PostgreSQL", rig.version),
        ("strikes", f"{len(struck)} in {span_s / 60:.0f} min"),
        ("asked", f"{len(asked):,}"),
        ("accepted", f"{sum(each.id is not None for each in asked):,}"),
        ("lost", f"{tally.lost}"),
        ("sent by two", f"{tally.by_two}"),
        ("mis-charged", f"{tally.mischarged}"),
        ("doubtful without a word", f"{tally.unsaid}"),
        ("doubtful, and it says so", f"{tally.doubtful}"),
        ("missing, later than the moment that the takeover names", f"{tally.late}"),
        ("asked again after that, and sent by both", f"{tally.window}"),
        ("only at an old primary, and listed", f"{rig.aside['messages']}"),
        ("calls to sync that failed", f"{rig.syncs_failed}"),
        ("strikes that could not be played to their end", f"{len(rig.unplayed)}"),
        ("strikes after which processes had to be started again", f"{len(rig.stuck)}"),
        ("books", "held at the end" if rig.is_over else "not held yet: of takeovers alone"),
    ]
    takeovers = [each.outage_s for each in struck if each.taken_over]
    if takeovers:
        numbers.append(("takeovers", f"{len(takeovers)}"))
        numbers.append(("time to take over, p50", f"{statistics.median(takeovers):.1f} s"))
        numbers.append(("time to take over, p99", f"{_high(takeovers):.1f} s"))
    orderly = [e.outage_s for e in struck if e.name == "primary stopped in order"]
    if orderly:
        numbers.append(
            ("of these after an orderly stop, p50", f"{statistics.median(orderly):.1f} s")
        )
    numbers += [(name, f"{count}, {took[name]} takeovers") for name, count in kinds.items()]
    return numbers


def _high(spans: list[float]) -> float:
    """The 99th of a hundred; of fewer the highest."""
    ordered = sorted(spans)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


if __name__ == "__main__":
    sys.exit(main())
