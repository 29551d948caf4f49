"""Rules of webhooks' addresses: the form of a URL, and the kind of an address. Nothing is resolved
here.

A URL that passes may still name a machine inside our network: :func:`address_fault` checks its
addresses before each connection.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import idna

from risala.dataclass import dataclass
from risala.engine.model.records.webhooks import URL_MAX

if TYPE_CHECKING:
    from risala.config.model import WebhooksSection

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_PLAIN: Final = re.compile(r"[!-~]+")
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")

_METADATA: Final = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "169.254.169.254",  # nearly all clouds
        "fd00:ec2::254",  # AWS
        "fd20:ce::254",  # Google
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure: a public address that leads to the machine's own host
        "192.0.0.192",  # Oracle
    )
)
"""Addresses of clouds' metadata services: a caller that reaches one gets the machine's credentials.
They are never allowed."""
_NEVER_PUBLIC: Final = frozenset(
    {
        *("localhost", "local", "internal", "test", "invalid", "onion", "alt"),  # reserved
        "arpa",  # infrastructure; `home.arpa` is a household's
        *("corp", "home", "mail"),  # never to be given out: too many networks use them
        *("lan", "intranet", "private", "localdomain", "workgroup"),  # used, without an owner
    }
)
"""Last labels of names that only a network's own resolver answers for: such a name leads inside, or
nowhere. `example` is not among them: no resolver answers for it, and manuals need names to show."""
_KINDS_V4: Final = {
    "0.0.0.0/8": "this machine",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by a carrier (CGNAT)",
    "127.0.0.0/8": "loopback",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved",
    "192.0.2.0/24": "for documentation",
    "192.88.99.0/24": "reserved",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
}
_KINDS_V6: Final = {
    "::/128": "this machine",
    "::1/128": "loopback",
    "fc00::/7": "private",
    "fe80::/10": "link-local",
    "ff00::/8": "multicast",
    "2001::/23": "reserved",  # contains Teredo and ORCHID
    "2001:db8::/32": "for documentation",
    "2002::/16": "reserved (6to4)",
    "3fff::/20": "for documentation",
}
_GLOBAL_V6: Final = ipaddress.ip_network("2000::/3")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_NETWORKS: Final = [
    (ipaddress.ip_network(text), kind) for text, kind in (_KINDS_V4 | _KINDS_V6).items()
]
_NOT_HTTPS: Final = "A URL begins with https://."
_NOT_PLAIN: Final = (
    f"{_NOT_HTTPS} Plain http:// is for testing only. The operator can allow it with the "
    "setting webhooks.allow_insecure."
)
_HEADER: Final = "Use a custom header instead."
_NO_NAME: Final = "The host must be a name, or an address in the usual form."
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


class UrlRefused(ValueError):
    """``str()`` is a sentence for its owner.

    Args:
        fault: what is wrong, as a sentence that is true of every URL.
        advice: what the owner of a webhook's endpoint may do instead.
    """

    def __init__(self, fault: str, advice: str = "") -> None:
        super().__init__(f"{fault} {advice}".rstrip())
        self.fault = fault


@dataclass(frozen=True, slots=True)
class AddressRules:
    """The operator's rules on where webhooks may go."""

    allow_insecure: bool = False
    ports: Sequence[int] = (443,)
    networks: Sequence[Network] = field(default=())
    """Private networks that may be reached nevertheless."""


def rules_of(settings: WebhooksSection) -> AddressRules:
    """The settings' rules on where webhooks may go."""
    networks = tuple(ipaddress.ip_network(text, strict=False) for text in settings.allow_networks)
    return AddressRules(settings.allow_insecure, settings.ports, networks)


