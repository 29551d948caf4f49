"""The addresses that the service listens on."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

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
    """None: so are the metrics, or there are none."""

    @property
    def all(self) -> list[BoundAddress]:
        return [each for each in (self.api, self.console, self.metrics) if each is not None]

    @property
    def console_url(self) -> str | None:
        """Where the console listens by itself."""
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
    return ServiceAddresses(api, console, measured)
