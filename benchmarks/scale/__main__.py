"""``make bench-scale``: what a message costs among ten thousand and among ten million others.

Files of several sizes are made (``clone.py``), then accepting, batches, asking and draining are
measured on each in turn. The picture goes to ``docs/``, where the numbers mean something: with
``--picture``. A file takes as much room as its messages: 10,000,000 are some gigabytes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console

from benchmarks import machine, picture
from benchmarks.__main__ import run
from benchmarks.report import Results, as_json, print_report, report_console
from benchmarks.scale import growth, queued

_TIMES = ("accept", "batch", "get", "drain")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-scale", description=__doc__)
    sizes = [10_000, 100_000, 1_000_000, 10_000_000]
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, help="old messages")
    parser.add_argument("--queued", type=int, default=1_000_000, help="in the queue; 0: leave out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each load")
    parser.add_argument(
        "--minutes", type=float, default=120.0, help="no turn begins after them; all rounds or not"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value there")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the costs there (SVG)")
    return parser.parse_args()


def drawn(results: Results, sizes: list[int]) -> str:
    """The costs as ratios to those of the smallest file."""
    lines = {}
    for cost in _TIMES:
        base = results.ours.spread(growth.name_of(cost, sizes[0]))
        found = [results.ours.spread(growth.name_of(cost, size)) for size in sizes]
        if base and all(found):
            points = [each.middle / base.middle for each in found if each]
            lines[cost] = list(zip(sizes, points, strict=True))
    return picture.chart(
        "What a message costs, by how many are in the file",
        "messages in the file",
        f"time, × that among {picture.short(sizes[0])}",
        lines,
    )


def main() -> None:
    options = arguments()
    console: Console = report_console()
    console.print(f"{machine.described()}; a sync takes {machine.sync_ms():.2f} ms")
    sizes = sorted(options.sizes)

    def tell(done: int) -> None:
        if done % 1_000_000 == 0:
            console.print(f"{done:,} messages in the file")

    scenarios = [growth.scenario(size, sizes[0], tell) for size in sizes]
    if options.queued:
        scenarios.append(queued.scenario(options.queued))
    options.only, options.against, options.messages = [], None, 0
    results = run(options, console, tuple(scenarios))
    print_report(console, results, None)
    if options.json:
        options.json.write_text(json.dumps(as_json(results), indent=1), encoding="utf-8")
    if options.picture:
        options.picture.write_text(drawn(results, sizes), encoding="utf-8")
        console.print(f"Drawn: {options.picture}")


if __name__ == "__main__":
    main()
