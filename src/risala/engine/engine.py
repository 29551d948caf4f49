"""The engine put together: journal outermost, then actors, lanes and drivers, each inside the last.

A stop runs inside-out: the gateway refuses, the scheduler gives out nothing new, lanes finish what
is in their windows, drivers take their leave, actors stop, the journal empties its queue and
closes. Whatever a deadline cuts short is on disk as it is, and the next start clears it up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

import structlog
import trio

from risala.config.model import CarrierSection, OnUncertain, Settings
from risala.engine import overview
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.senders import Senders
from risala.engine.actors.actor import Ref
from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.billing.billing import Billing, tell_entered
from risala.engine.delivery.declining import declines
from risala.engine.delivery.driver_commands import DriverCommands
from risala.engine.delivery.driver_context import LaneContext
from risala.engine.delivery.keeper import Keeper
from risala.engine.delivery.lane import Lane
from risala.engine.delivery.lane_parts import LaneHooks
from risala.engine.delivery.loopwatch import LoopWatch
from risala.engine.delivery.queries import Queries, ask_uncertain
from risala.engine.delivery.scheduler import Board, Scheduler, SchedulerMessage, keep_pumping
from risala.engine.delivery.suspects import suspicion_of
from risala.engine.delivery.waits import Waits
from risala.engine.gateway import Gateway
from risala.engine.intake.intake import Intake
from risala.engine.intake.opt_outs import LookBack
from risala.engine.journal.accounts import balances
from risala.engine.journal.messages import deadlines, verifications
from risala.engine.journal.messages import reads as messages
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.store import meta
from risala.engine.journal.store.schema import migrate
from risala.engine.journal.store.writer import Journal
from risala.engine.journal.webhooks import deliveries as webhook_log
from risala.engine.limits.limits import Limits, LimitsMemory
from risala.engine.model.clock import Clock, SystemClock
from risala.engine.model.ids import IdSource
from risala.engine.outside import Outside, start_outside
from risala.engine.rules.breaker import Breaker
from risala.engine.rules.receiptgroups import Member, ReceiptGroups
from risala.engine.rules.router import TEST_ROUTE, Router, pinned
from risala.engine.rules.throttle import Throttle
from risala.engine.services import Services
from risala.engine.upkeep.retention import Retention
from risala.engine.upkeep.set_back import WatchedClock, keep_elapsed
from risala.engine.verify.codes import Codes, load_codes
from risala.engine.verify.sessions import Deadlines, Sessions, Sources, text_of
from risala.plugins.contract import Driver

log = structlog.get_logger(__name__)

DATABASE: Final = "risala.db"
ROWS_AT_ONCE: Final = 500
"""Rows that a start clears up in one unit."""
ACTORS_STOP_S: Final = 5.0
DRIVER_POLICY: Final = RestartPolicy(restarts_max=None)
"""One carrier's bugs must not take the others down: it is started again for ever. Nor may those of
who only looks on."""


@dataclass(frozen=True, slots=True)
class Seams:
    """What tests own."""

    clock: Clock
    ids: IdSource
    inline_journal: bool = False
    watch_loop: bool = False
    """A thread sees whether the loop stands still: not under a mock clock."""


def system_seams() -> Seams:
    clock = SystemClock()
    return Seams(clock, IdSource(clock), watch_loop=True)


@dataclass(slots=True)
class _Core:
    """What is there with and without carriers."""

    settings: Settings
    seams: Seams
    journal: Journal
    recorder: Recorder
    accounts: Accounts
    codes: Codes
    deadlines: Deadlines
    supervisor: Supervisor


@asynccontextmanager
async def open_core(settings: Settings, seams: Seams) -> AsyncIterator[_Core]:
    """Journal, accounts and supervisor; closes them in order. The caller holds the data lock.

    Raises:
        StorageUnusable: one sentence says why.
    """
    journal = Journal(
        Path(settings.storage.data_dir) / DATABASE,
        migrate=migrate,
        commit_units_max=settings.storage.commit_units_max,
        queue_units_max=settings.storage.queue_units_max,
        inline=seams.inline_journal,
    )
    async with trio.open_nursery() as outermost:
        await outermost.start(journal.run)
        try:
            async with trio.open_nursery() as inner:
                supervisor = Supervisor()
                await inner.start(supervisor.run)
                recorder = Recorder(journal, seams.clock, seams.ids)
                accounts = Accounts(journal, journal.reader(), seams.clock, seams.ids)
                codes = load_codes(Path(settings.storage.data_dir))
                ends = Deadlines(recorder, journal.reader())
                try:
                    yield _Core(
                        settings, seams, journal, recorder, accounts, codes, ends, supervisor
                    )
                finally:
                    with trio.move_on_after(ACTORS_STOP_S, shield=True):
                        await accounts.flush_touched()
                        await supervisor.stop()
                    inner.cancel_scope.cancel()
        finally:
            journal.stop()


@asynccontextmanager
async def open_gateway(settings: Settings, seams: Seams | None = None) -> AsyncIterator[Gateway]:
    """The gateway without carriers: for a command while no service runs."""
    async with open_core(settings, seams or system_seams()) as core:
        parts = await _parts(core, Router(settings.carriers))
        parts.carriers = partial(overview.idle_carriers, settings, parts.reader)
        yield Gateway(parts)


async def _parts(core: _Core, router: Router) -> Services:
    settings = core.settings
    reader, ids = core.journal.reader(), core.seams.ids
    limits_memory = LimitsMemory(settings.limits)
    limits = await core.supervisor.start(
        "limits",
        lambda: Limits(limits_memory, partial(verifications.accepted_since, reader)),
        mailbox_max=settings.engine.mailbox_max,
    )
    billing = await core.supervisor.start(
        "billing",
        lambda: Billing(core.journal, core.seams.clock, partial(balances.standing, reader)),
        mailbox_max=settings.engine.mailbox_max,
    )
    core.recorder.listeners.entered = partial(tell_entered, billing)
    senders = Senders(core.recorder, reader, ids, settings)
    intake = Intake(
        settings, core.recorder, reader, ids, core.accounts, senders, router, limits, billing
    )
    sources = Sources(settings, core.recorder, reader, ids, core.accounts, intake, core.codes)
    sessions = await core.supervisor.start(
        "sessions",
        lambda: Sessions(sources, core.deadlines),
        mailbox_max=settings.engine.mailbox_max,
        later_max=settings.engine.mailbox_max,
    )
    return Services(
        settings=settings,
        recorder=core.recorder,
        reader=reader,
        ids=ids,
        accounts=core.accounts,
        senders=senders,
        intake=intake,
        billing=billing,
        limits=limits,
        sessions=sessions,
    )


class Engine:
    """A running engine; see :func:`open_engine`."""

    def __init__(
        self, core: _Core, gateway: Gateway, board: Board, scheduler: Ref[SchedulerMessage]
    ) -> None:
        self._core = core
        self._board = board
        self.gateway = gateway
        self.scheduler = scheduler

    async def wait_ready(self) -> None:
        """Until some carrier is up."""
        while self.gateway.services.unready():
            await self._board.wait_change()

    def retune(self, settings: Settings) -> None:
        """Take over what may change at run time: prices, limits, carriers' paces."""
        self.gateway.services.intake.retune(settings)
        for carrier in settings.carriers:
            lane = self._board.lanes.get(carrier.name)
            if lane is not None:
                lane.throttle.retune(carrier.rate_per_s, trio.current_time())
        self._board.wake()

    async def drain(self) -> None:
        """Give out nothing new and wait until the lanes' windows are empty."""
        self.gateway.drain()
        self._board.leasing = False
        self._board.wake()
        busy = [lane for lane in self._board.lanes.values() if lane.busy]
        if busy:
            log.info("engine.draining", carriers=[lane.name for lane in busy])
        for lane in busy:
            await lane.wait_idle()


