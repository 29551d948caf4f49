"""Delivery as the rest of the engine sees it: whether it is possible, the carriers, the numbers.

There are two cases: a service that runs, and a command that opens the engine alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final

from risala.config.model import CarrierSection, Settings
from risala.dataclass import dataclass
from risala.engine.actors.actor import Ref
from risala.engine.actors.set_aside import ItemLoopStatus
from risala.engine.actors.supervisor import Supervisor
from risala.engine.delivery.carrier_registry import CarrierRegistry, overridden
from risala.engine.delivery.driver_commands import DriverCommands
from risala.engine.delivery.loopwatch import LoopWatch
from risala.engine.delivery.rereading import Rereading
from risala.engine.delivery.route_tester import (
    Judge,
    judge_lanes,
    judge_nothing,
    neediest,
    tell_route,
    tell_unserved,
)
from risala.engine.delivery.scheduler import Board, ReloadOrganization, SchedulerMessage, SetGate
from risala.engine.delivery.waits import Waits, known_wait
from risala.engine.delivery.worker.tile import statistics_of, tile_of
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.follow.live import Follower, Live
from risala.engine.journal.carriers import CarrierRepository
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.journal.recorder import Recorder
from risala.engine.journal.repositories import Repositories
from risala.engine.model.clock import Clock
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.errors import Conflict, NotFound, StorageFailed
from risala.engine.model.following import What
from risala.engine.model.lines import Kind, Line, Wait, is_same_wait
from risala.engine.model.records.carriers.routes import RouteAnswer, TrafficLine, UnservedNumbers
from risala.engine.model.records.carriers.state import (
    Carrier,
    CarrierCondition,
    FileValues,
    OverrideInForce,
    ServedNumbers,
)
from risala.engine.model.records.carriers.stored import Override
from risala.engine.model.records.messages import DueRow, MessageView
from risala.engine.model.records.record import shallow, to_json
from risala.engine.model.states import Gate, Status
from risala.engine.rules.router import Router, pinned
from risala.engine.services import Services
from risala.plugins.contract import DriverCommand, HealthState
from risala.sms.numbering.plan import NumberingPlan

NOT_RUNNING: Final = "The service is not running, so no carrier is connected."
QUEUE_COUNTED_MAX: Final = 10_000
"""The most messages that are counted; a longer queue is shown as "more", because counting a million
rows would block the loop."""


def message(services: Services, message_id: str) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
    """Any message, with its timeline. If the message waits, the last entry shows for what at this
    time.

    Raises:
        NotFound: no message has this id.
    """
    view, entries = services.repositories.messages.shown(message_id)
    if view.status != Status.PENDING:
        return view, entries
    return view, (*entries, *_waits(services, view, entries))


def _waits(
    services: Services, view: MessageView, entries: tuple[TimelineEntry, ...]
) -> Iterator[TimelineEntry]:
    """The entry for a message's present wait; empty if the last stored entry is the same."""
    row = services.repositories.queue.message(view.id)
    assert row is not None
    is_active = services.accounts.organization(view.organization_id).status == "active"
    now_ms = services.recorder.clock.now_ms()
    line = services.delivery.waits(row, view.send_at, is_active)
    if line is not None and not (entries and is_same_wait(entries[-1].line, line)):
        yield TimelineEntry(now_ms, view.status, line)


