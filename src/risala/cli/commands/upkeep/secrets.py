"""The sealed secrets and the key that opens them; and the server key, which is rotated without
losing messages under way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.upkeep.sealed import (
    EXPORT,
    IMPORT,
    ROTATE,
    SHOW,
    Resealed,
    SealedState,
)
from risala.engine.model.records.upkeep.security import ROTATE_SERVER_KEY, RotatedServerKey
from risala.engine.model.times import iso

_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_WORDS: Final = """\
# The sealing key of a Risala service ({key}).
# With a copy of the database it opens the secrets of webhooks, hooks and credentials.
# Keep it where no backup of the database lies: in a password safe, or on paper in a locked place.
# To bring it back: risala secrets import-key FILE
"""


@click.group()
def secrets() -> None:
    """The secrets that the database holds sealed, and the key that opens them.

    \b
    Examples:
      risala secrets show
      risala secrets export-key /media/usb/sealing-key.txt
      risala secrets rotate
    """


@secrets.command()
@asks(SHOW)
def show(state: SealedState) -> None:
    """Show what is sealed, by which keys, and what cannot be opened.

    \b
    Example: risala secrets show
    """
    output.table(
        ("Sealed", "Count"),
        ((each.purpose, each.count) for each in state.secrets),
        empty="Nothing is sealed.",
    )
    newest, *former = state.keys
    click.echo(f"Key: {newest}{_and_former(former)}")
    if state.exported_at is None:
        output.warned(
            "This key was never exported. Without a copy, a lost disk loses these secrets: "
            "`risala secrets export-key FILE`."
        )
    if state.lost:
        output.table(
            ("Cannot be opened", "Of", "Sealed by", "To make it again"),
            ((each.purpose, each.id, each.key or "?", each.remedy) for each in state.lost),
            empty="Every secret can be opened.",
        )
        output.warned(
            "Bring their key back with `risala secrets import-key FILE`, or make them again."
        )


@secrets.command("export-key")
@click.argument("file", type=_FILE)
@common
def export_key(options: Options, file: Path) -> None:
    """Write the sealing key to FILE, which only its owner can read.

    Keep it apart from the backups: a password safe, or a print in a locked place. Who has both
    a backup and this key reads the secrets in it.

    \b
    Example: risala secrets export-key /media/usb/sealing-key.txt
    """
    if file.exists():
        raise CommandRefused(f"{file} already exists.")
    exported = options.run(lambda session: session.ask(EXPORT)).value
    _write(file, _WORDS.format(key=exported.key) + exported.text)
    if not output.show(options.json, {"key": exported.key, "path": str(file)}):
        output.said(f"Wrote the sealing key {exported.key} to {file}.")
        click.echo(
            "Keep it where no backup of the database lies, in a password safe or on paper, and "
            "delete this file from the machine."
        )


@secrets.command("import-key")
@click.argument("file", type=_FILE)
@common
def import_key(options: Options, file: Path) -> None:
    """Open what the exported key in FILE has sealed, and seal it with the present key.

    \b
    Example: risala secrets import-key /media/usb/sealing-key.txt
    """
    try:
        text = file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandRefused(f"{file} cannot be read.") from error
    reply = options.run(lambda session: session.ask(IMPORT, text=text))
    if not output.show(options.json, reply.json):
        _tell(reply.value)


@secrets.command()
@click.option(
    "--forget-old",
    is_flag=True,
    default=None,
    help="Delete the former keys afterwards: backups from before then lose their secrets.",
)
@asks(ROTATE)
def rotate(done: Resealed) -> None:
    """Seal all secrets with a new key, also while the service runs.

    The former keys still open older backups, unless --forget-old is given.

    \b
    Example: risala secrets rotate
    """
    _tell(done)
    output.warned("Export the new key too: `risala secrets export-key FILE`.")


def _tell(done: Resealed) -> None:
    secrets = output.counted(done.sealed, "secret")
    output.said(f"The key {done.key} has sealed {secrets}{_and_former(done.former)}.")


def _and_former(keys: tuple[str, ...] | list[str]) -> str:
    return f"; former keys that still open: {', '.join(keys)}" if keys else ""


def _write(file: Path, text: str) -> None:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="ascii") as target:
            target.write(text)
    except OSError as error:
        raise CommandRefused(f"{file} cannot be written: {error.strerror}.") from error


@click.command("rotate-key")
@click.option(
    "--at-once",
    is_flag=True,
    default=None,
    help="The old key stops working at once: current codes and forms become invalid.",
)
@asks(ROTATE_SERVER_KEY)
def rotate_key(made: RotatedServerKey) -> None:
    """Take a new server key, also while the service runs.

    Codes, sign-ins and open pages from before stay valid for their life, by the old key.

    \b
    Example: risala rotate-key
    """
    output.said(f"There is a new server key, used from {iso(made.since)} on.")
    if made.old_until is None:
        output.warned("The old key is deleted. Codes that were on their way are denied.")
    else:
        until = iso(made.old_until)
        output.said(f"The old key stays valid for earlier codes and sign-ins until {until}.")
