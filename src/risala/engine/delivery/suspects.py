"""Finds the driver that a stack belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FrameType, MappingProxyType
from typing import Final

from risala.dataclass import dataclass
from risala.engine.delivery.worker.worker import CarrierWorker

NO_OTHERS: Final[Mapping[str, object]] = MappingProxyType({})
_OURS: Final = ("risala.engine", "risala.http", "risala.app")
"""If one of these was called last, the slow code is not the driver's."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The owner of the code that is running."""

    carriers: tuple[str, ...]
    """Several if they share a driver and nothing on the stack separates them; empty if it is no
    driver."""
    frame: FrameType
    """The innermost frame of the driver or plugin; the innermost of all if it is neither."""
    plugins: tuple[str, ...] = ()
    """The owner in words, if it is not a driver: ``the event sink archive``. Several as with
    carriers."""


def suspicion_of(
    frame: FrameType, lanes: Mapping[str, CarrierWorker], others: Mapping[str, object] = NO_OTHERS
) -> Suspicion:
    """The owner of the code that is running, by the innermost frame.

    Args:
        others: what plugins bring besides drivers, by its name in words.
    """
    # A copy, because this runs in a thread, and carriers come and go meanwhile.
    lanes = dict(lanes)
    homes = {name: _home(lane.driver) for name, lane in lanes.items()}
    places = {name: _home(other) for name, other in others.items()}
    for at in _outward(frame):
        module = str(at.f_globals.get("__name__", ""))
        depths = {name: len(home) for name, home in homes.items() if _is_in(module, home)}
        if depths:
            nearest = max(depths.values())
            names = [name for name, length in depths.items() if length == nearest]
            owners = {name: (lanes[name], lanes[name].driver) for name in names}
            return Suspicion(_narrowed(owners, frame), at)
        if near := [name for name, place in places.items() if _is_in(module, place)]:
            owned = {name: (others[name],) for name in near}
            return Suspicion((), at, _narrowed(owned, frame))
        if any(_is_in(module, ours) for ours in _OURS):
            break
    return Suspicion((), frame)


def _home(thing: object) -> str:
    """The package of a driver or similar; the module itself if it is in no package."""
    module = type(thing).__module__
    return module.rpartition(".")[0] or module


def _is_in(module: str, home: str) -> bool:
    return module == home or module.startswith(f"{home}.")


def _narrowed(known: Mapping[str, tuple[object, ...]], frame: FrameType) -> tuple[str, ...]:
    """The one whose object is itself on the stack, if any; else all."""
    if len(known) > 1:
        owners = {id(thing): name for name, things in known.items() for thing in things}
        for at in _outward(frame):
            name = owners.get(id(at.f_locals.get("self")))
            if name is not None:
                return (name,)
    return tuple(sorted(known))


def _outward(frame: FrameType) -> Iterator[FrameType]:
    at: FrameType | None = frame
    while at is not None:
        yield at
        at = at.f_back
