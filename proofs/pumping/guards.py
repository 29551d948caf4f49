"""The guards that are compared: ours, Authgear's formula, and hourly limits alone.

Each is asked of every code in order, and told what became of it: as it is entered, or once it is
settled.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Final, Protocol

from proofs.pumping.days import DAY_MS, HOUR_MS, Ask
from risala.engine.features.pumping.rules.groups import CodeGroup, GroupKind, groups_of
from risala.engine.features.pumping.rules.judging import Windows, counted_in

PER_PHONE: Final = 5
PER_ORGANIZATION: Final = 600
PER_ADDRESS: Final = 60


class Guard(Protocol):
    """What a guard says and is told."""

    def passes(self, ask: Ask) -> bool: ...
    def entered(self, ask: Ask, now_ms: int) -> None: ...
    def missed(self, ask: Ask, now_ms: int, codes: int) -> None: ...


class HourlyLimits:
    """Codes an hour for a number, an address and the organization."""

    def __init__(self) -> None:
        self._hours: dict[str, deque[int]] = defaultdict(deque)

    def passes(self, ask: Ask) -> bool:
        limits = ((ask.number, PER_PHONE), (ask.address, PER_ADDRESS), ("", PER_ORGANIZATION))
        return all(self._used(name, ask.at_ms) < most for name, most in limits)

    def _used(self, name: str, now_ms: int) -> int:
        hour = self._hours[name]
        while hour and hour[0] <= now_ms - HOUR_MS:
            hour.popleft()
        return len(hour)

    def sent(self, ask: Ask) -> None:
        for name in (ask.number, ask.address, ""):
            self._hours[name].append(ask.at_ms)


class Ours:
    """The guard of the service: the very rules."""

    def __init__(self) -> None:
        self.windows = Windows()
        self._counted: dict[int, Sequence[CodeGroup]] = {}
        self._probes: dict[int, GroupKind] = {}
        self._missed: dict[int, int] = {}

    def passes(self, ask: Ask) -> bool:
        groups = groups_of(ask.number, address=ask.address, key="key")
        opinion = self.windows.judge(groups, ask.at_ms)
        by_itself = ask.was_verified or opinion.is_vouched
        self._counted[id(ask)] = counted_in(groups, opinion, passes_by_itself=by_itself)
        if opinion.suspicion is None or by_itself:
            return True
        kind = opinion.suspicion.group.kind
        if self.windows.probe_in_ms(kind, ask.at_ms) > 0:
            return False
        self._probes[id(ask)] = kind
        return True

    def entered(self, ask: Ask, now_ms: int) -> None:
        late = self._missed.get(id(ask), 0)
        self.windows.count(self._counted[id(ask)], now_ms, missed=-late, entered=1.0)
        if id(ask) in self._probes:
            self.windows.probe_entered(self._probes[id(ask)], now_ms)

    def missed(self, ask: Ask, now_ms: int, codes: int) -> None:
        self._missed[id(ask)] = codes
        self.windows.count(self._counted[id(ask)], now_ms, missed=codes)


class Authgear:
    """The formula that Authgear's specification of fraud protection documents, as its service
    applies it: buckets that leak, by country and address, for an hour and a day; a refused code
    fills them too, an entered one drains them, and a number that was verified passes."""

    def __init__(self) -> None:
        self._levels: dict[tuple[str, int], tuple[float, int]] = {}
        self._verified: dict[str, deque[int]] = defaultdict(deque)
        self._days: dict[int, int] = defaultdict(int)

    def _count(self, name: str, now_ms: int, within_ms: int) -> int:
        times = self._verified[name]
        while times and times[0] <= now_ms - DAY_MS:
            times.popleft()
        if within_ms == DAY_MS:
            return len(times)
        return sum(1 for each in times if each > now_ms - within_ms)

    def _thresholds(self, ask: Ask, now_ms: int) -> dict[tuple[str, int], float]:
        today = now_ms // DAY_MS
        most = max((self._days.get(day, 0) for day in range(today - 14, today)), default=0)
        day, hour = self._count("", now_ms, DAY_MS), self._count("", now_ms, HOUR_MS)
        of_address = self._count(ask.address, now_ms, DAY_MS)
        return {
            ("", DAY_MS): max(20.0, most * 0.2, day * 0.2),
            ("", HOUR_MS): max(3.0, max(20.0, most * 0.2, day * 0.2) / 6, hour * 0.2),
            (ask.address, DAY_MS): max(10.0, of_address * 0.2),
            (ask.address, HOUR_MS): max(5.0, of_address * 0.2 / 6),
        }

    def _fill(self, ask: Ask, now_ms: int, by: float) -> bool:
        """Whether a bucket ran over."""
        is_over = False
        for (name, period), threshold in self._thresholds(ask, now_ms).items():
            level, at_ms = self._levels.get((name, period), (0.0, now_ms))
            leaked = (now_ms - at_ms) * threshold / period
            level = max(0.0, min(level, threshold) - leaked + by)
            self._levels[name, period] = (level, now_ms)
            is_over = is_over or level > threshold
        return is_over

    def passes(self, ask: Ask) -> bool:
        return not self._fill(ask, ask.at_ms, 1.0) or ask.was_verified

    def entered(self, ask: Ask, now_ms: int) -> None:
        self._verified[""].append(now_ms)
        self._verified[ask.address].append(now_ms)
        self._days[now_ms // DAY_MS] += 1
        self._fill(ask, now_ms, -1.0)

    def missed(self, ask: Ask, now_ms: int, codes: int) -> None: ...
