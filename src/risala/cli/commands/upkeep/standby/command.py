"""A second machine: it follows the first one's database, and takes over."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.features.standby.feature import (
    GO_ASYNC,
    GO_BEFORE_ANSWER,
    SHOW,
    LogState,
)

if TYPE_CHECKING:
    from risala.config.model import Settings
    from risala.engine.features.standby.stored.copy import CopyPosition
    from risala.engine.features.standby.stored.pieces import Shipped
    from risala.engine.features.standby.successor import Successor

DATABASE: Final = "risala.db"
_SHIPPED: Final = click.argument(
    "directory", type=click.Path(path_type=Path, file_okay=False), required=False
)
"""The folder to which the primary ships; without it, that of the settings."""
_ACCEPTS: Final = click.option(
    "--accept-loss",
    "accepts_loss",
    is_flag=True,
    help=(
        "Take over with a copy that lacks something of what the primary has shipped. What is "
        "missing is lost, and open messages end or are held, as after a restore."
    ),
)


@click.group()
def standby() -> None:
    """A second machine that follows the first one, and can take over.

    \b
    Examples:
      risala standby init
      risala standby watch
      risala standby takeover /mnt/standby
    """


@standby.command("init")
@common
def init(options: Options) -> None:
    """Make the tables for the standby in PostgreSQL, once, or bring them up to date.

    Where the settings name directories, says whether they are there.

    \b
    Example: risala standby init
    """
    from risala.engine.features.standby.named_stores import make_ready
    from risala.engine.model.errors import StorageUnusable

    try:
        done = make_ready(options.settings().standby)
    except (OSError, StorageUnusable) as error:
        raise CommandRefused(str(error)) from error
    if not output.show(options.json, {"done": done}):
        output.said(done)


@standby.command("watch")
@_SHIPPED
@click.option(
    "--take-over",
    "takes",
    is_flag=True,
    help=(
        "Take over when the primary's lease is over, or was given up by an orderly stop, and "
        "become the service. Where this machine is the primary, it serves at once."
    ),
)
@click.option(
    "--resend-pending",
    is_flag=True,
    help="With --take-over: send the messages that wait in the copy, as `takeover` does with it.",
)
@_ACCEPTS
@common
def watch(
    options: Options,
    directory: Path | None,
    takes: bool,
    resend_pending: bool,
    accepts_loss: bool,
) -> None:
    """Follow what the primary puts into DIRECTORY, until a takeover or Ctrl-C.

    Without DIRECTORY, follows what it puts where the settings say. With --take-over, a copy that
    lacks something of what was shipped is not used, unless --accept-loss says so too: then the
    reason is at /readyz and in the log.

    Meanwhile the service's address answers /healthz with 200 and all else with 503.

    \b
    Examples:
      risala standby watch /mnt/standby
      risala standby watch --take-over
    """
    from risala.app.standby import StandbyFault, run_standby
    from risala.engine.features.standby.named_stores import pieces_at
    from risala.engine.features.standby.successor import MustRejoin
    from risala.engine.model.errors import StorageUnusable

    settings = options.data_settings(creates=True)
    try:
        successor = _successor(settings, resend_pending, accepts_loss) if takes else None
        if successor is not None and successor.is_primary:
            serve_instead(options)
        store = pieces_at(settings.standby, settings.storage.data_dir, directory)
        has_taken = run_standby(settings, store, output.said, successor)
    except (StandbyFault, StorageUnusable, MustRejoin) as error:
        raise CommandRefused(str(error)) from error
    if has_taken:
        serve_instead(options)


def _successor(settings: Settings, resend_pending: bool, accepts_loss: bool) -> Successor:
    from risala.engine.features.standby.named_stores import lease_of
    from risala.engine.features.standby.successor import Successor
    from risala.engine.model.clock import SystemClock

    lease = lease_of(settings.standby)
    if lease is None:
        raise CommandRefused(
            "Without a lease nobody knows whether the primary still sends: --take-over needs one. "
            "Set lease or lease_directory in [standby]."
        )
    data_dir = settings.storage.data_dir
    parts = (data_dir, data_dir / DATABASE, lease, settings.standby.lease_s, SystemClock())
    return Successor(*parts, resend_pending=resend_pending, accepts_loss=accepts_loss)


def serve_instead(options: Options) -> NoReturn:
    """Go on as `risala serve`, in this process: so a service manager need not know.

    A fresh interpreter, as a service that takes over has no use for what the standby imported.
    """
    own = sys.argv[1:]
    command = [sys.executable, "-m", "risala"]
    if sys.orig_argv[-len(own) :] == own:  # as it was begun: by a script, a file of all, a module
        command = sys.orig_argv[: -len(own)]
    command.append("serve")
    for name, value in (("--config", options.config), ("--data", options.data)):
        command += [] if value is None else [name, str(value)]
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606 -- our own program, without a shell


@standby.command("status")
@_SHIPPED
@common
def status(options: Options, directory: Path | None) -> None:
    """How far the copy here is behind, and who holds the lease.

    \b
    Example: risala standby status /mnt/standby
    """
    from risala.engine.features.standby.named_stores import lease_of, pieces_at, store_facts
    from risala.engine.features.standby.stored.copy import StandbyCopy
    from risala.engine.features.standby.stored.notes import BadPiece
    from risala.engine.model.clock import SystemClock
    from risala.engine.model.errors import StorageUnusable
    from risala.engine.model.times import iso

    settings = options.data_settings(creates=True)
    try:
        store = pieces_at(settings.standby, settings.storage.data_dir, directory)
        position = StandbyCopy(settings.storage.data_dir, store).position()
        shipped = store.shipped()
        held = lease_of(settings.standby)
        lease = None if held is None else held.highest()
        current = store.current()
        awaited = current is not None and store.is_awaited(current.generation)
        room = store_facts(settings.standby).room_bytes
    except StorageUnusable as error:
        raise CommandRefused(str(error)) from error
    except (OSError, BadPiece) as error:
        raise CommandRefused(f"The standby's data cannot be read: {error}") from error
    now_ms = SystemClock().now_ms()
    answer: dict[str, Any] = {
        "generation": None if position is None else position.generation,
        "copied": None if position is None else position.number,
        "shipped": None if shipped is None else shipped.number,
        "copyOf": None if position is None else iso(position.at),
        "shippedAt": None if shipped is None else iso(shipped.at),
        "shippedAgoS": None if shipped is None else round((now_ms - shipped.at) / 1000, 1),
        "piecesBehind": _behind(position, shipped),
        "awaited": awaited,
        "roomBytes": room,
        "leaseHolder": None if lease is None else lease.machine,
        "leaseEpoch": None if lease is None else lease.epoch,
        "leaseReleased": None if lease is None else lease.released,
    }
    if not output.show(options.json, answer):
        output.fields(
            {
                "copy": "none yet" if position is None else f"up to piece {position.number}",
                "shipped": "nothing" if shipped is None else f"up to piece {shipped.number}",
                "copy is of": None if position is None else output.at(position.at),
                "last sign of the primary": None if shipped is None else output.at(shipped.at),
                "answers": "wait for the copy" if awaited else "do not wait for the copy",
                "room": None if room is None else f"{room / 1024 / 1024:.1f} MiB",
                "lease": None if lease is None else f"{lease.machine}, number {lease.epoch}",
            }
        )


def _behind(position: CopyPosition | None, shipped: Shipped | None) -> int | None:
    """Pieces that the copy here lacks, as far as the primary has noted; None: unknown."""
    if position is None or shipped is None or position.generation != shipped.generation:
        return None
    return max(0, shipped.number - position.number)


@standby.command("async")
@asks(GO_ASYNC)
def go_async(state: LogState) -> None:
    """Let answers go without waiting for PostgreSQL, until `before-answer` or the next start.

    For a PostgreSQL that is too slow. It has to know first, so that a takeover does not rely on
    what it lacks. It does not replace the lease: without PostgreSQL the service ends.

    \b
    Example: risala standby async
    """
    output.said("Answers do not wait for PostgreSQL from now on. `risala standby before-answer`")
    click.echo("lets them wait again. Until then a takeover misses what it does not have.")


@standby.command("before-answer")
@asks(GO_BEFORE_ANSWER)
def go_before_answer(state: LogState) -> None:
    """Let answers wait for PostgreSQL again.

    \b
    Example: risala standby before-answer
    """
    output.said("Answers wait for PostgreSQL again.")


@standby.command("log")
@asks(SHOW)
def show_log(state: LogState) -> None:
    """How the log stands that answers wait for, as the service here knows it.

    \b
    Example: risala standby log
    """
    output.fields(
        {
            "answers": "wait" if state.mode == "before_answer" else "do not wait, by order",
            "a takeover misses": "nothing" if state.awaited else "what was not copied yet",
            "whole copy": state.generation or "none stands",
            "last piece": str(state.number),
            "behind": f"{output.counted(state.pieces_behind, 'commit')}, {state.behind_s:.1f} s",
            "late in a row": str(state.late),
            "new work": "is refused" if state.refuses else "is taken",
            "room": f"{state.room_bytes / 1024 / 1024:.1f} MiB",
            "failing": state.failing,
        }
    )


@standby.command("try")
@_SHIPPED
@common
def try_copy(options: Options, directory: Path | None) -> None:
    """Try whether the copy can be restored, in a temporary directory below the data.

    It needs room there for three times the database. `risala doctor` says what came of it. Exit
    code 1 if the copy cannot be restored.

    \b
    Example: risala standby try
    """
    from risala.cli.commands.upkeep.standby.rejoin import try_and_tell

    try_and_tell(options, directory)


@standby.command("rejoin")
@_SHIPPED
@common
def rejoin(options: Options, directory: Path | None) -> None:
    """Make an old primary, from which another machine took over, the standby.

    What its database has and the new primary's has not is listed in a file, with ids; the database
    is set aside, and nothing of it is deleted. Refuses while this machine is the primary.

    \b
    Example: risala standby rejoin
    """
    from risala.cli.commands.upkeep.standby.rejoin import rejoin_as_standby

    rejoin_as_standby(options, directory)


@standby.command("mend-lease")
@click.option(
    "--i-know-the-primary-is-dead",
    "dead",
    is_flag=True,
    help="Do not wait for the lease to end. If its holder still runs, both may send.",
)
@common
def mend_lease(options: Options, dead: bool) -> None:
    """Give the lease a right number, where it has one that nobody can follow.

    Only for a lease that somebody else wrote into the store: a takeover that meets it names this
    command. The lease gets the number after the last right one, and nothing else of it changes; if
    this machine held that last one, it holds it again. Refuses while somebody renews the lease, and
    where its number is right. The audit trail here gets a line.

    \b
    Example: risala standby mend-lease
    """
    from risala.cli.commands.upkeep.standby.rejoin import mend_lease_and_tell

    mend_lease_and_tell(options, primary_is_dead=dead)


@standby.command("takeover")
@_SHIPPED
@click.option(
    "--i-know-the-primary-is-dead",
    "dead",
    is_flag=True,
    help="Do not wait for the primary's lease to end. If it still runs, both may send.",
)
@click.option(
    "--resend-pending",
    is_flag=True,
    help=(
        "Send the messages that wait in the copy. Those that the primary sent since then arrive "
        "twice."
    ),
)
@click.option(
    "--leave-out-damaged",
    "leaves_out",
    is_flag=True,
    help="Take what was shipped before a damaged piece. That piece and all after it are lost.",
)
@_ACCEPTS
@common
def takeover(
    options: Options,
    directory: Path | None,
    dead: bool,
    resend_pending: bool,
    leaves_out: bool,
    accepts_loss: bool,
) -> None:
    """Make this machine the one that sends: then start the service here.

    First counts what was shipped, and compares it and the lease with the copy. A copy that lacks
    something is refused, and the primary keeps its lease, unless --accept-loss is given. What was
    open in the copy ends by the rules of `risala restore`. Says up to when the copy is, that is,
    what is lost.

    \b
    Examples:
      risala standby takeover /mnt/standby
      risala standby takeover /mnt/standby --i-know-the-primary-is-dead
    """
    from risala.cli.commands.upkeep.standby.takeover import take_over_and_tell

    take_over_and_tell(
        options,
        directory,
        primary_is_dead=dead,
        resend_pending=resend_pending,
        leaves_out_damaged=leaves_out,
        accepts_loss=accepts_loss,
    )
