"""The carriers of the running service, and the changes to them.

It combines the settings' tables, an operator's overrides (:class:`Override`), and the workers that
run for both. For everything that chooses among workers a change is one step: the scheduler makes it
between two steps of its own. A worker that is removed, or needs another driver, gets nothing new.
It finishes what it has begun, and only then does its driver disconnect from the carrier.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

import structlog
import trio

from risala.config.model import CarrierSection
from risala.dataclass import dataclass
from risala.engine.actors.alarm import Bell
from risala.engine.delivery.carrier_runtime import CarrierRuntime
from risala.engine.delivery.notes import Notes
from risala.engine.delivery.scheduler import Rearrange
from risala.engine.delivery.sorter import Sorter
from risala.engine.delivery.worker.consequences import declines
from risala.engine.delivery.worker.parts import WorkerHooks
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.carrier_secrets import CarrierSecretRepository, SecretOwner
from risala.engine.journal.carriers import CarrierRepository
from risala.engine.journal.recorder import Recorder
from risala.engine.model.errors import Conflict, NotFound, Unavailable
from risala.engine.model.records.carriers.rereading import Effect
from risala.engine.model.records.carriers.stored import Override
from risala.engine.model.records.messages import DueRow
from risala.engine.model.states import Gate
from risala.engine.rules.changes import effect_of
from risala.engine.rules.receiptgroups import Member
from risala.engine.rules.router import Router, as_flash, pinned
from risala.plugins.contract import Driver, HealthState

# All workers, built together: each may have to send a message on to another.

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

    def _next_route(self, row: DueRow, tried: tuple[str, ...]) -> str | None:
        able = self._router.carriers_for(row.recipient, row.route)
        left = [name for name in able if name not in tried]
        now_s = trio.current_time()
        well = (name for name in left if self.lanes[name].healthy(now_s))
        name = next(well, left[0] if left else None)
        return None if name is None else as_flash(pinned(name), row.route)

    def _willing_route(self, row: DueRow, tried: tuple[str, ...], segments: int) -> str | None:
        now_s = trio.current_time()
        for name in self._router.carriers_for(row.recipient, row.route):
            lane = self.lanes[name]
            if (
                name not in tried
                and lane.healthy(now_s)
                and declines(name, lane.driver, row.recipient, segments) is None
            ):
                return as_flash(pinned(name), row.route)
        return None


log = structlog.get_logger(__name__)

RECEIPTS_S: Final = 60.0
"""How long a removed carrier stays connected after its last submit: most receipts come within
seconds, and this link may be the only one that brings them."""
RECONNECT_S: Final = 5.0
"""How long a link that is to be dropped waits for outstanding answers."""


def overridden(section: CarrierSection, override: Override | None) -> CarrierSection:
    """The settings of a carrier, with the operator's override applied."""
    if override is None:
        return section
    over = {"rate_per_s": override.rate_per_s, "weight": override.weight}
    return section.model_copy(update={name: value for name, value in over.items() if value})


