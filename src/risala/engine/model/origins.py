"""Places where keys may be used from: a publishable one from origins, any from addresses. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv6Address, IPv6Network, ip_network
from typing import Final

from risala.engine.model.commands import AddressRange
from risala.engine.model.errors import Invalid

ORIGINS_MAX: Final = 20
"""Origins of one key: further sites need another key."""
ADDRESSES_MAX: Final = 50
"""Addresses of one key: more of them should be written as networks."""
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_ORIGIN: Final = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,31})://"
    r"(?P<host>[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:(?P<port>[0-9]{1,5}))?/?",
    re.IGNORECASE,
)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def parse_origins(values: Iterable[object]) -> tuple[str, ...]:
    """Origins in browsers' spelling, each once, in the order given.

    Raises:
        Invalid: one of them is no origin, or there are too many.
    """
    origins = tuple(dict.fromkeys(_parse(value) for value in values))
    if len(origins) > ORIGINS_MAX:
        text = f"A key can have at most {ORIGINS_MAX} allowed origins."
        raise Invalid("allowed_origins", "too_many", text)
    return origins


def _parse(value: object) -> str:
    match = _ORIGIN.fullmatch(value) if isinstance(value, str) else None
    port = int(match["port"]) if match and match["port"] else None
    if match is None or (port is not None and not 0 < port < 65536):
        raise Invalid(
            "allowed_origins",
            "invalid_origin",
            "An origin is a scheme and a host, like https://app.example or"
            " http://localhost:3000, without a path.",
        )
    scheme, host = match["scheme"].lower(), match["host"].lower()
    # Browsers omit a scheme's default port.
    tail = "" if port in (None, _DEFAULT_PORTS.get(scheme)) else f":{port}"
    return f"{scheme}://{host}{tail}"


def parse_addresses(values: Iterable[object]) -> tuple[str, ...]:
    """Addresses and networks in one spelling, each once, in the order given.

    Raises:
        Invalid: one of them is neither, or there are too many.
    """
    addresses = tuple(dict.fromkeys(_address(value) for value in values))
    if len(addresses) > ADDRESSES_MAX:
        text = f"A key can have at most {ADDRESSES_MAX} allowed addresses."
        raise Invalid("allowed_addresses", "too_many", text)
    return addresses


def ranges_of(addresses: Iterable[str]) -> tuple[AddressRange, ...]:
    """The result of :func:`parse_addresses` in a form for look-ups of clients' addresses."""
    return tuple(map(ip_network, addresses))


def _address(value: object) -> str:
    try:
        # An address with a zone is one of the machine's own links, and no client's.
        network = ip_network("" if "%" in str(value) else str(value).strip(), strict=False)
    except ValueError:
        text = "Write an address like 203.0.113.7 or 2001:db8::7, or a network like 203.0.113.0/24."
        raise Invalid("allowed_addresses", "invalid_ip_address", text) from None
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        # Such clients appear with their IPv4 address.
        mapped = IPv6Address(network.network_address).ipv4_mapped
        network = ip_network(f"{mapped}/{network.prefixlen - 96}")
    is_one = network.prefixlen == network.max_prefixlen
    return str(network.network_address) if is_one else str(network)
