"""Seeded days of an organization that sends codes: who asks when, from where, and what is entered.

A day is a list of asks in order. Those of people come from a town of numbers, most of which were
verified before; those of an attack are never entered, but for one of fifty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Final

S: Final = 1000
HOUR_MS: Final = 3600 * S
DAY_MS: Final = 24 * HOUR_MS
ENTERED: Final = 0.85
"""The share of codes that people enter."""
AGAIN: Final = 0.5
"""Of those who did not enter one, so many ask again."""
RETURNING: Final = 0.6
"""The share of asks by people who were verified before."""
CODES: Final = 400
"""A usual day's asks."""
DAYS_BEFORE: Final = 10
"""Usual days before the one that is judged."""
PUMPED_ENTERED: Final = 0.02
"""Of pumped codes so many are entered."""
_HOURS: Final = (1, 1, 1, 1, 1, 2, 4, 6, 8, 9, 9, 8, 7, 7, 8, 9, 9, 8, 8, 7, 6, 5, 3, 2)
"""How a usual day's asks spread over its hours."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Somebody asks for a code."""

    at_ms: int
    number: str
    address: str
    is_true: bool
    enters_after_ms: int | None
    """None: the code is not entered."""
    was_verified: bool = False
    """The number was verified in the days before."""


class Town:
    """Numbers and addresses of an organization's people."""

    def __init__(self, random: Random, networks: str = "234", blocks: int = 200) -> None:
        self.random = random
        self._blocks = [
            f"+222{network}{random.randrange(10_000):04}"
            for network in networks
            for _ in range(blocks)
        ]
        self._weights = [1 / (1 + place % blocks) ** 0.5 for place in range(len(self._blocks))]
        self._carrier = [f"198.51.100.{each}" for each in range(30)]

    def number(self) -> str:
        """A number: some blocks have more people than others."""
        block = self.random.choices(self._blocks, self._weights)[0]
        return f"{block}{self.random.randrange(1000):03}"

    def address(self) -> str:
        """An address: a third of all people share those of a carrier."""
        if self.random.random() < 1 / 3:
            return self.random.choice(self._carrier)
        return f"203.0.{self.random.randrange(4, 40)}.{self.random.randrange(256)}"

    def blocks(self, count: int) -> list[str]:
        """Some of its blocks."""
        return self.random.sample(self._blocks, count)


def people(
    town: Town,
    asks: int,
    *,
    day: int = 0,
    hours: tuple[int, ...] = _HOURS,
    entered: float = ENTERED,
    median_s: float = 20.0,
    returning: float = RETURNING,
    address: Callable[[], str] | None = None,
) -> Iterator[Ask]:
    """Asks of people in a day: who does not enter a code asks again, or gives up."""
    random = town.random
    for _ in range(asks):
        hour = random.choices(range(24), hours)[0]
        at_ms = day * DAY_MS + hour * HOUR_MS + random.randrange(HOUR_MS)
        number, verified = town.number(), random.random() < returning
        whence = (address or town.address)()
        for _ in range(3):
            after = None
            if random.random() < entered:
                after = int(min(random.lognormvariate(0, 0.8) * median_s, 540) * S)
            yield Ask(at_ms, number, whence, True, after, verified)
            if after is not None or random.random() > AGAIN:
                break
            at_ms += random.randrange(40, 150) * S


def pumped(
    random: Random, times: Iterator[int], numbers: Callable[[], str], whence: Callable[[], str]
) -> Iterator[Ask]:
    for at_ms in times:
        after = 15 * S if random.random() < PUMPED_ENTERED else None
        yield Ask(at_ms, numbers(), whence(), False, after)


def _spread(random: Random, count: int, first_h: float, hours: float, day: int) -> Iterator[int]:
    for _ in range(count):
        yield int(day * DAY_MS + (first_h + random.random() * hours) * HOUR_MS)


def _fresh(random: Random) -> str:
    return ".".join(str(random.randrange(1, 255)) for _ in range(4))


def _in(random: Random, blocks: list[str]) -> str:
    return f"{random.choice(blocks)}{random.randrange(1000):03}"


@dataclass(frozen=True, slots=True)
class Day:
    """A day that is judged, with the days before it."""

    name: str
    asks: tuple[Ask, ...]
    judged_from_ms: int


def _made(name: str, before: list[Ask], day: list[Ask], from_day: int) -> Day:
    asks = sorted([*before, *day], key=lambda each: (each.at_ms, each.number))
    return Day(name, tuple(asks), from_day * DAY_MS)


def _usual(town: Town, codes: int = CODES) -> list[Ask]:
    return [ask for day in range(DAYS_BEFORE) for ask in people(town, codes, day=day)]


def _attack(
    name: str, seed: int, make: Callable[[Town, Random], Iterator[Ask]], codes: int = CODES
) -> Day:
    random = Random(f"{name} {seed}")
    town = Town(random)
    before = _usual(town, codes)
    today = [*people(town, codes, day=DAYS_BEFORE), *make(town, random)]
    return _made(name, before, today, DAYS_BEFORE)