@dataclass(frozen=True, slots=True)
class Running:
    """The :class:`Delivery` of a running service."""

    _board: Board
    _repositories: Repositories
    _router: Router
    _scheduler: Ref[SchedulerMessage]
    _commands: DriverCommands
    _waits: Waits
    _live: Live
    _hint_webhook: Callable[[str], None]
    _statistics: Callable[[], dict[str, Any]]
    _lineup: CarrierRegistry
    _rereading: Rereading | None

    @property
    def running(self) -> bool:
        return True

    def unready(self) -> tuple[str, ...]:
        lanes = [lane for lane in self._board.lanes.values() if lane.carrier.sends]
        if not lanes:
            return ("no carrier is configured",)
        if all(lane.driver_health.state is not HealthState.UP for lane in lanes):
            return tuple(f"carrier {lane.name} is {lane.driver_health.state}" for lane in lanes)
        return ()

    def statistics(self) -> dict[str, Any]:
        return self._statistics()

    def carriers(self) -> list[Carrier]:
        stored = self._repositories
        over = _overrides(stored.carriers)
        return [
            Carrier(
                **shallow(statistics_of(lane)),
                **tile_of(lane),
                **self._settings_of(lane.carrier, over),
                **_queue(stored.queue, self._router, name, lane.recorder.clock.now_ms()),
                unmatched_receipts=stored.receipts.unmatched_total(name),
            )
            for name, lane in self._board.lanes.items()
            if lane.carrier.serves_numbers
        ]

    def workers(self) -> Iterable[CarrierWorker]:
        return self._board.lanes.values()

    def _settings_of(
        self, in_force: CarrierSection, over: Mapping[str, Override]
    ) -> dict[str, Any]:
        name = in_force.name
        return _settings(in_force, self._lineup.section(name) or in_force, over.get(name))

    def waits(self, row: DueRow, send_at: int | None, is_active: bool) -> Line | None:
        return self._waits.of(row, send_at, is_active)

    def offered(self, carrier: str) -> tuple[DriverCommand, ...]:
        return self._commands.offered(carrier)

    def refuse_ask(self, carrier: str, command: str, arguments: Sequence[str]) -> None:
        self._commands.driver(carrier, command, arguments)

    async def ask(self, carrier: str, command: str, arguments: Sequence[str]) -> dict[str, Any]:
        return await self._commands.ask(carrier, command, arguments)

    async def set_gate(self, carrier: str, gate: Gate) -> None:
        await self._scheduler.ask(SetGate(carrier, gate))

    @property
    def rereading(self) -> Rereading:
        if self._rereading is None:
            raise Conflict("This service has no settings that can be reloaded.")
        return self._rereading

    async def reconnect(self, carrier: str) -> None:
        await self._lineup.reconnect(carrier)

    def paces(self) -> Mapping[str, float]:
        return {each.name: each.rate_per_s for each in self._lineup.in_force}

    def override(self, carrier: str, override: Override | None) -> None:
        self._lineup.override(carrier, override)

    def traffic(self, carrier: str, after: int, count: int) -> list[TrafficLine]:
        lane = self._board.lanes.get(carrier)
        if lane is None:
            raise NotFound(f"There is no carrier {carrier!r}.")
        return lane.traffic.lines(after, count)

    def route(self, recipient: str, segments: int, key: str | None = None) -> RouteAnswer:
        lanes = self._board.lanes
        judge = judge_lanes(lanes, self._clock)
        turn = partial(neediest, lanes)
        sections = self._lineup.in_force
        return tell_route(self._router, sections, recipient, segments, judge, turn, key)

    def unserved(self, plan: NumberingPlan) -> UnservedNumbers:
        judge, rows = judge_lanes(self._board.lanes, self._clock), self._repositories.queue
        return _unserved(rows, self._router, self._lineup.in_force, judge, plan)

    @property
    def _clock(self) -> Clock:
        return next(iter(self._board.lanes.values())).recorder.clock

    async def reload_organization(self, organization_id: str) -> None:
        await self._scheduler.ask(ReloadOrganization(organization_id))

    def hint_webhook(self, endpoint_id: str) -> None:
        self._hint_webhook(endpoint_id)

    def follow(
        self, what: What, organization_id: str | None, position: str | None
    ) -> AbstractContextManager[Follower]:
        return self._live.follow(what, organization_id, position)


class Alone:
    """The :class:`Delivery` of a command while no service runs."""

    def __init__(self, settings: Settings, repositories: Repositories, clock: Clock) -> None:
        self._settings = settings
        self._queue = repositories.queue
        self._carriers = repositories.carriers
        self._clock = clock

    @property
    def running(self) -> bool:
        return False

    def unready(self) -> tuple[str, ...]:
        return ()

    def statistics(self) -> dict[str, Any]:
        return {}

    def carriers(self) -> list[Carrier]:
        """The carriers of the settings, all of them idle."""
        router, over = Router(self._settings.carriers), self._carriers.overrides()
        gates = self._carriers.gates()
        return [
            _idle(
                each,
                over.get(each.name),
                gate=gates[each.name].gate if each.name in gates else Gate.OPEN.value,
                **_queue(self._queue, router, each.name, self._clock.now_ms()),
            )
            for each in self._settings.carriers
        ]

    def workers(self) -> Iterable[CarrierWorker]:
        return ()

    def waits(self, row: DueRow, send_at: int | None, is_active: bool) -> Line | None:
        known = known_wait(row, send_at, is_active, self._clock.now_ms())
        return Line(Kind.WAITS, values=known or {"wait": Wait.STOPPING.value})

    def offered(self, carrier: str) -> tuple[DriverCommand, ...]:
        return ()

    def refuse_ask(self, carrier: str, command: str, arguments: Sequence[str]) -> None:
        raise Conflict(NOT_RUNNING)

    async def ask(self, carrier: str, command: str, arguments: Sequence[str]) -> dict[str, Any]:
        raise Conflict(NOT_RUNNING)

    async def set_gate(self, carrier: str, gate: Gate) -> None:
        """Does nothing: the next start of the service finds it."""

    @property
    def rereading(self) -> Rereading:
        raise Conflict(NOT_RUNNING)

    async def reconnect(self, carrier: str) -> None:
        raise Conflict(NOT_RUNNING)

    def override(self, carrier: str, override: Override | None) -> None:
        """Does nothing: the next start of the service finds it."""

    @property
    def _in_force(self) -> list[CarrierSection]:
        over = self._carriers.overrides()
        return [overridden(each, over.get(each.name)) for each in self._settings.carriers]

    def paces(self) -> Mapping[str, float]:
        return {each.name: each.rate_per_s for each in self._in_force}

    def traffic(self, carrier: str, after: int, count: int) -> list[TrafficLine]:
        raise Conflict(NOT_RUNNING)

    def route(self, recipient: str, segments: int, key: str | None = None) -> RouteAnswer:
        carriers = self._in_force
        return tell_route(
            Router(carriers), carriers, recipient, segments, judge_nothing, _the_first, key
        )

    def unserved(self, plan: NumberingPlan) -> UnservedNumbers:
        carriers = self._in_force
        return _unserved(self._queue, Router(carriers), carriers, judge_nothing, plan)

    async def reload_organization(self, organization_id: str) -> None:
        """Does nothing: the next start of the service reads which are held, and what waits."""

    def hint_webhook(self, endpoint_id: str) -> None:
        """Does nothing: the next start of the service finds what is due."""

    def follow(
        self, what: What, organization_id: str | None, position: str | None
    ) -> AbstractContextManager[Follower]:
        raise Conflict("The service is not running, so there is nothing to follow.")


