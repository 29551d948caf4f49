"""``GET /metrics``, for Prometheus: on the main address for this machine alone, or on its own.

Everybody else is told that there is no such path. A reverse proxy on this machine is a loopback
client too, and asks for whoever asks it: what bears its marks is not local. There are proxies
without any; behind one of those the metrics need an address of their own.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from typing import Final, Protocol

from quart import request
from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.config.model import Settings
from risala.http.common.base import JsonApp
from risala.http.common.problems import plain
from risala.http.common.tally import AnswerTally

CONTENT_TYPE: Final = "text/plain; version=1.0.0; charset=utf-8"
_PROXIES: Final = frozenset(
    {
        *("via", "forwarded", "x-real-ip", "x-client-ip", "client-ip", "true-client-ip"),
        *("x-cluster-client-ip", "cdn-loop", "x-original-host", "x-original-url"),
    }
)
"""Headers that no scraper on this machine sends, and proxies do."""
_PROXY_FAMILIES: Final = (
    *("x-forwarded-", "x-original-forwarded-", "cf-", "fastly-", "fly-", "x-vercel-"),
    *("x-amz", "x-azure-", "x-envoy-", "x-nginx-", "x-proxy"),
)
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?", re.IGNORECASE)


class Measured(Protocol):
    def metrics(self) -> bytes:
        """The numbers as text."""


def add_metrics(
    app: JsonApp, gateway: Measured, *, everybody: bool, tally: AnswerTally | None = None
) -> None:
    """Serve ``/metrics`` on ``app``; unless to ``everybody``, to clients on this machine only.

    ``tally`` is the public face's: that of ``app``, unless this is another.
    """
    tally = tally or app.tally

    async def metrics() -> TrioResponse:
        if not everybody and not _is_local(request):
            raise plain(404)
        return TrioResponse(gateway.metrics() + tally.page(), 200, content_type=CONTENT_TYPE)

    app.route_to("/metrics", metrics, method="GET")


def create_metrics(gateway: Measured, settings: Settings, tally: AnswerTally) -> JsonApp:
    """The app for an address of its own: whoever can reach it may read."""
    app = JsonApp(
        "risala.http.api.metrics",
        body_bytes_max=settings.http.body_max_bytes,
        body_timeout_s=settings.http.body_timeout_s,
    )
    add_metrics(app, gateway, everybody=True, tally=tally)
    return app


def _is_local(request: Request) -> bool:
    """Whether a program on this machine asks, and for itself."""
    client = request.scope.get("client")
    if client is None or not _is_loopback(client[0]):
        return False
    # What nginx forwards has, unless it is told otherwise, our own Host and no mark but this.
    if request.http_version == "1.0":
        return False
    names = [name.lower() for name in request.headers.keys()]  # noqa: SIM118 -- not a dict
    if any(name in _PROXIES or name.startswith(_PROXY_FAMILIES) for name in names):
        return False
    host = _HOST.fullmatch(request.headers.get("host", ""))
    return host is not None and (host[1].lower() == "localhost" or _is_loopback(host[1]))


def _is_loopback(text: str) -> bool:
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback
