"""The engine put together: journal outermost, then actors, workers, drivers, each inside the last.

A stop runs inside-out: the gateway refuses, the scheduler gives out nothing new, workers finish
what is in their windows, drivers disconnect, actors stop, the journal empties its queue and closes.
If a deadline cuts something short, its state is on disk, and the next start clears it up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

import structlog
import trio

from risala.config.model import CarrierSection, Settings
from risala.dataclass import dataclass
from risala.engine.actors.actor import MailboxFull, Ref
from risala.engine.delivery.carrier_registry import CarrierRegistry
from risala.engine.delivery.carrier_runtime import DRIVER_POLICY
from risala.engine.delivery.deadline_watch import DeadlineWatch
from risala.engine.delivery.driver_commands import DriverCommands
from risala.engine.delivery.driver_context import TextTaker
from risala.engine.delivery.loopwatch import LoopWatch
from risala.engine.delivery.scheduler import Board, Scheduler, SchedulerMessage, keep_pumping
from risala.engine.delivery.suspects import suspicion_of
from risala.engine.delivery.uncertain import UncertainSegments
from risala.engine.delivery.waits import Waits
from risala.engine.follow.cursors import EventCursors
from risala.engine.gateway.gateway import Gateway
from risala.engine.intake.intake import Intake
from risala.engine.intake.opt_outs import LookBack
from risala.engine.journal.store.server_key import keep_forgetting
from risala.engine.model.errors import Draining, EngineError
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty, features
from risala.engine.rules.router import Router
from risala.engine.services import Delivery, Services
from risala.engine.upkeep.clock_rollback import WatchedClock, keep_elapsed
from risala.engine.upkeep.overview import Running, statistics
from risala.engine.verify.sessions import (
    Reload,
    SessionsMessage,
    keep_settling,
    settle_due,
)
from risala.engine.wiring.carriers import (
    CarrierWiring,
    build_registry,
    build_rereading,
    build_sending,
)
from risala.engine.wiring.connections import NO_OUTSIDE, Connections, build_outward, in_words
from risala.engine.wiring.feature_tasks import FeatureTasks
from risala.engine.wiring.foundation import (
    Foundation,
    Owners,
    Seams,
    open_core,
    start_owners,
    system_seams,
)
from risala.engine.wiring.gateway import open_intake, people_of
from risala.engine.wiring.recovery import clear_up
from risala.plugins.contract import Driver
from risala.plugins.kinds import PAYMENT_METHODS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Engine:
    """A running engine; see :func:`open_engine`."""

    gateway: Gateway
    _board: Board
    scheduler: Ref[SchedulerMessage]
    _lineup: CarrierRegistry
    cursors: EventCursors
    """For consumers that must get every event."""
    _obeying: Sequence[Callable[[Settings], None]]
    _feature_tasks: FeatureTasks

    async def wait_ready(self) -> None:
        """Return once a carrier is up."""
        while self.gateway.services.delivery.unready():
            await self._board.notes.wait_change()

    def retune(self, settings: Settings) -> None:
        """Apply what may change at run time: prices, limits, alerts, carriers' paces."""
        for each in self._obeying:
            each(settings)
        for carrier in settings.carriers:
            self._lineup.repace(carrier.name, carrier.rate_per_s)

    async def drain(self) -> None:
        """Give out nothing new and wait until the workers' windows are empty."""
        self.gateway.drain()
        self._board.stop_leasing()
        busy = [lane for lane in self._board.lanes.values() if lane.busy]
        if busy:
            log.info("engine.draining", carriers=[lane.name for lane in busy])
        for lane in busy:
            lane.offers.withdraw_all()
            await lane.wait_idle()
        await self.gateway.services.recorder.flush_minutes()


@asynccontextmanager
async def open_engine(
    settings: Settings,
    carriers: Sequence[CarrierSection],
    drivers: Mapping[str, Driver],
    seams: Seams | None = None,
    outside: Connections = NO_OUTSIDE,
) -> AsyncIterator[Engine]:
    """Run the engine with these carriers; drains them under ``engine.drain_s`` at the end.

    Raises:
        StorageUnusable: one sentence says why.
    """
    seams = seams or system_seams()
    clock = WatchedClock(seams.clock)
    async with open_core(settings, replace(seams, clock=clock)) as core:
        flash = {name for name, driver in drivers.items() if driver.capabilities.flash}
        router, owners = Router(carriers, flash), await _begin(core)
        sending = build_sending(core, owners, router, carriers, drivers)
        recorder, board = sending.recorder, sending.board
        again = core.set_aside.loop("recovery", at_start=True)
        await clear_up(core.repositories.queue, clock, carriers, board.lanes, again)
        scheduler = await core.supervisor.start(
            "scheduler",
            lambda: Scheduler(board, router, core.seams.clock),
            mailbox_max=settings.engine.mailbox_max,
        )

        def taker_of(carrier: str) -> TextTaker | None:
            return _taker(gateway.services, carrier)  # drivers start once the gateway is there

        lineup = build_registry(core, sending, router, scheduler, carriers, taker_of)
        waits = Waits(router, board.lanes, lambda: board.leasing, core.seams.clock)
        others = in_words(outside)
        watch = LoopWatch(core.seams.clock, partial(suspicion_of, lanes=board.lanes, others=others))
        outward = build_outward(
            settings,
            recorder,
            core.repositories,
            core.accounts,
            outside,
            core.derived,
            core.set_aside,
        )
        people = people_of(core, owners, outside, outward.post.wake)
        commands = DriverCommands(board.lanes)
        obeying: list[Callable[[Settings], None]] = []  # new settings, while it runs

        def running(intake: Intake) -> Delivery:
            intakes = (intake.statistics, intake.policies.standings)
            numbers = partial(
                statistics,
                recorder,
                *intakes,
                board,
                core.supervisor,
                watch,
                core.set_aside.statuses,
            )
            anew = build_rereading(core, outside.source, carriers, lineup, obeying)
            return Running(
                board,
                core.repositories,
                router,
                scheduler,
                commands,
                waits,
                outward.live,
                outward.hint_webhook,
                numbers,
                lineup,
                anew,
            )

        gateway = await open_intake(
            core,
            owners,
            recorder,
            sending.ends,
            router,
            waits.ailing,
            people,
            outside,
            running,
            outward.cursors,
            clock,
        )
        # Done before any worker starts, so that no code is sent after its session has ended.
        await settle_due(gateway.services.sessions, clock)
        start = core.supervisor.start_service
        if core.seams.watch_loop:
            await start("loop watch", watch.run, policy=DRIVER_POLICY)
        board.queue.load(
            each.id for each in core.repositories.organizations.all() if each.status != "active"
        )
        services = gateway.services
        await outward.start(core.supervisor, services)
        obeying += (
            services.intake.retune,
            partial(_retune_features, services),
        )
        await _start_services(
            core, sending, gateway.services.sessions, scheduler, partial(lineup.start, drivers)
        )
        await start("lineup", lineup.run)
        await start(
            "clock",
            partial(
                keep_elapsed,
                clock,
                core.repositories.queue,
                partial(_look_again, sending, gateway.services),
            ),
        )
        tasks = await _start_chores(core, gateway)
        engine = Engine(gateway, board, scheduler, lineup, outward.cursors, obeying, tasks)
        try:
            yield engine
        finally:
            commands.close()
            with trio.move_on_after(settings.engine.drain_s, shield=True):
                await _end_in_order(engine, core)


