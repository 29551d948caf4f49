"""All workers, built together: each may have to send a message on to another."""

from __future__ import annotations

from collections.abc import Callable

import trio

from risala.config.model import CarrierSection
from risala.engine.delivery.notes import Notes
from risala.engine.delivery.worker.declining import declines
from risala.engine.delivery.worker.parts import WorkerHooks
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.rules.router import Router, pinned
from risala.plugins.contract import Driver

BuildLane = Callable[[CarrierSection, Driver, WorkerHooks, CarrierWorker | None], CarrierWorker]
"""Builds the worker of a carrier; with a former worker of that carrier it continues its pace and
counts."""


class Fleet:
    """The workers of the carriers that are in use, by name, and the choice among them."""

    def __init__(self, router: Router, notes: Notes, build: BuildLane) -> None:
        self._router = router
        self._build = build
        self._hooks = WorkerHooks(
            changed=notes.wake,
            release=notes.queue.release,
            put_back=notes.put_back,
            next_route=self._next_route,
            willing_route=self._willing_route,
        )
        self.lanes: dict[str, CarrierWorker] = {}

    def build(
        self, carrier: CarrierSection, driver: Driver, former: CarrierWorker | None = None
    ) -> CarrierWorker:
        """Build a worker that is not yet among the others."""
        return self._build(carrier, driver, self._hooks, former)

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
