"""Which carriers serve which numbers, and in what order. Pure.

A *route* is a queue. Its key is the longest configured prefix of a message's number, with the
number's network if a carrier names networks. The carriers of a route form tiers; a tier serves only
while all carriers of earlier tiers are unhealthy. A more exact prefix makes an earlier tier, then a
lower ``priority``; inside a tier ``weight`` shares the traffic. The route ``@name`` is served only
by the carrier of that name: it keeps the parts of a message together, and takes messages that
another carrier refused. The route ``~name`` is that of a channel: its messages are no texts, and
never go to a carrier. The route ``^name key`` is the route ``key`` with that carrier before all
others: a number's usual one, if it is sticky. The route ``!key`` is the route ``key`` for flash
messages (class 0), with those of its carriers that can send them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from risala.config.model import CarrierSection
from risala.dataclass import dataclass
from risala.engine.model.errors import ClassNotPossible
from risala.sms.numbering.countries import network_of, prefixes_of

TEST_ROUTE: Final = "#test"
"""Key of the route for messages of test keys; a built-in carrier serves it."""
TEST_CARRIER: Final = "test"
"""The name of that carrier; no other has it."""
UNSERVED: Final = ""
"""Key of the route for messages to numbers that no enabled carrier serves."""
CHANNEL_MARK: Final = "~"
"""The beginning of the keys of channels' routes."""
USUAL_MARK: Final = "^"
"""The beginning of the keys of routes with a number's usual carrier before all others."""
FLASH_MARK: Final = "!"
"""The beginning of the keys of routes for flash messages."""
NETWORK_EXACTNESS: Final = 5
"""A network counts as exact as a prefix of so many characters: that of a whole country is less."""


@dataclass(frozen=True, slots=True)
class Route:
    """A queue of messages, and the carriers that serve it."""

    key: str
    tiers: tuple[tuple[str, ...], ...]
    """Names of carriers, the first tier to be used first."""


class Router:
    """Routes by the configuration. They are replaced in one step: readers see all of the former or
    all of the new."""

    def __init__(self, carriers: Sequence[CarrierSection], flash: Collection[str] = ()) -> None:
        self._plan = _Plan(carriers, flash)

    def rearrange(self, carriers: Sequence[CarrierSection], flash: Collection[str]) -> None:
        """Use these carriers from now on.

        Args:
            flash: the names of those that can send flash messages.
        """
        self._plan = _Plan(carriers, flash)

    @property
    def routes(self) -> Mapping[str, Route]:
        """All queues, by their keys."""
        return self._plan.routes

    def route_key(self, recipient: str) -> str:
        """The queue for a number; :data:`UNSERVED` if no carrier serves it."""
        return self._plan.route_key(recipient)

    @property
    def sticky(self) -> Mapping[str, frozenset[str]]:
        """By the keys of routes, the carriers that keep the numbers that were theirs; empty: none
        does."""
        return self._plan.sticky

    @property
    def reach(self) -> int:
        """By so many characters of numbers the routes differ: those that begin alike have one."""
        return self._plan.reach

    def is_route(self, key: str) -> bool:
        """Whether the route exists with the present carriers."""
        return key in self._plan.routes or plain(key) == UNSERVED

    def flash_route(self, key: str) -> str:
        """The key of a route for flash messages.

        Raises:
            ClassNotPossible: none of its carriers can send them.
        """
        route = self._plan.routes.get(FLASH_MARK + key)
        if route is None or not route.tiers:
            raise ClassNotPossible
        return route.key

    def carriers_for(self, recipient: str, like: str = UNSERVED) -> list[str]:
        """Carriers that serve a number, the best first.

        Args:
            like: the route of a message: if it is for flash messages, only those that send them.
        """
        return self._carriers_of(as_flash(self.route_key(recipient), like))

    def sends_by(self, carrier: str) -> bool:
        """Whether texts may leave by a carrier: it is enabled, and does not only receive."""
        return self._plan.sends_by(carrier)

    def carriers_among(self, beginning: str, network: str | None) -> list[str]:
        """Carriers that serve all numbers that begin so, and were allotted to a network, the best
        first."""
        return self._carriers_of(self._plan.key_of(beginning, network))

    def _carriers_of(self, key: str) -> list[str]:
        route = self._plan.routes.get(key)
        return [name for tier in route.tiers for name in tier] if route else []

    @property
    def fingerprint(self) -> str:
        """A text that changes with the settings by which queued messages must be sorted into routes
        again."""
        return " ".join(sorted(key for key in self._plan.routes if message_class_of(key) is None))


