"""``make phones``: messages through three phones with bad days, at a service that is killed."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import trio
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from proofs import evidence
from proofs.phones.books import PhoneBooks
from proofs.phones.street import Street, opened

MESSAGES: Final = 1000
"""As many as are through in a few minutes. The quota of a SIM is 1,800 segments in half an hour at
the most, and there are six: ten thousand messages take half an hour."""
HEADER: Final = ("What", "How many")


def main() -> int:
    """0: everything held."""
    parser = argparse.ArgumentParser(prog="make phones", description=__doc__)
    wanted = int(os.environ.get("MESSAGES", str(MESSAGES)))
    parser.add_argument("--messages", type=int, default=wanted)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-page", action="store_true", help="leave the page as it is")
    options = parser.parse_args()
    console = Console()
    place = Path(tempfile.mkdtemp(prefix="risala-phones-"))
    books = trio.run(_played, place, options, console)
    shown = Table(*HEADER, title="What came of it")
    for row in books.rows():
        shown.add_row(*row)
    console.print(shown)
    for fault in books.faults:
        console.print(f"[red]{escape(fault)}", highlight=False)
    if books.faults:
        console.print(f"The files are in {place}", highlight=False)
        return 1
    shutil.rmtree(place)
    if not options.no_page:
        command = f"make phones MESSAGES={options.messages}"
        evidence.write("phones", HEADER, books.rows(), command=command)
    return 0


async def _played(place: Path, options: argparse.Namespace, console: Console) -> PhoneBooks:
    def tell(text: str) -> None:
        console.print(text, highlight=False)

    async with opened(place, options.messages, options.seed) as street:
        await street.run(tell)
        return await trio.to_thread.run_sync(_held, street)


def _held(street: Street) -> PhoneBooks:
    books = PhoneBooks(street).look()
    audit = street.service.command("audit")
    if audit.returncode:
        books.faults.append(f"risala audit: {audit.stdout}{audit.stderr}")
    return books


if __name__ == "__main__":
    sys.exit(main())
