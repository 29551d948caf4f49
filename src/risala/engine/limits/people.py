"""Limits on what people do before and after they sign in; kept by the rate buckets' actor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.config.people import PeopleSection
from risala.engine.limits.claims import TakePeople
from risala.engine.model.commands import PeopleUse
from risala.engine.model.errors import RateLimited
from risala.engine.rules.windows import SlidingWindows, Window

KEYS_MAX: Final = 20_000
"""Addresses, domains and organizations that each limit remembers; beyond it the one unused for
longest is forgotten. With the defaults at most about 10 MB in all."""
INVITATIONS_PER_HOUR: Final = 20
"""Per organization, and per user over all of theirs: each is a mail to an address that a person
typed."""
INVITATIONS_PER_DAY: Final = 50
"""Invitations in a day, per organization, and per user over all of theirs."""
ALL_INVITATIONS_PER_HOUR: Final = 300
"""Over all organizations: many accounts together cannot be used for a mailing."""
INVITED_PER_HOUR: Final = 10
"""To one e-mail address, from all organizations: one user may have several."""
ORGANIZATIONS_PER_HOUR: Final = 5
"""Per user."""
CODES_PER_KNOWN_BROWSER: Final = 6
"""Per hour, for a browser that signed in with this address before: strangers cannot use this share
up."""
GUESSES_PER_KNOWN_BROWSER: Final = 30
"""Per day: three codes of five tries, twice."""
CODES_PER_DAY: Final = 24
"""To one operator's address, requested by strangers."""
CODES_PER_MONTH: Final = 100
NETWORKS: Final = 4
"""An IPv6 /48 may do as much as this many /64s."""
SIGN_UP_NETWORK: Final = 3
"""From a network, an IPv4 /24 or an IPv6 /48, as many new users as from this many addresses: who
rents a network has no more than that of the total, and others' people still sign up."""
PROVIDERS: Final = 4
"""An IPv6 /32 may use this fraction of the total."""
PROVIDER_GUESSES: Final = 16
"""An IPv6 /32 may try as much as this many /64s."""
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_MINUTE_MS: Final = 60_000

_SAID: Final[Mapping[PeopleUse, tuple[str, str]]] = {
    PeopleUse.CODE_IP: ("ip", "Too many codes were requested from your address."),
    PeopleUse.CODE_NETWORK: ("network", "Too many codes were requested from your network."),
    PeopleUse.CODE_PROVIDER: ("network", "Too many codes were requested from your network."),
    PeopleUse.CODE_ADDRESS: ("address", "Too many codes were requested with this e-mail address."),
    PeopleUse.CODE_DAYS: ("address", "Too many codes were requested with this e-mail address."),
    PeopleUse.CODE_KNOWN: ("browser", "Too many codes were requested from this browser."),
    PeopleUse.CODE_UNKNOWN: ("all", "Too many codes are being requested."),
    PeopleUse.CODE_ALL: ("all", "Too many codes are being requested."),
    PeopleUse.GUESS_IP: ("ip", "Too many codes were tried from your address."),
    PeopleUse.GUESS_NETWORK: ("network", "Too many codes were tried from your network."),
    PeopleUse.GUESS_PROVIDER: ("network", "Too many codes were tried from your network."),
    PeopleUse.GUESS_KNOWN: ("browser", "Too many codes were tried from this browser."),
    PeopleUse.SIGN_UP_IP: ("ip", "Too many people signed up from your address."),
    PeopleUse.SIGN_UP_NETWORK: ("network", "Too many people signed up from your network."),
    PeopleUse.SIGN_UP_DOMAIN: ("domain", "Too many people with this mail domain signed up."),
    PeopleUse.SIGN_UP_ALL: ("all", "Too many people are signing up."),
    PeopleUse.INVITATION: ("organization", "Your organization sent too many invitations."),
    PeopleUse.INVITER: ("user", "You sent too many invitations."),
    PeopleUse.INVITATION_ALL: ("all", "Too many invitations are being sent."),
    PeopleUse.INVITED: ("address", "Too many invitations were sent to this e-mail address."),
    PeopleUse.ORGANIZATION: ("user", "You created too many organizations."),
}
"""The limit's name in a refusal, and its sentence."""


def people_windows(settings: PeopleSection) -> dict[PeopleUse, SlidingWindows]:
    """A set of windows for each use, empty."""
    hourly = {
        PeopleUse.CODE_IP: settings.codes_per_ip_per_hour,
        PeopleUse.CODE_NETWORK: NETWORKS * settings.codes_per_ip_per_hour,
        PeopleUse.CODE_PROVIDER: max(1, settings.codes_per_hour // PROVIDERS),
        PeopleUse.CODE_ADDRESS: settings.codes_per_address_per_hour,
        PeopleUse.CODE_ALL: settings.codes_per_hour,
        PeopleUse.CODE_KNOWN: CODES_PER_KNOWN_BROWSER,
        PeopleUse.CODE_UNKNOWN: settings.strangers_codes_per_hour,
        PeopleUse.SIGN_UP_IP: settings.sign_ups_per_ip_per_hour,
        PeopleUse.SIGN_UP_NETWORK: SIGN_UP_NETWORK * settings.sign_ups_per_ip_per_hour,
        PeopleUse.SIGN_UP_DOMAIN: settings.sign_ups_per_domain_per_hour,
        PeopleUse.SIGN_UP_ALL: settings.sign_ups_per_hour,
        PeopleUse.INVITATION_ALL: ALL_INVITATIONS_PER_HOUR,
        PeopleUse.INVITED: INVITED_PER_HOUR,
        PeopleUse.ORGANIZATION: ORGANIZATIONS_PER_HOUR,
    }
    windows: dict[PeopleUse, tuple[Window, ...]]
    windows = {use: (Window(events_max, _HOUR_MS),) for use, events_max in hourly.items()}
    invitations = (
        Window(INVITATIONS_PER_HOUR, _HOUR_MS),
        Window(INVITATIONS_PER_DAY, _DAY_MS),
    )
    guesses = settings.guesses_per_ip_per_minute
    windows |= {
        PeopleUse.INVITATION: invitations,
        PeopleUse.INVITER: invitations,
        PeopleUse.GUESS_IP: (Window(guesses, _MINUTE_MS),),
        PeopleUse.GUESS_NETWORK: (Window(NETWORKS * guesses, _MINUTE_MS),),
        PeopleUse.GUESS_PROVIDER: (Window(PROVIDER_GUESSES * guesses, _MINUTE_MS),),
        PeopleUse.GUESS_KNOWN: (Window(GUESSES_PER_KNOWN_BROWSER, _DAY_MS),),
        PeopleUse.CODE_DAYS: (
            Window(CODES_PER_DAY, _DAY_MS),
            Window(CODES_PER_MONTH, 30 * _DAY_MS),
        ),
    }
    return {use: SlidingWindows(several, KEYS_MAX) for use, several in windows.items()}


def take_people(
    windows: Mapping[PeopleUse, SlidingWindows], claim: TakePeople, now_ms: int
) -> None:
    """Take a place in each window, or in none.

    Raises:
        RateLimited: one of them is full; it says which, and for how long.
    """
    for use, key in claim.uses:
        wait_ms = windows[use].wait_ms(key, now_ms)
        if wait_ms > 0:
            limit, sentence = _SAID[use]
            raise RateLimited(limit, -(-wait_ms // 1000), f"{sentence} Wait, then try again.")
    for use, key in claim.uses:
        windows[use].take(key, now_ms)
