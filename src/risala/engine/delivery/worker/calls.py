"""Submits in a driver's hands: how long each may take on our side, and what a driver may return.

A driver bounds its submits itself. One that does not, or returns something that is no outcome,
must strand no message: what it is asked has a deadline here, and what it says is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, cast

import structlog
import trio

from risala.engine.actors.bell import Bell
from risala.engine.delivery.worker.parts import Job
from risala.engine.model.discreet import discreet
from risala.plugins.contract import SUBMIT_S_MAX, Capabilities, Driver, Posting
from risala.plugins.fits import fault_of
from risala.sms.cause import Cause
from risala.sms.message import Segment
from risala.sms.outcome import Outcome, Refused, Scope

log = structlog.get_logger(__name__)

SPARE_S: Final = 5.0
"""Beyond what the driver says that its submits take: a busy machine is late with timers too."""
LATE_S: Final = 600.0
"""An answer that comes so much later is still used; then the call is cancelled, or forgotten where
it was posted."""
LATE_MAX: Final = 20
"""Calls that may be awaited beyond their deadline: a driver that answers nothing gets no more."""


_NO_PARTS: Final = Refused(
    Scope.CARRIER,
    "",
    "The carrier takes whole texts, and this is a part of one.",
    Cause.UNSUPPORTED,
)
"""The answer for a driver that would send a part as a text of its own."""


@dataclass(slots=True, eq=False)
class SubmitCall:
    """One submit."""

    job: Job
    segment: Segment
    deadline_s: float
    """On Trio's clock."""
    scope: trio.CancelScope | None = None
    """Of the task that waits for the answer, where there is one."""
    answered: bool = False
    given_up: bool = False
    """Its deadline has passed: the message does not wait for it any more."""
    lost_link: bool = False
    """The link went down meanwhile."""
    outcome: Outcome | None = None
    """What it came to, once that is known."""
    makes_room: bool = False
    """The message is taken whole: another may leave before this is on the disk."""


class CallsOwner(Protocol):
    """Who is told what becomes of submits; each is heard of once, but for a late answer."""

    def heard(self, call: SubmitCall, outcome: Outcome | None) -> None:
        """The driver answered: in time, or after the call was given up. None: nothing of use."""

    def overdue(self, call: SubmitCall) -> None:
        """Its deadline has passed: it is given up."""

    def cut_off(self, call: SubmitCall) -> None:
        """We stop, and wait for its answer no longer."""


class Calls:
    """The submits of one lane that are not answered, in the order of their deadlines.

    Args:
        carrier: its name, for the log.
    """

    def __init__(self, carrier: str, driver: Driver, owner: CallsOwner) -> None:
        self.limit_s = limit_of(driver.capabilities)
        """How long each may take."""
        self._now_s = trio.lowlevel.current_clock().current_time
        """As :func:`trio.current_time`, without looking for the clock with each submit."""
        self._carrier = carrier
        self._driver = driver
        self._poster = driver if isinstance(driver, Posting) else None
        self._takes_parts = not driver.capabilities.takes_whole
        self._owner = owner
        self._open: dict[SubmitCall, None] = {}
        self._late: dict[SubmitCall, None] = {}
        self._begun = Bell()

    @property
    def late(self) -> int:
        """Calls that have not come back long after their deadline."""
        return len(self._late)

    def took_s(self, call: SubmitCall) -> float:
        """How long ago it was submitted."""
        return self._now_s() - call.deadline_s + self.limit_s

    def submit(self, job: Job, nursery: trio.Nursery) -> None:
        """Let the driver submit the job's next segment, whatever the driver is like.

        Args:
            nursery: holds the call, where the driver cannot be posted to.
        """
        segment = job.segment(job.remaining[0])
        call = SubmitCall(job, segment, self._now_s() + self.limit_s)
        self._open[call] = None
        if len(self._open) == 1:
            self._begun.ring()
        if not self._takes_parts and segment.place is not None:
            self._hear(call, _NO_PARTS)
            return
        if self._poster is None:
            call.scope = trio.CancelScope()
            nursery.start_soon(self._ask, call, call.scope)
            return
        try:
            self._poster.post(segment, partial(self._hear, call))
        except Exception:
            log.exception("driver.submit_failed", **self._which(call))
            self._fail(call)

    async def _ask(self, call: SubmitCall, scope: trio.CancelScope) -> None:
        said: object = None
        try:
            with scope:
                said = await self._driver.submit(call.segment)
        except Exception:
            log.exception("driver.submit_failed", **self._which(call))
            self._fail(call)
        except BaseException:
            self._end(call)
            self._owner.cut_off(call)
            raise
        else:
            if scope.cancelled_caught:
                self._end(call)
                self._owner.heard(call, None)
            else:
                self._hear(call, said)

    def _fail(self, call: SubmitCall) -> None:
        """A driver's bug must not lose the message: nobody knows what left."""
        if not call.answered:
            self._end(call)
            self._owner.heard(call, None)

    def _which(self, call: SubmitCall) -> dict[str, str]:
        return {"carrier": self._carrier, "message_id": call.segment.message_id}

    def _hear(self, call: SubmitCall, said: object) -> None:
        """The driver says something. Who says it twice is heard once."""
        if call.answered:
            log.error("driver.answered_twice", **self._which(call))
            return
        self._end(call)
        outcome = checked(self._carrier, said)
        is_code = call.job.row.kind == "code"
        self._owner.heard(call, outcome and discreet(outcome, call.segment, is_code=is_code))

    def _end(self, call: SubmitCall) -> None:
        """It came back, in time or not."""
        call.answered = True
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
                self._owner.overdue(call)
            for call in [one for one in self._late if one.deadline_s + LATE_S <= now_s]:
                if call.scope is None:
                    del self._late[call]
                else:
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
        times = [
            call.deadline_s + LATE_S
            for call in self._late
            if call.scope is None or not call.scope.cancel_called
        ]
        if first is not None:
            times.append(first.deadline_s)
        return max(now_s, min(times, default=math.inf))


def limit_of(capabilities: Capabilities) -> float:
    """How long a submit of such a driver may take on our side, in seconds."""
    told_s: object = capabilities.submit_s
    if isinstance(told_s, int | float) and 0 < told_s <= SUBMIT_S_MAX:
        return told_s + SPARE_S
    return SUBMIT_S_MAX + SPARE_S


def checked(carrier: str, said: object) -> Outcome | None:
    """What a driver returned, where it is an outcome; else None, and the log says what it was."""
    fault = fault_of(said)
    if fault is None:
        return cast(Outcome, said)
    log.error("driver.wrong_outcome", carrier=carrier, fault=fault)
    return None