def _idle(carrier: CarrierSection, override: Override | None, **known: Any) -> Carrier:  # noqa: ANN401 -- the other fields
    in_force = overridden(carrier, override)
    return Carrier(
        name=carrier.name,
        carrier=carrier.name,
        driver=carrier.driver,
        state="down",
        text="The service is not running." if carrier.enabled else "Disabled in the settings.",
        condition=CarrierCondition("not_running" if carrier.enabled else "disabled", {}),
        rate_max_per_s=in_force.rate_per_s,
        **_settings(in_force, carrier, override),
        **known,
    )


def _settings(
    in_force: CarrierSection, section: CarrierSection, override: Override | None
) -> dict[str, Any]:
    """The values in force for a carrier, those in the settings, and the overrides."""
    return {
        "numbers": ServedNumbers(
            tuple(section.prefixes), tuple(str(each) for each in section.networks)
        ),
        "priority": section.priority,
        "weight": in_force.weight,
        "file": FileValues(section.rate_per_s, section.weight),
        "override": override
        and OverrideInForce(
            override.rate_per_s, override.weight, override.changed_at, override.who or None
        ),
    }


def _overrides(carriers: CarrierRepository) -> Mapping[str, Override]:
    try:
        return carriers.overrides()
    except StorageFailed:  # as with the queues: the rest is needed most then
        return {}


def _the_first(names: Sequence[str]) -> str:
    return names[0]


def _unserved(
    rows: QueueRepository,
    router: Router,
    sections: Sequence[CarrierSection],
    judge: Judge,
    plan: NumberingPlan,
) -> UnservedNumbers:
    numbers = rows.unserved(QUEUE_COUNTED_MAX + 1)
    return UnservedNumbers(
        tell_unserved(router, sections, judge, plan),
        min(numbers.count, QUEUE_COUNTED_MAX),
        numbers.count > QUEUE_COUNTED_MAX,
        tuple(numbers.prefixes),
    )


def _queue(rows: QueueRepository, router: Router, name: str, now_ms: int) -> dict[str, Any]:
    routes = [
        key for key, route in router.routes.items() if any(name in tier for tier in route.tiers)
    ]
    try:
        routes = routes or [pinned(name)]
        count = rows.count(routes, QUEUE_COUNTED_MAX + 1)
        oldest = rows.oldest(routes, now_ms) if count else None
    except StorageFailed:  # the other numbers are in memory, and needed most then
        return {"queue": None, "queue_is_longer": False, "oldest": None}
    return {
        "queue": min(count, QUEUE_COUNTED_MAX),
        "queue_is_longer": count > QUEUE_COUNTED_MAX,
        "oldest": oldest,
    }


def statistics(
    recorder: Recorder,
    accepting: Callable[[], Any],
    policies: Callable[[], list[dict[str, Any]]],
    board: Board,
    supervisor: Supervisor,
    watch: LoopWatch,
    set_aside: Callable[[], list[ItemLoopStatus]],
) -> dict[str, Any]:
    """The core's numbers, which are kept in memory.

    Args:
        accepting: the numbers of the intake, as a dataclass.
    """
    journal, queue_max = shallow(recorder.journal.statistics()), recorder.journal.queue_units_max
    return {
        "gateway": shallow(accepting()),
        "messages": dict(recorder.statuses),
        "queue": shallow(board.queue.statistics()),
        "journal": journal | {"queue_max": queue_max},
        "loop": watch.statistics(),
        "set_aside": [shallow(each) for each in set_aside()],
        "policies": policies(),
        "actors": [shallow(each) for each in supervisor.statistics()],
        "carriers": [
            to_json(statistics_of(lane))
            for lane in board.lanes.values()
            if lane.carrier.serves_numbers
        ],
    }
