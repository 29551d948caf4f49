"""Measures possible problems: each group of readings separately, so that a failed one hides none.

Every check is bounded. Values that only the running service has come from its statistics; all
others are read by indexes.
"""

from __future__ import annotations

import math
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import trio

from risala.config.alerts import AlertsSection
from risala.dataclass import dataclass
from risala.engine.features.alerts import readings
from risala.engine.features.alerts.readings import (
    CarrierFacts,
    EndlessFacts,
    SilenceFacts,
    SinkFacts,
)
from risala.engine.features.alerts.records import Alert, AlertKind, LowBalance
from risala.engine.features.alerts.rules import Rate, Reading
from risala.engine.features.alerts.stored.alerts import AlertRepository
from risala.engine.features.alerts.stored.facts import AlertFactsRepository
from risala.engine.journal.upkeep import backup_note
from risala.engine.model.money import minor_units, money
from risala.engine.model.people_records import SITES, FailureReason
from risala.engine.model.records.people.organizations import FullOrganization
from risala.engine.model.states import Gate
from risala.engine.services import Services
from risala.plugins.contract import HealthState

Open = Mapping[tuple[AlertKind, str], Alert]

NOTED_MS: Final = 86_400_000
"""A carrier's giving receipts is noted once a day."""
UNSERVED_MAX: Final = 10_000
"""Messages that are counted at most."""
UNSERVED_SHOWN_MAX: Final = 5
FULL_SHOWN_MAX: Final = 20
"""Organizations that are named as they store much: the fullest."""
_GUESSES: Final = (FailureReason.WRONG_CODE, FailureReason.WRONG_FACTOR, FailureReason.HELD_UP)
"""What somebody who guesses causes: wrong second factors too, as they need a code or a session."""
INBOUND_MS: Final = 86_400_000
"""A day without such a message ends the alert about messages without a route."""
ERRORS_S: Final = 300.0
"""Answers of this many seconds are judged together."""
SERVER_ERRORS: Final = range(500, 600)
_QUOTAS: Final = (
    ("segments a day", "segments_today", "segments_per_day_max"),
    ("recipients a month", "recipients_this_month", "recipients_per_month_max"),
)


@dataclass(frozen=True, slots=True)
class ReadingGroup:
    """What is measured together."""

    kinds: tuple[AlertKind, ...]
    measure: Callable[[Open], Iterable[Reading]]
    is_seldom: bool = False


@dataclass(slots=True)
class _Silence:
    """The receipts of one carrier."""

    taken: int
    accepted: int
    since_s: float
    is_after_one: bool


@dataclass(slots=True)
class _Endless:
    """A carrier since it last ended a message."""

    ends: int
    taken: int
    accepted: int
    looked_s: float
    is_after_one: bool
    endless_s: float = 0.0


