"""The engine put together: journal outermost, then actors, lanes and drivers, each inside the last.

A stop runs inside-out: the gateway refuses, the scheduler gives out nothing new, lanes finish what
is in their windows, drivers take their leave, actors stop, the journal empties its queue and
closes. Whatever a deadline cuts short is on disk as it is, and the next start clears it up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import structlog
import trio

from risala.config.model import CarrierSection, Settings
from risala.engine.accounts.accounts import Accounts
from risala.engine.accounts.senders import Senders
from risala.engine.actors.actor import MailboxFull, Ref
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.supervisor import RestartPolicy, Supervisor
from risala.engine.billing.billing import Billing, tell_entered
from risala.engine.billing.claims import BillingMessage
from risala.engine.delivery.driver_commands import DriverCommands
from risala.engine.delivery.driver_context import LaneContext
from risala.engine.delivery.fleet import Fleet
from risala.engine.delivery.keeper import Keeper
from risala.engine.delivery.lane.lane import Lane
from risala.engine.delivery.lane.parts import LaneHooks
from risala.engine.delivery.loopwatch import LoopWatch
from risala.engine.delivery.notes import Notes
from risala.engine.delivery.queries import Queries, ask_uncertain
from risala.engine.delivery.scheduler import Board, Scheduler, SchedulerMessage, keep_pumping
from risala.engine.delivery.scribe import Scribe
from risala.engine.delivery.suspects import suspicion_of
from risala.engine.delivery.waits import Waits
from risala.engine.gateway import Gateway
from risala.engine.intake.draft import Ailing, nothing_ails
from risala.engine.intake.intake import Intake
from risala.engine.intake.opt_outs import LookBack
from risala.engine.journal import keys
from risala.engine.journal.accounts import balances
from risala.engine.journal.messages import verifications
from risala.engine.journal.recorder import Listeners, Recorder, unheard
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.server_key import load_server_key
from risala.engine.journal.store.writer import Journal
from risala.engine.journal.webhooks import deliveries as webhook_log
from risala.engine.limits.claims import LimitsMessage
from risala.engine.limits.limits import Limits, LimitsMemory
from risala.engine.model.clock import Clock, SystemClock
from risala.engine.model.errors import Draining
from risala.engine.model.ids import IdSource, MessageIds
from risala.engine.outside import NO_OUTSIDE, Outside, build_outward, public_url
from risala.engine.overview import Alone, Running, statistics
from risala.engine.payments.desk import Desk, DeskSources
from risala.engine.people.people import People
from risala.engine.people.sources import PeopleSources
from risala.engine.people.tokens import Derived
from risala.engine.recovery import clear_up
from risala.engine.requests.log import RequestLog
from risala.engine.rules.breaker import Breaker
from risala.engine.rules.codes import Codes
from risala.engine.rules.receiptgroups import Member, ReceiptGroups
from risala.engine.rules.router import Router
from risala.engine.rules.throttle import Throttle
from risala.engine.services import Delivery, Services
from risala.engine.upkeep.erasing import Erasing
from risala.engine.upkeep.exporting import Exporting
from risala.engine.upkeep.retention import Retention
from risala.engine.upkeep.set_back import WatchedClock, keep_elapsed
from risala.engine.upkeep.upgrade import bring_over
from risala.engine.verify.sessions import (
    AT_ONCE_MAX,
    Reload,
    SessionsMessage,
    Sources,
    VerificationSessions,
    keep_settling,
    settle_due,
    text_of,
)
from risala.plugins.contract import Driver

log = structlog.get_logger(__name__)

DATABASE: Final = "risala.db"
ACTORS_STOP_S: Final = 5.0
DRIVER_POLICY: Final = RestartPolicy(restarts_max=None)
"""For what is started again for ever: a driver, whose bugs must not take the other carriers down,
and services that only look on."""


@dataclass(frozen=True, slots=True)
class Seams:
    """The clock, the ids and the threads, which a test replaces by its own."""

    clock: Clock
    ids: IdSource
    inline_journal: bool = False
    watch_loop: bool = False
    """Watch from a thread whether the loop stands still; not under a mock clock."""


def system_seams() -> Seams:
    clock = SystemClock()
    return Seams(clock, IdSource(clock), watch_loop=True)


@dataclass(frozen=True, slots=True)
class _Core:
    """The parts that are there with and without carriers."""

    settings: Settings
    seams: Seams
    journal: Journal
    accounts: Accounts
    requests: RequestLog
    server_key: bytes = field(repr=False)
    supervisor: Supervisor

    @property
    def codes(self) -> Codes:
        """Of verification sessions."""
        return Codes(self.server_key)

    @property
    def derived(self) -> Derived:
        """Of people."""
        return Derived(self.server_key)


@asynccontextmanager
async def open_core(settings: Settings, seams: Seams) -> AsyncIterator[_Core]:
    """Journal, accounts and supervisor; closes them in order. The caller holds the data lock.

    Raises:
        StorageUnusable: one sentence says why.
    """
    path = Path(settings.storage.data_dir) / DATABASE
    await bring_over(path, seams.clock, inline=seams.inline_journal)
    journal = Journal(
        path,
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
                accounts = Accounts(journal, journal.reader(), seams.clock, seams.ids)
                data_dir = Path(settings.storage.data_dir)
                server_key = load_server_key(data_dir)
                requests = RequestLog(
                    settings.request_log, data_dir, seams.clock, inline=seams.inline_journal
                )
                try:
                    yield _Core(
                        settings, seams, journal, accounts, requests, server_key, supervisor
                    )
                finally:
                    with trio.move_on_after(ACTORS_STOP_S, shield=True):
                        await accounts.flush_touched()
                        await supervisor.stop()
                    await requests.close()
                    inner.cancel_scope.cancel()
        finally:
            journal.stop()


@dataclass(frozen=True, slots=True)
class _Owners:
    """The actors that own what may be taken and what is affordable."""

    limits: Ref[LimitsMessage]
    billing: Ref[BillingMessage]


async def _start_owners(core: _Core) -> _Owners:
    reader, mailbox_max = core.journal.reader(), core.settings.engine.mailbox_max
    memory = LimitsMemory(core.settings.limits, core.settings.people)
    limits = await core.supervisor.start(
        "limits",
        lambda: Limits(memory, partial(verifications.accepted_since, reader)),
        mailbox_max=mailbox_max,
    )
    billing = await core.supervisor.start(
        "billing",
        lambda: Billing(core.journal, core.seams.clock, partial(balances.standing, reader)),
        mailbox_max=mailbox_max,
    )
    return _Owners(limits, billing)


async def _open_door(
    core: _Core,
    owners: _Owners,
    recorder: Recorder,
    ends: Alarm,
    router: Router,
    ailing: Ailing,
    people: People,
    outside: Outside,
    delivery: Callable[[Intake], Delivery],
) -> Gateway:
    """Build the parts that decide what is accepted, and the gateway over them; needed with and
    without carriers."""
    settings, reader, ids = core.settings, core.journal.reader(), core.seams.ids
    senders = Senders(recorder, reader, ids, settings)
    intake = Intake(
        settings,
        recorder,
        reader,
        MessageIds(keys.last_key(reader), ids.random_bytes),
        core.accounts,
        senders,
        router,
        owners.limits,
        owners.billing,
        ailing,
    )
    sources = Sources(settings, recorder, reader, ids, core.accounts, intake, core.codes, ends)
    sessions = await core.supervisor.start(
        "sessions",
        lambda: VerificationSessions(sources),
        mailbox_max=settings.engine.mailbox_max,
        later_max=AT_ONCE_MAX,
    )
    return Gateway(
        Services(
            settings=settings,
            recorder=recorder,
            reader=reader,
            ids=ids,
            accounts=core.accounts,
            senders=senders,
            intake=intake,
            billing=owners.billing,
            limits=owners.limits,
            sessions=sessions,
            people=people,
            requests=core.requests,
            payments=_desk(core, owners, recorder, outside, people.mail_is_owed),
            delivery=delivery(intake),
            preparing=outside.preparing,
        )
    )


@asynccontextmanager
async def open_gateway(settings: Settings, seams: Seams | None = None) -> AsyncIterator[Gateway]:
    """The gateway without carriers: for a command while no service runs."""
    async with open_core(settings, seams or system_seams()) as core:
        owners = await _start_owners(core)
        listeners = Listeners(unheard, unheard, partial(tell_entered, owners.billing))
        clock, reader = core.seams.clock, core.journal.reader()
        recorder = Recorder(core.journal, clock, listeners, ReceiptGroups())
        ends, router = Alarm(clock), Router(settings.carriers)
        alone = Alone(settings, reader, clock)
        people = _people(core, owners, recorder, NO_OUTSIDE, nobody_hears)
        yield await _open_door(
            core,
            owners,
            recorder,
            ends,
            router,
            nothing_ails,
            people,
            NO_OUTSIDE,
            lambda _: alone,
        )


def _people(
    core: _Core, owners: _Owners, recorder: Recorder, outside: Outside, owed: Callable[[], None]
) -> People:
    return People(
        PeopleSources(
            settings=core.settings,
            recorder=recorder,
            reader=core.journal.reader(),
            ids=core.seams.ids,
            accounts=core.accounts,
            limits=owners.limits,
            derived=core.derived,
            ended=Broadcast(),
            owed=owed,
            public_url=public_url(core.settings, outside),
            has_mailer=outside.mailer is not None,
        )
    )


def _desk(
    core: _Core,
    owners: _Owners,
    recorder: Recorder,
    outside: Outside,
    owed: Callable[[], None],
) -> Desk:
    return Desk(
        DeskSources(
            settings=core.settings,
            recorder=recorder,
            reader=core.journal.reader(),
            ids=core.seams.ids,
            accounts=core.accounts,
            billing=owners.billing,
            methods=outside.payments,
            public_url=public_url(core.settings, outside),
            owed=owed,
        )
    )


def nobody_hears() -> None:
    """For a command beside no service: the next service finds the mail that is owed."""


class Engine:
    """A running engine; see :func:`open_engine`."""

    def __init__(self, gateway: Gateway, board: Board, scheduler: Ref[SchedulerMessage]) -> None:
        self._board = board
        self.gateway = gateway
        self.scheduler = scheduler

    async def wait_ready(self) -> None:
        """Return once some carrier is up."""
        while self.gateway.services.delivery.unready():
            await self._board.notes.wait_change()

    def retune(self, settings: Settings) -> None:
        """Take over what may change at run time: prices, limits, carriers' paces."""
        self.gateway.services.intake.retune(settings)
        for carrier in settings.carriers:
            lane = self._board.lanes.get(carrier.name)
            if lane is not None:
                lane.throttle.retune(carrier.rate_per_s, trio.current_time())
        self._board.notes.wake()

    async def drain(self) -> None:
        """Give out nothing new and wait until the lanes' windows are empty."""
        self.gateway.drain()
        self._board.stop_leasing()
        busy = [lane for lane in self._board.lanes.values() if lane.busy]
        if busy:
            log.info("engine.draining", carriers=[lane.name for lane in busy])
        for lane in busy:
            await lane.wait_idle()


