"""The numbers of the log on a second machine that answers wait for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client.core import HistogramMetricFamily, Metric

from risala.engine.upkeep.families import gauge

if TYPE_CHECKING:
    from risala.engine.journal.shipping.log_status import LogStatus


def of_log(status: LogStatus) -> Iterator[Metric]:
    """The log's numbers."""
    # Imported here: a service whose answers do not wait needs nothing of it.
    from risala.engine.journal.shipping.log_status import WAIT_STEPS_S

    text = "1 while answers wait for PostgreSQL; 0: they do not, by an operator's order."
    yield gauge("standby_awaited", text, [({}, status.mode == "before_answer")])
    text = "Commits that PostgreSQL has not confirmed."
    yield gauge("standby_pieces_behind", text, [({}, status.pieces_behind)])
    text = "How often in a row PostgreSQL did not answer in time."
    yield gauge("standby_late", text, [({}, status.late)])
    text = "What the present whole copy and its pieces take in PostgreSQL."
    yield gauge("standby_room_bytes", text, [({}, status.room_bytes)])
    text = "How long a commit takes until PostgreSQL has it too."
    family = HistogramMetricFamily("risala_standby_wait_seconds", text)
    ends = [*map(str, WAIT_STEPS_S), "+Inf"]
    counts = accumulate(status.waits.counts)
    buckets = [(end, float(count)) for end, count in zip(ends, counts, strict=True)]
    family.add_metric([], buckets, status.waits.sum_s)
    yield family
