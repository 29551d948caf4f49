"""Carriers that connect to us: they send ``outbind``, and we bind on their connection (§4.1.7)."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Final

import trio

from risala.drivers.smpp.channel import BindRefusedError, Channel
from risala.drivers.smpp.link import Link, LinkError, LinkHandler
from risala.drivers.smpp.protocol.pdu import Outbind, Pdu
from risala.drivers.smpp.settings import OutbindSettings
from risala.drivers.smpp.tls import TlsError
from risala.plugins.contract import Health, HealthState

_CONNECTIONS_MAX: Final = 8
"""Connections that may be open at once: one carrier connects here, and it needs only one."""
_OUTBIND_S: Final = 10.0
"""A connection without an outbind by then is closed."""
_LISTEN_RETRY_S: Final = 10.0

NewChannel = Callable[[LinkHandler], Channel]


class _OutbindError(LinkError):
    """No outbind came that allows us to bind."""


class _Greeter:
    """Handler of a link that waits for the outbind; passes everything else on."""

    def __init__(self, settings: OutbindSettings, handler: LinkHandler) -> None:
        self._settings = settings
        self._handler = handler
        self._heard: Outbind | None = None
        self._has_heard = trio.Event()

    async def wait(self, link: Link) -> None:
        """Return once the carrier has sent outbind.

        Raises:
            _OutbindError: it did not in time, or another party did.
        """
        with trio.move_on_after(_OUTBIND_S):
            await self._has_heard.wait()
        heard, settings = self._heard, self._settings
        if heard is None:
            raise _OutbindError("no outbind in time")
        known = hmac.compare_digest(heard.system_id.encode(), settings.system_id.encode())
        password = settings.password.get_secret_value()
        if not (hmac.compare_digest(heard.password.encode(), password.encode()) and known):
            raise _OutbindError("an outbind by somebody else")

    def on_request(self, link: Link, request: Pdu) -> None:
        if isinstance(request, Outbind):
            self._heard = request
            self._has_heard.set()
        else:
            self._handler.on_request(link, request)

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        self._handler.on_late(link, token, response)

    def on_trouble(self, link: Link, text: str) -> None:
        self._handler.on_trouble(link, text)


class OutbindListener:
    """Waits for the carrier's connections.

    Args:
        new_channel: makes a channel whose link notifies the given handler.
    """

    def __init__(
        self,
        settings: OutbindSettings,
        handler: LinkHandler,
        new_channel: NewChannel,
        trace: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._handler = handler
        self._new_channel = new_channel
        self._trace = trace
        self._connections = 0

    async def run(self) -> None:
        """Listen until cancelled."""
        settings = self._settings
        while True:
            try:
                listeners = await trio.open_tcp_listeners(settings.port, host=settings.host)
            except OSError:
                self._trace(f"{settings.host}:{settings.port} cannot be listened on for outbind.")
                await trio.sleep(_LISTEN_RETRY_S)
            else:
                self._trace(f"Listening on {settings.host}:{settings.port} for outbind.")
                await trio.serve_listeners(self._accept, listeners)

    async def _accept(self, stream: trio.SocketStream) -> None:
        if self._connections >= _CONNECTIONS_MAX:
            await trio.aclose_forcefully(stream)
            return
        self._connections += 1
        greeter = _Greeter(self._settings, self._handler)
        channel = self._new_channel(greeter)
        try:
            health = await channel.use(stream, greeter.wait)
        except BindRefusedError as refused:
            health = Health(HealthState.DOWN, f"A bind after outbind was refused: {refused}.")
        except (LinkError, TlsError) as fault:
            why = str(fault).removesuffix(".")
            health = Health(HealthState.DOWN, f"A connection for outbind came to nothing: {why}.")
        finally:
            self._connections -= 1
        self._trace(health.text)
        channel.set_health(health)
