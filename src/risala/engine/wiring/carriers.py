"""Builds the parts that send messages to carriers and receive from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import trio

from risala.config.model import CarrierSection, Settings
from risala.dataclass import dataclass
from risala.engine.actors.actor import Ref
from risala.engine.actors.alarm import Alarm
from risala.engine.billing.billing import tell_entered
from risala.engine.delivery.attempt_writer import AttemptWriter
from risala.engine.delivery.carrier_registry import (
    CarrierRegistry,
    Fleet,
    RegistryParts,
    member_of,
    overridden,
)
from risala.engine.delivery.carrier_runtime import AccountRuntime, CarrierRuntime, TakerOf
from risala.engine.delivery.notes import Notes
from risala.engine.delivery.rereading import KEY_BYTES, Rereading, SettingsSource
from risala.engine.delivery.scheduler import Board, SchedulerMessage
from risala.engine.delivery.sorter import Sorter
from risala.engine.delivery.worker.parts import Counts, WorkerHooks
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.recorder import Listeners, Recorder
from risala.engine.model.states import Gate
from risala.engine.rules.receiptgroups import ReceiptGroups
from risala.engine.rules.router import Router
from risala.engine.rules.throttle import Breaker, Throttle
from risala.engine.verify.sessions import (
    text_of,
)
from risala.engine.wiring.foundation import Foundation, Owners
from risala.plugins.contract import Driver


@dataclass(frozen=True, slots=True)
class CarrierWiring:
    """The parts that send messages to carriers and receive from them: built, and not running
    yet."""

    recorder: Recorder
    scribe: AttemptWriter
    board: Board
    fleet: Fleet
    sorter: Sorter
    next_look: Alarm
    ends: Alarm
    """Rings at the ends of verification sessions."""


def build_sending(
    core: Foundation,
    owners: Owners,
    router: Router,
    carriers: Sequence[CarrierSection],
    drivers: Mapping[str, Driver],
) -> CarrierWiring:
    """Build what sends. Notes and timers come first, because the recorder notifies them of changes;
    the workers come last, because they write through the recorder."""
    rows, clock, delivery = core.repositories.queue, core.seams.clock, core.settings.delivery
    items = core.set_aside.loop("messages")
    rows_max = core.settings.engine.buffer_rows_max
    notes = Notes(rows, rows_max, router.is_route, items.broken_row)
    next_look = Alarm(clock)

    def ended(message_id: str) -> None:
        for lane in fleet.lanes.values():
            lane.offers.message_ended(message_id)

    recorder = Recorder(
        core.journal,
        clock,
        Listeners(notes.pending, next_look.expect, partial(tell_entered, owners.billing), ended),
        ReceiptGroups(member_of(each, drivers.get(each.name)) for each in carriers),
        core.answers,
    )

    scribe = AttemptWriter(recorder)

    def build_worker(
        carrier: CarrierSection, driver: Driver, hooks: WorkerHooks, former: CarrierWorker | None
    ) -> CarrierWorker:
        pace, now_s = carrier.rate_per_s, trio.current_time()
        if former is None:
            throttle = Throttle(pace, now_s, core.seams.ids.chance)
        else:  # the carrier's limit stays in force over the change
            throttle = former.throttle
            throttle.retune(pace, now_s)
        built = CarrierWorker(
            carrier=carrier,
            driver=driver,
            recorder=recorder,
            scribe=scribe,
            hooks=hooks,
            fence=core.seams.fence,
            breaker=Breaker(delivery.breaker_failures, delivery.breaker_open_s),
            throttle=throttle,
            counts=Counts() if former is None else former.counts,
            retry=delivery.retry,
        )
        # What an operator paused stays paused, over a restart and over other settings.
        if (stored_gate := core.repositories.carriers.gates().get(carrier.name)) is not None:
            built.standing.gate = Gate(stored_gate.gate)
        return built

    fleet, over = Fleet(router, notes, build_worker), core.repositories.carriers.overrides()
    for each in carriers:
        if each.enabled:
            in_force = overridden(each, over.get(each.name))
            fleet.lanes[each.name] = fleet.build(in_force, drivers[each.name])
    text = partial(
        text_of,
        stored=core.repositories.verifications,
        codes=core.codes,
        seal=core.seal,
        features=core.session_features,
    )
    board = Board(notes, fleet.lanes, rows, text, items)
    sorter = Sorter(rows, clock, router, notes, core.set_aside.loop("queues"))
    return CarrierWiring(recorder, scribe, board, fleet, sorter, next_look, Alarm(clock))


def build_registry(
    core: Foundation,
    sending: CarrierWiring,
    router: Router,
    scheduler: Ref[SchedulerMessage],
    carriers: Sequence[CarrierSection],
    taker_of: TakerOf,
) -> CarrierRegistry:
    """Build what changes the carriers while the service runs.

    Args:
        taker_of: what takes the texts of carriers that are not for customers.
    """
    stored = core.repositories.carriers
    crew = CarrierRuntime(
        core.supervisor,
        core.repositories,
        core.seams.ids,
        core.settings.plan,
        taker_of,
        core.set_aside.loop("inbound"),
        AccountRuntime(core.supervisor),
        core.session_features.arrived,
    )
    parts = RegistryParts(
        fleet=sending.fleet,
        crew=crew,
        recorder=sending.recorder,
        carriers=stored,
        secrets=core.repositories.carrier_secrets,
        sorter=sending.sorter,
        rearrange=scheduler.ask,
    )
    return CarrierRegistry(parts, carriers, stored.overrides())


def build_rereading(
    core: Foundation,
    source: SettingsSource | None,
    carriers: Sequence[CarrierSection],
    lineup: CarrierRegistry,
    obeying: Sequence[Callable[[Settings], None]],
) -> Rereading | None:
    """Build what reads the settings again; None if they have no source."""
    if source is None:
        return None
    in_force = core.settings.model_copy(update={"carriers": tuple(carriers)})
    key = core.seams.ids.random_bytes(KEY_BYTES)
    return Rereading(source, in_force, lineup, obeying, key)