@dataclass(slots=True)
class _Departure:
    """A worker that ends."""

    driver: Driver | None
    """What replaces it, built from the settings of that moment; None: nothing."""
    hurried: trio.Event = field(default_factory=trio.Event)
    """Set if something replaces it after all: then late receipts are not waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryParts:
    """The other objects that the registry uses."""

    fleet: Fleet
    crew: CarrierRuntime
    recorder: Recorder
    carriers: CarrierRepository
    secrets: CarrierSecretRepository
    sorter: Sorter
    rearrange: Callable[[Rearrange], Awaitable[object]]
    """Hands the change to the scheduler, and returns when it is done."""


class CarrierRegistry:
    """The carriers of one running service.

    Args:
        sections: the settings' tables, including those of disabled carriers.
        overrides: the operator's overrides, by carrier.
    """

    def __init__(
        self,
        parts: RegistryParts,
        sections: Sequence[CarrierSection],
        overrides: Mapping[str, Override],
    ) -> None:
        self._parts = parts
        self._sections = {section.name: section for section in sections}
        self._overrides = dict(overrides)
        self._departures: dict[str, _Departure] = {}
        self._members: set[Member] = set()
        """All carriers of now, of this run, and of some days before."""
        self._bell = Bell()
        self._turn = trio.Lock()

    @property
    def sections(self) -> tuple[CarrierSection, ...]:
        """The settings' tables in force, without overrides."""
        return tuple(self._sections.values())

    @property
    def in_force(self) -> tuple[CarrierSection, ...]:
        """The settings' tables in force, with overrides."""
        return tuple(map(self._in_force, self.sections))

    def section(self, carrier: str) -> CarrierSection | None:
        """The settings' table of a carrier; None if the settings do not have it."""
        return self._sections.get(carrier)

    def _in_force(self, section: CarrierSection) -> CarrierSection:
        return overridden(section, self._overrides.get(section.name))

    # -- pace and weight -------------------------------------------------------------------------

    def override(self, carrier: str, override: Override | None) -> None:
        """Apply an operator's override, which is on disk; None: the settings apply again."""
        if override is None:
            self._overrides.pop(carrier, None)
        else:
            self._overrides[carrier] = override
        self._retune(carrier)

    def repace(self, carrier: str, rate_per_s: float) -> None:
        """Apply another pace from the settings."""
        section = self._sections.get(carrier)
        if section is not None:
            self._sections[carrier] = section.model_copy(update={"rate_per_s": rate_per_s})
            self._retune(carrier)

    def _retune(self, carrier: str) -> None:
        section, lane = self._sections.get(carrier), self._parts.fleet.lanes.get(carrier)
        if section is not None and lane is not None and lane.standing.gate is not Gate.LEAVING:
            lane.retune(self._in_force(section))

    # -- the link --------------------------------------------------------------------------------

    async def reconnect(self, carrier: str) -> None:
        """Drop the link, and connect again.

        Nothing is submitted meanwhile. Outstanding answers are waited for briefly; a submit without
        an answer is then uncertain, as after any lost link.

        Raises:
            NotFound: the carrier does not exist.
            Conflict: it is about to end.
        """
        lane = self._parts.fleet.lanes.get(carrier)
        if lane is None:
            raise NotFound(f"There is no carrier {carrier!r}.")
        async with self._turn:
            if lane.standing.gate is Gate.LEAVING:
                raise Conflict(
                    f"{carrier} is being removed: it finishes its current messages, then stops."
                )
            lane.standing.note("the operator asked it to reconnect")
            with lane.resting():
                with trio.move_on_after(RECONNECT_S):
                    await lane.wait_answers()
                await self._parts.crew.reconnect(lane)

    # -- other carriers --------------------------------------------------------------------------

    async def start(self, drivers: Mapping[str, Driver]) -> None:
        """Start the workers that were built beforehand."""
        await self._remember(drivers)
        for lane in list(self._parts.fleet.lanes.values()):
            await self._parts.crew.start(lane)

    async def change(
        self, sections: Sequence[CarrierSection], drivers: Mapping[str, Driver]
    ) -> None:
        """Use these settings from now on. Workers of unchanged carriers are not affected.

        Args:
            drivers: new ones, for the carriers that start and for those that need another driver.
        """
        async with self._turn:
            before, after = self._sections, {section.name: section for section in sections}
            names = [*before, *(name for name in after if name not in before)]
            effects = {name: effect_of(before.get(name), after.get(name)) for name in names}
            begun = [
                self._parts.fleet.build(self._in_force(after[name]), drivers[name])
                for name, effect in effects.items()
                if effect is Effect.STARTS and name not in self._departures
            ]
            new = {lane.name: lane for lane in begun}
            # First, because only this can be refused: then nothing has changed.
            await self._rearrange({**self._parts.fleet.lanes, **new}, tuple(after.values()))
            self._sections = after
            for name, effect in effects.items():
                if effect is Effect.AT_ONCE:
                    self._retune(name)
                elif effect in _ENDS and name not in new:
                    self._depart(name, drivers.get(name))
            for lane in begun:
                await self._parts.crew.start(lane)
            self._bell.ring()
            await self._remember(drivers)

    def _depart(self, name: str, driver: Driver | None) -> None:
        """End the worker of this name; ``driver`` replaces it."""
        known = self._departures.get(name)
        if known is None:
            self._departures[name] = _Departure(driver)
            self._parts.fleet.lanes[name].set_gate(Gate.LEAVING)
            return
        known.driver = driver
        if driver is not None:
            known.hurried.set()

    async def _rearrange(
        self, lanes: Mapping[str, CarrierWorker], sections: Sequence[CarrierSection]
    ) -> None:
        carriers = [self._in_force(each) for each in sections if each.enabled]
        # If the former worker still ends, the worker of this name is one that takes nothing new.
        known = tuple(each for each in carriers if each.name in lanes)
        await self._parts.rearrange(Rearrange(known, lanes))
        self._parts.sorter.carriers_changed()

    async def _remember(self, drivers: Mapping[str, Driver]) -> None:
        """Store and apply which carriers share receipts."""
        lanes, recorder = self._parts.fleet.lanes, self._parts.recorder
        now = [member_of(each, _driver(each.name, drivers, lanes)) for each in self.sections]
        now_ms = recorder.clock.now_ms()
        self._members |= {*now, *self._parts.carriers.former(now_ms)}
        recorder.groups.regroup(sorted(self._members, key=str))
        try:
            if self._parts.carriers.differ(now):
                await self._parts.carriers.take_over(now, now_ms)
            await self._forget_secrets()
        except Unavailable as error:  # the next change or start stores it
            log.warning("carriers.storage", reason=str(error))

    async def _forget_secrets(self) -> None:
        """Delete the secrets of drivers that are gone. One that still ends may write some more."""
        ending = [lane.carrier for lane in self._parts.fleet.lanes.values()]
        present = {SecretOwner(each.name, each.driver) for each in (*self.sections, *ending)}
        await self._parts.secrets.keep_only(present)

    # -- workers that end --------------------------------------------------------------------------

    async def run(self) -> None:
        """Wait for ending workers and close them, until cancelled."""
        under_way: set[str] = set()
        async with trio.open_nursery() as nursery:
            while True:
                for name in self._departures.keys() - under_way:
                    under_way.add(name)
                    nursery.start_soon(self._see_off, name, under_way)
                await self._bell.wait(math.inf)

    async def _see_off(self, name: str, under_way: set[str]) -> None:
        lane, departure = self._parts.fleet.lanes[name], self._departures[name]
        await lane.wait_idle()
        if departure.driver is None and _has_receipts_to_come(lane):
            with trio.move_on_after(RECEIPTS_S):
                await departure.hurried.wait()
        await self._parts.crew.end(lane)
        async with self._turn:
            lanes = {each: one for each, one in self._parts.fleet.lanes.items() if each != name}
            section, driver = self._sections.get(name), departure.driver
            heir = None
            if driver is not None and section is not None:
                heir = lanes[name] = self._parts.fleet.build(self._in_force(section), driver, lane)
            await self._rearrange(lanes, self.sections)
            del self._departures[name]
            under_way.discard(name)
            try:
                await self._forget_secrets()
            except Unavailable as error:  # the next change or start forgets them
                log.warning("carriers.storage", reason=str(error))
            if heir is not None:
                await self._parts.crew.start(heir)
        log.info("carrier.gone" if heir is None else "carrier.renewed", carrier=name)


_ENDS: Final = (Effect.STARTS, Effect.RESTARTS, Effect.LEAVES)
"""About a worker that exists: it ends, and is replaced or not. If its carrier starts, the worker
exists as long as it has not ended."""


def _has_receipts_to_come(lane: CarrierWorker) -> bool:
    standing = lane.standing
    is_up = standing.health.state is HealthState.UP
    return is_up and standing.gives_receipts and lane.counts.accepted > 0


def member_of(section: CarrierSection, driver: Driver | None) -> Member:
    """What decides which receipts group a carrier is in. A disabled carrier has no driver."""
    account = driver.capabilities.account if driver is not None else ""
    return Member(section.name, section.driver, account, section.receipt_group)


def _driver(
    name: str, drivers: Mapping[str, Driver], lanes: Mapping[str, CarrierWorker]
) -> Driver | None:
    if name in drivers:
        return drivers[name]
    lane = lanes.get(name)
    return None if lane is None else lane.driver
