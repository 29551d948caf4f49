"""``make bench-peers``: what one could take instead, on this machine, under the same load.

Beside each stands what its yes is worth, because that is what makes most of the difference.
"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.__main__ import arguments, run
from benchmarks.peers import fastapi, kannel
from benchmarks.report import print_report, report_console
from benchmarks.scenarios import accept, delivery

_OURS = ("bare 64", "accept 64", "batch of 100", "drain")
SCENARIOS = (
    *(
        each
        for each in (*accept.SCENARIOS, *delivery.SCENARIOS)
        if any(line.name in _OURS for line in each.lines)
    ),
    *kannel.SCENARIOS,
    *fastapi.SCENARIOS,
)
PROMISES = {
    "Risala": "on the disk, synced; charged once; repeated under its key without a second message",
    "Kannel": kannel.PROMISE,
    "FastAPI + SQLite": fastapi.PROMISE,
}


def promises(console: Console) -> None:
    table = Table(title="What a yes says of the message")
    table.add_column("who")
    table.add_column("when it says yes, the message is")
    for who, what in PROMISES.items():
        table.add_row(who, what)
    console.print(table)


def main() -> None:
    options = arguments()
    console = report_console()
    console.print(f"{machine.described()}; a sync takes {machine.sync_ms():.2f} ms")
    print_report(console, run(options, console, SCENARIOS), options.against)
    promises(console)


if __name__ == "__main__":
    main()
