"""The SMPP server for customers, built over the engine."""

from __future__ import annotations

import ssl
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Final

import trio

from risala.config.smpp_server import SmppServerSection
from risala.engine.features.compat.credentials import Credentials
from risala.engine.follow.cursors import EventCursor
from risala.engine.model.following import Owner, OwnEvent
from risala.engine.wiring.engine import Engine
from risala.http.common.client_address import bucket_of, parse_address
from risala.http.common.failed_keys import FailedKeys
from risala.http.server.server import BoundAddress
from risala.http.server.tls import ServerTls
from risala.smpp_server.binds import BindDecisions, BindGuard, PeerAddress
from risala.smpp_server.owed import TYPES
from risala.smpp_server.receipt_sender import ReceiptSenders
from risala.smpp_server.server import ContextNow, SmppListener, SmppServer
from risala.smpp_server.session import House
from risala.smpp_server.session_registry import SessionRegistry, SmppAccount
from risala.smpp_server.submits import INTERMEDIATE

FACE: Final = "smpp"
"""The name of this face in an organization's credentials."""


class _Guard:
    """Wrong passwords count with wrong API keys, under the same addresses."""

    def __init__(self, failed_keys: FailedKeys) -> None:
        self._failed_keys = failed_keys

    def bucket(self, peer: str | None) -> Hashable:
        return bucket_of(None if peer is None else parse_address(peer))

    async def hold(self, peer: str | None) -> None:
        await self._failed_keys.hold(peer, ())


class _Doors:
    """The engine's doors, as the server asks at them."""

    def __init__(self, engine: Engine) -> None:
        self._credentials = engine.gateway.services.part(Credentials)
        self._cursors = engine.cursors

    async def admit(
        self, system_id: str, password: str, address: PeerAddress | None
    ) -> SmppAccount:
        admitted = await self._credentials.authenticate(FACE, system_id, password, address)
        credential = admitted.credential
        return SmppAccount(
            credential.id,
            credential.username,
            admitted.principal,
            credential.sender,
            hears=credential.hears,
        )

    def admitted(self, account: SmppAccount) -> None:
        self._credentials.admitted(account.credential_id)

    async def open_cursor(self, account: SmppAccount) -> EventCursor[OwnEvent]:
        principal = account.principal
        owner = Owner(account.credential_id, principal.mode, INTERMEDIATE)
        return await self._cursors.open_own(
            _consumer(account), principal.organization_id, owner, TYPES
        )

    async def forget_cursor(self, account: SmppAccount) -> None:
        await self._cursors.drop(_consumer(account))


def _consumer(account: SmppAccount) -> str:
    """A credential's name as a follower of events."""
    return f"{FACE}:{account.credential_id}"


async def serve_smpp(
    settings: SmppServerSection,
    engine: Engine,
    failed_keys: FailedKeys,
    bound: Sequence[BoundAddress],
    stop: trio.Event,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve customers' SMPP software at these addresses until ``stop``, and then at most
    ``graceful_stop_s`` longer."""
    roster = SessionRegistry()
    house = build_house(settings, engine, _Guard(failed_keys), roster)
    server = SmppServer(house, _Doors(engine).admitted)
    listeners = [SmppListener(_listener(each), _context_of(each)) for each in bound]
    with engine.gateway.services.esmes.listed(roster):
        await server.run(listeners, stop, task_status)


def build_house(
    settings: SmppServerSection, engine: Engine, guard: BindGuard, roster: SessionRegistry
) -> House:
    """The parts that all sessions share, on top of the engine."""
    doors = _Doors(engine)
    couriers = ReceiptSenders(
        doors.open_cursor,
        doors.forget_cursor,
        window_max=settings.deliver_window_max,
        counts=roster.counts,
    )
    decisions = BindDecisions(settings, roster, doors.admit, guard, couriers.prepare)
    now_ms = engine.gateway.services.recorder.clock.now_ms
    plan = engine.gateway.services.settings.plan
    return House(settings, plan, engine.gateway, decisions, roster, now_ms, couriers)


def _listener(bound: BoundAddress) -> trio.SocketListener:
    return trio.SocketListener(trio.socket.from_stdlib_socket(bound.sock))


def _context_of(bound: BoundAddress) -> ContextNow | None:
    return None if bound.tls is None else partial(_context, bound.tls)


def _context(tls: ServerTls) -> ssl.SSLContext:
    """The TLS of a new connection: the certificate may have been renewed."""
    return tls.context
