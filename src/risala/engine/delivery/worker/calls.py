"""Submits that a driver handles: how long each may take, and what a driver may return.

A driver limits its submits itself. If it does not, or returns something that is no outcome, no
message may get stuck: each call has a deadline here, and each result is checked.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol, cast

import structlog
import trio

from risala.engine.actors.alarm import Bell
from risala.engine.delivery.worker.discreet import discreet
from risala.engine.delivery.worker.parts import Job
from risala.engine.model.records.attempts import Lease
from risala.engine.rules.repeats import Manners
from risala.plugins.contract import SETTLE_S_MIN, SUBMIT_S_MAX, Capabilities, Driver, Posting
from risala.plugins.fits import fault_of
from risala.sms.cause import Cause
from risala.sms.message import Segment
from risala.sms.outcome import Outcome, Refused, Scope

log = structlog.get_logger(__name__)

SPARE_S: Final = 5.0
"""Added to the driver's own limit for submits: a busy machine delays timers too."""
LATE_S: Final = 600.0
"""An answer that is this much later is still used; then the call is cancelled, or forgotten if it
was posted."""
LATE_MAX: Final = 20
"""Calls that may be awaited beyond their deadline: a driver that answers nothing gets no further
call."""


UNENDED_MAX: Final = 1000
"""Messages of a carrier whose submits have not ended that are noted; until it has a new link, none
is submitted again beyond them."""
_NO_PARTS: Final = Refused(
    Scope.CARRIER,
    "",
    "The carrier accepts only whole texts, and this is a part of one.",
    Cause.UNSUPPORTED,
)
"""The answer for a driver that would send a part as a separate text."""


@dataclass(slots=True, eq=False)
class SubmitCall:
    """One submit."""

    job: Job
    segment: Segment
    deadline_s: float
    """On Trio's clock."""
    scope: trio.CancelScope | None = None
    """The scope of the task that waits for the answer, if there is one."""
    answered: bool = False
    given_up: bool = False
    """The call's deadline has passed: the message no longer waits for it."""
    lost_link: bool = False
    """The link went down meanwhile."""
    outcome: Outcome | None = None
    """The result, once it is known."""
    makes_room: bool = False
    """The message is accepted whole: another may leave before this is on the disk."""
    offer: Lease | None = None
    """What is written down when the carrier fetches it: until then nobody has it, and nothing of it
    is on disk. None: that is done."""
    writing: trio.Event | None = None
    """Set once the offer is written down; None: nobody waits for that."""
    is_dropped: bool = False
    """Whether the submit was withdrawn: what its driver returns is of no account."""

    @property
    def may_leave(self) -> bool:
        """Whether its driver may hand it out."""
        return self.offer is None and not (self.is_dropped or self.answered)


class CallsOwner(Protocol):
    """Gets the result of each submit: once, and again for a late answer."""

    def heard(self, call: SubmitCall, outcome: Outcome | None) -> None:
        """The driver answered: in time, or after the call was given up. None: no usable answer."""

    def overdue(self, call: SubmitCall) -> None:
        """Give the call up, because its deadline has passed."""

    def cut_off(self, call: SubmitCall) -> None:
        """The service stops and no longer waits for its answer."""


