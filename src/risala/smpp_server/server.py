"""The SMPP server for customers: accepts connections, and ends them in order.

Its sessions run in a nursery that outlives the listeners: a stop closes the listeners, lets each
session answer the requests in its window and unbind, and ends under a deadline.
"""

from __future__ import annotations

import ssl
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog
import trio

from risala.drivers.smpp.server_tls import HandshakeError, shake_hands
from risala.engine.model.errors import EngineError, NotFound, Unauthorized
from risala.smpp_server.session import EsmeSession, House
from risala.smpp_server.session_registry import SmppAccount

log = structlog.get_logger("risala.smpp_server")

Standing = Callable[[SmppAccount], None]
"""Checks the accounts of open sessions.

Raises:
    EngineError: its credential was revoked, or its organization is no longer active.
"""
ContextNow = Callable[[], ssl.SSLContext]
"""The TLS of a new connection."""
LOOK_S: Final = 2.0
"""Seconds between two checks of the bound accounts: the longest use of a revoked credential."""


@dataclass(frozen=True, slots=True)
class SmppListener:
    """A listening address, with its TLS."""

    listener: trio.SocketListener
    context: ContextNow | None = None
    """None: the address uses plain SMPP."""


@dataclass(eq=False, slots=True)
class _Connection:
    """An open connection, including those in their TLS handshake."""

    bucket: Hashable
    """The key of its address in limits."""
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    session: EsmeSession | None = None
    """None: its TLS handshake is not finished."""

    @property
    def is_bound(self) -> bool:
        return self.session is not None and self.session.account is not None


class SmppServer:
    def __init__(self, house: House, standing: Standing) -> None:
        self._house = house
        self._standing = standing
        self._open: dict[_Connection, None] = {}
        """Connections, the oldest first."""

    async def run(
        self,
        listeners: Sequence[SmppListener],
        stop: trio.Event,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until ``stop``, and then at most ``graceful_stop_s`` longer."""
        async with trio.open_nursery() as outer:
            await outer.start(self._house.couriers.run)
            await self._serve_until(listeners, stop, task_status)
            outer.cancel_scope.cancel()

    async def _serve_until(
        self,
        listeners: Sequence[SmppListener],
        stop: trio.Event,
        task_status: trio.TaskStatus[None],
    ) -> None:
        async with trio.open_nursery() as sessions:
            async with trio.open_nursery() as taking:
                for each in listeners:
                    serve = partial(self._serve, context=each.context)
                    start = partial(
                        trio.serve_listeners, serve, [each.listener], handler_nursery=sessions
                    )
                    await taking.start(start)
                taking.start_soon(self._keep_looking)
                task_status.started()
                await stop.wait()
                taking.cancel_scope.cancel()
            for session in self._house.roster:
                session.leave("the service stops")
            sessions.cancel_scope.deadline = (
                trio.current_time() + self._house.settings.graceful_stop_s
            )

    async def _serve(self, stream: trio.SocketStream, *, context: ContextNow | None) -> None:
        """One connection, until it ends. A fault of ours ends it alone."""
        roster, peer = self._house.roster, _peer(stream)
        mine = _Connection(self._house.decisions.bucket(peer))
        if not self._has_room(mine.bucket):
            await trio.aclose_forcefully(stream)
            return
        self._open[mine] = None
        try:
            with mine.scope:
                await self._run(mine, stream, peer, context)
        except HandshakeError as fault:
            roster.quiet.say("smpp_server.no_tls", reason=str(fault))
        except Exception:
            log.exception("smpp_server.bug")
        finally:
            self._open.pop(mine, None)
            if mine.scope.cancelled_caught:
                await trio.aclose_forcefully(stream)

    async def _run(
        self,
        mine: _Connection,
        stream: trio.SocketStream,
        peer: str | None,
        context: ContextNow | None,
    ) -> None:
        roster, settings = self._house.roster, self._house.settings
        wire: trio.abc.Stream = stream
        if context is not None:
            wire = await shake_hands(stream, context(), settings.bind_timeout_s)
        mine.session = EsmeSession(self._house, wire, peer, is_tls=context is not None)
        roster.add(mine.session)
        try:
            await mine.session.run()
        finally:
            roster.remove(mine.session)

    def _has_room(self, bucket: Hashable) -> bool:
        """Make room for a connection from this address, by ending one that has not bound: the
        oldest of the address that has the most of them. False: all are bound."""
        settings, quiet = self._house.settings, self._house.roster.quiet
        unbound = [each for each in self._open if not each.is_bound]
        of_address = [each for each in unbound if each.bucket == bucket]
        if len(of_address) >= settings.unbound_per_address_max:
            quiet.say("smpp_server.unbound", unbound_max=settings.unbound_per_address_max)
            self._drop(of_address[0])
        elif len(self._open) >= settings.sessions_max:
            quiet.say("smpp_server.full", sessions_max=settings.sessions_max)
            if not unbound:
                return False
            counts = Counter(each.bucket for each in unbound)
            self._drop(max(unbound, key=lambda each: counts[each.bucket]))
        return len(self._open) < settings.sessions_max

    def _drop(self, connection: _Connection) -> None:
        """End an unbound connection; its place is free at once."""
        del self._open[connection]
        connection.scope.cancel()

    async def _keep_looking(self) -> None:
        """Unbind sessions that are no longer permitted, until cancelled."""
        while True:
            await trio.sleep(LOOK_S)
            for session in self._house.roster:
                if session.account is None:
                    continue
                try:
                    self._standing(session.account)
                except EngineError as error:
                    session.leave(str(error))
                    if isinstance(error, Unauthorized | NotFound):
                        await self._forget(session.account)

    async def _forget(self, account: SmppAccount) -> None:
        """A credential was removed: nothing is pending for it any longer."""
        try:
            await self._house.couriers.forget(account)
        except EngineError as error:
            log.warning("smpp_server.cursor", system_id=account.system_id, reason=str(error))


def _peer(stream: trio.SocketStream) -> str | None:
    try:
        host: str = stream.socket.getpeername()[0]
    except OSError:
        return None
    return host
