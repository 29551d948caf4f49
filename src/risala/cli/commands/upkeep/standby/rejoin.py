"""``risala standby rejoin``, ``try`` and ``mend-lease``: neither a takeover nor the watch."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output, progress

if TYPE_CHECKING:
    from risala.cli.reach.options import Options
    from risala.engine.features.standby.rejoin import RejoinReport

DATABASE: Final = "risala.db"
_KINDS: Final = {
    "messages": ("message that only this machine had", "messages that only this machine had"),
    "sent": (
        "message that this machine has sent, and the other one has not",
        "messages that this machine has sent, and the other one has not",
    ),
    "money": ("top-up or adjustment", "top-ups and adjustments"),
    "verifications": ("verification", "verifications"),
    "inbound": ("message from a phone", "messages from phones"),
    "payments": ("payment", "payments"),
    "organizations": ("organization", "organizations"),
    "keys": ("API key", "API keys"),
    "users": ("user", "users"),
    "senders": ("sender request", "sender requests"),
    "endpoints": ("webhook endpoint", "webhook endpoints"),
    "mailings": ("mailing", "mailings"),
}
"""How each kind of the rest is called."""


def rejoin_as_standby(options: Options, directory: Path | None) -> None:
    """Set the database here aside, list what only it has, and say so.

    Raises:
        CommandRefused: this machine is the primary, or its service runs.
    """
    report = _rejoined(options, directory)
    if not output.show(options.json, _payload(report)):
        _tell(report)


def _rejoined(options: Options, directory: Path | None) -> RejoinReport:
    import trio

    from risala.app.standby import end_watch
    from risala.cli.reach import session
    from risala.engine.features.standby.named_stores import lease_of, pieces_at
    from risala.engine.features.standby.rejoin import Rejoin, RejoinRefused
    from risala.engine.features.standby.stored.copy import StandbyCopy
    from risala.engine.features.standby.stored.notes import BadPiece
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.errors import StorageUnusable

    settings = options.data_settings(creates=True)
    data_dir = settings.storage.data_dir

    async def main() -> RejoinReport:
        async with session.hold_or_reach(data_dir) as service:
            if service is not None:
                raise CommandRefused("The service runs here. Stop it first.")
            await trio.to_thread.run_sync(end_watch, data_dir)
            with progress.shown(quiet=options.json) as shown:
                store = pieces_at(settings.standby, data_dir, directory)
                work = Rejoin(
                    StandbyCopy(data_dir, store),
                    data_dir,
                    data_dir / DATABASE,
                    lease_of(settings.standby),
                    SystemClock(),
                    shown,
                )
                return await trio.to_thread.run_sync(work.run)

    try:
        return session.run_async(main)
    except (RejoinRefused, BadPiece, StorageUnusable, OSError) as error:
        raise CommandRefused(str(error)) from error


def _payload(report: RejoinReport) -> dict[str, Any]:
    return {
        "primary": report.lease.machine,
        "epoch": report.lease.epoch,
        "setAside": None if report.set_aside is None else str(report.set_aside),
        "listed": None if report.listed is None else str(report.listed),
        "rest": report.rest,
        "unreadable": report.unreadable,
    }


def _tell(report: RejoinReport) -> None:
    what = "There was no database here." if report.set_aside is None else "Its database is aside."
    output.said(f"This machine follows {output.clean(report.lease.machine)} from now on. {what}")
    if report.set_aside is not None:
        click.echo(f"The database that was here: {report.set_aside}")
    if report.rest is None:
        click.echo(f"{report.unreadable} What only that machine holds is unknown.")
    elif report.listed is None:
        click.echo("It has no data that the other machine lacks.")
    else:
        for kind, count in report.rest.items():
            if count:
                click.echo(f"  {output.counted(count, *_KINDS[kind])}")
        click.echo(f"They are listed, with their ids, in {report.listed}")
    click.echo("Next: `risala standby watch --take-over`, or without it to follow only.")


def try_and_tell(options: Options, directory: Path | None) -> None:
    """Try whether the copy can be restored, and say so.

    Raises:
        CommandRefused: it cannot.
    """
    import trio

    from risala.cli.reach import session
    from risala.engine.features.standby.copy_check import CopyTrial, try_copy
    from risala.engine.features.standby.named_stores import pieces_at
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.errors import StorageUnusable
    from risala.engine.model.times import iso

    settings = options.data_settings(creates=True)
    data_dir = settings.storage.data_dir

    async def main() -> CopyTrial:
        store = pieces_at(settings.standby, data_dir, directory)
        with progress.shown(quiet=options.json) as shown:
            work = partial(try_copy, store, data_dir, SystemClock(), shown)
            return await trio.to_thread.run_sync(work)

    try:
        trial = session.run_async(main)
    except (StorageUnusable, OSError) as error:
        raise CommandRefused(str(error)) from error
    if trial.fault is not None:
        raise CommandRefused(f"The copy cannot be restored: {trial.fault}")
    answer = {
        "copyOf": None if trial.copy_of is None else iso(trial.copy_of),
        "sizeBytes": trial.size_bytes,
        "tookS": trial.took_s,
    }
    if not output.show(options.json, answer):
        mib = trial.size_bytes / (1024 * 1024)
        output.said(f"The copy can be restored: {mib:.1f} MiB in {trial.took_s:g} s.")


def mend_lease_and_tell(options: Options, *, primary_is_dead: bool) -> None:
    """Give the lease a right number, and say so.

    Raises:
        CommandRefused: it was not mended; the sentence says why.
    """
    import trio

    from risala.app.standby import end_watch
    from risala.cli.reach import session
    from risala.engine.features.standby.lease_watch import (
        LeaseMending,
        MendedLease,
        NothingToMend,
        PrimaryAlive,
    )
    from risala.engine.features.standby.named_stores import lease_of
    from risala.engine.features.standby.stored.notes import BadPiece
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.errors import StorageUnusable

    settings = options.data_settings(creates=True)
    data_dir = settings.storage.data_dir

    async def main() -> MendedLease:
        async with session.hold_or_reach(data_dir) as service:
            if service is not None:
                raise CommandRefused("The service runs here: its lease is right.")
            store = lease_of(settings.standby)
            if store is None:
                raise CommandRefused("The settings name no lease: there is none to mend.")
            await trio.to_thread.run_sync(end_watch, data_dir)
            with progress.shown(quiet=options.json) as shown:
                work = LeaseMending(store, data_dir, data_dir / DATABASE, SystemClock(), shown)
                run = partial(work.run, primary_is_dead=primary_is_dead)
                return await trio.to_thread.run_sync(run)

    try:
        mended = session.run_async(main)
    except BadPiece as error:
        raise CommandRefused(
            f"{error} If you know that no primary sends, use --i-know-the-primary-is-dead."
        ) from error
    except (NothingToMend, PrimaryAlive, StorageUnusable, OSError) as error:
        raise CommandRefused(str(error)) from error
    lease = mended.lease
    answer = {
        "former": mended.former,
        "epoch": lease.epoch,
        "machine": lease.machine,
        "ours": mended.is_ours,
        "audited": mended.is_written_down,
    }
    if not output.show(options.json, answer):
        had = "It could not be read" if mended.former is None else f"It had {mended.former}"
        output.said(
            f"The lease of {output.clean(lease.machine)} has the number {lease.epoch} now. {had}."
        )
        if not mended.is_written_down:
            click.echo("There is no database here, so no audit trail has a line of it.")
        if mended.is_ours:
            click.echo("It is this machine's: start the service here.")
        else:
            click.echo("Next: `risala standby takeover`, where it was refused.")
