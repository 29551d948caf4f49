"""The route that a message to a number would take now, and why; and the numbers that no carrier
serves.

Answers are codes and values: each page, and the command line, writes its own sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import Final

import trio

from risala.config.model import CarrierSection
from risala.engine.delivery.worker.consequences import declines
from risala.engine.delivery.worker.tile import state_of
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.model.clock import Clock
from risala.engine.model.records.carriers.routes import (
    CarrierReason,
    RouteAnswer,
    RouteCandidate,
    UnservedPrefix,
)
from risala.engine.model.records.carriers.state import CarrierCondition
from risala.engine.model.times import iso
from risala.engine.rules.router import NETWORK_EXACTNESS, UNSERVED, Router
from risala.sms.numbering import countries
from risala.sms.numbering.countries import network_of
from risala.sms.numbering.country import Country
from risala.sms.numbering.plan import NumberingPlan

Judge = Callable[[str, str, int], tuple[bool, CarrierCondition]]
"""Whether a carrier would take so many segments to a number now, and its state."""

_SERVED: Final = "served"
_DIGITS: Final = "0123456789"


def judge_lanes(lanes: Mapping[str, CarrierWorker], clock: Clock) -> Judge:
    """Judge by the workers of a running service."""

    def judge(carrier: str, recipient: str, segments: int) -> tuple[bool, CarrierCondition]:
        lane, now_s = lanes.get(carrier), trio.current_time()
        if lane is None:
            return False, CarrierCondition("not_running", {})
        condition = state_of(lane, now_s, clock)
        if not lane.healthy(now_s):
            return False, condition
        declined = declines(lane.name, lane.driver, recipient, segments)
        if declined is not None:
            until = iso(declined.until_ms) if 0 < declined.until_ms < _FAR_MS else None
            return False, CarrierCondition("declined", {"note": declined.text, "until": until})
        return True, condition

    return judge


_FAR_MS: Final = 253_402_300_799_000
"""The last moment with a year of four digits: a driver that names a later one does not know."""


def judge_nothing(carrier: str, recipient: str, segments: int) -> tuple[bool, CarrierCondition]:
    """For a command while no service runs."""
    return False, CarrierCondition("not_running", {})


def neediest(lanes: Mapping[str, CarrierWorker], names: Sequence[str]) -> str:
    """The worker of a tier whose turn it is, by the weights."""
    known = [lanes[name] for name in names if name in lanes]
    if not known:
        return names[0]
    now_s = trio.current_time()
    # A worker that must wait for its pace is skipped if another need not wait.
    ready = [lane for lane in known if lane.ready(now_s)] or known
    return min(ready, key=lambda lane: lane.virtual_time).name


def tell_route(
    router: Router,
    sections: Iterable[CarrierSection],
    recipient: str,
    segments: int,
    judge: Judge,
    choose: Callable[[Sequence[str]], str],
    key: str | None = None,
) -> RouteAnswer:
    """The carriers in the order in which they are asked, and what excludes each.

    Args:
        sections: as they are in force, including disabled ones.
        choose: chooses the worker whose turn it is in the tier that serves.
        key: the key of its route, if that is not the number's own.
    """
    known = {each.name: each for each in sections if each.sends}
    key, network = key or router.route_key(recipient), network_of(recipient)
    route = router.routes.get(key)
    tiers = route.tiers if route is not None and key != UNSERVED else ()
    candidates: list[RouteCandidate] = []
    goes: str | None = None
    for number, tier in enumerate(tiers, start=1):
        judged = {name: judge(name, recipient, segments) for name in tier}
        taking = [name for name, (takes, _) in judged.items() if takes]
        chosen = choose(taking) if taking and goes is None else None
        total = sum(known[name].weight for name in tier)
        for name in sorted(tier, key=lambda one: (one != chosen, -known[one].weight)):
            takes, why = judged[name]
            if takes:
                code = "chosen" if name == chosen else "later" if goes else "shares"
                values = {"condition": why.code, "first": goes} if goes else {}
                why = CarrierCondition(code, values)
            section = known[name]
            share = round(100 * section.weight / total)
            match = _match(section, recipient)
            candidates.append(
                RouteCandidate(
                    *(name, number, section.priority, section.weight, share, takes, match, why)
                )
            )
        goes = goes or chosen
    candidate_names = {each.carrier for each in candidates}
    verdict = "waits" if candidates else "unserved"
    return RouteAnswer(
        recipient,
        network,
        key,
        goes,
        CarrierCondition(verdict if goes is None else "goes", {"carrier": goes}),
        tuple(candidates),
        tuple(
            CarrierReason(name, CarrierCondition(_why_not(section), {}))
            for name, section in known.items()
            if name not in candidate_names
        ),
    )


def _why_not(section: CarrierSection) -> str:
    return "other_numbers" if section.enabled else "disabled"


def _match(section: CarrierSection, recipient: str) -> CarrierCondition:
    """The rule by which a carrier serves the number: its longest prefix, or its network."""
    fitting = [prefix for prefix in section.prefixes if recipient.startswith(prefix)]
    prefix = max(fitting, key=len, default=None)
    network = network_of(recipient)
    if network in section.networks and (prefix is None or len(prefix) <= NETWORK_EXACTNESS):
        return CarrierCondition("network", {"network": network})
    return CarrierCondition("prefix", {"prefix": prefix})


# -- numbers without a carrier ---------------------------------------------------------------------


def tell_unserved(
    router: Router, sections: Iterable[CarrierSection], judge: Judge, plan: NumberingPlan
) -> tuple[UnservedPrefix, ...]:
    """All prefixes of the plan's numbers that no carrier serves, or no carrier that is up; as short
    as possible."""
    known = [each for each in sections if each.enabled]
    deep = frozenset(prefix for each in known for prefix in each.prefixes)
    named = {network for each in known for network in each.networks}
    states: list[UnservedPrefix] = []
    for country in plan.countries:
        blocks = _blocks_of(country.code)
        # Where no carrier is chosen by its network, blocks are routed alike.
        borders = deep | blocks.prefixes if named & blocks.networks else deep
        search = _Search(router, country, borders, judge)
        states += [each for start in _starts(country) for each in search.states(start)]
    return tuple(each for each in states if each.state != _SERVED)


def _starts(country: Country) -> list[str]:
    """The shortest prefixes that are told: a country's code, or with the first digit behind it
    where that tells the network."""
    code, (first, *_) = f"+{country.calling_code}", country.digit_places[0]
    return [code] if len(first) == len(_DIGITS) else [f"{code}{digit}" for digit in first]


class _Blocks:
    """One country's blocks of numbers, found by any prefix: a country may have ten thousand."""

    def __init__(self, country: Country) -> None:
        self._known = {block.prefix: block.network for block in country.blocks}
        self._below: dict[str, set[str | None]] = {}
        for prefix, network in self._known.items():
            for beginning in accumulate(prefix):
                self._below.setdefault(beginning, set()).add(network)
        # Of some countries only a few blocks are known, by which no number may be missed.
        self._are_all = any(country.example.startswith(each) for each in self._known)
        self.prefixes = frozenset(self._known)
        self.networks = frozenset(self._known.values())

    def exist(self, prefix: str) -> bool:
        """Whether numbers begin so, as far as the plan knows."""
        return not self._are_all or bool(self._below.get(prefix)) or bool(self._around(prefix))

    def network(self, prefix: str) -> str | None:
        """The one mobile network of all numbers with a prefix, except fixed lines; None if it is
        not exactly one."""
        below = self._below.get(prefix, set()) if self._are_all else set[str | None]()
        networks = (below | self._around(prefix)) - {None}
        return networks.pop() if len(networks) == 1 else None

    def _around(self, prefix: str) -> set[str | None]:
        """The networks of the blocks in which all numbers with a prefix are."""
        return {self._known[each] for each in accumulate(prefix) if each in self._known}

    def allotted(self, prefix: str) -> str | None:
        """The network of the smallest block in which all numbers with a prefix are."""
        around = [each for each in accumulate(prefix) if each in self._known]
        return self._known[around[-1]] if around else None


