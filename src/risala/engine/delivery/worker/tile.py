"""The state of a worker, as a code and values: a page writes the sentence in its reader's
language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import trio

from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.model.clock import Clock
from risala.engine.model.records.carriers.state import (
    CarrierCondition,
    CarrierNetwork,
    CarrierQuota,
    CarrierQuotas,
    CarrierSignal,
    CarrierSim,
    Fact,
    SimBalance,
    WorkerStatistics,
)
from risala.engine.model.states import Gate
from risala.engine.model.times import iso
from risala.plugins.contract import Health, HealthState

_BARS_DBM: Final = (-107, -97, -85, -73)
"""The signal strengths from which a GSM signal has one, two, three, four bars: as on phones, within
a few dBm. Below the first, calls fail."""

Details = Mapping[str, Fact]

_HELD: Final = {
    Gate.PAUSED: "paused",
    Gate.DRAINING: "draining",
    Gate.LEAVING: "leaving",
}


def state_of(lane: CarrierWorker, now_s: float, clock: Clock) -> CarrierCondition:
    """The state: the first that applies is what an operator has to know."""
    standing = lane.standing
    if standing.gate is not Gate.OPEN:
        return CarrierCondition(_HELD[standing.gate], {"in_flight": lane.in_flight})
    if standing.is_distrusted(now_s) or lane.silent:
        return CarrierCondition("driver_fault", {"note": standing.fault})
    if not standing.is_up:
        return _link_state(standing.health)
    until_s = lane.breaker.open_until_s
    if until_s is not None:
        return CarrierCondition("resting", {"until": iso(_at_ms(until_s, now_s, clock))})
    rate, rate_max = lane.throttle.rate_per_s(now_s), lane.throttle.rate_max_per_s
    if rate < rate_max:
        return CarrierCondition("slowed", {"rate_per_s": rate, "rate_max_per_s": rate_max})
    return CarrierCondition("up" if standing.gives_receipts else "up_without_receipts", {})


def _link_state(health: Health) -> CarrierCondition:
    """Why the link is down, as far as its driver's facts show."""
    details = health.details
    status, registration = details.get("command_status"), details.get("registration")
    if status is not None:
        code = "refused_for_good" if health.state is HealthState.SICK else "refused"
        return CarrierCondition(code, {"status": status, "again_s": details.get("again_s")})
    if registration == "denied":
        return CarrierCondition("sim_denied", {})
    if _used_up(details):
        return CarrierCondition("quota_used", {"limit": details["segments_per_day_max"]})
    if registration is not None:
        return CarrierCondition("searching", {})
    if health.state is HealthState.SICK:
        return CarrierCondition("needs_a_hand", {})
    if details.get("again_s") is not None:
        return CarrierCondition("connects_again", {"again_s": details["again_s"]})
    return CarrierCondition("link_down", {})


def _used_up(details: Details) -> bool:
    used, limit = details.get("segments_today"), details.get("segments_per_day_max")
    return isinstance(used, int) and isinstance(limit, int) and used >= limit


def _at_ms(at_s: float, now_s: float, clock: Clock) -> int:
    return clock.now_ms() + round(1000 * max(0.0, at_s - now_s))


def tile_of(lane: CarrierWorker) -> dict[str, Any]:
    """The fields of a :class:`Carrier` beside its numbers and its settings."""
    standing, clock, now_s = lane.standing, lane.recorder.clock, trio.current_time()
    tell, until_s = lane.driver_health.details.get, lane.breaker.open_until_s
    return {
        "condition": state_of(lane, now_s, clock),
        "since": standing.since_ms,
        "signal": _signal(tell("signal_dbm")),
        "network": CarrierNetwork(tell("registration"), tell("operator")),
        "sim": CarrierSim(tell("number"), tell("imsi"), tell("iccid")),
        "quota": CarrierQuotas(
            CarrierQuota(tell("segments_today"), tell("segments_per_day_max")),
            CarrierQuota(tell("recipients_this_month"), tell("recipients_per_month_max")),
        ),
        "sim_balance": SimBalance(
            tell("sim_balance"), tell("sim_balance_is") == "low", tell("ussd")
        ),
        "last_error": standing.last_error,
        "breaker_until": None if until_s is None else _at_ms(until_s, now_s, clock),
    }


def _signal(dbm: Fact) -> CarrierSignal:
    bars = sum(dbm >= least for least in _BARS_DBM) if isinstance(dbm, int | float) else None
    return CarrierSignal(dbm, bars)


# A worker's numbers for the operator.


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
