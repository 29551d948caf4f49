"""A standby: it follows, reports its state, and serves no requests until it has taken over.

With ``--take-over`` it also watches the primary's lease. Once that is over, or was given up in
order, it takes over by itself, and this process becomes the service.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import Final

import structlog
import trio

from risala.app.listening import listen
from risala.app.logs import configure_logs, warn_of_old_names
from risala.app.outlets import unharmed
from risala.app.stop import Stop
from risala.app.tracebacks import guard_last_words
from risala.app.undumped import forbid_dumps
from risala.config.model import Settings
from risala.engine.features.standby.copy_check import gap
from risala.engine.features.standby.stored.copy import FOLDER, CopyPosition, StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.stored.piece_store import PieceStore
from risala.engine.features.standby.successor import LEASE_FAULTS, Successor
from risala.engine.journal.upkeep.database_copy import unheard
from risala.engine.model.errors import DataDirectoryBusy, StorageUnusable
from risala.http.common.upgrading import create_waiting
from risala.http.server.server import serve_app
from risala.http.server.sockets import ListenError

FOLLOW_S: Final = 1.0
"""Seconds between two looks for pieces."""
AGAIN_S: Final = 5.0
"""Seconds until a takeover that was refused is tried again: it reads the whole copy."""
END_S: Final = 30.0
"""Seconds that a takeover waits for a follower to end."""
_LOCK: Final = "lock"

log = structlog.get_logger(__name__)


class StandbyFault(Exception):
    """The standby cannot follow; ``str()`` is the reason."""


def run_standby(
    settings: Settings,
    store: PieceStore,
    tell: Callable[[str], None],
    successor: Successor | None = None,
) -> bool:
    """Follow until a signal, or until this machine has taken over: True.

    Args:
        store: where the primary ships to.
        tell: called once with the address it listens at.
        successor: takes over by itself; None: nobody does.

    Raises:
        StandbyFault: it cannot begin.
    """
    with unharmed():
        return _run(settings, store, tell, successor)


def _run(
    settings: Settings,
    store: PieceStore,
    tell: Callable[[str], None],
    successor: Successor | None,
) -> bool:
    configure_logs(settings.log, quiet=False, plan=settings.plan)
    warn_of_old_names(settings)
    guard_last_words()
    forbid_dumps()
    follower = _Follower(StandbyCopy(settings.storage.data_dir, store), successor)
    try:
        with _locked(settings.storage.data_dir):
            work = partial(_serve, settings, follower, tell)
            return trio.run(work, strict_exception_groups=True)
    except BaseExceptionGroup as group:
        refused, rest = group.split(ListenError)
        if refused is None or rest is not None:
            raise
        raise StandbyFault(str(refused.exceptions[0])) from group
    except ListenError as error:
        raise StandbyFault(str(error)) from error


async def _serve(settings: Settings, follower: _Follower, tell: Callable[[str], None]) -> bool:
    """Whether it goes on as the service."""
    stop, ended = Stop(settings), trio.Event()
    with ExitStack() as held:
        listening = listen(settings, held)
        app = create_waiting(follower.sentence)
        async with trio.open_nursery() as outer:
            await outer.start(stop.wait_for_signals)
            async with trio.open_nursery() as faces:
                for each in listening.all:
                    serve = partial(serve_app, app, settings.http, shutdown=ended)
                    await faces.start(partial(serve, sock=each.sock, tls=each.tls))
                tell(f"Following {follower.store}; {listening.api.url}/readyz tells how far.")
                faces.start_soon(follower.run, stop.ordered, ended)
            outer.cancel_scope.cancel()
    # Who asked for a stop gets one: the next start finds that this machine is the primary.
    return follower.has_taken and not stop.ordered.is_set()


class _Follower:
    def __init__(self, copy: StandbyCopy, successor: Successor | None) -> None:
        self._copy = copy
        self._successor = successor
        self._position: CopyPosition | None = None
        self._fault: str | None = None
        self._lease_fault: str | None = None
        self._refused: str | None = None
        """Why the last takeover was refused; None: it was not, or nothing is to be taken over."""
        self._again_s = -inf
        self._takes = False
        self.has_taken = False
        """True: this machine has taken over, and is the one that sends."""

    @property
    def store(self) -> PieceStore:
        return self._copy.store

    def sentence(self) -> str:
        if self._takes:
            return "This is a standby, and it takes over."
        fault = self._refused or self._fault
        if fault is not None:
            return f"This is a standby, and it could not take over: {fault}"
        if self._position is None:
            return "This is a standby, and there is no copy for it yet."
        return f"This is a standby; its copy is up to piece {self._position.number}."

    def _poll(self) -> CopyPosition | None:
        """Take over new data.

        Raises:
            StorageUnusable: a newer version of Risala wrote it: this one follows, but could not
                take over. Or the store has lost something that was shipped.
        """
        shipped = self.store.shipped()
        position = self._copy.follow(unheard)
        if position is not None and (lost := gap(self.store, position, shipped)) is not None:
            self._position = position
            raise StorageUnusable(f"{lost} Start the primary's service again: it ships all of it.")
        if position is not None and (position != self._position or self._fault is not None):
            self._copy.refuse_wrong()
        return position

    async def run(self, stop: trio.Event, ended: trio.Event) -> None:
        """Follow until ``stop``, or until it has taken over; then set ``ended``. Failures are
        logged, and tried again."""
        while not stop.is_set() and not self.has_taken:
            try:
                position = await trio.to_thread.run_sync(self._poll)
            except (OSError, BadPiece, StorageUnusable) as error:
                # A generation that ends while it is read has disappeared: the next poll finds its
                # successor.
                self._failed(error)
            else:
                self._position, self._fault = position, None
            if await self._wait(stop):
                await self._take()
        ended.set()

    def _failed(self, error: Exception) -> None:
        if self._fault != str(error):
            log.warning("standby.failing", reason=str(error))
        self._fault = str(error)

    async def _wait(self, stop: trio.Event) -> bool:
        """Until the store may have something new, or ``stop``; or until the primary's lease is over
        and there is a copy: True."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_when, stop, nursery.cancel_scope)
            if self._successor is not None:
                nursery.start_soon(self._watch, self._successor, nursery.cancel_scope)
            wait = partial(self._copy.store.wait, FOLLOW_S)
            await trio.to_thread.run_sync(wait, abandon_on_cancel=True)
            nursery.cancel_scope.cancel()
        if self._successor is None or self._position is None or stop.is_set():
            return False
        if not self._successor.is_over:
            self._refused = None
            return False
        return trio.current_time() >= self._again_s

    async def _watch(self, successor: Successor, scope: trio.CancelScope) -> None:
        """Look at the lease until it is over. A look that hangs is waited for by the next one."""
        while True:
            try:
                await trio.to_thread.run_sync(successor.observe, abandon_on_cancel=True)
            except LEASE_FAULTS as error:
                if self._lease_fault != str(error):
                    log.warning("standby.lease_unseen", reason=str(error))
                self._lease_fault = str(error)
            else:
                self._lease_fault = None
            if successor.is_over:
                scope.cancel()
            await trio.sleep(successor.every_s)

    async def _take(self) -> None:
        """Take over, which may fail: another was faster, or the primary is there again."""
        assert self._successor is not None
        self._takes = True
        if self._refused is None:
            log.warning("standby.takes_over")
        try:
            # Not abandoned: a stop waits until the database is whole.
            taken = await trio.to_thread.run_sync(self._successor.take, self._copy)
        except (*LEASE_FAULTS, StorageUnusable) as error:
            self._refuse(str(error))
        else:
            self.has_taken = True
            log.warning("standby.took_over", **taken)
        finally:
            self._takes = False

    def _refuse(self, reason: str) -> None:
        """Nobody serves now, unless the primary comes back: whoever looks has to read why."""
        if self._refused != reason:
            log.error("standby.not_taken_over", reason=reason)
        self._refused = reason
        self._again_s = trio.current_time() + AGAIN_S


async def _cancel_when(stop: trio.Event, scope: trio.CancelScope) -> None:
    await stop.wait()
    scope.cancel()


@contextmanager
def _locked(data_dir: Path) -> Iterator[None]:
    """One follower at a time; its process's number is in the lock."""
    folder = data_dir / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StandbyFault(f"{DataDirectoryBusy(folder, _pid(descriptor))}") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def end_watch(data_dir: Path) -> None:
    """Ask the follower to end, and wait until it has. Call it in a thread.

    Raises:
        OSError: it does not end.
    """
    with suppress(FileNotFoundError):
        descriptor = os.open(data_dir / FOLDER / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        try:
            until_s = time.monotonic() + END_S
            is_ordered = False
            while not _free(descriptor):
                pid = _pid(descriptor)
                if not is_ordered and pid is not None:
                    os.kill(pid, signal.SIGTERM)
                    is_ordered = True
                if time.monotonic() > until_s:
                    raise OSError(f"the follower, process {pid}, does not end")
                time.sleep(0.05)
        finally:
            os.close(descriptor)


def _free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0)
    return int(text) if text.isdigit() else None