@asynccontextmanager
async def open_engine(
    settings: Settings,
    carriers: Sequence[CarrierSection],
    drivers: Mapping[str, Driver],
    seams: Seams | None = None,
    outside: Outside | None = None,
) -> AsyncIterator[Engine]:
    """Run the engine with these carriers; drains them under ``engine.drain_s`` at the end.

    Raises:
        StorageUnusable: one sentence says why.
    """
    seams = seams or system_seams()
    clock = WatchedClock(seams.clock)
    async with open_core(settings, replace(seams, clock=clock)) as core:
        router = Router(carriers)
        board = Board(core.journal, settings.engine.buffer_rows_max)
        board.text_of = partial(text_of, reader=board.reader, codes=core.codes)
        core.recorder.groups = _receipt_groups(carriers, drivers)
        await _clear_up(core, router, carriers)
        await core.deadlines.settle()
        parts = await _parts(core, router)
        _build_lanes(core, board, router, carriers, drivers)
        scheduler = await core.supervisor.start(
            "scheduler",
            lambda: Scheduler(board, router, core.seams.clock),
            mailbox_max=settings.engine.mailbox_max,
        )
        gateway = Gateway(parts)
        parts.scheduler = scheduler
        parts.unready = partial(overview.unready, board)
        waits = Waits(router, board.lanes, lambda: board.leasing, core.seams.clock)
        parts.waits, parts.intake.drafts.ailing = waits.of, waits.ailing
        parts.carriers = partial(overview.carriers, board, router)
        parts.commands = DriverCommands(board.lanes)
        watch = LoopWatch(core.seams.clock, partial(suspicion_of, lanes=board.lanes))
        if core.seams.watch_loop:
            await core.supervisor.start_service("loop watch", watch.run, policy=DRIVER_POLICY)
        parts.statistics = partial(overview.statistics, parts, board, core.supervisor, watch)
        keeper = Keeper(core.recorder, core.journal.reader(), settings.delivery)
        core.recorder.listeners.pending = board.pending
        core.recorder.listeners.deadline = keeper.expect
        board.queue.load(
            each.id for each in core.accounts.list_organizations() if each.status != "active"
        )
        await start_outside(parts, core.supervisor, outside or Outside())
        look_back = LookBack(core.recorder)
        parts.intake.opt_outs.changed = look_back.begin
        await core.supervisor.start_service("opt-outs", look_back.run)
        await _start_services(core, board, scheduler, keeper, drivers)
        again = partial(_look_again, core, board, keeper, parts)
        keep = partial(keep_elapsed, clock, core.recorder, again)
        await core.supervisor.start_service("clock", keep)
        engine = Engine(core, gateway, board, scheduler)
        try:
            yield engine
        finally:
            parts.commands.close()
            with trio.move_on_after(settings.engine.drain_s, shield=True):
                await engine.drain()


