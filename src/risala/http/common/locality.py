"""Whether a request was made on this machine, and not by a proxy for another client.

A reverse proxy on this machine is a loopback client too, and passes on requests of others: a
request with a proxy's headers is not local. Some proxies add no header at all; an operator with one
of those must declare it in the settings, or give local services an address of their own.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from quart.wrappers import Request

_PROXIES: Final = frozenset(
    {
        *("via", "forwarded", "x-real-ip", "x-client-ip", "client-ip", "true-client-ip"),
        *("x-cluster-client-ip", "cdn-loop", "x-original-host", "x-original-url"),
    }
)
"""Headers that no client on this machine sends, and proxies do."""
_PROXY_FAMILIES: Final = (
    *("x-forwarded-", "x-original-forwarded-", "cf-", "fastly-", "fly-", "x-vercel-"),
    *("x-amz", "x-azure-", "x-envoy-", "x-nginx-", "x-proxy"),
)
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::[0-9]{1,5})?", re.IGNORECASE)


def is_local(request: Request) -> bool:
    """Whether a program on this machine asks, and for itself."""
    client = request.scope.get("client")
    if client is None or not _is_loopback(client[0]):
        return False
    # By default nginx forwards with our own Host and no proxy header; only this identifies it.
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
