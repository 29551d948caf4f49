"""A worker's numbers for the operator."""

from __future__ import annotations

import trio

from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.model.records.carriers.state import WorkerStatistics


def statistics_of(lane: CarrierWorker) -> WorkerStatistics:
    """The numbers and words of this moment."""
    now_s, health = trio.current_time(), lane.driver_health
    return WorkerStatistics(
        name=lane.name,
        carrier=lane.name,
        driver=lane.carrier.driver,
        state=health.state,
        text=health.text if lane.standing.gives_receipts else with_no_reports(health.text),
        receipts=lane.standing.gives_receipts,
        gate=lane.standing.gate,
        in_flight=lane.in_flight,
        window_max=lane.window_max,
        rate_per_s=lane.throttle.rate_per_s(now_s),
        rate_max_per_s=lane.throttle.rate_max_per_s,
        submitted=lane.counts.submitted,
        accepted=lane.counts.accepted,
        throttled=lane.counts.throttled,
        refused=lane.counts.refused,
        uncertain=lane.counts.uncertain,
        late=lane.counts.late,
        receipts_taken=lane.counts.receipts,
        receipts_final=lane.counts.final,
        answer_buckets=tuple(lane.counts.latency.buckets()),
        answer_sum_s=lane.counts.latency.sum_s,
        silent=lane.silent,
        breaker_open=lane.breaker.open_until_s is not None,
        details=dict(health.details),
        trace=tuple(lane.standing.trace),
    )


def with_no_reports(text: str) -> str:
    """Add to a line's state, in words, that it gives no reports, unless its driver says so."""
    lowered = text.lower()
    if "no report" in lowered or "no receipt" in lowered:
        return text
    return f"{text} It gives no delivery reports, so its messages stay sent."
