"""What gives messages to carriers and hears of them, built and not running yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import trio

from risala.config.model import CarrierSection
from risala.engine.actors.alarm import Alarm
from risala.engine.billing.billing import tell_entered
from risala.engine.core import Core, Owners
from risala.engine.delivery.fleet import Fleet
from risala.engine.delivery.lane.lane import Lane
from risala.engine.delivery.lane.parts import LaneHooks
from risala.engine.delivery.notes import Notes
from risala.engine.delivery.scheduler import Board
from risala.engine.delivery.scribe import Scribe
from risala.engine.journal.recorder import Listeners, Recorder
from risala.engine.rules.breaker import Breaker
from risala.engine.rules.receiptgroups import Member, ReceiptGroups
from risala.engine.rules.router import Router
from risala.engine.rules.throttle import Throttle
from risala.engine.verify.sessions import (
    text_of,
)
from risala.plugins.contract import Driver


@dataclass(frozen=True, slots=True)
class Sending:
    """The parts that give messages to carriers and hear of them: built, and not running yet."""

    recorder: Recorder
    scribe: Scribe
    board: Board
    next_look: Alarm
    ends: Alarm
    """Rings at the ends of verification sessions."""


def build_sending(
    core: Core,
    owners: Owners,
    router: Router,
    carriers: Sequence[CarrierSection],
    drivers: Mapping[str, Driver],
) -> Sending:
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
    return Sending(recorder, scribe, board, next_look, Alarm(clock))


def _receipt_groups(
    carriers: Sequence[CarrierSection], drivers: Mapping[str, Driver]
) -> ReceiptGroups:
    def account(name: str) -> str:
        driver = drivers.get(name)  # None for a disabled carrier, which has no driver
        return driver.capabilities.account if driver is not None else ""

    return ReceiptGroups(
        Member(each.name, each.driver, account(each.name), each.receipt_group) for each in carriers
    )