def _look_again(core: _Core, board: Board, keeper: Keeper, parts: Services) -> None:
    """Times in the journal have changed: whoever remembers one looks again."""
    board.queue.load(())
    board.wake()
    keeper.expect(0)
    core.deadlines.expect(0)
    for endpoint_id, _, _ in webhook_log.waiting(parts.reader):
        parts.hint_webhook(endpoint_id)


async def _start_services(
    core: _Core,
    board: Board,
    scheduler: Ref[SchedulerMessage],
    keeper: Keeper,
    drivers: Mapping[str, Driver],
) -> None:
    start = core.supervisor.start_service
    await start("storage", core.journal.keep_probing)
    await start("accounts", core.accounts.keep_touching)
    await start("sessions' deadlines", core.deadlines.keep)
    keeper.ask = partial(ask_uncertain, board.lanes, board.reader)
    await start("keeper", keeper.run)
    for name, lane in board.lanes.items():
        if lane.driver.capabilities.query:
            queries = Queries(lane, board.reader)
            lane.accepted = queries.expect
            await start(f"queries {name}", queries.run)
        await start(f"lane {name}", lane.run)
        context = LaneContext(lane, board.reader, core.seams.ids)
        await start(
            f"driver {name}",
            partial(lane.run_driver, drivers[name], context),
            policy=DRIVER_POLICY,
        )
    await start("retention", Retention(core.recorder, core.settings.retention).run)
    await start("pump", partial(keep_pumping, board, scheduler, core.seams.clock))