class Calls:
    """The unanswered submits of one worker, in the order of their deadlines.

    Args:
        carrier: its name, for the log.
    """

    def __init__(self, carrier: str, driver: Driver, owner: CallsOwner) -> None:
        self.limit_s = limit_of(driver.capabilities)
        """How long each may take."""
        self._now_s = trio.lowlevel.current_clock().current_time
        """:func:`trio.current_time` without the clock's lookup at each submit."""
        self._carrier = carrier
        self._driver = driver
        self.fetches = fetches(driver.capabilities)
        self._poster = driver if isinstance(driver, Posting) and not self.fetches else None
        self._takes_parts = not driver.capabilities.takes_whole
        self._owner = owner
        self._open: dict[SubmitCall, None] = {}
        self._late: dict[SubmitCall, None] = {}
        self.unended: set[str] = set()
        """Messages of submits that are no longer waited for, and have not ended for certain: posted
        ones without an answer on the present link, and those whose end is not on disk yet."""
        self._begun = Bell()

    @property
    def late(self) -> int:
        """Calls that have not come back long after their deadline."""
        return len(self._late)

    def is_open(self, message_id: str) -> bool:
        """Whether a submit of a message may still be under way."""
        if message_id in self.unended or len(self.unended) >= UNENDED_MAX:
            return True
        return any(
            call.job.row.id == message_id for calls in (self._open, self._late) for call in calls
        )

    def note_unended(self, message_id: str) -> None:
        """Note a submit that has not ended; with too many of them, every one counts as open."""
        if len(self.unended) < UNENDED_MAX:
            self.unended.add(message_id)

    def took_s(self, call: SubmitCall) -> float:
        """How long ago it was submitted."""
        return self._now_s() - call.deadline_s + self.limit_s

    def __iter__(self) -> Iterator[SubmitCall]:
        return iter([*self._open])

    def renew(self, call: SubmitCall) -> None:
        """Let a call's time begin again."""
        if call in self._open:
            del self._open[call]
            call.deadline_s = self._now_s() + self.limit_s
            self._open[call] = None

    def drop(self, call: SubmitCall) -> None:
        """End a call that is withdrawn, and use no answer."""
        call.is_dropped = True
        self._open.pop(call, None)
        self._late.pop(call, None)
        if call.scope is not None:
            call.scope.cancel()

    def submit(self, job: Job, nursery: trio.Nursery, offer: Lease | None = None) -> None:
        """Let the driver submit the job's next segment, whatever the driver does.

        Args:
            nursery: holds the call if the driver has no post method.
            offer: see :class:`SubmitCall`.
        """
        segment = job.segment(job.remaining[0])
        call = SubmitCall(job, segment, self._now_s() + self.limit_s, offer=offer)
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
        answer: object = None
        try:
            with scope:
                answer = await self._driver.submit(call.segment)
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
                self._hear(call, answer)

    def _fail(self, call: SubmitCall) -> None:
        """A driver's bug must not lose the message: it is unknown what left."""
        if not call.answered:
            self._end(call)
            self._owner.heard(call, None)

    def _which(self, call: SubmitCall) -> dict[str, str]:
        return {"carrier": self._carrier, "message_id": call.segment.message_id}

    def _hear(self, call: SubmitCall, answer: object) -> None:
        """Take the driver's answer. Only the first one counts."""
        if call.answered:
            log.error("driver.answered_twice", **self._which(call))
            return
        self._end(call)
        outcome = checked(self._carrier, answer)
        is_code = call.job.row.kind == "code"
        self._owner.heard(call, outcome and discreet(outcome, call.segment, is_code=is_code))

    def _end(self, call: SubmitCall) -> None:
        """The call returned, in time or not."""
        call.answered = True
        self._open.pop(call, None)
        self._late.pop(call, None)

    def lose_link(self) -> None:
        """The link went down: calls in flight may never be answered."""
        for call in self._open:
            call.lost_link = True
        self.unended.clear()

    async def watch(self) -> None:
        """Give up calls that take too long, until cancelled."""
        while True:
            now_s = trio.current_time()
            for call in self._overdue(now_s):
                if call.writing is not None:  # the carrier fetches it at this moment
                    self.renew(call)
                    continue
                call.given_up = True
                del self._open[call]
                self._late[call] = None
                self._owner.overdue(call)
            for call in [one for one in self._late if one.deadline_s + LATE_S <= now_s]:
                if call.scope is None:
                    del self._late[call]
                    self.note_unended(call.job.row.id)
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
    """How long a submit of such a driver may take here, in seconds."""
    told_s: object = capabilities.submit_s
    if isinstance(told_s, int | float) and 0 < told_s <= SUBMIT_S_MAX:
        return told_s + SPARE_S
    return SUBMIT_S_MAX + SPARE_S


def fetches(capabilities: Capabilities) -> bool:
    """Whether segments are only offered to such a driver, until its carrier fetches them."""
    return capabilities.fetches and capabilities.takes_whole


def manners_of(capabilities: Capabilities) -> Manners:
    """What a driver says about submits without an answer."""
    can, remembers_s = capabilities, capabilities.remembers_ids_s
    return Manners(
        same_id_is_safe=can.same_id_is_safe and remembers_s > 0,
        is_asked=can.query and remembers_s > 0,
        settle_s=max(can.settle_s, SETTLE_S_MIN) if can.settle_s else 0.0,
        remembers_s=remembers_s,
        submit_s=limit_of(can),
    )


def checked(carrier: str, answer: object) -> Outcome | None:
    """The driver's return value if it is an outcome; else None, and the value is logged."""
    fault = fault_of(answer)
    if fault is None:
        return cast(Outcome, answer)
    log.error("driver.wrong_outcome", carrier=carrier, fault=fault)
    return None


# Asks a driver what became of a segment; a question that never ends blocks nothing.

QUESTION_S: Final = 60.0
"""After this time a question is cancelled: drivers' own limits are a fraction of it."""
OPEN_MAX: Final = 20
"""Questions to one driver at a time. A driver that answers none, not even when cancelled, gets no
further question."""


@dataclass(slots=True, eq=False)
class _Question:
    ask: Callable[[], Awaitable[object]]
    answered: trio.Event = field(default_factory=trio.Event)
    answer: object = None
    fault: Exception | None = None


class Questions:
    """The questions to one driver. They run in a nursery that outlives the caller: the caller can
    give up even if the driver cannot be cancelled."""

    def __init__(self) -> None:
        self._open = 0

    async def ask(self, nursery: trio.Nursery, ask: Callable[[], Awaitable[object]]) -> object:
        """The driver's answer; None if it gives none in time.

        Raises whatever the driver raises.
        """
        if self._open >= OPEN_MAX:
            return None
        question = _Question(ask)
        self._open += 1
        nursery.start_soon(self._put, question)
        with trio.move_on_after(QUESTION_S):
            await question.answered.wait()
        if question.fault is not None:
            raise question.fault
        return question.answer

    async def _put(self, question: _Question) -> None:
        try:
            with trio.move_on_after(QUESTION_S):
                question.answer = await question.ask()
        except Exception as fault:  # noqa: BLE001 -- the caller handles it
            question.fault = fault
        finally:
            self._open -= 1
            question.answered.set()