class _Plan:
    """The routes of some carriers; never changes."""

    def __init__(self, carriers: Sequence[CarrierSection], flash: Collection[str]) -> None:
        enabled = [carrier for carrier in carriers if carrier.enabled]
        self._carriers = tuple(
            carrier for carrier in enabled if not (carrier.receives_only or carrier.is_channel)
        )
        prefixes = {prefix for carrier in self._carriers for prefix in carrier.prefixes}
        self._prefixes = sorted(prefixes, key=len, reverse=True)
        self._networks = {network for carrier in self._carriers for network in carrier.networks}
        beginnings = {each for network in self._networks for each in prefixes_of(network)}
        self.reach = max(map(len, prefixes | beginnings), default=1)
        self.routes: dict[str, Route] = {}
        for prefix in ("", *prefixes):
            for network in (None, *self._networks):
                if _may_meet(prefix, network):
                    key = _key(prefix, network)
                    self.routes[key] = self._route(key, prefix, network)
        self.sticky = self._add_usual({each.name for each in self._carriers if each.sticky})
        for carrier in enabled:
            key = channel_route(carrier.name) if carrier.is_channel else pinned(carrier.name)
            self.routes[key] = Route(key, ((carrier.name,),))
        tests = tuple(carrier.name for carrier in self._carriers if not carrier.serves_numbers)
        self.routes[TEST_ROUTE] = Route(TEST_ROUTE, (tests,))
        for key, route in list(self.routes.items()):
            can = (tuple(name for name in tier if name in flash) for tier in route.tiers)
            self.routes[FLASH_MARK + key] = Route(FLASH_MARK + key, tuple(filter(None, can)))

    def _add_usual(self, sticky: set[str]) -> dict[str, frozenset[str]]:
        """Add each route again for each sticky carrier in it; the carriers by the routes' keys."""
        by_key: dict[str, frozenset[str]] = {}
        for key, route in list(self.routes.items()) if sticky else ():
            names = {name for tier in route.tiers for name in tier}
            by_key[key] = frozenset(names & sticky if len(names) > 1 else ())
            for usual in by_key[key]:
                rest = (tuple(name for name in tier if name != usual) for tier in route.tiers)
                tiers = ((usual,), *filter(None, rest))
                self.routes[usual_first(usual, key)] = Route(usual_first(usual, key), tiers)
        return by_key

    def route_key(self, recipient: str) -> str:
        return self.key_of(recipient, network_of(recipient) if self._networks else None)

    def key_of(self, recipient: str, network: str | None) -> str:
        prefix = self._prefix(recipient)
        return _key(prefix, network if network in self._networks else None)

    def sends_by(self, carrier: str) -> bool:
        return any(each.name == carrier for each in self._carriers)

    def _prefix(self, recipient: str) -> str:
        """The longest prefix that a number begins with; empty if none fits."""
        for prefix in self._prefixes:
            if recipient.startswith(prefix):
                return prefix
        return ""

    def _route(self, key: str, prefix: str, network: str | None) -> Route:
        ranked: dict[tuple[int, int], list[str]] = {}
        for carrier in self._carriers:
            lengths = [len(p) for p in carrier.prefixes if prefix.startswith(p)]
            if network in carrier.networks:
                lengths.append(NETWORK_EXACTNESS)
            if lengths:
                ranked.setdefault((-max(lengths), carrier.priority), []).append(carrier.name)
        return Route(key, tuple(tuple(ranked[rank]) for rank in sorted(ranked)))


def _key(prefix: str, network: str | None) -> str:
    return prefix if network is None else f"{prefix}/{network}"


def _may_meet(prefix: str, network: str | None) -> bool:
    """Whether a number can have both this prefix and this network."""
    if network is None:
        return bool(prefix)  # a route without prefix and network would be one that nobody serves
    return any(each.startswith(prefix) or prefix.startswith(each) for each in prefixes_of(network))


def pinned(carrier: str) -> str:
    """The key of the route that only this carrier serves."""
    return f"@{carrier}"


def usual_first(carrier: str, key: str) -> str:
    """The key of a route with a number's usual carrier before all others."""
    return f"{USUAL_MARK}{carrier} {key}"


def usual_of(key: str) -> str | None:
    """The usual carrier that comes first in a route; None: it has none."""
    key = plain(key)
    return key[1:].partition(" ")[0] if key.startswith(USUAL_MARK) else None


def channel_route(channel: str) -> str:
    """The key of the route that only this channel serves."""
    return f"{CHANNEL_MARK}{channel}"


def plain(key: str) -> str:
    """The key of a route without the mark of flash messages."""
    return key.removeprefix(FLASH_MARK)


def message_class_of(key: str) -> int | None:
    """The class of the messages of a route (3GPP TS 23.038 §4): 0 are flash messages; None: they
    have none."""
    return 0 if key.startswith(FLASH_MARK) else None


def as_flash(key: str, like: str) -> str:
    """A route's key: for flash messages if those of the other route are such."""
    return key if message_class_of(like) is None else FLASH_MARK + key
