"""The addresses that the service listens on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from risala.config.faults import ConfigError, Fault
from risala.config.kinds import bind_parts
from risala.config.model import Settings
from risala.http.server.server import BoundAddress
from risala.http.server.sockets import listen_tcp
from risala.http.server.tls import ServerTls


@dataclass(frozen=True, slots=True)
class ServiceAddresses:
    """The addresses that are listened on."""

    api: BoundAddress
    console: BoundAddress | None
    """None: the console is at the main address."""
    metrics: BoundAddress | None
    """None: the metrics are at the main address, or off."""
    smpp: tuple[BoundAddress, ...] = ()
    """The address for customers' SMPP software."""

    @property
    def all(self) -> list[BoundAddress]:
        """The sockets for HTTP."""
        return [each for each in (self.api, self.console, self.metrics) if each is not None]

    @property
    def certificates(self) -> set[ServerTls]:
        """The certificates that are shown."""
        bound = (*self.all, *self.smpp)
        return {each.tls for each in bound if each.tls is not None}

    @property
    def console_url(self) -> str | None:
        """The console's own address."""
        return None if self.console is None else self.console.url


def listen(settings: Settings, held: ExitStack) -> ServiceAddresses:
    """Listen on all of them; ``held`` closes them.

    Raises:
        ListenError: one cannot be used.
    """
    http, metrics = settings.http, settings.http.metrics
    tls = None
    if http.tls_certificate is not None:
        tls = ServerTls(http.tls_certificate, http.tls_key)

    def bound(host: str, port: int, tls: ServerTls | None) -> BoundAddress:
        made = BoundAddress(listen_tcp(host, port), tls)
        held.callback(made.sock.close)
        return made

    api, console, measured = bound(http.host, http.port, tls), None, None
    if http.console_bind is not None:
        console = bound(*bind_parts(http.console_bind), tls)
    if metrics.enabled and metrics.host is not None:
        measured = bound(metrics.host, metrics.port, None)
    return ServiceAddresses(api, console, measured, tuple(_smpp(settings, tls, bound)))


def _smpp(
    settings: Settings,
    tls: ServerTls | None,
    bound: Callable[[str, int, ServerTls | None], BoundAddress],
) -> Iterator[BoundAddress]:
    """Listen for customers' SMPP software, if that is wanted.

    Raises:
        ConfigError: an address needs TLS, and the certificate is missing.
    """
    server = settings.smpp_server
    if not server.enabled:
        return
    for address in server.bind:
        yield bound(*bind_parts(address), None)
    if server.tls_bind and server.tls_certificate is not None:
        tls = ServerTls(server.tls_certificate, server.tls_key, section="smpp_server")
    for address in server.tls_bind:
        if tls is None:
            text = "needs tls_certificate beside it, or http.tls_certificate"
            raise ConfigError([Fault("smpp_server.tls_bind", text, "smpp_server")])
        yield bound(*bind_parts(address), tls)
