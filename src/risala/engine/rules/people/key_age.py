"""How long a key's value works at most, and which network a use came from. Pure.

An organization's owner says it for its keys, and the service's settings for all: the shorter one
holds. No key is cut off without warning: one that is too old gets a date.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Final

from risala.engine.model.errors import Invalid

DAY_MS: Final = 86_400_000
AGE_DAYS_MAX: Final = 3650
"""Ten years: longer than a service keeps its keys."""
GRACE_MS: Final = 30 * DAY_MS
"""What a key that is too old already has left when the rule comes: all three reminders, and time to
find out who uses it."""
PREFIX_V4: Final = 24
PREFIX_V6: Final = 48
"""Bits of a network: a program that changes its address within its provider's network is in the
same place, and no single address is kept."""


def age_days(organization: int | None, service: int | None) -> int | None:
    """The days that keys work at most; None: for ever."""
    return min((each for each in (organization, service) if each is not None), default=None)


def bounded(requested: int | None, latest: int | None, now_ms: int) -> int | None:
    """When a key expires, of what was asked.

    Args:
        requested: None: as late as may be.
        latest: the latest that may be; None: there is no rule.

    Raises:
        Invalid: it is too late, or the key's value is too old.
    """
    if latest is None:
        return requested
    if latest <= now_ms:
        text = "The key's value is older than keys may become. Give the key another value."
        raise Invalid("expires_at", "key_too_old", text)
    if requested is not None and requested > latest:
        days = -(-(latest - now_ms) // DAY_MS)
        text = f"Keys work for a limited time here: this one for {days} more days at most."
        raise Invalid("expires_at", "beyond_key_age", text)
    return latest if requested is None else requested


def renewed(expires_at: int | None, made_at: int, now_ms: int, days: int | None) -> int | None:
    """When a key expires that gets another value now.

    Args:
        made_at: when the value before was made.
        days: that keys work at most; None: the time stays.
    """
    if days is None:
        return expires_at
    age_ms = days * DAY_MS
    if expires_at is not None and expires_at < made_at + age_ms:
        return min(expires_at, now_ms + age_ms)  # somebody chose it
    return now_ms + age_ms


def network_of(address: str) -> str | None:
    """The network that an address is in; None: it is none."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    if parsed.version == 6 and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    bits = PREFIX_V4 if parsed.version == 4 else PREFIX_V6
    return str(ip_network(f"{parsed}/{bits}", strict=False))
