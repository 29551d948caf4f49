"""``risala standby takeover``: runs it, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.upkeep import restored
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output, progress

if TYPE_CHECKING:
    from risala.cli.reach.options import Options
    from risala.config.model import Settings
    from risala.engine.features.standby.takeover import Takeover, TakeoverReport

DATABASE: Final = "risala.db"
LEAVE_OUT: Final = (
    "Use --leave-out-damaged to take what was shipped before it. The data in it and after it is "
    "lost."
)
"""Advice for a damaged piece in PostgreSQL."""
DAMAGED: Final = (
    "Copy the file again from where the primary wrote it. If that is not possible, use "
    "--leave-out-damaged to take what was shipped before it. The data in it and after it is "
    "lost."
)
"""Advice for a damaged piece, such as one from an interrupted transfer."""


def take_over_and_tell(
    options: Options,
    directory: Path | None,
    *,
    primary_is_dead: bool,
    resend_pending: bool,
    leaves_out_damaged: bool,
    accepts_loss: bool,
) -> None:
    """Take over, and say what was taken and what is lost.

    Raises:
        CommandRefused: nothing was taken over; the sentence says why.
    """
    from risala.engine.features.standby.takeover import Takeover

    settings = options.data_settings(creates=True)
    run = partial(
        Takeover.run,
        primary_is_dead=primary_is_dead,
        resend_pending=resend_pending,
        leaves_out_damaged=leaves_out_damaged,
        accepts_loss=accepts_loss,
    )
    taken = _take(options, settings, directory, run)
    if not output.show(options.json, _payload(taken)):
        _tell(taken)


def _take(
    options: Options,
    settings: Settings,
    directory: Path | None,
    take: Callable[[Takeover], TakeoverReport],
) -> TakeoverReport:
    import trio

    from risala.app.standby import end_watch
    from risala.cli.reach import session
    from risala.engine.features.standby.lease import LeaseTaken
    from risala.engine.features.standby.lease_watch import PrimaryAlive
    from risala.engine.features.standby.named_stores import lease_of, pieces_at
    from risala.engine.features.standby.stored.copy import StandbyCopy
    from risala.engine.features.standby.stored.notes import BadPiece
    from risala.engine.features.standby.takeover import Takeover
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.errors import StorageUnusable

    data_dir = settings.storage.data_dir

    async def main() -> TakeoverReport:
        async with session.hold_or_reach(data_dir) as service:
            if service is not None:
                raise CommandRefused("The service already runs here.")
            await trio.to_thread.run_sync(end_watch, data_dir)
            with progress.shown(quiet=options.json) as shown:
                work = Takeover(
                    copy=StandbyCopy(data_dir, store),
                    data_dir=data_dir,
                    database=data_dir / DATABASE,
                    lease=lease,
                    term_s=settings.standby.lease_s,
                    clock=SystemClock(),
                    progress=shown,
                )
                try:
                    return await trio.to_thread.run_sync(take, work)
                except BadPiece as error:
                    advice = DAMAGED if settings.standby.copy_kind != "postgresql" else LEAVE_OUT
                    raise CommandRefused(f"{error} {advice}") from error
                except (PrimaryAlive, LeaseTaken, StorageUnusable, OSError) as error:
                    raise CommandRefused(str(error)) from error

    try:
        store = pieces_at(settings.standby, data_dir, directory)
        lease = lease_of(settings.standby)
    except StorageUnusable as error:
        raise CommandRefused(str(error)) from error
    return session.run_async(main)


def _payload(taken: TakeoverReport) -> dict[str, Any]:
    from risala.engine.model.times import iso

    return {
        "path": str(taken.restored.database),
        "setAside": None if taken.restored.set_aside is None else str(taken.restored.set_aside),
        "copyOf": iso(taken.position.at),
        "sinceMs": _since_ms(taken),
        "behindMs": taken.behind_ms,
        "entriesBehind": taken.entries_behind,
        "hasAll": taken.has_all,
        "loss": None if taken.loss is None else taken.loss.json(),
        **restored.payload(taken.restored),
        "epoch": None if taken.lease is None else taken.lease.epoch,
        "clean": taken.restored.audit.clean,
    }


def _since_ms(taken: TakeoverReport) -> int | None:
    return max(0, taken.at - taken.position.at) if taken.position.at else None


def _tell(taken: TakeoverReport) -> None:
    moment = f"{output.utc(taken.position.at)} by the primary's clock"
    output.said(
        f"This machine has the database as of {moment}. Start the service here with `risala serve`."
    )
    if taken.has_all:
        click.echo("Nothing that was answered is missing: each answer had waited for the copy.")
        if taken.restored.kept:
            click.echo(f"{output.counted(taken.restored.kept, 'open message')}: they go on.")
        return
    if taken.loss is not None:
        output.warned(str(taken.loss))
    since_ms = _since_ms(taken)
    ago = "" if since_ms is None else f", {since_ms / 1000:.0f} s ago by the clock here"
    click.echo(f"Everything that the primary did after that moment is lost{ago}.")
    if taken.behind_ms:
        click.echo(f"The primary was last seen {taken.behind_ms / 1000:g} s after that moment.")
    elif taken.behind_ms is None:
        click.echo("It is not known when the primary was last seen.")
    else:
        click.echo("The primary was not seen after that moment, but it may have continued.")
    if taken.entries_behind:
        what = "of its ledger (charges, refunds, top-ups)"
        entries = output.counted(taken.entries_behind, f"entry {what} is", f"entries {what} are")
        click.echo(f"{entries} not in the copy.")
    restored.tell(taken.restored)
