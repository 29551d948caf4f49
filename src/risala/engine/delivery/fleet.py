"""All lanes, built together: each may have to send a message on to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import trio

from risala.config.model import CarrierSection
from risala.engine.delivery.lane.declining import declines
from risala.engine.delivery.lane.lane import Lane
from risala.engine.delivery.lane.parts import LaneHooks
from risala.engine.delivery.notes import Notes
from risala.engine.rules.router import Router, pinned


class Fleet:
    """The lanes of the enabled carriers, by name, and the choice among them."""

    def __init__(
        self,
        router: Router,
        carriers: Sequence[CarrierSection],
        notes: Notes,
        build: Callable[[CarrierSection, LaneHooks], Lane],
    ) -> None:
        self._router = router
        hooks = LaneHooks(
            changed=notes.wake,
            release=notes.queue.release,
            put_back=notes.put_back,
            next_route=self._next_route,
            willing_route=self._willing_route,
        )
        self.lanes: Mapping[str, Lane] = {
            carrier.name: build(carrier, hooks) for carrier in carriers if carrier.enabled
        }

    def _next_route(self, recipient: str, tried: tuple[str, ...]) -> str | None:
        left = [name for name in self._router.carriers_for(recipient) if name not in tried]
        now_s = trio.current_time()
        well = (name for name in left if self.lanes[name].healthy(now_s))
        name = next(well, left[0] if left else None)
        return None if name is None else pinned(name)

    def _willing_route(self, recipient: str, tried: tuple[str, ...], segments: int) -> str | None:
        now_s = trio.current_time()
        for name in self._router.carriers_for(recipient):
            lane = self.lanes[name]
            if (
                name not in tried
                and lane.healthy(now_s)
                and declines(name, lane.driver, recipient, segments) is None
            ):
                return pinned(name)
        return None
