"""What the service shows of its second machine: numbers, facts, and readings for alerts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

import trio

from risala.config.alerts import AlertsSection
from risala.engine.features.alerts import readings
from risala.engine.features.alerts.measure import Open, ReadingGroup
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.rules import Reading
from risala.engine.features.standby.service import second_machine
from risala.engine.model.records.upkeep.service import StandbyFacts
from risala.engine.services import Services

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from risala.engine.features.standby.stored.awaited_log import AwaitedLog

STORE_S: Final = 2.0
"""Seconds that a page waits for the standby's store."""


def statistics(services: Services) -> Mapping[str, Any]:
    """The copy's state among the service's numbers; empty if nothing is shipped."""
    status = services.part(second_machine).status
    if status.age_s is None:
        return {}
    shipping = {"age_s": round(status.age_s, 1), "failing": status.failing}
    if status.log is not None:
        state = status.log.status()
        shipping |= {"mode": state.mode, "late": state.late}
    return {"shipping": shipping}


def of_copy(services: Services) -> Iterator[Metric]:
    """How far the copy is behind, and the log's numbers; empty if nothing is shipped."""
    # Imported here: a service whose numbers nobody reads does without the library.
    from risala.engine.upkeep.carrier_metrics import gauge

    status = services.part(second_machine).status
    if (age_s := status.age_s) is not None:
        text = "How far the standby's copy is behind."
        yield gauge("standby_age_seconds", text, [({}, age_s)])
    if status.log is not None:
        yield from _of_log(status.log)


def _of_log(log: AwaitedLog) -> Iterator[Metric]:
    # Imported here: a service whose answers do not wait needs nothing of it.
    from prometheus_client.core import HistogramMetricFamily

    from risala.engine.features.standby.stored.awaited_log import WAIT_STEPS_S
    from risala.engine.upkeep.carrier_metrics import gauge

    state, waits = log.status(), log.wait_spans()
    text = "1 while answers wait for PostgreSQL; 0: they do not, by an operator's order."
    yield gauge("standby_awaited", text, [({}, state.mode == "before_answer")])
    text = "Commits that PostgreSQL has not confirmed."
    yield gauge("standby_pieces_behind", text, [({}, state.pieces_behind)])
    text = "How often in a row PostgreSQL did not answer in time."
    yield gauge("standby_late", text, [({}, state.late)])
    text = "What the present whole copy and its pieces take in PostgreSQL."
    yield gauge("standby_room_bytes", text, [({}, state.room_bytes)])
    text = "How long a commit takes until PostgreSQL has it too."
    family = HistogramMetricFamily("risala_standby_wait_seconds", text)
    ends = [*map(str, WAIT_STEPS_S), "+Inf"]
    counts = accumulate(waits.counts)
    buckets = [(end, float(count)) for end, count in zip(ends, counts, strict=True)]
    family.add_metric([], buckets, waits.sum_s)
    yield family


async def facts(services: Services) -> StandbyFacts | None:
    """The second machine's state, as far as it can be found out at once."""
    section, status = services.settings.standby, services.part(second_machine).status
    if section.copy_kind is None:
        return None
    # Imported here: few have a second machine.
    from risala.engine.features.standby.named_stores import StoreFacts, store_facts

    store_state = StoreFacts(fault="The store does not answer.")
    with trio.move_on_after(STORE_S):
        store_state = await trio.to_thread.run_sync(store_facts, section, abandon_on_cancel=True)
    age_s, lease = status.age_s, store_state.lease
    return StandbyFacts(
        store=section.copy_kind,
        mode=section.replicate,
        lag_s=None if age_s is None else round(age_s, 1),
        room_bytes=store_state.room_bytes,
        epoch=None if lease is None else lease.epoch,
        holder=None if lease is None else lease.machine,
        fault=status.failing or store_state.fault,
    )


def measured(services: Services, limits: Callable[[], AlertsSection]) -> tuple[ReadingGroup, ...]:
    """What alerts are raised of: how far the copy is behind, its last trial, and the log."""
    kind = AlertKind
    return (
        ReadingGroup((kind.STANDBY_BEHIND,), partial(_behind, services, limits)),
        ReadingGroup((kind.STANDBY_COPY,), partial(_copy, services), is_seldom=True),
        ReadingGroup((kind.STANDBY_SILENT, kind.STANDBY_ASYNC), partial(_log, services)),
    )


def _behind(
    services: Services, limits: Callable[[], AlertsSection], raised: Open
) -> Iterator[Reading]:
    if (age_s := services.part(second_machine).status.age_s) is not None:
        is_raised = (AlertKind.STANDBY_BEHIND, "") in raised
        yield readings.standby_behind(age_s, limits(), is_raised=is_raised)


def _copy(services: Services, _: Open) -> Iterator[Reading]:
    if services.part(second_machine).status.age_s is None:
        return
    # Imported here: few have a standby.
    from risala.engine.features.standby.copy_check import last_trial

    trial = last_trial(services.settings.storage.data_dir)
    if trial is not None:
        age_s = max(0, services.recorder.clock.now_ms() - trial.at) / 1000
        yield readings.standby_copy(age_s, has_failed=trial.fault is not None)


def _log(services: Services, _: Open) -> Iterator[Reading]:
    if (log := services.part(second_machine).status.log) is not None:
        state = log.status()
        yield readings.standby_silent(state.late, refuses=state.refuses)
        yield readings.standby_async(state.mode == "async", state.pieces_behind)