def _sequential(town: Town, random: Random) -> Iterator[Ask]:
    numbers = (f"+2223{first:04}{last:03}" for first in range(7100, 7110) for last in range(1000))
    times = iter(sorted(_spread(random, 3000, 9, 10, DAYS_BEFORE)))
    whence = [_fresh(random) for _ in range(3)]
    return pumped(random, times, lambda: next(numbers), lambda: random.choice(whence))


def _slow(town: Town, random: Random) -> Iterator[Ask]:
    blocks = [f"+2222{random.randrange(10_000):04}" for _ in range(4)]
    times = _spread(random, 240, 0, 24, DAYS_BEFORE)
    return pumped(random, times, partial(_in, random, blocks), partial(_fresh, random))


def _addresses(town: Town, random: Random) -> Iterator[Ask]:
    blocks = [f"+222{random.choice('234')}{random.randrange(10_000):04}" for _ in range(40)]
    times = _spread(random, 3000, 10, 3, DAYS_BEFORE)
    return pumped(random, times, partial(_in, random, blocks), partial(_fresh, random))


def _network(town: Town, random: Random) -> Iterator[Ask]:
    times = _spread(random, 3000, 0, 24, DAYS_BEFORE)
    return pumped(
        random, times, lambda: f"+2223{random.randrange(10**7):07}", partial(_fresh, random)
    )


def _mixed(town: Town, random: Random) -> Iterator[Ask]:
    times = _spread(random, 1500, 8, 12, DAYS_BEFORE)
    return pumped(random, times, town.number, town.address)


def _repeats(town: Town, random: Random) -> Iterator[Ask]:
    """Each number as often as the hour lets it, before any of its codes counts as missed."""
    blocks = [f"+222{random.choice('234')}{random.randrange(10_000):04}" for _ in range(40)]
    for first_ms in _spread(random, 600, 9, 10, DAYS_BEFORE):
        number = _in(random, blocks)
        times = (first_ms + each * 35 * S for each in range(5))
        yield from pumped(random, times, partial(str, number), partial(_fresh, random))


def _calm(town: Town, random: Random) -> Iterator[Ask]:
    blocks = [f"+2224{random.randrange(10_000):04}" for _ in range(20)]
    whence = [_fresh(random) for _ in range(50)]
    times = _spread(random, 3000, 1, 5, DAYS_BEFORE)
    return pumped(random, times, partial(_in, random, blocks), lambda: random.choice(whence))


def _honest(name: str, seed: int, make: Callable[[Town, Random], Iterator[Ask]]) -> Day:
    random = Random(f"{name} {seed}")
    town = Town(random)
    before = _usual(town)
    return _made(name, before, [*make(town, random)], DAYS_BEFORE)


def _campaign(town: Town, random: Random) -> Iterator[Ask]:
    yield from people(town, CODES, day=DAYS_BEFORE)
    evening = (0,) * 18 + (6, 3, 1) + (0,) * 3
    yield from people(
        town, 700, day=DAYS_BEFORE, hours=evening, entered=0.72, median_s=35.0, returning=0.1
    )


def _city(town: Town, random: Random) -> Iterator[Ask]:
    yield from people(town, CODES, day=DAYS_BEFORE)
    city = Town(random, networks="3", blocks=25)
    yield from people(city, 350, day=DAYS_BEFORE, entered=0.62, median_s=40.0, returning=0.0)


def _behind(town: Town, random: Random) -> Iterator[Ask]:
    yield from people(town, CODES, day=DAYS_BEFORE)
    work = (0,) * 8 + (1,) * 8 + (0,) * 8
    yield from people(
        town, 300, day=DAYS_BEFORE, hours=work, entered=0.8, address=lambda: "192.0.2.7"
    )


def _night(town: Town, random: Random) -> Iterator[Ask]:
    yield from people(town, CODES, day=DAYS_BEFORE)
    night = (3, 3, 3, 2, 1) + (0,) * 19
    yield from people(
        town, 150, day=DAYS_BEFORE, hours=night, entered=0.7, median_s=110.0, returning=0.2
    )


ATTACKS: Final[dict[str, Callable[[int], Day]]] = {
    "sequential numbers": lambda seed: _attack("sequential numbers", seed, _sequential),
    "slow drip": lambda seed: _attack("slow drip", seed, _slow),
    "many addresses": lambda seed: _attack("many addresses", seed, _addresses),
    "one network": lambda seed: _attack("one network", seed, _network),
    "mixed with true users": lambda seed: _attack("mixed with true users", seed, _mixed),
    "each number five times": lambda seed: _attack("each number five times", seed, _repeats),
    "after a long calm": lambda seed: _attack("after a long calm", seed, _calm, 20),
}
HONEST: Final[dict[str, Callable[[int], Day]]] = {
    "campaign": lambda seed: _honest("campaign", seed, _campaign),
    "new city": lambda seed: _honest("new city", seed, _city),
    "users behind one address": lambda seed: _honest("users behind one address", seed, _behind),
    "night shift": lambda seed: _honest("night shift", seed, _night),
}
