"""Permission to bind: the credential, the address, the number of attempts and of open sessions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, Protocol

import structlog
import trio

from risala.config.smpp_server import SmppServerSection
from risala.drivers.smpp.protocol.pdu import Bind
from risala.engine.model.errors import EngineError, Refusal, Unauthorized
from risala.engine.rules.windows import SlidingWindows, Window
from risala.smpp_server.session_registry import SessionRegistry, SmppAccount
from risala.smpp_server.statuses import (
    ESME_RALYBND,
    ESME_RBINDFAIL,
    ESME_RINVPASWD,
    ESME_RSYSERR,
    StatusRefusal,
)

log = structlog.get_logger("risala.smpp_server")

PeerAddress = IPv4Address | IPv6Address
Admit = Callable[[str, str, PeerAddress | None], Awaitable[SmppAccount]]
"""Finds the account for a ``system_id``, a password and an address.

Raises:
    Unauthorized: unknown, wrong or revoked; the answer does not show which.
    Forbidden: the address is not allowed, or the organization is not active.
    Unavailable: not now.
"""

Prepare = Callable[[SmppAccount], Awaitable[None]]
"""Starts to collect events for an account's receivers.

Raises:
    Unavailable: not now.
"""

SYSTEM_ID_MAX: Final = 15
"""Characters of a ``system_id`` (§5.2.1)."""
TRIED_MAX: Final = 10_000
"""Addresses, and as many names, whose binds are kept in memory; the least recent one is forgotten.
About 5 MB each at most."""
_MINUTE_MS: Final = 60_000
_NOWHERE: Final = object()
"""No address's bucket."""


class BindGuard(Protocol):
    """Counts failed binds together with failed API keys."""

    def bucket(self, peer: str | None) -> Hashable:
        """The key of an address in limits by address."""

    async def hold(self, peer: str | None) -> None:
        """Count a failed bind; returns when its answer may leave."""


class BindDecisions:
    """Decides every bind."""

    def __init__(
        self,
        settings: SmppServerSection,
        roster: SessionRegistry,
        admit: Admit,
        guard: BindGuard,
        prepare: Prepare,
    ) -> None:
        self._settings = settings
        self._roster = roster
        self._admit = admit
        self._guard = guard
        self._prepare = prepare
        window = (Window(settings.binds_per_minute, _MINUTE_MS),)
        self._by_address = SlidingWindows(window, TRIED_MAX)
        self._by_name = SlidingWindows(window, TRIED_MAX)
        self._at_home: OrderedDict[str, Hashable] = OrderedDict()
        """The last successful address of each ``system_id``: strangers who try it elsewhere must
        not lock its owner out."""

    def bucket(self, peer: str | None) -> Hashable:
        """The key of an address in limits by address."""
        return self._guard.bucket(peer)

    async def decide(self, request: Bind, peer: str | None) -> SmppAccount:
        """The account of a new session.

        Raises:
            StatusRefusal: the bind is refused; with the status to answer.
        """
        # No account has a longer name: an attacker's long names must not fill the memory.
        name = request.system_id[: SYSTEM_ID_MAX + 1]
        bucket = self._guard.bucket(peer)
        self._refuse_flood(name, bucket)
        try:
            account = await self._admit(name, request.password, _address(peer))
            await self._prepare(account)
        except Unauthorized:
            await self._guard.hold(peer)
            raise StatusRefusal(ESME_RINVPASWD, "No credential has these.") from None
        except EngineError as error:
            status = ESME_RBINDFAIL if isinstance(error, Refusal) else ESME_RSYSERR
            raise StatusRefusal(status, str(error)) from None
        # No await from here until the session has its account: two binds at once are counted.
        if (
            len(self._roster.of(account.credential_id))
            >= self._settings.sessions_per_credential_max
        ):
            raise StatusRefusal(ESME_RALYBND, "The credential has as many sessions as it may.")
        self._at_home[name] = bucket
        self._at_home.move_to_end(name)
        if len(self._at_home) > TRIED_MAX:
            self._at_home.popitem(last=False)
        return account

    def _refuse_flood(self, name: str, bucket: Hashable) -> None:
        """Count a bind by its address and by its name."""
        now_ms = int(trio.current_time() * 1000)
        full = self._by_address.take(bucket, now_ms)
        if self._at_home.get(name, _NOWHERE) != bucket:
            full = self._by_name.take(name, now_ms) or full
        if full:
            raise StatusRefusal(ESME_RBINDFAIL, "Too many binds were tried in the last minute.")


def _address(peer: str | None) -> PeerAddress | None:
    if peer is None:
        return None
    address = ip_address(peer.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
