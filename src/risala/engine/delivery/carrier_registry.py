"""Which carriers there are while the service runs, and what is changed about them.

The settings' tables, what an operator has put over them (:class:`Override`), and the lanes that run
for both. A change is one step for all who choose among lanes: the scheduler makes it between two of
its own. A lane that is not wanted any more, or wants another driver, is given nothing new; it ends
what it has begun, and only then does its driver take leave of the carrier.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog
import trio

from risala.config.model import CarrierSection
from risala.engine.actors.bell import Bell
from risala.engine.delivery.carrier_runtime import CarrierRuntime
from risala.engine.delivery.fleet import Fleet
from risala.engine.delivery.scheduler import Rearrange
from risala.engine.delivery.sorter import Sorter
from risala.engine.delivery.worker.parts import Gate
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.repositories.carriers import CarrierRepository
from risala.engine.model.errors import Conflict, NotFound, Unavailable
from risala.engine.model.records.carriers import Override
from risala.engine.rules.changes.carriers import Effect, effect_of
from risala.engine.rules.receiptgroups import Member
from risala.plugins.contract import Driver, HealthState

log = structlog.get_logger(__name__)

RECEIPTS_S: Final = 60.0
"""So long a carrier that is taken out stays connected once it has nothing more to submit: most
receipts come in seconds, and this link may be the only one by which they come."""
RECONNECT_S: Final = 5.0
"""How long a link that is to be dropped waits for the answers that are still to come."""


def overridden(section: CarrierSection, override: Override | None) -> CarrierSection:
    """The settings of a carrier with what an operator has put over them."""
    if override is None:
        return section
    over = {"rate_per_s": override.rate_per_s, "weight": override.weight}
    return section.model_copy(update={name: value for name, value in over.items() if value})


@dataclass(slots=True)
class _Departure:
    """A lane that ends."""

    driver: Driver | None
    """What follows it, by the settings as they are then; None: nothing."""
    hurried: trio.Event = field(default_factory=trio.Event)
    """Set where something follows it after all: nobody waits for late receipts then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryParts:
    """What it works with."""

    fleet: Fleet
    crew: CarrierRuntime
    recorder: Recorder
    carriers: CarrierRepository
    sorter: Sorter
    rearrange: Callable[[Rearrange], Awaitable[object]]
    """Hands it to the scheduler, and returns when it is done."""


