"""Metrics of the second machine's copy, and of the log there that answers wait for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client.core import HistogramMetricFamily, Metric

from risala.engine.features.standby.service import second_machine
from risala.engine.services import Services
from risala.engine.upkeep.carrier_metrics import gauge

if TYPE_CHECKING:
    from risala.engine.features.standby.stored.awaited_log import AwaitedLog


def of_copy(services: Services) -> Iterator[Metric]:
    """How far the copy is behind, and the log's numbers; empty if nothing is shipped."""
    status = services.part(second_machine).status
    if (age_s := status.age_s) is not None:
        text = "How far the standby's copy is behind."
        yield gauge("standby_age_seconds", text, [({}, age_s)])
    if status.log is not None:
        yield from _of_log(status.log)


def _of_log(log: AwaitedLog) -> Iterator[Metric]:
    # Imported here: a service whose answers do not wait needs nothing of it.
    from risala.engine.features.standby.stored.awaited_log import WAIT_STEPS_S

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
