"""``python -m proofs.same.collect FOLDER``: writes the behaviour of this tree into files.

``help/``: what each command says of itself. ``openapi.json``, ``reference/``: what is promised.
``schema.sql``, ``plans.sql``: the database, and how each statement that ran finds its rows.
``answers/``: of each operation. ``pages/``: each page, in each language. All of it is of one town
that is built anew, at a time that stands still between two steps; what is random has a name
instead (:mod:`proofs.same.plain`).
"""

from __future__ import annotations

import base64
import json
import random
import secrets
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import click
import trio

from proofs.same.files import write
from proofs.same.statements import Statements

REFERENCE: Final = Path(__file__).parents[2] / "docs/reference"


def main() -> int:
    place = Path(sys.argv[1])
    _draw_the_same()
    with tempfile.TemporaryDirectory() as folder, Statements() as statements:
        from jumping import jumping_clock
        from proofs.same.town import write_town  # imports what opens the database

        run = partial(write_town, Path(folder), place, statements)
        trio.run(run, clock=jumping_clock(setattr))
    _write_promises(place)
    return 0


def _draw_the_same() -> None:
    """The same random values in each run, for each kind of them as far as they are drawn in the
    same order."""
    octets, texts, digits, letters, numbers = map(random.Random, range(5))

    def urlsafe(nbytes: int | None = 32) -> str:
        return base64.urlsafe_b64encode(texts.randbytes(nbytes or 32)).decode("ascii").rstrip("=")

    secrets.token_bytes = lambda nbytes=32: octets.randbytes(nbytes or 32)
    secrets.token_hex = lambda nbytes=32: digits.randbytes(nbytes or 32).hex()
    secrets.token_urlsafe = urlsafe
    secrets.choice = letters.choice
    secrets.randbelow = numbers.randrange


def _write_promises(place: Path) -> None:
    from proofs.authorization.page import commands
    from risala.http.api.openapi.document import document_bytes

    for name, command in commands().items():
        context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100)
        write(place / f"help/{name.replace(' ', '-')}.txt", command.get_help(context))
    document = json.loads(document_bytes())
    write(place / "openapi.json", json.dumps(document, indent=1, ensure_ascii=False))
    shutil.copytree(REFERENCE, place / "reference")


if __name__ == "__main__":
    sys.exit(main())
