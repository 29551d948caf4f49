"""The client of a request: the peer of the socket, or the client of a trusted proxy (contract §2).

``X-Forwarded-For`` is read from its right end, where the trusted proxies have written. The first
address from the right that is not one of theirs is the client's; the client may have invented
everything to the left of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from quart.wrappers import Request

Address = IPv4Address | IPv6Address
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_CLIENT_PREFIX_V6: Final = 64
"""Bits of an IPv6 address that distinguish clients: a household or a phone has a whole /64 to
choose addresses from."""

NETWORK_PREFIX_V6: Final = 48
"""Bits of an IPv6 address that distinguish customers of a hoster, who have 65,536 /64s each."""
PROVIDER_PREFIX_V6: Final = 32
"""Bits of an IPv6 address that distinguish hosters and networks."""

_ADDRESS_CHARACTERS_MAX: Final = 80
"""An IPv6 address has at most 45 characters, the name of an interface 15, a port 5, plus four
separators. The text after the ``%`` may be anything, of any length."""
_REMEMBERED_BYTES_MAX: Final = 160
"""The most bytes of ``X-Forwarded-For`` in a key of the cache, enough for some proxies. A client
may fill the header up to its limit."""
_TEXTS_MAX: Final = 1024
"""Clients whose address is cached as text, some 500 kB at most."""


class ClientAddresses:
    """Finds the client's address of each request."""

    def __init__(self, trusted: Iterable[str]) -> None:
        networks = [_network(text) for text in trusted]
        self._v4 = tuple(each for each in networks if isinstance(each, IPv4Network))
        self._v6 = tuple(each for each in networks if isinstance(each, IPv6Network))
        # Servers ask from the same address again and again.
        self._known_text_of = lru_cache(maxsize=_TEXTS_MAX)(self._text_of)

    def of(self, peer: str | None, forwarded: Sequence[str]) -> Address | None:
        """The client's address; None if it is unknown.

        Args:
            peer: the address of the socket's other end; None for a unix socket. Then it is a proxy
                on this machine that the mode of the socket's file let in, and is trusted.
            forwarded: the request's ``X-Forwarded-For`` headers.
        """
        client = None if peer is None else parse_address(peer)
        if client is not None and not self._trusts(client):
            return client
        for entry in _from_the_right(forwarded):
            address = parse_address(entry)
            if address is None:
                break  # no address: everything to the left of it cannot be trusted either
            client = address
            if not self._trusts(client):
                break
        return client

    def text_of(self, peer: str | None, forwarded: tuple[bytes, ...]) -> str | None:
        """The client's address as text, by the raw arguments of :meth:`of`; None if it is
        unknown."""
        if sum(map(len, forwarded)) > _REMEMBERED_BYTES_MAX:
            return self._text_of(peer, forwarded)
        return self._known_text_of(peer, forwarded)

    def _text_of(self, peer: str | None, forwarded: tuple[bytes, ...]) -> str | None:
        address = self.of(peer, [each.decode("latin-1") for each in forwarded])
        return None if address is None else str(address)

    def trusts(self, peer: str | None) -> bool:
        """Whether the socket's other end is a trusted proxy, whose headers name its client."""
        if peer is None:
            return True
        address = parse_address(peer)
        return address is not None and self._trusts(address)

    def _trusts(self, address: Address) -> bool:
        if isinstance(address, IPv4Address):
            return any(address in network for network in self._v4)
        return any(address in network for network in self._v6)


def bucket_of(address: Address | None) -> int | tuple[int] | None:
    """The key of an address's limits: an IPv4 address, an IPv6 /64, or one key for all clients
    without an address."""
    if isinstance(address, IPv6Address):
        return (int(address) >> (128 - _CLIENT_PREFIX_V6),)
    return None if address is None else int(address)


def network_of(address: Address | None, bits: int) -> tuple[int] | None:
    """The key of the limits that a whole IPv6 network shares; None: no such address."""
    if isinstance(address, IPv6Address):
        return (int(address) >> (128 - bits),)
    return None


def parse_address(text: str) -> Address | None:
    """The address in a text, with or without a port (``[2001:db8::7]:443``); None if it is not one.

    An IPv4 address mapped into IPv6 (``::ffff:192.0.2.7``) is taken as the IPv4 address.
    """
    text = text.strip()
    if len(text) > _ADDRESS_CHARACTERS_MAX:
        return None
    if text.startswith("["):
        text, bracket, port = text[1:].partition("]")
        if not bracket or (port and not _is_port(port)):
            return None
    elif text.count(":") == 1:
        text, _, port = text.partition(":")
        if not _is_port(":" + port):
            return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _is_port(text: str) -> bool:
    return text[:1] == ":" and text[1:].isascii() and text[1:].isdigit() and len(text) <= 6


def _from_the_right(headers: Sequence[str]) -> Iterable[str]:
    for header in reversed(headers):
        rest, comma = header, ","
        while comma:
            rest, comma, entry = rest.rpartition(",")
            yield entry


def _network(text: str) -> IPv4Network | IPv6Network:
    network = ip_network(text, strict=False)
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        address = network.network_address.ipv4_mapped
        return IPv4Network((int(address or 0), network.prefixlen - 96))
    return network


# Whether a request was made on this machine, and not by a proxy for another client.
#
# A reverse proxy on this machine is a loopback client too, and passes on requests of others: a
# request with a proxy's headers is not local. Some proxies add no header at all; an operator with
# one of those must declare it in the settings, or give local services an address of their own.

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