class CarrierRegistry:
    """Of one running service.

    Args:
        sections: the settings' tables, those of disabled carriers too.
        overrides: by their carriers.
    """

    def __init__(
        self,
        parts: RegistryParts,
        sections: Sequence[CarrierSection],
        overrides: Mapping[str, Override],
    ) -> None:
        self._have = parts
        self._sections = {section.name: section for section in sections}
        self._overrides = dict(overrides)
        self._departures: dict[str, _Departure] = {}
        self._members: set[Member] = set()
        """Whatever carriers are and were since this start, and some days before."""
        self._bell = Bell()
        self._turn = trio.Lock()

    @property
    def sections(self) -> tuple[CarrierSection, ...]:
        """The settings' tables in force, without what is put over them."""
        return tuple(self._sections.values())

    @property
    def in_force(self) -> tuple[CarrierSection, ...]:
        """The same, with what is put over them."""
        return tuple(map(self._in_force, self.sections))

    def section(self, carrier: str) -> CarrierSection | None:
        """The settings' table of a carrier; None where they have none."""
        return self._sections.get(carrier)

    def _in_force(self, section: CarrierSection) -> CarrierSection:
        return overridden(section, self._overrides.get(section.name))

    # -- pace and weight -------------------------------------------------------------------------

    def override(self, carrier: str, override: Override | None) -> None:
        """Obey an operator's word, which is on the disk; None: the settings hold again."""
        if override is None:
            self._overrides.pop(carrier, None)
        else:
            self._overrides[carrier] = override
        self._retune(carrier)

    def repace(self, carrier: str, rate_per_s: float) -> None:
        """The settings name another pace."""
        section = self._sections.get(carrier)
        if section is not None:
            self._sections[carrier] = section.model_copy(update={"rate_per_s": rate_per_s})
            self._retune(carrier)

    def _retune(self, carrier: str) -> None:
        section, lane = self._sections.get(carrier), self._have.fleet.lanes.get(carrier)
        if section is not None and lane is not None and lane.standing.gate is not Gate.LEAVING:
            lane.retune(self._in_force(section))

    # -- the link --------------------------------------------------------------------------------

    async def reconnect(self, carrier: str) -> None:
        """Drop the link, and connect anew.

        Nothing is submitted meanwhile. Answers that are still to come are waited for a moment; what
        has none then is uncertain, as with any link that is lost.

        Raises:
            NotFound: there is no such carrier.
            Conflict: it is about to end.
        """
        lane = self._have.fleet.lanes.get(carrier)
        if lane is None:
            raise NotFound(f"There is no carrier {carrier!r}.")
        async with self._turn:
            if lane.standing.gate is Gate.LEAVING:
                raise Conflict(f"{carrier} finishes what it has begun, and ends then.")
            lane.standing.note("the operator lets it connect anew")
            with lane.resting():
                with trio.move_on_after(RECONNECT_S):
                    await lane.wait_answers()
                await self._have.crew.reconnect(lane)

    # -- other carriers --------------------------------------------------------------------------

    async def start(self, drivers: Mapping[str, Driver]) -> None:
        """Let the lanes live that were built beforehand."""
        await self._remember(drivers)
        for lane in list(self._have.fleet.lanes.values()):
            await self._have.crew.start(lane)

    async def change(
        self, sections: Sequence[CarrierSection], drivers: Mapping[str, Driver]
    ) -> None:
        """Go by these settings from now on. Lanes of carriers that are as before notice nothing.

        Args:
            drivers: new ones, of the carriers that begin, and of those that need another driver.
        """
        async with self._turn:
            before, after = self._sections, {section.name: section for section in sections}
            names = [*before, *(name for name in after if name not in before)]
            effects = {name: effect_of(before.get(name), after.get(name)) for name in names}
            begun = [
                self._have.fleet.build(self._in_force(after[name]), drivers[name])
                for name, effect in effects.items()
                if effect is Effect.STARTS and name not in self._departures
            ]
            new = {lane.name: lane for lane in begun}
            # First, because it is what may be refused: then nothing has changed.
            await self._rearrange({**self._have.fleet.lanes, **new}, tuple(after.values()))
            self._sections = after
            for name, effect in effects.items():
                if effect is Effect.AT_ONCE:
                    self._retune(name)
                elif effect in _ENDS and name not in new:
                    self._depart(name, drivers.get(name))
            for lane in begun:
                await self._have.crew.start(lane)
            self._bell.ring()
            await self._remember(drivers)

    def _depart(self, name: str, driver: Driver | None) -> None:
        """Let the lane of this name end; ``driver`` follows it."""
        known = self._departures.get(name)
        if known is None:
            self._departures[name] = _Departure(driver)
            self._have.fleet.lanes[name].set_gate(Gate.LEAVING)
            return
        known.driver = driver
        if driver is not None:
            known.hurried.set()

    async def _rearrange(
        self, lanes: Mapping[str, CarrierWorker], sections: Sequence[CarrierSection]
    ) -> None:
        carriers = [self._in_force(each) for each in sections if each.enabled]
        # One whose former lane still ends has a lane by its name, that takes nothing new.
        known = tuple(each for each in carriers if each.name in lanes)
        await self._have.rearrange(Rearrange(known, lanes))
        self._have.sorter.carriers_changed()

    async def _remember(self, drivers: Mapping[str, Driver]) -> None:
        """Write down by what carriers share receipts, and go by it."""
        lanes, recorder = self._have.fleet.lanes, self._have.recorder
        now = [member_of(each, _driver(each.name, drivers, lanes)) for each in self.sections]
        now_ms = recorder.clock.now_ms()
        self._members |= {*now, *self._have.carriers.former(now_ms)}
        recorder.groups.regroup(sorted(self._members, key=str))
        if not self._have.carriers.differ(now):
            return
        try:
            await self._have.carriers.take_over(now, now_ms)
        except Unavailable as error:  # the next change, or start, writes it down
            log.warning("carriers.storage", reason=str(error))

    # -- those that end --------------------------------------------------------------------------

    async def run(self) -> None:
        """See lanes off, for life."""
        under_way: set[str] = set()
        async with trio.open_nursery() as nursery:
            while True:
                for name in self._departures.keys() - under_way:
                    under_way.add(name)
                    nursery.start_soon(self._see_off, name, under_way)
                await self._bell.wait(math.inf)

    async def _see_off(self, name: str, under_way: set[str]) -> None:
        lane, departure = self._have.fleet.lanes[name], self._departures[name]
        await lane.wait_idle()
        if departure.driver is None and _has_receipts_to_come(lane):
            with trio.move_on_after(RECEIPTS_S):
                await departure.hurried.wait()
        await self._have.crew.end(lane)
        async with self._turn:
            lanes = {each: one for each, one in self._have.fleet.lanes.items() if each != name}
            section, driver = self._sections.get(name), departure.driver
            heir = None
            if driver is not None and section is not None:
                heir = lanes[name] = self._have.fleet.build(self._in_force(section), driver, lane)
            await self._rearrange(lanes, self.sections)
            del self._departures[name]
            under_way.discard(name)
            if heir is not None:
                await self._have.crew.start(heir)
        log.info("carrier.gone" if heir is None else "carrier.renewed", carrier=name)


_ENDS: Final = (Effect.STARTS, Effect.RESTARTS, Effect.LEAVES)
"""Of a lane that is there: it ends, and something follows or not. One whose carrier starts is there
where it has not ended yet."""


def _has_receipts_to_come(lane: CarrierWorker) -> bool:
    standing = lane.standing
    is_up = standing.health.state is HealthState.UP
    return is_up and standing.gives_receipts and lane.counts.accepted > 0


def member_of(section: CarrierSection, driver: Driver | None) -> Member:
    """What decides which receipts group a carrier is in. A disabled one has no driver."""
    account = driver.capabilities.account if driver is not None else ""
    return Member(section.name, section.driver, account, section.receipt_group)


def _driver(
    name: str, drivers: Mapping[str, Driver], lanes: Mapping[str, CarrierWorker]
) -> Driver | None:
    if name in drivers:
        return drivers[name]
    lane = lanes.get(name)
    return None if lane is None else lane.driver
