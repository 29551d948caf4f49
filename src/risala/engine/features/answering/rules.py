"""Which calls of carriers are answered at once. Pure.

Anybody may call, so that a stranger must never take the place of a carrier: calls that are not
proved yet have places of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from contextlib import suppress
from ipaddress import ip_address, ip_network
from typing import Final

from risala.plugins.answering import REQUESTS_MAX, STREAMS_MAX, RequestRefusedError

UNPROVED_MAX: Final = 64
"""Calls at once that are not proved yet."""
UNPROVED_CARRIER_MAX: Final = 8
"""Calls at once to one carrier that are not proved yet."""
UNPROVED_ADDRESS_MAX: Final = 4
"""Calls at once from one IPv4 address or IPv6 /64 that are not proved yet."""
_ALL: Final = "all"


class NoPlaceError(RequestRefusedError):
    """All places of a call's kind are taken, mostly by strangers: no error of the service."""

    def __init__(self) -> None:
        super().__init__(503, "Too many requests are being answered. Try again in a moment.")


class CallPlaces:
    """The places that calls take: each kind is counted by who shares it."""

    def __init__(self) -> None:
        self._taken: Counter[Hashable] = Counter()

    def enter(self, carrier: str, address: Hashable) -> CallPlace:
        """The place of a call that is not proved yet. Where none is left, the call may not wait for
        its body: if it came with its head, its driver can still prove it."""
        place = CallPlace(self, carrier)
        with suppress(RequestRefusedError):
            place.move(
                {
                    ("unproved", _ALL): UNPROVED_MAX,
                    ("carrier", carrier): UNPROVED_CARRIER_MAX,
                    ("address", address): UNPROVED_ADDRESS_MAX,
                }
            )
        return place

    def enter_proved(self, carrier: str) -> CallPlace:
        """A place for a call that is proved already.

        Raises:
            NoPlaceError: there is none.
        """
        place = CallPlace(self, carrier)
        place.prove()
        return place

    def take(self, limits: dict[tuple[str, Hashable], int]) -> None:
        """Take one place of each kind, or none.

        Raises:
            NoPlaceError: one of them has none left.
        """
        if any(self._taken[kind] >= most for kind, most in limits.items()):
            raise NoPlaceError
        self._taken.update(limits.keys())

    def give_back(self, kinds: Iterable[Hashable]) -> None:
        for kind in kinds:
            self._taken[kind] -= 1
            if not self._taken[kind]:
                del self._taken[kind]

    def __len__(self) -> int:
        """How many kinds of places are in use: none when nobody calls."""
        return len(self._taken)


class CallPlace:
    """The place of one call."""

    def __init__(self, places: CallPlaces, carrier: str) -> None:
        self._places = places
        self._carrier = carrier
        self._held: tuple[Hashable, ...] = ()
        self.is_proved = self.is_turned_away = False
        """Whether its caller is the carrier; whether there was no room for what the carrier may."""

    @property
    def may_wait(self) -> bool:
        """Whether it may wait for anything."""
        return bool(self._held)

    def wait(self) -> None:
        """Wait for the call's body.

        Raises:
            NoPlaceError: the call has no place for that.
        """
        if not self._held:
            self.is_turned_away = True
            raise NoPlaceError

    def prove(self) -> None:
        """Take a place among the carrier's proved calls, once.

        Raises:
            NoPlaceError: there is none.
        """
        if not self.is_proved:
            self._move_carrier({("proved", self._carrier): REQUESTS_MAX})
            self.is_proved = True

    def stream(self) -> None:
        """Take a place among the carrier's streams; raises as :meth:`prove`."""
        self._move_carrier({("stream", self._carrier): STREAMS_MAX})

    def _move_carrier(self, limits: dict[tuple[str, Hashable], int]) -> None:
        self.is_turned_away = True
        self.move(limits)
        self.is_turned_away = False

    def move(self, limits: dict[tuple[str, Hashable], int]) -> None:
        """Take other places, and give back those that it has; raises as :meth:`prove`."""
        self._places.take(limits)
        self.leave()
        self._held = tuple(limits)

    def leave(self) -> None:
        """Give its places back."""
        self._places.give_back(self._held)
        self._held = ()


def may_call(address: str | None, allowed: Iterable[str]) -> bool:
    """Whether a carrier may call from an address.

    Args:
        address: the caller's; None: it has none.
        allowed: addresses and networks; empty: any.
    """
    networks = [ip_network(each, strict=False) for each in allowed]
    if not networks:
        return True
    if address is None:
        return False
    caller = ip_address(address.partition("%")[0])
    return any(caller in network for network in networks)