@dataclass(frozen=True, slots=True)
class _Sending:
    """The parts that give messages to carriers and hear of them: built, and not running yet."""

    recorder: Recorder
    scribe: Scribe
    board: Board
    next_look: Alarm
    ends: Alarm
    """Rings at the ends of verification sessions."""


@asynccontextmanager
async def open_engine(
    settings: Settings,
    carriers: Sequence[CarrierSection],
    drivers: Mapping[str, Driver],
    seams: Seams | None = None,
    outside: Outside = NO_OUTSIDE,
) -> AsyncIterator[Engine]:
    """Run the engine with these carriers; drains them under ``engine.drain_s`` at the end.

    Raises:
        StorageUnusable: one sentence says why.
    """
    seams = seams or system_seams()
    clock = WatchedClock(seams.clock)
    async with open_core(settings, replace(seams, clock=clock)) as core:
        router = Router(carriers)
        owners = await _start_owners(core)
        sending = _build_sending(core, owners, router, carriers, drivers)
        recorder, board = sending.recorder, sending.board
        await clear_up(core.journal, clock, router, carriers)
        scheduler = await core.supervisor.start(
            "scheduler",
            lambda: Scheduler(board, router, core.seams.clock),
            mailbox_max=settings.engine.mailbox_max,
        )
        waits = Waits(router, board.lanes, lambda: board.leasing, core.seams.clock)
        watch = LoopWatch(core.seams.clock, partial(suspicion_of, lanes=board.lanes))
        outward = build_outward(settings, recorder, outside, core.derived)
        people = _people(core, owners, recorder, outside, outward.post.look)
        commands = DriverCommands(board.lanes)

        def running(intake: Intake) -> Delivery:
            told = core.requests.numbers
            numbers = partial(statistics, recorder, intake, board, core.supervisor, watch, told)
            live, hint = outward.live, outward.hint_webhook
            return Running(board, router, scheduler, commands, waits, live, hint, numbers)

        gateway = await _open_door(
            core,
            owners,
            recorder,
            sending.ends,
            router,
            waits.ailing,
            people,
            outside,
            running,
        )
        # Done before any lane starts, so that no code is sent whose session is over.
        await settle_due(gateway.services.sessions, clock)
        start = core.supervisor.start_service
        if core.seams.watch_loop:
            await start("loop watch", watch.run, policy=DRIVER_POLICY)
        board.queue.load(
            each.id for each in core.accounts.list_organizations() if each.status != "active"
        )
        await outward.start(core.supervisor)
        look_back = LookBack(recorder, gateway.services.intake.opt_outs.changed)
        await start("opt-outs", look_back.run)
        await _start_services(core, sending, gateway.services.sessions, scheduler, drivers)
        again = partial(_look_again, sending, gateway.services)
        await start("clock", partial(keep_elapsed, clock, recorder, again))
        await start("erasing", Erasing(gateway.services).run)
        inline = core.seams.inline_journal
        await start("exporting", Exporting(gateway.services, inline=inline).run)
        await start("web sessions", people.sessions.keep_touching)
        await start("payments", gateway.payments.run, policy=DRIVER_POLICY)
        engine = Engine(gateway, board, scheduler)
        try:
            yield engine
        finally:
            commands.close()
            with trio.move_on_after(settings.engine.drain_s, shield=True):
                await people.sessions.flush_touched()
                await engine.drain()


