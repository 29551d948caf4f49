"""The service while its database is migrated: it is alive, shows the progress, and can be stopped.

Its sockets are bound already, and an app that answers 503 listens on them meanwhile. Connections
that wait to be accepted when that app ends are accepted by the service itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import trio

from risala.app.stop import Stop
from risala.engine.journal.upkeep.database_copy import unheard
from risala.engine.journal.upkeep.upgrade.upgrade import MOVES, RowMove
from risala.engine.model.clock import SystemClock
from risala.engine.upkeep.upgrade import UpgradeWatch, bring_over, is_due
from risala.engine.wiring.foundation import DATABASE
from risala.http.server.server import BoundAddress, serve_app
from risala.http.server.sockets import listen_control

GRACE_S: Final = 1.0
"""Seconds that requests get to end when the migration is done: the answers have a few hundred
bytes, and a client that takes longer would hold up the start."""

UpgradeProgress: TypeAlias = Callable[[str, int, int], None]
Show: TypeAlias = Callable[[], AbstractContextManager[UpgradeProgress]]
"""Shows the progress in a terminal, if any."""


@contextmanager
def unshown() -> Iterator[UpgradeProgress]:
    yield unheard


async def upgrade_while_answering(
    stop: Stop,
    addresses: Sequence[BoundAddress],
    show: Show = unshown,
    moves: Sequence[RowMove] = MOVES,
) -> None:
    """Migrate the database. Returns at once if none is due, and when a stop is ordered.

    Args:
        addresses: listened on meanwhile; their sockets stay open.
        show: shows the progress in a terminal.

    Raises:
        StorageUnusable: the migration failed; the next start continues it.
    """
    settings = stop.settings
    path = settings.storage.data_dir / DATABASE
    if not is_due(path, moves):
        return
    # Imported here: nearly every start finds nothing to upgrade, and this has Quart below it.
    from risala.http.common.upgrading import create_upgrading

    watch = UpgradeWatch()
    where = f"{addresses[0].url}/readyz"
    print(f"The database is being upgraded to this version. {where} shows the progress.")
    sys.stdout.flush()
    over = trio.Event()
    http = settings.http.model_copy(update={"graceful_stop_s": GRACE_S})
    with listen_control(settings.storage.data_dir) as control:
        async with trio.open_nursery() as faces:
            for each in (*addresses, BoundAddress(control)):
                sock = control if each.sock is control else each.sock.dup()
                app = create_upgrading(lambda: watch.now)
                await faces.start(
                    partial(serve_app, app, http, sock=sock, tls=each.tls, shutdown=over)
                )
            try:
                await _work(stop, path, watch, show, moves)
            finally:
                over.set()


async def _work(
    stop: Stop, path: Path, watch: UpgradeWatch, show: Show, moves: Sequence[RowMove]
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_when, stop.ordered, nursery.cancel_scope)
        nursery.start_soon(watch.keep_logging)
        with show() as shown:
            tell = partial(_tell, watch, shown)
            await bring_over(path, SystemClock(), tell, moves=moves)
        nursery.cancel_scope.cancel()


async def _cancel_when(stop_ordered: trio.Event, scope: trio.CancelScope) -> None:
    await stop_ordered.wait()
    scope.cancel()


def _tell(watch: UpgradeWatch, shown: UpgradeProgress, step: str, done: int, total: int) -> None:
    watch.tell(step, done, total)
    shown(step, done, total)
