"""What a pending message waits for now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.delivery.worker.consequences import declines
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.model.clock import Clock
from risala.engine.model.lines import Kind, Line, Values, Wait
from risala.engine.model.records.messages import HELD_DUE_AT, DueRow
from risala.engine.model.states import Gate
from risala.engine.rules.router import UNSERVED, Router, message_class_of, plain
from risala.plugins.contract import HealthState

QUOTA_MS_MAX: Final = 366 * 86_400_000
"""No quota is for longer than a year: a driver that says so does not know."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Looks at the workers of a message's route.

    Args:
        leasing: False while the service stops: nothing new is given out.
    """

    _router: Router
    _lanes: Mapping[str, CarrierWorker]
    _leasing: Callable[[], bool]
    _clock: Clock

    def ailing(self, route: str, recipient: str, segments: int) -> Values | None:
        """What keeps every carrier of a route from sending; None if one of them works.

        Runs for each accepted message: costs next to nothing if a carrier works.
        """
        now_s = trio.current_time()
        lanes = self._serving(route)
        if any(lane.healthy(now_s) for lane in lanes):
            return None
        for lane in lanes:
            # Quotas first: a line whose daily quota is used up may report itself as down.
            return _declined(lane, recipient, segments) or self._ails(lane, now_s)
        # A flash message whose carriers cannot send one any more: there are others, not for it.
        return None if message_class_of(route) is None else {"wait": Wait.UNSERVED.value}

    def of(self, row: DueRow, send_at: int | None, is_active: bool) -> Line | None:
        """What this message waits for; None if it only waits for its turn.

        Args:
            is_active: whether its organization is active.
        """
        values = self._values(row, send_at, is_active)
        return None if values is None else Line(Kind.WAITS, values=values)

    def _values(self, row: DueRow, send_at: int | None, is_active: bool) -> Values | None:
        now_ms, now_s = self._clock.now_ms(), trio.current_time()
        known = known_wait(row, send_at, is_active, now_ms)
        if known is not None:
            return known
        if not self._leasing():
            return {"wait": Wait.STOPPING.value}
        ailing = self.ailing(row.route, row.recipient, row.segments)
        if ailing is not None:
            return ailing
        for lane in self._serving(row.route):
            if lane.offers.has(row.id):
                return {"wait": Wait.UNFETCHED.value, "carrier": lane.name}
        well = [lane for lane in self._serving(row.route) if lane.healthy(now_s)]
        quotas = [_declined(lane, row.recipient, row.segments) for lane in well]
        if well and all(quotas):
            return quotas[0]
        if row.due_at > now_ms:
            return {"wait": Wait.RETRY.value, "until": row.due_at}
        if well and all(lane.throttle.ready_at_s() > now_s for lane in well):
            return {"wait": Wait.THROTTLED.value, "carrier": well[0].name}
        return None

    def _serving(self, route: str) -> list[CarrierWorker]:
        """The workers of a route, the first tier first."""
        served_by = self._router.routes.get(route)
        if served_by is None:
            return []
        return [self._lanes[name] for tier in served_by.tiers for name in tier]

    def _ails(self, lane: CarrierWorker, now_s: float) -> Values:
        """What keeps a worker that is not healthy from sending."""
        health, since_ms = lane.driver_health, lane.standing.since_ms
        if lane.standing.gate is not Gate.OPEN:
            return {"wait": Wait.PAUSED.value, "carrier": lane.name}
        if health.state is HealthState.DOWN:
            return {"wait": Wait.LINK_DOWN.value, "carrier": lane.name, "since": since_ms}
        open_until_s = lane.breaker.open_until_s
        if health.state is HealthState.UP and open_until_s is not None:
            until = self._clock.now_ms() + round(1000 * max(0.0, open_until_s - now_s))
            return {"wait": Wait.FAULTS.value, "carrier": lane.name, "until": until}
        return {"wait": Wait.OPERATOR.value, "carrier": lane.name, "since": since_ms}


def known_wait(row: DueRow, send_at: int | None, is_active: bool, now_ms: int) -> Values | None:
    """The wait that is known whether a service runs or not."""
    if not is_active:
        return {"wait": Wait.SUSPENDED.value}
    if row.due_at >= HELD_DUE_AT:
        return {"wait": Wait.RESTORED.value}
    if send_at is not None and now_ms < send_at:
        return {"wait": Wait.SCHEDULED.value, "until": send_at}
    if plain(row.route) == UNSERVED:
        return {"wait": Wait.UNSERVED.value}
    return None


def _declined(lane: CarrierWorker, recipient: str, segments: int) -> Values | None:
    """The carrier's quota, if its driver would refuse the message because of it."""
    declined = declines(lane.name, lane.driver, recipient, segments)
    if declined is None:
        return None
    values = {"wait": Wait.QUOTA.value, "carrier": lane.name, "note": declined.text}
    known = 0 < declined.until_ms < lane.recorder.clock.now_ms() + QUOTA_MS_MAX
    return {**values, "until": declined.until_ms} if known else values