@dataclass(frozen=True, slots=True)
class Target:
    """A URL parsed once, so that the checked target is also the connected one."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port for the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = {"https": 443, "http": 80}[self.scheme]
        return host if self.port == default else f"{host}:{self.port}"


def parse_target(url: str, rules: AddressRules) -> Target:
    """Parse a URL and refuse what no webhook may use.

    Raises:
        UrlRefused: it is no URL, or may not be used; ``str()`` says why.
    """
    if not (rules.ports or rules.allow_insecure):
        raise UrlRefused("No request leaves this service: its setting webhooks.ports is empty.")
    if len(url) > URL_MAX:
        raise UrlRefused(f"A URL has at most {URL_MAX} characters.")
    if "\\" in url or not _PLAIN.fullmatch(url.encode("ascii", "replace").decode()):
        raise UrlRefused("A URL has no spaces, backslashes or control characters.")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        raise UrlRefused("This is not a URL.") from None
    if parts.scheme not in (("https", "http") if rules.allow_insecure else ("https",)):
        raise UrlRefused(_NOT_PLAIN if parts.scheme == "http" else _NOT_HTTPS)
    if "[" in parts.netloc and ":" not in host:
        raise UrlRefused("The host must be a name, or an address in the usual form.")
    if "@" in parts.netloc:
        raise UrlRefused("A URL must not contain a user name or password.", _HEADER)
    if parts.fragment or url.endswith("#"):
        raise UrlRefused("A URL must not have a part after #.")
    port = port if port is not None else {"https": 443, "http": 80}[parts.scheme]
    if not rules.allow_insecure and port not in rules.ports:
        allowed = ", ".join(map(str, rules.ports))
        raise UrlRefused(f"A URL can use only these ports: {allowed}.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not path.isascii():
        raise UrlRefused("Write characters outside ASCII in a path as %XX.")
    return Target(parts.scheme, _host(host, rules), port, path)


def _host(text: str, rules: AddressRules) -> str:
    """The host in the one form that is used: lower-case ASCII, or an address."""
    host = _ascii(text)
    try:
        if ":" in host:
            address: Address | None = ipaddress.IPv6Address(host)
        else:
            address = ipaddress.IPv4Address(host) if _NUMBER.fullmatch(_last(host)) else None
    except ValueError:
        # Also refuses 127.1, 0177.0.0.1, 2130706433 and 0x7f000001, which resolvers take for
        # addresses.
        raise UrlRefused(_NO_NAME) from None
    if address is not None:
        if "%" in host:
            raise UrlRefused("An address must not name a network interface.")
        if fault := address_fault(address, rules):
            raise UrlRefused(fault)
        return str(address)
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlRefused(_NO_NAME)
    if not rules.allow_insecure:
        _check_public(labels, rules)
    return host


def _ascii(text: str) -> str:
    """A name in the form for look-ups, by IDNA 2008.

    Python's own codec is not used: it supports only IDNA 2003, by which `straße.de` is
    `strasse.de`, a name with another owner.
    """
    try:
        if not text.isascii():
            return idna.encode(text, uts46=True, std3_rules=True).decode("ascii")
        for label in text.split("."):
            if label.startswith("xn--"):
                idna.ulabel(label)
    except idna.IDNAError:
        raise UrlRefused("The host is not a valid international name (IDNA 2008).") from None
    return text


def _check_public(labels: Sequence[str], rules: AddressRules) -> None:
    """Refuse a name that is unknown on the public internet.

    Raises:
        UrlRefused: it leads inside, or nowhere.
    """
    if len(labels) < 2 or labels[-1] == "localhost":
        raise UrlRefused("The host must be a name that is known on the public internet.")
    # If the operator has allowed private networks, their names lead there.
    if labels[-1] in _NEVER_PUBLIC and not rules.networks:
        raise UrlRefused(
            f"Names that end in .{labels[-1]} work only inside a private network. The operator "
            f"can allow private networks with the setting webhooks.allow_networks."
        )


def _last(host: str) -> str:
    return host.rpartition(".")[2]


def address_fault(address: Address, rules: AddressRules) -> str | None:
    """Why this address must not be connected to; None if it may be."""
    inner = _inner(address)
    if inner is None:
        return f"Webhooks are not sent to {address}, because it leads into a private network."
    if inner in _METADATA:
        return f"Webhooks are not sent to {address}, because it is a cloud metadata service."
    if inner.is_loopback and rules.allow_insecure:
        return None
    if any(inner in network for network in rules.networks):
        return None
    for network, kind in _NETWORKS:
        if inner in network:
            return f"Webhooks are not sent to {address}, because it is {kind}."
    known = inner.version == 4 or inner in _GLOBAL_V6
    # The standard library is asked too, for networks that were reserved after our table was made.
    if not known or not inner.is_global or inner.is_multicast or inner.is_reserved:
        return f"Webhooks are not sent to {address}, because it is not a public internet address."
    return None


def _inner(address: Address) -> Address | None:
    """The IPv4 address inside an IPv6 one that packets really go to, or the address itself; None if
    a tunnel hides it."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.scope_id is not None:
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return None
    return address