class Measuring:
    """Keeps values of earlier checks, if later ones are compared with them."""

    def __init__(self, services: Services, limits: AlertsSection) -> None:
        self._have = services
        self._facts = services.repositories.part(AlertFactsRepository)
        self._limits = limits
        self._jumps = services.surroundings.jumps
        self._answers = services.surroundings.answers
        self._carriers: list[dict[str, Any]] = []
        self._sinks: list[dict[str, Any]] = []
        self._low: list[LowBalance] = []
        self._full: list[FullOrganization] = []
        alerts = services.repositories.part(AlertRepository)
        self._gave, self._ended = alerts.receipts_seen(), alerts.ends_seen()
        self._silences: dict[str, _Silence] = {}
        self._endless: dict[str, _Endless] = {}
        self._answered: deque[tuple[float, int, int]] = deque()
        self._newest_ms: int | None = None
        self._has_looked = False

    def retune(self, limits: AlertsSection) -> None:
        self._limits = limits

    def begin(self) -> None:
        """A check begins: all its readings have one time."""
        numbers = self._have.statistics()
        self._carriers, self._sinks = numbers.get("carriers", []), numbers.get("sinks", [])

    # -- carriers

    def lanes(self, _: Open) -> Iterator[Reading]:
        for each in self._carriers:
            details = each["details"]
            balance_state = details.get("sim_balance_is")
            lane = CarrierFacts(
                each["name"],
                each["state"],
                each["text"],
                _number(details.get("sim_balance")),
                None if balance_state is None else balance_state == "low",
                tuple(_quotas(details)),
            )
            yield readings.carrier_down(lane)
            if (reading := readings.sim_balance_low(lane)) is not None:
                yield reading
            if (reading := readings.quota_low(lane, self._limits)) is not None:
                yield reading

    def receipts(self, raised: Open) -> Iterator[Reading]:
        for each in self._carriers:
            name = each["name"]
            silence = self._silence(name, each["receipts_taken"], each["accepted"])
            if each["receipts"] and name in self._gave:
                is_raised = (AlertKind.RECEIPTS_MISSING, name) in raised
                yield readings.receipts_missing(silence, self._limits, is_raised=is_raised)

    def _silence(self, name: str, taken: int, accepted: int) -> SilenceFacts:
        now_s = trio.current_time()
        known = self._silences.get(name)
        if known is None or taken != known.taken or accepted < known.accepted:
            known = self._silences[name] = _Silence(taken, accepted, now_s, taken > 0)
        elif accepted == known.accepted:  # nothing was sent that could bring a receipt
            known.since_s = now_s
        return SilenceFacts(
            name, now_s - known.since_s, accepted - known.accepted, known.is_after_one
        )

    def ends(self, raised: Open) -> Iterator[Reading]:
        for each in self._carriers:
            name = each["name"]
            endless = self._endless_of(each)
            if each["receipts"] and name in self._ended:
                is_raised = (AlertKind.ENDS_MISSING, name) in raised
                yield readings.ends_missing(endless, is_raised=is_raised)

    def _endless_of(self, carrier: Mapping[str, Any]) -> EndlessFacts:
        now_s, name = trio.current_time(), carrier["name"]
        ends, taken, accepted = (
            carrier[key] for key in ("receipts_final", "receipts_taken", "accepted")
        )
        known = self._endless.get(name)
        if known is None or ends != known.ends or accepted < known.accepted:
            # The numbers count from the worker's start: without an end, so does this.
            first = (taken, accepted) if ends else (0, 0)
            known = _Endless(ends, first[0], first[1], looked_s=now_s, is_after_one=ends > 0)
            self._endless[name] = known
        # Its time begins with the last of so many: what has just been sent may end yet. While it
        # is paused or down it can end nothing.
        is_open = carrier["gate"] == Gate.OPEN and carrier["state"] == HealthState.UP
        if is_open and accepted - known.accepted >= self._limits.receipts_missing_count:
            known.endless_s += now_s - known.looked_s
        known.looked_s = now_s
        return EndlessFacts(
            name,
            known.endless_s,
            accepted - known.accepted,
            taken - known.taken,
            known.is_after_one,
        )

    def newly_giving_receipts(self) -> dict[str, bool]:
        """Carriers that have given receipts since the start and were not noted for a day, each
        with whether one of them ended a message."""
        before_ms = self._now_ms - NOTED_MS
        return {
            each["name"]: bool(each["receipts_final"])
            for each in self._carriers
            if (each["receipts_taken"] and self._gave.get(each["name"], 0) <= before_ms)
            or (each["receipts_final"] and self._ended.get(each["name"], 0) <= before_ms)
        }

    def noted(self, carriers: Mapping[str, bool], now_ms: int) -> None:
        """Note carriers as giving receipts, and as ending messages or not."""
        self._gave |= dict.fromkeys(carriers, now_ms)
        self._ended |= {name: now_ms for name, ends in carriers.items() if ends}

    # -- the queue and the service

    def queue(self, raised: Open) -> Iterator[Reading]:
        now_ms = self._now_ms
        for route, since_ms in self._have.repositories.queue.oldest_due(now_ms).items():
            is_raised = (AlertKind.QUEUE_OLD, route) in raised
            age_s = max(0, now_ms - since_ms) / 1000
            yield readings.queue_old(route, age_s, self._limits, is_raised=is_raised)

    def unserved(self, _: Open) -> Iterator[Reading]:
        without_carrier = self._have.repositories.queue.unserved(UNSERVED_MAX)
        yield readings.numbers_unserved(
            without_carrier.count, without_carrier.prefixes[:UNSERVED_SHOWN_MAX]
        )

    def disk(self, raised: Open) -> Iterator[Reading]:
        free = shutil.disk_usage(self._data_dir).free
        is_raised = (AlertKind.DISK_LOW, "") in raised
        yield readings.disk_low(free, self._limits, is_raised=is_raised)

    def clock(self, raised: Open) -> Iterator[Reading]:
        now_ms, last = self._now_ms, None if self._jumps is None else self._jumps.last_jump
        if last is not None:
            yield readings.clock_jumped(last.at_ms, last.by_ms, now_ms, self._limits)
            return
        if not self._has_looked:  # rows later than now: the clock was set back before the start
            self._newest_ms, self._has_looked = self._have.repositories.storage.newest_ms(), True
        by_ms = min(0, now_ms - (self._newest_ms or 0))
        known = raised.get((AlertKind.CLOCK_JUMPED, ""))
        if by_ms <= -1000 * self._limits.clock_jump_s:
            yield readings.clock_jumped(now_ms, by_ms, now_ms, self._limits)
        elif known is not None:  # from before the start
            by_ms = 1000 * int(known.facts.get("by_s") or 0)
            yield readings.clock_jumped(known.raised_at, by_ms, now_ms, self._limits)
        else:
            yield readings.clock_jumped(None, 0, now_ms, self._limits)

    def errors(self, raised: Open) -> Iterator[Reading]:
        if self._answers is None:
            return
        now_s, counts = trio.current_time(), self._answers()
        whole = sum(counts.values())
        failed = sum(count for status, count in counts.items() if status in SERVER_ERRORS)
        while len(self._answered) > 1 and self._answered[1][0] <= now_s - ERRORS_S:
            self._answered.popleft()
        _, whole_before, failed_before = self._answered[0] if self._answered else (now_s, 0, 0)
        self._answered.append((now_s, whole, failed))
        is_raised = (AlertKind.ERRORS, "") in raised
        yield readings.errors(
            whole - whole_before, failed - failed_before, self._limits, is_raised=is_raised
        )

    def sinks(self, raised: Open) -> Iterator[Reading]:
        for each in self._sinks:
            if each["behind"] is None:  # unknown: the disk's refusal is reported elsewhere
                continue
            facts = SinkFacts(
                each["name"],
                each["state"] == "stuck",
                each["behind"],
                each["behindS"],
                each["missed"],
                each["missedAtMs"],
            )
            is_raised = (AlertKind.SINK_BEHIND, facts.name) in raised
            yield readings.sink_behind(facts, self._now_ms, self._limits, is_raised=is_raised)

    def set_aside(self, _: Open) -> Iterator[Reading]:
        for each in self._have.set_aside.statuses():
            yield readings.item_set_aside(each.loop, each.items)

    def trail(self, _: Open) -> Iterator[Reading]:
        if (faults := self._have.trail.faults) is not None:
            yield readings.trail_broken(faults)

    # -- checked less often

    def backups(self, _: Open) -> Iterator[Reading]:
        note = backup_note.read(self._data_dir)
        last_ms = None if note is None else note.at
        first_ms = self._have.repositories.storage.first_ms()
        reading = readings.backup_old(last_ms, first_ms, self._now_ms, self._limits)
        if reading is not None:
            yield reading

    async def follow_balances(self) -> None:
        """Check for low balances, some organizations at a time."""
        limit = minor_units(self._have.settings.pricing.low_balance)
        self._low = await self._facts.low_balances(limit, self._now_ms)

    async def follow_stored(self) -> None:
        """Read which organizations store much, on a thread."""
        limit = round(self._have.settings.limits.stored_bytes * readings.STORED_SHARE)
        self._full = await self._have.repositories.storage.fullest(limit, FULL_SHOWN_MAX)

    def stored(self, _: Open) -> Iterator[Reading]:
        for each in self._full:
            yield readings.storage_full(each, self._have.settings.limits.stored_bytes)

    def balances(self, _: Open) -> Iterator[Reading]:
        for each in self._low:
            balance = money(each.balance)
            yield readings.balance_low(each.organization_id, each.name, balance, each.currency)

    def codes(self, raised: Open) -> Iterator[Reading]:
        limits, kind = self._limits, AlertKind.CODES_ABUSED
        since_ms = self._now_ms - limits.prefix_minutes * 60_000
        for prefix, rate in self._codes_by_prefix(since_ms).items():
            is_raised = (kind, prefix) in raised
            yield readings.codes_abused(prefix, rate, limits, is_raised=is_raised)

    def _codes_by_prefix(self, since_ms: int) -> Mapping[str, Rate]:
        """Rates by prefixes that have the same number of digits behind each country's code."""
        known, digits = self._have.settings.plan.prefixes, self._limits.prefix_digits
        longest = max(map(len, known)) + digits
        rates = dict[str, Rate]()
        for beginning, rate in self._facts.codes_by_prefix(since_ms, longest).items():
            code = next((each for each in known if beginning.startswith(each)), known[0])
            prefix = beginning[: len(code) + digits]
            other = rates.get(prefix, Rate(0, 0))
            rates[prefix] = Rate(other.whole + rate.whole, other.good + rate.good)
        return rates

    def sign_ins(self, raised: Open) -> Iterator[Reading]:
        failed = self._have.repositories.sign_in.count_failed(self._now_ms - readings.HOUR_MS)
        for kind, site in SITES.items():
            is_raised = (AlertKind.SIGN_IN_FAILING, site) in raised
            wrong = sum(failed.get((kind, reason), 0) for reason in _GUESSES)
            limited = failed.get((kind, FailureReason.LIMITED), 0)
            yield readings.sign_in_failing(site, wrong, limited, self._limits, is_raised=is_raised)

    def inbound(self, _: Open) -> Iterator[Reading]:
        if not self._facts.has_inbound_routes():  # incoming messages are not used here
            return
        for number, count in self._facts.inbound_unserved(self._now_ms - INBOUND_MS).items():
            yield readings.inbound_unserved(number, count)

    @property
    def _now_ms(self) -> int:
        return self._have.recorder.clock.now_ms()

    @property
    def _data_dir(self) -> Path:
        return Path(self._have.settings.storage.data_dir)


def _quotas(details: Mapping[str, Any]) -> Iterator[tuple[str, float, float]]:
    for name, used_key, most_key in _QUOTAS:
        used, most = _number(details.get(used_key)), _number(details.get(most_key))
        if used is not None and most is not None:
            yield name, used, most


def _number(value: object) -> float | None:
    return value if isinstance(value, int | float) and math.isfinite(value) else None
