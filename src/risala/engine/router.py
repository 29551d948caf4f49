"""Which carriers serve which numbers, and in what order. Pure.

A *route* is a queue: the key of a message's route is the longest configured prefix of its
number. The carriers of a route stand in tiers; a tier serves only while all earlier ones are
unhealthy. A more exact prefix comes first, then the lower ``priority``; inside a tier ``weight``
shares the traffic. The route ``@name`` is served by one carrier alone: it keeps the parts of a
message together, and takes what another carrier would not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from risala.config.model import CarrierSection

TEST_ROUTE: Final = "#test"
"""Messages of test keys; served by carriers without a prefix: the one built in for them."""


@dataclass(frozen=True, slots=True)
class Route:
    key: str
    tiers: tuple[tuple[str, ...], ...]
    """Names of carriers, the first tier to be used first."""


class Router:
    """Routes by the configuration; never changes at run time."""

    def __init__(self, carriers: Sequence[CarrierSection]) -> None:
        self._carriers = tuple(carrier for carrier in carriers if carrier.enabled)
        prefixes = {prefix for carrier in self._carriers for prefix in carrier.prefixes}
        self._prefixes = sorted(prefixes, key=len, reverse=True)
        self.routes: dict[str, Route] = {key: self._route(key) for key in prefixes}
        for carrier in self._carriers:
            key = pinned(carrier.name)
            self.routes[key] = Route(key, ((carrier.name,),))
        tests = tuple(carrier.name for carrier in self._carriers if not carrier.prefixes)
        self.routes[TEST_ROUTE] = Route(TEST_ROUTE, (tests,))

    def route_key(self, recipient: str) -> str:
        """The queue for a number; empty where no carrier serves it (it waits for one)."""
        return next((p for p in self._prefixes if recipient.startswith(p)), "")

    def carriers_for(self, recipient: str) -> list[str]:
        """Carriers that serve a number, the best first."""
        route = self.routes.get(self.route_key(recipient))
        return [name for tier in route.tiers for name in tier] if route else []

    @property
    def fingerprint(self) -> str:
        """Changes when queued messages must be sorted into routes anew."""
        return " ".join(sorted(self.routes))

    def _route(self, key: str) -> Route:
        ranked: dict[tuple[int, int], list[str]] = {}
        for carrier in self._carriers:
            lengths = [len(p) for p in carrier.prefixes if key.startswith(p)]
            if lengths:
                ranked.setdefault((-max(lengths), carrier.priority), []).append(carrier.name)
        return Route(key, tuple(tuple(ranked[rank]) for rank in sorted(ranked)))


def pinned(carrier: str) -> str:
    """The key of the route that this carrier alone serves."""
    return f"@{carrier}"