def _build_lanes(
    core: _Core,
    board: Board,
    router: Router,
    carriers: Sequence[CarrierSection],
    drivers: Mapping[str, Driver],
) -> None:
    def next_route(recipient: str, tried: tuple[str, ...]) -> str | None:
        left = [name for name in router.carriers_for(recipient) if name not in tried]
        now_s = trio.current_time()
        well = (name for name in left if board.lanes[name].healthy(now_s))
        name = next(well, left[0] if left else None)
        return None if name is None else pinned(name)

    def willing_route(recipient: str, tried: tuple[str, ...], segments: int) -> str | None:
        now_s = trio.current_time()
        for name in router.carriers_for(recipient):
            lane = board.lanes[name]
            if (
                name not in tried
                and lane.healthy(now_s)
                and declines(name, lane.driver, recipient, segments) is None
            ):
                return pinned(name)
        return None

    hooks = LaneHooks(board.wake, board.release, board.put_back, next_route, willing_route)
    delivery = core.settings.delivery
    for carrier in carriers:
        if carrier.enabled:
            board.lanes[carrier.name] = Lane(
                carrier=carrier,
                driver=drivers[carrier.name],
                recorder=core.recorder,
                hooks=hooks,
                breaker=Breaker(delivery.breaker_failures, delivery.breaker_open_s),
                throttle=Throttle(carrier.rate_per_s, trio.current_time(), core.seams.ids.chance),
                retry=delivery.retry,
            )


def _receipt_groups(
    carriers: Sequence[CarrierSection], drivers: Mapping[str, Driver]
) -> ReceiptGroups:
    def account(name: str) -> str:
        driver = drivers.get(name)  # a carrier that is disabled has none
        return driver.capabilities.account if driver is not None else ""

    return ReceiptGroups(
        Member(each.name, each.driver, account(each.name), each.receipt_group) for each in carriers
    )


async def _clear_up(core: _Core, router: Router, carriers: Sequence[CarrierSection]) -> None:
    """After a crash or a change of carriers: nothing may be left in nobody's hands."""
    by_name = {carrier.name: carrier for carrier in carriers}

    def policy(carrier: str, kind: str) -> OnUncertain:
        section = by_name.get(carrier) or CarrierSection(name="unknown", driver="unknown")
        return section.on_uncertain_code if kind == "code" else section.on_uncertain_message

    now_ms = core.seams.clock.now_ms()
    total = 0
    while count := await core.journal.commit(
        lambda conn: deadlines.recover(conn, policy, now_ms, ROWS_AT_ONCE)
    ):
        total += count
    if total:
        log.warning("engine.recovered", messages=total)
    await _reroute(core, router)


async def _reroute(core: _Core, router: Router) -> None:
    """Where the carriers' prefixes changed, sort what is queued into the routes of today."""
    reader, now_ms = core.journal.reader(), core.seams.clock.now_ms()
    changed = meta.get(reader, "routes") != router.fingerprint
    for queue in messages.queues(reader):
        known = queue[0] in router.routes
        if known and (not changed or queue[0] == TEST_ROUTE or queue[0].startswith("@")):
            continue
        after: tuple[int, int] | None = (-1, 0)
        while after is not None:
            start = after
            after = await core.journal.commit(
                lambda conn, queue=queue, start=start: messages.reroute(  # type: ignore[misc]
                    conn, queue, start, router.route_key, ROWS_AT_ONCE, now_ms
                )
            )
    if changed:
        await core.journal.commit(lambda conn: meta.put(conn, "routes", router.fingerprint))
