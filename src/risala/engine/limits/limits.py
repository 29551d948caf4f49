"""The rate buckets: the actor that owns every limit, and answers how long to wait.

There are four kinds of limits, all with one vocabulary (:mod:`risala.engine.limits.claims`):

* *SMS of an organization*: token buckets. They are not stored; after a restart they are full.
* *Calls from an address*, messages by mail from a mail address, and what people do (sign-ins,
  sign-ups, invitations): sliding windows, on a monotonic clock, which cannot be set.
* *Which numbers get codes, and the least time between codes*: the operator's guards
  (:mod:`risala.engine.rules.code_guards`), by the same past codes as the hours.
* *Codes in an hour*, to a number and of an organization: exact, by the wall clock, because they
  survive a restart. Past codes are read from the journal's index when a number is first needed, so
  a start reads nothing.

A place is reserved before the commit and given back if the commit fails. The transaction of the
send checks the hours again: if this actor crashes during a send, its replacement does not know of
that send, but a further one still finds the hour full.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import trio

from risala.config.model import LimitsSection
from risala.config.people import PeopleSection
from risala.engine.actors.actor import Decider
from risala.engine.limits.claims import (
    CodeSlot,
    DoubtCode,
    GiveBackSms,
    LimitsMessage,
    ReleaseCode,
    ReserveCode,
    SetCodeGuards,
    SetGeneralRate,
    TakeAddress,
    TakePeople,
    TakeSms,
)
from risala.engine.limits.people import people_windows, take_people
from risala.engine.model.commands import AddressUse
from risala.engine.model.errors import RateLimited
from risala.engine.rules.code_guards import CodeGuards
from risala.engine.rules.windows import Bucket, History, SlidingWindows, Window

BURST_S: Final = 1.0
"""The sends of this many seconds may come together, and always at least one."""
BUCKETS_MAX: Final = 10_000
"""Buckets in memory; beyond that, full ones are forgotten, which changes nothing."""
ADDRESSES_MAX: Final = 50_000
"""Addresses that each limit remembers; beyond that, the one unused for longest is forgotten.

With the defaults at most about 45 MB, if each of them has used its hour up.
"""
HISTORIES_MAX: Final = 20_000
"""Numbers and organizations whose hour is in memory; any other is read again when needed.

