"""The service under a lease: it waits for it, keeps it, and ends before it is another's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Final

import trio

from risala.app.guard import LeaseGone, LeaseGuard
from risala.app.stop import Stop
from risala.engine.features.standby.lease_holder import KillTimer, LeaseHolder
from risala.engine.features.standby.named_stores import lease_of
from risala.engine.features.standby.stored.closed_database import last_entry
from risala.engine.journal.store.opening import stopped_at
from risala.engine.journal.store.writer import CommitLog
from risala.engine.model.clock import SystemClock
from risala.engine.model.errors import StorageUnusable
from risala.engine.wiring.foundation import (
    DATABASE,
)
from risala.http.server.server import BoundAddress, serve_app

_FOR_LEASE: Final = "The service waits for the lease: it alone may send."
_FOR_COPY: Final = "The service waits until its second machine has a whole copy."


async def hold_lease(
    outer: AsyncExitStack, stop: Stop, addresses: Sequence[BoundAddress]
) -> LeaseGuard:
    """Hold the lease until ``outer`` closes; without one in the settings, do nothing.

    Closing raises :class:`LeaseGone` if it was lost. Returns early when a stop is ordered.

    Raises:
        LeaseTaken: another machine holds it.
        StorageUnusable: the settings name a PostgreSQL that cannot be used from here.
    """
    section = stop.settings.standby
    store = lease_of(section)
    if store is None:
        return LeaseGuard()
    data_dir = stop.settings.storage.data_dir
    arguments = store, data_dir, section.lease_s, SystemClock()
    keeper = LeaseHolder(*arguments, kill_at=KillTimer().set)
    waiting = partial(_answer_unavailable, stop, addresses)
    await waiting(_FOR_LEASE, keeper.acquire)
    if stop.ordered.is_set():
        return LeaseGuard()
    outer.callback(_refuse_gone, keeper)
    nursery = await outer.enter_async_context(trio.open_nursery())
    outer.callback(nursery.cancel_scope.cancel)
    outer.push_async_callback(_release, keeper, data_dir / DATABASE)
    entries = _Entries(data_dir / DATABASE, waits=section.replicate == "before_answer")
    nursery.start_soon(keeper.keep, entries.last, stop.order)
    lost = partial(keeper.lost, stop=stop.order)
    return LeaseGuard(keeper.fence, lost, partial(waiting, _FOR_COPY), entries.follow)


async def _release(keeper: LeaseHolder, database: Path) -> None:
    await keeper.release(await trio.to_thread.run_sync(stopped_at, database))


def _refuse_gone(keeper: LeaseHolder) -> None:
    if keeper.gone is not None:
        raise LeaseGone(keeper.gone)


async def _answer_unavailable(
    stop: Stop,
    addresses: Sequence[BoundAddress],
    sentence: str,
    work: Callable[[], Awaitable[None]],
) -> None:
    """Answer 503 at all addresses while the work waits."""
    # Imported here: a service without a standby never waits, and this has Quart below it.
    from risala.http.common.upgrading import create_waiting

    over = trio.Event()
    app = create_waiting(lambda: sentence)
    serve = partial(serve_app, app, stop.settings.http, shutdown=over)
    async with trio.open_nursery() as faces:
        for each in addresses:
            await faces.start(partial(serve, sock=each.sock.dup(), tls=each.tls))
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancel_when, stop.ordered, nursery.cancel_scope)
                await work()
                nursery.cancel_scope.cancel()
        finally:
            over.set()


async def _cancel_when(stop_ordered: trio.Event, scope: trio.CancelScope) -> None:
    await stop_ordered.wait()
    scope.cancel()


class _Entries:
    """The number of the ledger's entries, to find out later what a copy has missed.

    Where answers wait for the copy, only what the copy has too is counted: what nobody was answered
    may be missing there.
    """

    def __init__(self, database: Path, *, waits: bool) -> None:
        self._database = database
        self._waits = waits
        self._log: CommitLog | None = None
        self._last: int | None = None

    def follow(self, log: CommitLog) -> None:
        """From now on the copy has whatever this log has."""
        self._log = log

    def last(self) -> int | None:
        """The number of the last entry; the previous result if it cannot be told now. None: it
        never could."""
        if self._waits and self._log is None:
            return None
        with suppress(StorageUnusable):
            entry = last_entry(self._database)
            # Asked afterwards: a log is behind from before a commit until the copy has that.
            if self._log is None or not self._log.behind:
                self._last = entry
        return self._last
