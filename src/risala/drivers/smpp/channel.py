"""One bind at one SMSC, kept until cancelled: connect, bind, serve, and again after a wait."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from enum import StrEnum
from typing import Final

import trio

from risala.drivers.smpp.link import (
    PEER_CLOSED,
    Link,
    LinkError,
    LinkHandler,
    LinkLimits,
    Wire,
    unwatched,
)
from risala.drivers.smpp.protocol.pdu import (
    Bind,
    BindReceiver,
    BindResp,
    BindTransceiver,
    BindTransmitter,
)
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession
from risala.drivers.smpp.protocol.status import (
    BIND_ADVICE,
    BIND_HINTS,
    ESME_RBINDFAIL,
    is_unknown_request,
    status_of,
    unknown_bind,
)
from risala.drivers.smpp.protocol.tlv import SC_INTERFACE_VERSION, find
from risala.drivers.smpp.reaching import UnreachableError, broken_tls, open_stream
from risala.drivers.smpp.settings import SmppSettings
from risala.drivers.smpp.tls import ALERT, TlsError
from risala.plugins.contract import Health, HealthState

_UNBIND_S: Final = 2.0
"""How long a stop waits for the carrier to unbind."""
_LOOK_S: Final = 0.05
"""How often a link that is to be bound again is checked for pending answers."""
_STABLE_S: Final = 10.0
"""After a link that was bound for this long, the wait before the next connection is the shortest
one; a link that ended sooner counts as one more failure."""
_CLOSED_HINT: Final = (
    " If it goes on, ask whether this machine's address is on its list, and whether the port is"
    " one of TLS (tls = true)."
)


First = Callable[[Link], Awaitable[None]]


class BindKind(StrEnum):
    TRANSCEIVER = "transceiver"
    TRANSMITTER = "transmitter"
    RECEIVER = "receiver"

    @property
    def sends(self) -> bool:
        return self is not BindKind.RECEIVER

    @property
    def receives(self) -> bool:
        return self is not BindKind.TRANSMITTER


_REQUESTS: Final[dict[BindKind, type[Bind]]] = {
    BindKind.TRANSCEIVER: BindTransceiver,
    BindKind.TRANSMITTER: BindTransmitter,
    BindKind.RECEIVER: BindReceiver,
}


class BindRefusedError(Exception):
    """The SMSC answered a bind with a ``command_status`` other than 0, or with ``generic_nack``."""

    def __init__(self, command_status: int, *, is_nack: bool = False) -> None:
        super().__init__("generic_nack" if is_nack else status_of(command_status).name)
        self.command_status = command_status
        self.is_nack = is_nack


class Channel:
    """One bind of one account.

    Args:
        on_change: called after :attr:`link` or :attr:`health` changed.
        trace: takes a line for each step of the channel's life.
        wire: called with its traffic.
    """

    def __init__(
        self,
        kind: BindKind,
        settings: SmppSettings,
        handler: LinkHandler,
        *,
        on_change: Callable[[Channel], None],
        trace: Callable[[str], None],
        rng: random.Random,
        wire: Wire = unwatched,
    ) -> None:
        self._wire = wire
        self.kind = kind
        self.sends = kind.sends
        self.link: Link | None = None
        """The connection, while it is bound; else None."""
        self.peer = f"{settings.host}:{settings.port}"
        self.health = Health(HealthState.DOWN, f"Connecting to {self.peer}.")
        self.has_ended = False
        """Set once the connection ended, on a channel that serves one connection only."""
        self.system_id = ""
        """The SMSC's own name."""
        self.sc_interface_version: int | None = None
        """The SMPP version that the SMSC named at the last bind (``sc_interface_version``)."""
        self._settings = settings
        self._handler = handler
        self._on_change = on_change
        self._trace = trace
        self._rng = rng
        self._hurry = trio.Event()
        self._renew = trio.Event()
        self._bound_at = math.inf
        self._limits = LinkLimits(
            settings.response_timeout_s, settings.enquire_link_s, settings.window_max
        )

    async def run(self) -> None:
        """Connect again and again, until cancelled."""
        failures = 0
        while True:
            self._bound_at = math.inf
            health, wait_s = await self._connect_once()
            if trio.current_time() - self._bound_at > _STABLE_S:
                failures = 0
            if wait_s is None:
                wait_s = self._backoff_s(failures)
                failures += 1
            self._hurry = trio.Event()
            self.set_health(replace(health, details={**health.details, "again_s": round(wait_s)}))
            self._trace(f"{health.text} Trying again in {wait_s:.1f} s.")
            with trio.move_on_after(wait_s):
                await self._hurry.wait()
                failures = 0

    def hurry(self) -> None:
        """End the wait before the next connection, if any."""
        self._hurry.set()

    def bind_again(self) -> None:
        """Unbind once all requests are answered, and bind again."""
        self._renew.set()

    async def use(self, stream: trio.abc.Stream, first: First | None = None) -> Health:
        """Bind on this stream and stay until the link ends; returns the health to report then.

        Args:
            first: waited for on the link before the bind (the carrier's ``outbind``).

        Raises:
            BindRefusedError: the SMSC refused the bind.
            LinkError: the bind got no answer.
            TlsError: TLS was why the connection broke.
        """
        self._renew = trio.Event()
        link = Link(stream, SmppSession(SmppRole.ESME), self._handler, self._limits, self._wire)
        fault: BindRefusedError | LinkError | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            try:
                if first is not None:
                    await first(link)
                await self._bind(link)
                await self._wait_over(link)
                if self._renew.is_set():
                    await self._let_go(link)
                elif link.reason is None:
                    self.link = None
                    self.set_health(Health(HealthState.DOWN, f"{self.peer} ended the session."))
                await link.wait_ended()
            except (BindRefusedError, LinkError) as caught:
                fault = caught  # raised below: out of the nursery it would come wrapped in a group
            finally:
                self.link = None
                self.has_ended = True
                with trio.move_on_after(_UNBIND_S, shield=True):
                    await link.unbind()
                link.end("stopped")
        if isinstance(fault, LinkError):
            raise self._tls_fault(link) or fault
        if fault is not None:
            raise fault
        return Health(HealthState.DOWN, f"The link to {self.peer} ended: {link.reason}.")

    async def _wait_over(self, link: Link) -> None:
        """Return when the link takes no more requests, or when it is to be bound again."""
        async with trio.open_nursery() as nursery:

            async def until(wait: Callable[[], Awaitable[None]]) -> None:
                await wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(until, link.wait_leaving)
            nursery.start_soon(until, self._renew.wait)

    async def _let_go(self, link: Link) -> None:
        """End a working link: no new requests are sent, and pending ones have the time of an
        answer."""
        self.link = None
        self.set_health(Health(HealthState.DOWN, f"Binding again at {self.peer}."))
        with trio.move_on_after(self._settings.submit_timeout_s):
            while link.session.outstanding and link.reason is None:  # noqa: ASYNC110 - none tells
                await trio.sleep(_LOOK_S)
        with trio.move_on_after(_UNBIND_S):
            await link.unbind()
        link.end("it is bound again")

    def _tls_fault(self, link: Link) -> TlsError | None:
        """The fault of TLS that explains why a link broke; None if TLS does not.

        Two faults show only once octets went over the link: under TLS 1.3 the server rejects our
        certificate after the handshake; and a TLS port answers plain octets with an alert, which is
        shorter than any PDU.
        """
        if link.session.unread.startswith(ALERT):
            return TlsError(f"{self.peer} speaks TLS on this port: set tls = true.", is_ours=True)
        return broken_tls(self.peer, link.broken_by, self._settings)

    async def _connect_once(self) -> tuple[Health, float | None]:
        """Connect, bind and serve once. Returns the health to report afterwards, and how long to
        wait before the next try (None: by the backoff)."""
        try:
            return await self.use(await open_stream(self._settings)), None
        except BindRefusedError as refused:
            return self._refused(refused)
        except TlsError as fault:
            state = HealthState.SICK if fault.is_ours else HealthState.DOWN
            return Health(state, str(fault)), None
        except UnreachableError as fault:
            return Health(HealthState.DOWN, str(fault)), None
        except LinkError as fault:
            hint = "" if self._settings.tls or str(fault) != PEER_CLOSED else _CLOSED_HINT
            return Health(HealthState.DOWN, f"No bind with {self.peer}: {fault}.{hint}"), None

    async def _bind(self, link: Link) -> None:
        settings = self._settings
        response = await link.request_beyond_window(
            _REQUESTS[self.kind](
                system_id=settings.system_id,
                password=settings.password.get_secret_value(),
                system_type=settings.system_type,
                interface_version=settings.interface_version,
                addr_ton=settings.address_range_ton,
                addr_npi=settings.address_range_npi,
                address_range=settings.address_range,
            )
        )
        if not isinstance(response, BindResp):
            raise BindRefusedError(response.command_status, is_nack=True)
        if response.command_status:
            raise BindRefusedError(response.command_status)
        version = find(response.tlvs, SC_INTERFACE_VERSION)
        speaks = f" and speaks version 0x{version.number:02X}" if version else ""
        self.sc_interface_version = version.number if version else None
        self.link = link
        self._bound_at = trio.current_time()
        self.system_id = response.system_id
        self._trace(
            f"Bound to {self.peer} as {self.kind}; the SMSC is {response.system_id!r}{speaks}."
        )
        self.set_health(Health(HealthState.UP, "Bound."))

    def _refused(self, refused: BindRefusedError) -> tuple[Health, float | None]:
        command_status = refused.command_status
        row = status_of(command_status)
        details = {"command_status": str(refused)}
        advice = BIND_ADVICE.get(command_status)
        if advice is None and is_unknown_request(command_status, is_nack=refused.is_nack):
            advice = unknown_bind(f"bind_{self.kind}", self._settings.bind)
        if advice is not None:
            # Longer by a random part, so that several links do not try at the same moment.
            wait_s = self._settings.bind_refused_wait_s * self._rng.uniform(1.0, 1.25)
            return Health(HealthState.SICK, advice, details), wait_s
        text = row.text if command_status == ESME_RBINDFAIL else f"The bind was refused. {row.text}"
        hint = BIND_HINTS.get(command_status)
        return Health(HealthState.DOWN, f"{text} {hint}" if hint else text, details), None

    def _backoff_s(self, failures: int) -> float:
        """The wait after so many failures in a row: exponential, less a random part of up to half,
        so that many links do not try at the same moment."""
        settings = self._settings
        longest = min(
            settings.reconnect_first_s * 2.0 ** min(failures, 30), settings.reconnect_max_s
        )
        return longest * self._rng.uniform(0.5, 1.0)

    def set_health(self, health: Health) -> None:
        self.health = health
        self._on_change(self)