def _look_again(sending: _Sending, services: Services) -> None:
    """Times in the journal have changed: tell everybody who remembers one to read it again."""
    sending.board.queue.load(())
    sending.board.notes.wake()
    sending.next_look.ring()
    services.accounts.forget_keys()
    with suppress(MailboxFull, Draining):  # without the hint, deadlines are read anew a bit later
        services.sessions.tell_nowait(Reload())
    for endpoint_id, _, _ in webhook_log.waiting(services.reader):
        services.delivery.hint_webhook(endpoint_id)


async def _start_services(
    core: _Core,
    sending: _Sending,
    sessions: Ref[SessionsMessage],
    scheduler: Ref[SchedulerMessage],
    drivers: Mapping[str, Driver],
) -> None:
    start, recorder, board = core.supervisor.start_service, sending.recorder, sending.board
    await start("storage", core.journal.keep_probing)
    await start("accounts", core.accounts.keep_touching)
    await start("requests", core.requests.run, policy=DRIVER_POLICY)
    await start(
        "sessions' deadlines", partial(keep_settling, sessions, sending.ends, core.seams.clock)
    )
    keeper = Keeper(
        recorder,
        core.journal.reader(),
        sending.next_look,
        partial(ask_uncertain, board.lanes, board.reader),
        core.settings.delivery,
    )
    await start("keeper", keeper.run)
    await start("scribe", sending.scribe.run)
    for name, lane in board.lanes.items():
        if lane.driver.capabilities.query:
            await start(f"queries {name}", Queries(lane, board.reader).run)
        await start(f"lane {name}", lane.run)
        context = LaneContext(lane, board.reader, core.seams.ids)
        await start(
            f"driver {name}",
            partial(lane.run_driver, drivers[name], context),
            policy=DRIVER_POLICY,
        )
    retention = Retention(recorder, core.journal.reader(), core.settings.retention)
    await start("retention", retention.run)
    await start("pump", partial(keep_pumping, board, scheduler, core.seams.clock))


