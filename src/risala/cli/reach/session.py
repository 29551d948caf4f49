"""How a command reaches the engine: it opens the engine itself, or asks the running service.

One process at a time may open a data directory. So a command tries its lock, and if that is free
opens the gateway itself. If the lock is held, it asks the holder over the control socket. If the
socket has no listener, the holder is starting, stopping, or another command, and the command tries
again for five seconds.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import trio

from risala.cli.reach.client import NotListening, RemoteGateway, connect
from risala.cli.reach.performer import GatewaySession
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import progress
from risala.engine.journal.store.lock import DataLock
from risala.engine.model.callers import Caller, CallerKind, operator_by
from risala.engine.model.errors import (
    DataDirectoryBusy,
    EngineError,
    StorageFailed,
    StorageUnusable,
)

if TYPE_CHECKING:
    from risala.config.model import Settings
    from risala.engine.gateway.gateway import Gateway

T = TypeVar("T")

_PATIENCE_S: Final = 5.0
_AGAIN_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs and answers."""

    gateway: RemoteGateway
    pid: int | None


class Unreachable(CommandRefused):
    """The holder of the data directory does not answer."""

    def __init__(self, message: str, pid: int | None) -> None:
        super().__init__(message, code="SERVICE_UNAVAILABLE", status=503)
        self.pid = pid


def run(
    settings: Settings, work: Callable[[GatewaySession], Awaitable[T]], *, quiet: bool = False
) -> T:
    """Run a command's work in a session; ``quiet``: nothing but its answer is to be seen."""

    async def main() -> T:
        async with open_session(settings, quiet=quiet) as session:
            return await work(session)

    return run_async(main)


def run_async(main: Callable[[], Awaitable[T]]) -> T:
    """Run Trio; exceptions of the work are raised unchanged."""
    try:
        return trio.run(main)
    except BaseExceptionGroup as group:
        # A nursery has wrapped the exceptions of the work in a group.
        refused, rest = group.split(CommandRefused)
        if refused is None or rest is not None:
            raise
        raise _leaf(refused) from None


def _leaf(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


@asynccontextmanager
async def open_session(settings: Settings, *, quiet: bool = False) -> AsyncIterator[GatewaySession]:
    """Raises :class:`CommandRefused` when the data directory can be neither opened nor asked."""
    async with hold_or_reach(settings.storage.data_dir) as service:
        if service is not None:
            yield GatewaySession(service.gateway, running=True)
            return
        async with _own(settings, quiet=quiet) as session:
            yield session


@asynccontextmanager
async def hold_or_reach(data_dir: Path) -> AsyncIterator[Service | None]:
    """The service that runs on a data directory, or None: then its lock is ours.

    Raises:
        Unreachable: the holder of the directory does not answer.
        CommandRefused: the directory cannot be locked at all.
    """
    until = trio.current_time() + _PATIENCE_S
    while True:
        lock = DataLock(data_dir)
        try:
            lock.acquire()
        except DataDirectoryBusy as error:
            busy = error
        except StorageUnusable as error:
            raise CommandRefused.unavailable(str(error)) from error
        else:
            try:
                yield None
            finally:
                lock.release()
            return
        try:
            async with connect(data_dir) as remote:
                yield Service(remote, busy.pid)
            return
        except NotListening:
            pass
        if trio.current_time() >= until:
            raise Unreachable(f"{busy} It does not answer; try again in a moment.", busy.pid)
        await trio.sleep(_AGAIN_S)


@dataclass(frozen=True, slots=True)
class _Refusing:
    """A gateway of this process, whose refusals become :class:`CommandRefused`."""

    gateway: Gateway
    caller: Caller

    async def perform(self, name: str, arguments: dict[str, Any], /) -> dict[str, Any]:
        with _refused():
            return await self.gateway.perform(name, arguments, self.caller)

    async def upload(self, organization_id: str, name: str, content: bytes, /) -> str:
        with _refused():
            chunks = _one(content)
            return await self.gateway.receive_upload(organization_id, chunks, name, self.caller)


async def _one(chunk: bytes) -> AsyncIterator[bytes]:
    yield chunk


@contextmanager
def _refused() -> Iterator[None]:
    """The engine's refusals within become :class:`CommandRefused`."""
    try:
        yield
    except EngineError as error:
        # Imported here: nearly all commands end without a refusal, or ask a running service.
        from risala.http.common.problems import problem_of

        raise CommandRefused.by_api(problem_of(error).wire("")) from error


@asynccontextmanager
async def _own(settings: Settings, *, quiet: bool) -> AsyncIterator[GatewaySession]:
    from risala.cli.reach.logs import log_to_stderr
    from risala.engine.journal.store.opening import storage_sentence
    from risala.engine.wiring.foundation import DATABASE
    from risala.engine.wiring.gateway import open_gateway

    log_to_stderr(settings.plan)
    path = settings.storage.data_dir / DATABASE
    try:
        await _bring_over(path, quiet=quiet)
        async with open_gateway(settings) as gateway:
            yield GatewaySession(
                _Refusing(gateway, operator_by(CallerKind.CLI, os.getuid())), running=False
            )
    except StorageUnusable as error:
        raise CommandRefused.unavailable(str(error)) from error
    except BaseExceptionGroup as group:  # the journal's nursery wraps why it cannot be opened
        expected, rest = group.split((StorageUnusable, StorageFailed))
        if expected is None or rest is not None:
            raise
        why = _leaf(expected)
        if isinstance(why, StorageFailed):
            raise CommandRefused.unavailable(storage_sentence(path, why)) from group
        raise CommandRefused.unavailable(str(why)) from group


async def _bring_over(path: Path, *, quiet: bool) -> None:
    """Migrate a database of an older version, if it is one, and show the progress."""
    from risala.engine.model.clock import SystemClock
    from risala.engine.upkeep.upgrade import bring_over, is_due

    if not is_due(path):
        return
    if not quiet:
        click.echo(
            f"{path} is being upgraded to this version. This happens once and may take a while.",
            err=True,
        )
    with progress.shown(quiet=quiet) as shown:
        await bring_over(path, SystemClock(), shown)