@cache
def _blocks_of(code: str) -> _Blocks:
    return _Blocks(countries.country(code))


class _Search:
    """The states of one country's numbers."""

    def __init__(
        self, router: Router, country: Country, borders: frozenset[str], judge: Judge
    ) -> None:
        self._router = router
        self._judge = judge
        self._blocks = _blocks_of(country.code)
        self._split = {each[:length] for each in borders for length in range(len(each))}
        self._length = len(f"+{country.calling_code}") + len(country.digit_places[0])

    def states(self, prefix: str) -> list[UnservedPrefix]:
        """The state of the numbers with a prefix, prefix by prefix: as long as needed to separate
        those that are routed differently."""
        if prefix not in self._split or len(prefix) >= self._length:
            return [replace(self._state(prefix), network=self._blocks.network(prefix))]
        longer = [each for digit in _DIGITS if self._blocks.exist(each := f"{prefix}{digit}")]
        parts = [self.states(each) for each in longer]
        first = parts[0][0]
        alike = all(
            replace(each, prefix=first.prefix, network=first.network) == first
            for part in parts
            for each in part
        )
        if alike and all(len(part) == 1 for part in parts):
            return [replace(first, prefix=prefix, network=self._blocks.network(prefix))]
        return [each for part in parts for each in part]

    def _state(self, prefix: str) -> UnservedPrefix:
        recipient = prefix.ljust(self._length, "0")
        names = self._router.carriers_among(recipient, self._blocks.allotted(prefix))
        judged = {name: self._judge(name, recipient, 1) for name in names}
        if not names:
            return UnservedPrefix(prefix, None, "unserved", ())
        if any(takes for takes, _ in judged.values()):
            return UnservedPrefix(prefix, None, _SERVED, ())
        carriers = (CarrierReason(name, condition) for name, (_, condition) in judged.items())
        return UnservedPrefix(prefix, None, "down", tuple(carriers))
