"""The present route of a message, numbers without a carrier, and a carrier's traffic."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.carriers.state import CarrierCondition
from risala.engine.model.records.fields import Moment, SnakeCase


@dataclass(frozen=True, slots=True)
class CarrierReason:
    """Why a carrier does not take a message."""

    carrier: str
    reason: CarrierCondition


@dataclass(frozen=True, slots=True)
class RouteCandidate:
    """A carrier that serves a number."""

    carrier: str
    tier: int
    priority: int
    weight: int
    share: int
    """Percent of its tier, by weight."""
    takes: bool
    match: CarrierCondition
    """The rule by which it serves the number."""
    reason: CarrierCondition


@dataclass(frozen=True, slots=True)
class RouteOrganization:
    id: str
    name: str
    reason: CarrierCondition


@dataclass(frozen=True, slots=True)
class RouteSender:
    name: str | None
    reason: CarrierCondition


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """The route that a message would take, and why."""

    to: str
    network: str | None
    route: str
    goes: str | None
    """The carrier that would take it; None: it waits."""
    verdict: CarrierCondition
    candidates: tuple[RouteCandidate, ...]
    """In the order in which they are asked."""
    others: tuple[CarrierReason, ...]
    organization: RouteOrganization | None = None
    sender: RouteSender | None = None


@dataclass(frozen=True, slots=True)
class UnservedPrefix:
    """Numbers with this prefix have no carrier that is up."""

    prefix: str
    network: str | None
    state: str
    """``unserved`` or ``down``."""
    carriers: tuple[CarrierReason, ...]


@dataclass(frozen=True, slots=True)
class UnservedNumbers(SnakeCase):
    """Beginnings of numbers that nobody serves now."""

    numbers: tuple[UnservedPrefix, ...]
    waiting: int
    waiting_is_more: bool
    waiting_prefixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrafficLine(SnakeCase):
    """One thing that went over the wire."""

    seq: int
    at: Moment
    sent: bool
    """True: sent by us; False: received."""
    text: str
    left_out: int
    """How many lines before it, since the last one, are left out."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Lines of traffic, the oldest first."""

    lines: tuple[TrafficLine, ...]


TEST: Final = Ask("route.test", RouteAnswer)
UNSERVED: Final = Ask("route.unserved", UnservedNumbers)
TRAFFIC: Final = Ask("carriers.traffic", Traffic)
