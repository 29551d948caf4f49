"""Submits in a driver's hands: how long each may take on our side, and what a driver may return.

A driver bounds its submits itself. One that does not, or returns something that is no outcome,
must strand no message: what it is asked has a deadline here, and what it says is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Final

import structlog
import trio

from risala.engine.actors.bell import Bell
from risala.engine.delivery.lane.parts import Job
from risala.plugins.contract import SUBMIT_S_MAX, Capabilities
from risala.sms.cause import Cause
from risala.sms.message import Segment
from risala.sms.outcome import Accepted, Outcome, Refused, Scope, Throttled, Uncertain, Unsent

log = structlog.get_logger(__name__)

SPARE_S: Final = 5.0
"""Beyond what the driver says that its submits take: a busy machine is late with timers too."""
LATE_S: Final = 600.0
"""An answer that comes so much later is still used; then the call is cancelled."""
LATE_MAX: Final = 20
"""Calls that may be awaited beyond their deadline: a driver that answers nothing gets no more."""

_OUTCOMES: Final = (Accepted, Throttled, Refused, Uncertain, Unsent)


@dataclass(slots=True, eq=False)
class SubmitCall:
    """One submit."""

    job: Job
    segment: Segment
    deadline_s: float
    """On Trio's clock."""
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    given_up: bool = False
    """Its deadline has passed: the message does not wait for it any more."""
    lost_link: bool = False
    """The link went down meanwhile."""
    settled: trio.Event = field(default_factory=trio.Event)
    """Set once a call that was given up is written down as uncertain."""


class Calls:
    """The submits of one lane that are not answered, in the order of their deadlines.

    Args:
        limit_s: how long each may take.
        give_up: told of one whose deadline has passed, once.
    """

    def __init__(self, limit_s: float, give_up: Callable[[SubmitCall], None]) -> None:
        self.limit_s = limit_s
        self._give_up = give_up
        self._open: dict[SubmitCall, None] = {}
        self._late: dict[SubmitCall, None] = {}
        self._begun = Bell()

    @property
    def late(self) -> int:
        """Calls that have not come back long after their deadline."""
        return len(self._late)

    def begin(self, job: Job, segment: Segment) -> SubmitCall:
        call = SubmitCall(job, segment, trio.current_time() + self.limit_s)
        self._open[call] = None
        if len(self._open) == 1:
            self._begun.ring()
        return call

    def end(self, call: SubmitCall) -> None:
        """It came back, in time or not."""
        self._open.pop(call, None)
        self._late.pop(call, None)

    def lose_link(self) -> None:
        """The link went down: whatever is in flight may never be answered."""
        for call in self._open:
            call.lost_link = True

    async def watch(self) -> None:
        """Give up what takes too long, for life."""
        while True:
            now_s = trio.current_time()
            for call in self._overdue(now_s):
                call.given_up = True
                del self._open[call]
                self._late[call] = None
                self._give_up(call)
            for call in self._late:
                if call.deadline_s + LATE_S <= now_s:
                    call.scope.cancel()
            await self._begun.wait(self._next_s(now_s))

    def _overdue(self, now_s: float) -> list[SubmitCall]:
        overdue = []
        for call in self._open:
            if call.deadline_s > now_s:
                break
            overdue.append(call)
        return overdue

    def _next_s(self, now_s: float) -> float:
        first = next(iter(self._open), None)
        times = [call.deadline_s + LATE_S for call in self._late if not call.scope.cancel_called]
        if first is not None:
            times.append(first.deadline_s)
        return max(now_s, min(times, default=math.inf))


def limit_of(capabilities: Capabilities) -> float:
    """How long a submit of such a driver may take on our side, in seconds."""
    told_s: object = capabilities.submit_s
    if isinstance(told_s, int | float) and 0 < told_s <= SUBMIT_S_MAX:
        return told_s + SPARE_S
    return SUBMIT_S_MAX + SPARE_S


def fault_of(outcome: object) -> str | None:
    """What is wrong with what a driver returned, without its values; None where nothing is."""
    if not isinstance(outcome, _OUTCOMES):
        return f"it returned {type(outcome).__name__} and no outcome"
    for each in fields(outcome):
        value: object = getattr(outcome, each.name)
        # Only an uncertain one may be without.
        is_missing = value is None and each.name == "carrier_id" and isinstance(outcome, Uncertain)
        if each.name in _FITS and not is_missing and not _FITS[each.name](value):
            return f"{each.name} of its {type(outcome).__name__} is none"
    return None


def _is_text(value: object) -> bool:
    """One that the database takes."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= each <= "\udfff" for each in value)


def _is_wait(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and 0 <= value < math.inf)


_FITS: Final[dict[str, Callable[[object], bool]]] = {
    "raw": _is_text,
    "text": _is_text,
    "carrier_id": _is_text,
    "cause": lambda value: isinstance(value, Cause),
    "scope": lambda value: isinstance(value, Scope),
    "retry_after_s": _is_wait,
    "load_percent": _is_wait,
}


def checked(carrier: str, outcome: Outcome) -> Outcome | None:
    """What a driver returned, where it is an outcome; else None, and the log says what it was."""
    fault = fault_of(outcome)
    if fault is None:
        return outcome
    log.error("driver.wrong_outcome", carrier=carrier, fault=fault)
    return None