async def _begin(core: Foundation) -> Owners:
    """What comes before all else: what features have to have there, and the owners."""
    for feature in features():
        if feature.begins is not None:
            await feature.begins()(core.start)
    return await start_owners(core)


def _retune_features(services: Services, settings: Settings) -> None:
    for feature in features():
        if feature.retuned is not None:
            feature.retuned()(services, settings)


def _taker(services: Services, carrier: str) -> TextTaker | None:
    """What takes the incoming texts of a carrier; None: they are for customers."""
    if not services.surroundings.plugged.get(PAYMENT_METHODS.key):
        return None  # only these read such texts
    taker_of = duty(Duty.CARRIER_TEXTS)
    return None if taker_of is None else taker_of(services, carrier)


async def _end_in_order(engine: Engine, core: Foundation) -> None:
    services = engine.gateway.services
    await services.people.sessions.uses.write()
    await engine._feature_tasks.end()
    await engine.drain()
    with suppress(EngineError):  # without it a restore takes this end for a crash
        await core.repositories.queue.note_stopped(core.seams.clock.now_ms())


async def _start_chores(core: Foundation, gateway: Gateway) -> FeatureTasks:
    """The background tasks besides sending."""
    start, services = core.supervisor.start_service, gateway.services
    look_back = LookBack(
        services.repositories.inbound,
        services.recorder.clock,
        services.intake.opt_outs.changed,
        core.set_aside.loop("opt_outs"),
    )
    await start("opt-outs", look_back.run)
    if services.intake.policies.are_there:
        await start("policies", services.intake.policies.run, policy=DRIVER_POLICY)
    await start("web sessions", services.people.sessions.uses.keep_writing)
    await start("old keys", partial(keep_forgetting, core.server_keys, core.seams.clock))
    await start("answers", services.recorder.answers.run)
    await start("minutes", services.recorder.keep_writing_minutes)
    tasks = FeatureTasks(core.supervisor, gateway)
    await tasks.start()
    return tasks


def _look_again(sending: CarrierWiring, services: Services) -> None:
    """Times in the journal have changed: let everything that caches one read it again."""
    sending.board.queue.load(())
    sending.board.notes.wake()
    sending.next_look.ring()
    services.accounts.forget_keys()
    with suppress(MailboxFull, Draining):  # without the hint, deadlines are read again a bit later
        services.sessions.tell_nowait(Reload())
    for endpoint_id, _, _ in services.repositories.deliveries.waiting():
        services.delivery.hint_webhook(endpoint_id)


async def _start_services(
    core: Foundation,
    sending: CarrierWiring,
    sessions: Ref[SessionsMessage],
    scheduler: Ref[SchedulerMessage],
    start_lanes: Callable[[], Awaitable[None]],
) -> None:
    start, recorder, board = core.supervisor.start_service, sending.recorder, sending.board
    await start("storage", core.journal.keep_probing)
    await start("accounts", core.accounts.uses.keep_writing)
    await start("keys' places", core.accounts.places.keep_writing)
    await start(
        "sessions' deadlines", partial(keep_settling, sessions, sending.ends, core.seams.clock)
    )
    uncertain = UncertainSegments(
        board.lanes,
        core.repositories.receipts,
        core.seams.clock,
        core.settings.delivery.uncertain_submits_max,
        scheduler.ask,
    )
    keeper = DeadlineWatch(
        recorder,
        core.repositories,
        sending.next_look,
        uncertain.ask_or_repeat,
        core.settings.delivery,
        core.set_aside.loop("deadlines"),
    )
    await start("keeper", keeper.run)
    await start("scribe", sending.scribe.run)
    await start("sorter", sending.sorter.run)
    await start_lanes()
    await start("pump", partial(keep_pumping, board, scheduler, core.seams.clock))
