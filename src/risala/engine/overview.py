"""The engine seen from outside: whether it can deliver, how its carriers are, its numbers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from risala.config.model import CarrierSection, Settings
from risala.engine.delivery.lane_statistics import statistics_of
from risala.engine.delivery.loopwatch import LoopWatch
from risala.engine.delivery.scheduler import Board
from risala.engine.delivery.waits import known_wait
from risala.engine.journal.messages import held, reads, waiting
from risala.engine.model.commands import MessageView, TimelineEntry
from risala.engine.model.errors import StorageFailed
from risala.engine.model.lines import Kind, Line, Wait, is_same_wait
from risala.engine.model.states import Status
from risala.engine.rules.router import Router, pinned
from risala.plugins.contract import HealthState

if TYPE_CHECKING:
    from risala.engine.actors.supervisor import Supervisor
    from risala.engine.services import Services

QUEUE_COUNTED_MAX: Final = 10_000
"""A longer queue is told as "more": counting a million rows would hold up the loop."""


def message(services: Services, message_id: str) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
    """Any message, with its timeline; where it waits, the last entry says for what now.

    Raises:
        NotFound: there is none of this id.
    """
    view, entries = reads.shown(services.reader, message_id)
    if view.status != Status.PENDING:
        return view, entries
    return view, (*entries, *_waits(services, view, entries))


def _waits(
    services: Services, view: MessageView, entries: tuple[TimelineEntry, ...]
) -> Iterator[TimelineEntry]:
    """An entry that is true at this moment; none where the last one says the same."""
    row = reads.row(services.reader, view.id)
    assert row is not None
    is_active = services.accounts.organization(view.organization_id).status == "active"
    now_ms = services.recorder.clock.now_ms()
    if services.waits is not None:
        line = services.waits(row, view.send_at, is_active)
    else:
        known = known_wait(row, view.send_at, is_active, now_ms)
        line = Line(Kind.WAITS, values=known or {"wait": Wait.STOPPING.value})
    if line is not None and not (entries and is_same_wait(entries[-1].line, line)):
        yield TimelineEntry(now_ms, view.status, line)


def unready(board: Board) -> tuple[str, ...]:
    """Why no message could be delivered at this moment; empty where one could."""
    lanes = [lane for lane in board.lanes.values() if lane.carrier.serves_numbers]
    if not lanes:
        return ("no carrier is configured",)
    if all(lane.told_health.state is not HealthState.UP for lane in lanes):
        return tuple(f"carrier {lane.name} is {lane.told_health.state}" for lane in lanes)
    return ()


def carriers(board: Board, router: Router) -> list[dict[str, Any]]:
    """Each carrier's lane, and how much waits on the routes that it serves."""
    return [
        {
            "name": name,
            **asdict(statistics_of(lane)),
            **_queue(board.reader, router, name),
            "unmatched_receipts": held.unmatched_total(board.reader, name),
        }
        for name, lane in board.lanes.items()
        if lane.carrier.serves_numbers
    ]


def idle_carriers(settings: Settings, reader: sqlite3.Connection) -> list[dict[str, Any]]:
    """The same of the carriers in the settings, while nothing runs."""
    router = Router(settings.carriers)
    return [_idle(carrier) | _queue(reader, router, carrier.name) for carrier in settings.carriers]


def _idle(carrier: CarrierSection) -> dict[str, Any]:
    return {
        "name": carrier.name,
        "carrier": carrier.name,
        "driver": carrier.driver,
        "state": "down",
        "text": "The service is not running." if carrier.enabled else "Disabled in the settings.",
        "rate_max_per_s": carrier.rate_per_s,
    }


def _queue(reader: sqlite3.Connection, router: Router, name: str) -> dict[str, Any]:
    routes = [
        key for key, route in router.routes.items() if any(name in tier for tier in route.tiers)
    ]
    try:
        found = waiting.count(reader, routes or [pinned(name)], QUEUE_COUNTED_MAX + 1)
    except StorageFailed:  # the rest is in memory, and wanted now more than ever
        return {"queue": None, "queue_is_longer": False}
    return {
        "queue": min(found, QUEUE_COUNTED_MAX),
        "queue_is_longer": found > QUEUE_COUNTED_MAX,
    }


def statistics(
    parts: Services, board: Board, supervisor: Supervisor, watch: LoopWatch
) -> dict[str, Any]:
    """All numbers that are kept in memory; costs no read of the database."""
    journal = asdict(parts.recorder.journal.statistics())
    return {
        "gateway": asdict(parts.intake.statistics()),
        "messages": dict(parts.recorder.statuses),
        "queue": asdict(board.queue.statistics()),
        "journal": journal | {"queue_max": parts.settings.storage.queue_units_max},
        "loop": watch.statistics(),
        "actors": [asdict(each) for each in supervisor.statistics()],
        "carriers": [
            {"name": name, **asdict(statistics_of(lane))}
            for name, lane in board.lanes.items()
            if lane.carrier.serves_numbers
        ],
    }