def _build_sending(
    core: _Core,
    owners: _Owners,
    router: Router,
    carriers: Sequence[CarrierSection],
    drivers: Mapping[str, Driver],
) -> _Sending:
    """Build what sends. Notes and timers come first, because the recorder tells them of changes;
    the lanes come last, because they write through the recorder."""
    reader, clock, delivery = core.journal.reader(), core.seams.clock, core.settings.delivery
    notes = Notes(reader, core.settings.engine.buffer_rows_max)
    next_look = Alarm(clock)
    recorder = Recorder(
        core.journal,
        clock,
        Listeners(notes.pending, next_look.expect, partial(tell_entered, owners.billing)),
        _receipt_groups(carriers, drivers),
    )

    scribe = Scribe(recorder)

    def lane(carrier: CarrierSection, hooks: LaneHooks) -> Lane:
        return Lane(
            carrier=carrier,
            driver=drivers[carrier.name],
            recorder=recorder,
            scribe=scribe,
            hooks=hooks,
            breaker=Breaker(delivery.breaker_failures, delivery.breaker_open_s),
            throttle=Throttle(carrier.rate_per_s, trio.current_time(), core.seams.ids.chance),
            retry=delivery.retry,
        )

    lanes = Fleet(router, carriers, notes, lane).lanes
    board = Board(notes, lanes, reader, partial(text_of, reader=reader, codes=core.codes))
    return _Sending(recorder, scribe, board, next_look, Alarm(clock))


def _receipt_groups(
    carriers: Sequence[CarrierSection], drivers: Mapping[str, Driver]
) -> ReceiptGroups:
    def account(name: str) -> str:
        driver = drivers.get(name)  # None for a disabled carrier, which has no driver
        return driver.capabilities.account if driver is not None else ""

    return ReceiptGroups(
        Member(each.name, each.driver, account(each.name), each.receipt_group) for each in carriers
    )
