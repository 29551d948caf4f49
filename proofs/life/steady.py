"""A long time under constant load: what the service has in its hands does not grow."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trio

from proofs.process.books import Begun, Books, begun
from proofs.process.faces import Customers, Told, bound
from proofs.process.house import House, in_thread
from proofs.process.settled import unsettled

EVERY_S: Final = 5.0
PER_S: Final = 10.0
"""Messages a second, of all faces together: a customer base, and not a benchmark."""
_A_TURN: Final = 13
"""Messages of all customers when each has sent once."""
WARM_SHARE: Final = 1 / 4
"""Of the time, in which caches fill: it is not judged. SQLite's pages take some 7,000 messages to
fill theirs, so that less than forty minutes say little of memory."""
SETTLE_S: Final = 60.0
FLOOR: Final = 12
"""Samples of which the least is looked at, a minute of them: what is under way comes and goes, more
of it where the machine has other work, and what stays behind does not go."""
FLOORS_MIN: Final = 8
"""Of them, however short the time: a line needs points."""
GROWTHS: Final = {"memory, MiB": 8.0, "descriptors": 4.0, "threads": 2.0, "tasks": 6.0}
"""What each may rise by over the time that is judged, as a line through all floors has it. Memory:
what is kept of the last hour or of the last so many (numbers that got codes, forms that were sent,
a modem's references) fills for longer than we look, some MiB an hour under this load; a leak of 300
octets a message is more. Of the others, what stays behind of every request, or every minute, is
more."""

PLUGIN: Final = """
[plugins]
folder = "{folder}"
[sinks.pulse]
sink = "pulse"
[sinks.pulse.pulse]
path = "{path}"
"""


@dataclass(frozen=True)
class Sample:
    at_s: float
    values: dict[str, float]


@dataclass(frozen=True)
class Judged:
    """One thing that must not grow."""

    name: str
    low: float
    high: float
    rise: float
    """Over the time that was judged, by a straight line through the floors."""
    allowed: float

    @property
    def is_flat(self) -> bool:
        return self.rise <= self.allowed


def sample(pid: int, tasks: Path, at_s: float) -> Sample:
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    found = dict(re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.MULTILINE))
    return Sample(
        at_s,
        {
            "memory, MiB": int(found["VmRSS"]) / 1024,
            "descriptors": float(len(os.listdir(f"/proc/{pid}/fd"))),
            "threads": float(found["Threads"]),
            "tasks": float(tasks.read_text("ascii") or 0) if tasks.exists() else 0.0,
        },
    )


def judged(samples: Sequence[Sample]) -> list[Judged]:
    """Each thing's line through the samples, but for the first part of them."""
    warm = samples[int(len(samples) * WARM_SHARE) :]
    span_s = warm[-1].at_s - warm[0].at_s
    found = []
    for name, allowed in GROWTHS.items():
        points = [(each.at_s, each.values[name]) for each in warm]
        values = [value for _, value in points]
        points = _floors(points)
        found.append(Judged(name, min(values), max(values), slope(points) * span_s, allowed))
    return found


def _floors(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The least of each minute, and when that was."""
    size = max(1, min(FLOOR, len(points) // FLOORS_MIN))
    return [
        min(points[at : at + size], key=lambda point: point[1])
        for at in range(0, len(points), size)
    ]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line that is nearest to all points (least squares); 0 for a single one."""
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    spread = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / spread if spread else 0.0


async def steady(
    house: House, minutes: float, tell: Callable[[float, Sample, int], None]
) -> tuple[list[Sample], Books]:
    """Run it on a furnished house; ``tell`` hears of each sample: the share that is over, the
    sample, and how many messages were accepted.

    Raises:
        RuntimeError: a customer was cut off, though nobody had stopped the service.
    """
    told = Told()
    load = Customers(house, told, "steady", pause_s=_A_TURN / PER_S)
    samples: list[Sample] = []
    began_s = time.monotonic()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(load.run)
        while (at_s := time.monotonic() - began_s) < minutes * 60:
            await trio.sleep(EVERY_S)
            samples.append(sample(house.process.popen.pid, house.path / "tasks", at_s))
            tell(at_s / (minutes * 60), samples[-1], len(told.taken))
        load.stop()
    if load.cut_off:
        raise RuntimeError(f"cut off: {load.cut_off}")
    since = await settle(house, told)
    return samples, await in_thread(Books(house, told, since).look)


async def settle(house: House, told: Told) -> Begun:
    """Until everything that was begun is at its end.

    Raises:
        TimeoutError: something is not, and what.
    """
    since, until_s = begun(house), time.monotonic() + SETTLE_S
    async with bound(house, told):
        while (
            open_ := await in_thread(unsettled, house, told, since, forgotten=False)
        ) is not None:
            if time.monotonic() > until_s:
                raise TimeoutError(open_)
            await trio.sleep(0.1)
    return since
