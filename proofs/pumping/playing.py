"""Plays a day to a guard, beside hourly limits, and counts what was lost and who was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final, NamedTuple

from proofs.pumping.days import Ask, Day
from proofs.pumping.guards import Authgear, Guard, HourlyLimits, Ours

SETTLED_MS: Final = 180_000


@dataclass(frozen=True, slots=True)
class Played:
    """What a guard made of a day."""

    pumped: int
    """Codes that the attack asked for."""
    lost: int
    """Those of them that were sent."""
    users: int
    """True users who asked."""
    refused: int
    """Those of them who were refused once or more."""


class _Pending(NamedTuple):
    """The last code of a number."""

    place: int
    codes: int
    """How many were sent: it, and those instead of which it was asked for."""
    is_missed: bool = False


def play(day: Day, guard: Guard | None, *, challenges: bool = False) -> Played:
    """Play a day.

    Args:
        guard: None: hourly limits alone.
        challenges: whoever the guard does not pass is asked for a proof, which people's apps give.
    """
    limits = HourlyLimits()
    ends: list[tuple[int, int, bool, Ask]] = []
    pending: dict[str, _Pending] = {}
    pumped = lost = 0
    users: set[str] = set()
    refused: set[str] = set()
    for place, ask in enumerate(day.asks):
        while ends and ends[0][0] <= ask.at_ms:
            _end(guard, pending, *heappop(ends))
        counts = ask.at_ms >= day.judged_from_ms
        passes = guard is None or guard.passes(ask) or (challenges and ask.is_true)
        passes = passes and limits.passes(ask)
        if counts:
            pumped += not ask.is_true
            lost += passes and not ask.is_true
            if ask.is_true:
                users.add(ask.number)
                if not passes:
                    refused.add(ask.number)
        if not passes:
            continue
        limits.sent(ask)
        if guard is None:
            continue
        before = pending.get(ask.number)
        codes = 1 if before is None or before.is_missed else 1 + before.codes
        pending[ask.number] = _Pending(place, codes)
        after = ask.enters_after_ms
        if after is not None:
            heappush(ends, (ask.at_ms + after, place, True, ask))
        if after is None or after > SETTLED_MS:
            heappush(ends, (ask.at_ms + SETTLED_MS, place, False, ask))
    return Played(pumped, lost, len(users), len(refused))


def _end(
    guard: Guard | None,
    pending: dict[str, _Pending],
    at_ms: int,
    place: int,
    entered: bool,
    ask: Ask,
) -> None:
    assert guard is not None
    if entered:
        guard.entered(ask, at_ms)
        pending.pop(ask.number, None)
        return
    last = pending.get(ask.number)
    if last is not None and last.place == place:  # else another code of this number stands for it
        pending[ask.number] = last._replace(is_missed=True)
        guard.missed(ask, at_ms, last.codes)


@dataclass(frozen=True, slots=True)
class Mean:
    """What guards made of several seeds of a day, on average."""

    pumped: float
    lost: float
    users: float
    refused: float


@dataclass(frozen=True, slots=True)
class Compared:
    """A day before each guard."""

    limits: Mean
    challenge: Mean
    refuse: Mean
    authgear: Mean


def compare(days: Sequence[Day]) -> Compared:
    """Play seeds of a day to each guard."""
    return Compared(
        _mean([play(each, None) for each in days]),
        _mean([play(each, Ours(), challenges=True) for each in days]),
        _mean([play(each, Ours()) for each in days]),
        _mean([play(each, Authgear()) for each in days]),
    )


def _mean(played: Sequence[Played]) -> Mean:
    sums = zip(
        *((each.pumped, each.lost, each.users, each.refused) for each in played), strict=True
    )
    return Mean(*(sum(each) / len(played) for each in sums))
