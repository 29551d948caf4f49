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
from proofs.pair.network import NoNamespaces
from proofs.pair.rig import PairBroken, Rig, Struck
from proofs.process.faces import leaves

MODES = ("async", "before_answer")
HEADER = ("What", "how many")
NEVER = ("lost", "by_two", "mischarged", "unsaid")
"""Rows that have to be 0."""


def main() -> int:
    """0: everything held."""
    parser = argparse.ArgumentParser(prog="make pair", description=__doc__)
    parser.add_argument("--kills", type=int, default=int(os.environ.get("KILLS", "200")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=120, help="no strike after so many")
    parser.add_argument("--mode", choices=MODES, default=MODES[0])
    parser.add_argument("--keep", action="store_true", help="leave the files where they are")
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    options = parser.parse_args()
    console, began_s = Console(), time.monotonic()

    def tell(number: int, struck: Struck, tally: PairTally, accepted: int) -> None:
        came = "the standby took over" if struck.taken_over else "the primary went on"
        wrong = sum(getattr(tally, name) for name in NEVER)
        text = f"{number:3}  {struck.name}; {came}; {struck.outage_s:.1f} s without an answer; "
        console.print(f"{text}{accepted} accepted, {wrong} wrong", highlight=False)

    place = Path(tempfile.mkdtemp(prefix="risala-pair-"))
    place.chmod(0o755)  # PostgreSQL runs as another user
    rig = Rig(place, options.mode, options.seed, tell)
    status = _played(rig, options.kills, options.minutes * 60, console)
    rows = _rows(rig, time.monotonic() - began_s)
    shown = Table(*HEADER, title=f"Two machines, {options.mode}, PostgreSQL {rig.version}")
    for row in rows:
        shown.add_row(*row)
    console.print(shown)
    for fault in rig.tally.faults:
        console.print(f"[red]{escape(fault)}", highlight=False)
    if any(getattr(rig.tally, name) for name in NEVER):
        status = 1
    if status or options.keep:
        console.print(f"The files are in {place}.", highlight=False)
    else:
        shutil.rmtree(place, ignore_errors=True)
    if not options.no_page and not status:
        command = f"make pair KILLS={len(rig.struck)} ARGS='--mode {options.mode}'"
        evidence.write(f"pair-{options.mode}", HEADER, rows, command=command)
    return status


def _played(rig: Rig, kills: int, span_s: float, console: Console) -> int:
    try:
        trio.run(rig.run, kills, span_s)
    except BaseExceptionGroup as group:
        expected, rest = group.split((PairBroken, NoNamespaces))
        if expected is None or rest is not None:
            raise
        for each in leaves(expected):
            console.print(f"[red]{escape(str(each))}", highlight=False)
        return 1
    except (PairBroken, NoNamespaces, FileNotFoundError) as error:
        console.print(f"[red]{escape(str(error))}", highlight=False)
        return 1
    return 0


def _rows(rig: Rig, span_s: float) -> list[tuple[str, str]]:
    tally, struck = rig.tally, rig.struck
    kinds = Counter(each.name for each in struck)
    took = Counter(each.name for each in struck if each.taken_over)
    numbers = [
        ("PostgreSQL", rig.version),
        ("strikes", f"{len(struck)} in {span_s / 60:.0f} min"),
        ("asked", f"{len(rig.customers.asked) if rig.version else 0:,}"),
        ("accepted", f"{tally.accepted:,}"),
        ("lost", f"{tally.lost}"),
        ("sent by two", f"{tally.by_two}"),
        ("mis-charged", f"{tally.mischarged}"),
        ("doubtful without a word", f"{tally.unsaid}"),
        ("doubtful, and it says so", f"{tally.doubtful}"),
        ("missing, later than the moment that the takeover names", f"{tally.late}"),
        ("asked again after that, and sent by both", f"{tally.window}"),
        ("only at an old primary, and listed", f"{rig.aside['messages']}"),
        ("calls to sync that failed", f"{rig.syncs_failed}"),
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