About 300 bytes each with five codes an hour.
"""
HOUR_MS: Final = 3_600_000
NETWORK_AGAIN_S: Final = 86_400
"""Numbers that get no codes are refused until the operator changes it: clients should ask again
after a day, not each second."""
_MINUTE_MS: Final = 60_000


class CodeHours(Protocol):
    """Reads from the journal when codes were accepted."""

    def __call__(self, organization_id: str, recipient: str | None, since_ms: int) -> Sequence[int]:
        """The times (UTC epoch milliseconds) after ``since_ms`` at which the organization's codes
        were accepted: those to ``recipient``, or to all numbers if it is None."""


class LimitsMemory:
    """What is not in the journal and must survive a crash of the actor.

    It belongs to the actor: its replacement gets it, and nothing else reads it.
    """

    def __init__(self, limits: LimitsSection, people: PeopleSection | None = None) -> None:
        self.sms_per_s = limits.sms_per_s
        self.guards = guards_of(limits)
        self.buckets: dict[str, Bucket] = {}
        sends = (
            Window(limits.verify_ip_sends_per_minute, _MINUTE_MS),
            Window(limits.verify_ip_sends_per_hour, HOUR_MS),
        )
        checks = (Window(limits.verify_ip_checks_per_minute, _MINUTE_MS),)
        self.addresses = {
            AddressUse.CODE_SEND: SlidingWindows(sends, ADDRESSES_MAX),
            AddressUse.CODE_CHECK: SlidingWindows(checks, ADDRESSES_MAX),
        }
        self.people = people_windows(people or PeopleSection())


class Limits(Decider[LimitsMessage]):
    """The actor; see the module's text."""

    def __init__(
        self,
        memory: LimitsMemory,
        code_hours: CodeHours,
        now_s: Callable[[], float] = trio.current_time,
    ) -> None:
        self._memory = memory
        self._code_hours = code_hours
        self._now_s = now_s
        self._histories: OrderedDict[tuple[str, str | None], History] = OrderedDict()

    def decide(self, message: LimitsMessage) -> object:
        match message:
            case TakeSms():
                self._take_sms(message)
            case GiveBackSms(organization_id, tokens):
                bucket = self._memory.buckets.get(organization_id)
                if bucket is not None:
                    bucket.give_back(tokens)
            case TakeAddress():
                self._take_address(message)
            case TakePeople():
                take_people(self._memory.people, message, int(self._now_s() * 1000))
            case ReserveCode():
                self._reserve_code(message)
            case ReleaseCode(slot):
                for key in _keys(slot):
                    if key in self._histories:
                        self._histories[key].take_back(slot.at_ms)
            case DoubtCode(slot):
                for key in _keys(slot):
                    self._histories.pop(key, None)
            case SetGeneralRate(sms_per_s):
                self._memory.sms_per_s = sms_per_s
            case SetCodeGuards(guards):
                self._memory.guards = guards
        return None

    def _take_sms(self, claim: TakeSms) -> None:
        rate_per_s = claim.rate_per_s or self._memory.sms_per_s
        if rate_per_s is None:
            return
        now_s = self._now_s()
        bucket = self._bucket(claim.organization_id, rate_per_s, now_s)
        wait_s = bucket.wait_s(now_s, claim.tokens)
        if wait_s > 0:
            text = (
                f"Your organization sends more than {rate_per_s:g} messages a second. Send again "
                "in a moment."
            )
            raise RateLimited("sms", math.ceil(wait_s), text)
        bucket.take(now_s, claim.tokens)

    def _bucket(self, organization_id: str, rate_per_s: float, now_s: float) -> Bucket:
        memory = self._memory
        bucket = memory.buckets.get(organization_id)
        if bucket is None or bucket.rate_per_s != rate_per_s:
            if len(memory.buckets) >= BUCKETS_MAX:
                memory.buckets = {
                    key: kept for key, kept in memory.buckets.items() if not kept.is_full(now_s)
                }
            burst = max(1, math.floor(rate_per_s * BURST_S))
            bucket = memory.buckets[organization_id] = Bucket(rate_per_s, burst, now_s)
        return bucket

    def _take_address(self, claim: TakeAddress) -> None:
        windows = self._memory.addresses[claim.use]
        wait_ms = windows.take(claim.bucket, int(self._now_s() * 1000))
        if wait_ms > 0:
            text = "Too many requests came from your address. Wait, then try again."
            raise RateLimited("ip", _whole_seconds(wait_ms), text)

    def _reserve_code(self, claim: ReserveCode) -> None:
        slot = claim.slot
        numbers = (claim.per_phone_max, claim.per_organization_max)
        whose = (("phone", "this number"), ("organization", "your organization"))
        guards = self._memory.guards
        if not guards.serve(slot.recipient):
            raise RateLimited(
                "network",
                NETWORK_AGAIN_S,
                "Codes are not sent to numbers of this network now. Try again later.",
            )
        histories = [self._history(key, slot.at_ms) for key in _keys(slot)]
        wait_ms = guards.wait_ms(histories[0].times(slot.at_ms), slot.at_ms)
        if wait_ms > 0 and claim.heeds_cooldown:
            text = "A code was just sent to this number. Wait before you request another one."
            raise RateLimited("cooldown", _whole_seconds(wait_ms), text)
        for history, events_max, (limit, name) in zip(histories, numbers, whose, strict=True):
            wait_ms = history.wait_ms(events_max, slot.at_ms)
            if wait_ms > 0:
                text = f"The hourly limit of codes for {name} is reached. Wait, then try again."
                raise RateLimited(limit, _whole_seconds(wait_ms), text)
        for history in histories:
            history.add(slot.at_ms)

    def _history(self, key: tuple[str, str | None], now_ms: int) -> History:
        history = self._histories.get(key)
        if history is None:
            history = History(self._code_hours(*key, now_ms - HOUR_MS), HOUR_MS)
            self._histories[key] = history
            # The history unused for longest is forgotten. A claim uses two, the number's and the
            # organization's: neither of these is the oldest one.
            if len(self._histories) > HISTORIES_MAX:
                self._histories.popitem(last=False)
        self._histories.move_to_end(key)
        return history


def guards_of(limits: LimitsSection) -> CodeGuards:
    """The guards that the settings make."""
    return CodeGuards(
        frozenset(limits.verify_networks),
        limits.verify_prefixes,
        (limits.verify_cooldown_s or 0) * 1000,
        limits.verify_cooldown_max_s * 1000,
    )


def _keys(slot: CodeSlot) -> tuple[tuple[str, str | None], ...]:
    """The keys of the number's and of the organization's history, in the order of the checks."""
    return (slot.organization_id, slot.recipient), (slot.organization_id, None)


def _whole_seconds(wait_ms: int) -> int:
    return -(-wait_ms // 1000)
