"""``GET /metrics``, for Prometheus: on the main address for this machine alone, or on its own.

Everybody else is told that there is no such path. A request that was forwarded comes from a
reverse proxy on this machine, not from a scraper on it.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final, Protocol

from quart import request
from quart_trio.wrappers import TrioResponse

from risala.config.model import Settings
from risala.http.base import JsonApp
from risala.http.problems import plain

CONTENT_TYPE: Final = "text/plain; version=1.0.0; charset=utf-8"
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip")


class Measured(Protocol):
    def metrics(self) -> bytes:
        """The numbers as text."""


def add_metrics(app: JsonApp, gateway: Measured, *, everybody: bool) -> None:
    """Serve ``/metrics`` on ``app``; unless to ``everybody``, to loopback clients only."""

    async def metrics() -> TrioResponse:
        if not everybody and not _is_local():
            raise plain(404)
        return TrioResponse(gateway.metrics(), 200, content_type=CONTENT_TYPE)

    app.route_to("/metrics", metrics, method="GET")


def create_metrics(gateway: Measured, settings: Settings) -> JsonApp:
    """The app for an address of its own: whoever can reach it may read."""
    app = JsonApp(
        "risala.http.metrics",
        body_bytes_max=settings.http.body_max_bytes,
        body_timeout_s=settings.http.body_timeout_s,
    )
    add_metrics(app, gateway, everybody=True)
    return app


def _is_local() -> bool:
    client = request.scope.get("client")
    if client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ip_address(client[0]).is_loopback
    except ValueError:
        return False
