"""Where a message to a number would go now, and why; and which numbers no carrier serves.

Answers are codes and values: each page, and the command line, writes its own sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import trio

from risala.config.model import CarrierSection
from risala.engine.delivery.worker.declining import declines
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
from risala.engine.rules.router import UNSERVED, Router
from risala.sms.address import COUNTRY_CODE, network_of

Judge = Callable[[str, str, int], tuple[bool, CarrierCondition]]
"""Whether a carrier would take so many segments to a number now, and its state."""

_MOBILE: Final = "234"
"""First digits of the national plan's numbers (specification: ``+222[2-4]…``)."""
_LENGTH: Final = len(f"+{COUNTRY_CODE}") + 8
_SERVED: Final = "served"


def judge_lanes(lanes: Mapping[str, CarrierWorker], clock: Clock) -> Judge:
    """Judge by the workers of a running service."""

    def judge(carrier: str, recipient: str, segments: int) -> tuple[bool, CarrierCondition]:
        lane, now_s = lanes.get(carrier), trio.current_time()
        if lane is None:
            return False, CarrierCondition("not_running", {})
        told = state_of(lane, now_s, clock)
        if not lane.healthy(now_s):
            return False, told
        declined = declines(lane.name, lane.driver, recipient, segments)
        if declined is not None:
            until = iso(declined.until_ms) if 0 < declined.until_ms < _FAR_MS else None
            return False, CarrierCondition("declined", {"note": declined.text, "until": until})
        return True, told

    return judge


_FAR_MS: Final = 253_402_300_799_000
"""The last moment with a year of four digits: a driver that names a later one does not know."""


def judge_nothing(carrier: str, recipient: str, segments: int) -> tuple[bool, CarrierCondition]:
    """For a command while no service runs."""
    return False, CarrierCondition("not_running", {})


def neediest(lanes: Mapping[str, CarrierWorker], names: Sequence[str]) -> str:
    """Of some workers of one tier, the one whose turn it is by their weights."""
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
) -> RouteAnswer:
    """The carriers in the order in which they are asked, and what excludes each.

    Args:
        sections: as they are in force, including disabled ones.
        choose: chooses the worker whose turn it is in the tier that serves.
    """
    known = {each.name: each for each in sections if each.sends}
    key, network = router.route_key(recipient), network_of(recipient)
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
            takes, told = judged[name]
            if takes:
                code = "chosen" if name == chosen else "later" if goes else "shares"
                values = {"condition": told.code, "first": goes} if goes else {}
                told = CarrierCondition(code, values)
            section = known[name]
            share = round(100 * section.weight / total)
            match = _match(section, recipient)
            candidates.append(
                RouteCandidate(
                    *(name, number, section.priority, section.weight, share, takes, match, told)
                )
            )
        goes = goes or chosen
    asked = {each.carrier for each in candidates}
    verdict = "waits" if candidates else "unserved"
    return RouteAnswer(
        recipient,
        None if network is None else str(network),
        key,
        goes,
        CarrierCondition(verdict if goes is None else "goes", {"carrier": goes}),
        tuple(candidates),
        tuple(
            CarrierReason(name, CarrierCondition(_why_not(section), {}))
            for name, section in known.items()
            if name not in asked
        ),
    )


def _why_not(section: CarrierSection) -> str:
    return "other_numbers" if section.enabled else "disabled"


def _match(section: CarrierSection, recipient: str) -> CarrierCondition:
    """The rule by which a carrier serves the number: its longest prefix, or its network."""
    fitting = [prefix for prefix in section.prefixes if recipient.startswith(prefix)]
    prefix = max(fitting, key=len, default=None)
    network = network_of(recipient)
    if network in section.networks and (prefix is None or len(prefix) <= len(f"+{COUNTRY_CODE}2")):
        return CarrierCondition("network", {"network": str(network)})
    return CarrierCondition("prefix", {"prefix": prefix})


# -- numbers without a carrier ---------------------------------------------------------------------


def tell_unserved(
    router: Router, sections: Iterable[CarrierSection], judge: Judge
) -> tuple[UnservedPrefix, ...]:
    """All prefixes of the plan's numbers that no carrier serves, or no carrier that is up; as short
    as possible."""
    known = [each for each in sections if each.enabled]
    deep = {prefix for each in known for prefix in each.prefixes}
    found: list[UnservedPrefix] = []
    for first in _MOBILE:
        found += _routes(router, f"+{COUNTRY_CODE}{first}", deep, judge)
    return tuple(found)


def _routes(router: Router, prefix: str, deep: set[str], judge: Judge) -> list[UnservedPrefix]:
    merged: list[UnservedPrefix] = []
    for each in _states(router, prefix, deep, judge):
        merged.append(each)
        _merge(merged)
    return [
        replace(each, network=_network(each.prefix)) for each in merged if each.state != _SERVED
    ]


def _states(router: Router, prefix: str, deep: set[str], judge: Judge) -> Iterator[UnservedPrefix]:
    """The state of the numbers with a prefix, prefix by prefix: as long as needed to separate those
    that are routed differently."""
    is_split = len(prefix) < len(f"+{COUNTRY_CODE}") + 2  # the second digit marks fixed lines
    if len(prefix) < _LENGTH and (
        is_split or any(each.startswith(prefix) and each != prefix for each in deep)
    ):
        for digit in "0123456789":
            yield from _states(router, f"{prefix}{digit}", deep, judge)
        return
    recipient = prefix.ljust(_LENGTH, "0")
    names = router.carriers_for(recipient)
    judged = {name: judge(name, recipient, 1) for name in names}
    if not names:
        yield UnservedPrefix(prefix, None, "unserved", ())
    elif any(takes for takes, _ in judged.values()):
        yield UnservedPrefix(prefix, None, _SERVED, ())
    else:
        carriers = (CarrierReason(name, told) for name, (_, told) in judged.items())
        yield UnservedPrefix(prefix, None, "down", tuple(carriers))


def _merge(merged: list[UnservedPrefix]) -> None:
    """Ten prefixes in the same state become one shorter prefix."""
    while len(merged) >= 10:
        tail = merged[-10:]
        parent = tail[0].prefix[:-1]
        alike = all(replace(each, prefix=tail[0].prefix) == tail[0] for each in tail)
        whole = [each.prefix for each in tail] == [f"{parent}{digit}" for digit in "0123456789"]
        if not (alike and whole and len(parent) > len(f"+{COUNTRY_CODE}")):
            return
        merged[-10:] = [replace(tail[0], prefix=parent)]


def _network(prefix: str) -> str | None:
    """The one mobile network of all numbers with a prefix, except fixed lines; None if it is not
    exactly one."""
    found = {network_of(prefix.ljust(_LENGTH, digit)) for digit in "0123456789"} - {None}
    return str(found.pop()) if len(found) == 1 else None
