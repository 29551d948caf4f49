"""Whose driver a stack is in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Final

from risala.engine.delivery.lane.lane import Lane

_OURS: Final = ("risala.engine", "risala.http", "risala.app")
"""Where one of these was called last, it is not the driver's code that takes so long."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Whose code is running."""

    carriers: tuple[str, ...]
    """Several where they have one driver and nothing on the stack says which of them it is; none
    where it is no driver."""
    frame: FrameType
    """The driver's own innermost frame; the innermost of all where it is no driver."""


def suspicion_of(frame: FrameType, lanes: Mapping[str, Lane]) -> Suspicion:
    """Whose code is running, by the innermost frame."""
    # A copy, because this runs in a thread, and carriers come and go meanwhile.
    lanes = dict(lanes)
    homes = {name: _home(lane) for name, lane in lanes.items()}
    for at in _outward(frame):
        module = str(at.f_globals.get("__name__", ""))
        found = {name: len(home) for name, home in homes.items() if _is_in(module, home)}
        if found:
            nearest = max(found.values())
            names = [name for name, length in found.items() if length == nearest]
            return Suspicion(_narrowed(names, frame, lanes), at)
        if any(_is_in(module, ours) for ours in _OURS):
            break
    return Suspicion((), frame)


def _home(lane: Lane) -> str:
    """The package of the driver; the module itself where it is in none."""
    module = type(lane.driver).__module__
    return module.rpartition(".")[0] or module


def _is_in(module: str, home: str) -> bool:
    return module == home or module.startswith(f"{home}.")


def _narrowed(names: list[str], frame: FrameType, lanes: Mapping[str, Lane]) -> tuple[str, ...]:
    """Those of them that are themselves on the stack, where there are any."""
    if len(names) > 1:
        owners = {id(thing): name for name in names for thing in (lanes[name], lanes[name].driver)}
        for at in _outward(frame):
            name = owners.get(id(at.f_locals.get("self")))
            if name is not None:
                return (name,)
    return tuple(sorted(names))


def _outward(frame: FrameType) -> Iterator[FrameType]:
    at: FrameType | None = frame
    while at is not None:
        yield at
        at = at.f_back
