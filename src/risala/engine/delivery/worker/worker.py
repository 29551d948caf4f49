"""The engine's worker for one carrier, with its window, throttle, breaker and health."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Final

import structlog
import trio

from risala.config.model import CarrierSection, RetrySection
from risala.engine.delivery.attempt_writer import AttemptWriter
from risala.engine.delivery.worker.answers import Answers
from risala.engine.delivery.worker.awaited import Awaited
from risala.engine.delivery.worker.calls import LATE_MAX, Calls, Questions, manners_of
from risala.engine.delivery.worker.consequences import (
    Consequences,
    Learning,
    Solo,
    declines,
    let_wait,
)
from risala.engine.delivery.worker.link import CarrierLink
from risala.engine.delivery.worker.offers import Offers
from risala.engine.delivery.worker.parts import Counts, Job, WorkerHooks, tell_unwritten
from risala.engine.delivery.worker.traffic import WorkerTraffic
from risala.engine.journal.recorder import Recorder
from risala.engine.model.errors import Failed, Unavailable
from risala.engine.model.records.attempts import Attempt, Lease, Started
from risala.engine.model.states import Gate
from risala.engine.rules.repeats import Manners
from risala.engine.rules.throttle import Breaker, Throttle
from risala.plugins.contract import Choosy, Declined, Driver, DriverContext, Health, HealthState
from risala.sms.cause import Cause
from risala.sms.values import quickly

log = structlog.get_logger(__name__)

_lease: Final = quickly(Lease)

UNTRUSTED: Final = "untrusted"
STORAGE_PAUSE_S: Final = 1.0
"""Rest after an attempt could not be written: the disk is full or the service stops."""


@dataclass(slots=True)
class CarrierWorker:
    """Runs jobs through one driver. State changes happen on the loop thread, synchronously."""

    carrier: CarrierSection
    driver: Driver
    recorder: Recorder
    scribe: AttemptWriter
    hooks: WorkerHooks
    fence: Callable[[], None]
    """Called before each segment leaves; it does not return if another machine may send."""
    breaker: Breaker
    throttle: Throttle
    retry: InitVar[RetrySection]
    name: str = field(init=False)
    """The settings of its carrier."""
    window_max: int = field(init=False)
    """How many segments may be unanswered at once."""
    manners: Manners = field(init=False)
    """What its carrier does with submits without an answer."""
    standing: CarrierLink = field(init=False)
    in_flight: int = 0
    """Segments that are about to leave, wait for an answer, or have one that is not used yet."""
    settling: int = 0
    """Messages that the carrier has accepted, which is being written to disk: others may leave
    meanwhile, once they are on disk with it."""
    virtual_time: float = 0.0
    continuing: deque[Job] = field(default_factory=deque)
    counts: Counts = field(default_factory=Counts)
    solo: Solo = field(default_factory=Solo)
    traffic: WorkerTraffic = field(init=False)
    """What went over the wire in the last minutes."""
    driving: trio.Event | None = None
    """Set when its driver ends; None: it is not running."""
    _nursery: trio.Nursery | None = None
    _idle: trio.lowlevel.ParkingLot = field(default_factory=trio.lowlevel.ParkingLot)
    """What waits until nothing is in flight."""
    _rests: bool = False
    awaited: Awaited = field(init=False)
    """The accepted segments whose receipts should come."""
    answers: Answers = field(init=False)
    """What becomes of its submits."""
    offers: Offers = field(init=False)
    """What its carrier has not fetched yet; nothing, unless it fetches."""
    _calls: Calls = field(init=False)
    _learning: Learning = field(init=False)
    _is_choosy: bool = field(init=False)
    _questions: Questions = field(default_factory=Questions)

    def __post_init__(self, retry: RetrySection) -> None:
        can = self.driver.capabilities
        self.name = self.carrier.name
        self.window_max = self._window_max()
        self.standing = CarrierLink(can, self.recorder.clock)
        self.traffic = WorkerTraffic(self.recorder.clock)
        self.awaited = Awaited(is_asked=can.query)
        self.manners = manners_of(can)
        self._learning = Learning(self.breaker, self.throttle, self.counts)
        self.answers = Answers(
            driver=self.driver,
            recorder=self.recorder,
            scribe=self.scribe,
            fence=self.fence,
            standing=self.standing,
            awaited=self.awaited,
            consequences=Consequences(self.carrier, retry, self.hooks, self.manners),
            learning=self._learning,
            owner=self,
        )
        self._calls, self.offers = self.answers.calls, self.answers.offers
        self._is_choosy = isinstance(self.driver, Choosy)

    def _window_max(self) -> int:
        can = self.driver.capabilities
        return min(can.window_max, self.carrier.window_max or can.window_max)

    def retune(self, carrier: CarrierSection) -> None:
        """Apply other settings of the same carrier, except its driver's own."""
        self.carrier = carrier
        self.window_max = self._window_max()
        self.answers.retune(carrier)
        self.throttle.retune(carrier.rate_per_s, trio.current_time())
        self.hooks.changed()

    @property
    def origin(self) -> str:
        """Whether the sender of an incoming text is believed: a word of the setting ``origin``."""
        default = "network" if self.driver.capabilities.own_sim else UNTRUSTED
        return self.carrier.origin or default

    @property
    def silent(self) -> int:
        """Submits without an answer long after their time."""
        return self._calls.late

    @property
    def driver_health(self) -> Health:
        """The driver's report, unless the driver itself is at fault."""
        return self.standing.health_at(trio.current_time(), self._calls.late)

    def healthy(self, now_s: float) -> bool:
        """True if traffic should go here and not to the next tier."""
        return (
            self.standing.is_up
            and self.standing.gate is Gate.OPEN
            and (self.breaker.open_until_s is None or now_s >= self.breaker.open_until_s)
            and not self.standing.is_distrusted(now_s)
            and self._calls.late < LATE_MAX
        )

    def _may_submit(self) -> bool:
        # A driver that has failed gets one segment at a time until it works again.
        standing = self.standing
        window = self.solo.window(self.window_max) if standing.fault is None else 1
        return (
            self._nursery is not None
            and not self._rests
            and self.in_flight < window
            and self._calls.late < LATE_MAX
            and standing.is_up
            and standing.gate is not Gate.PAUSED
        )

    def ready(self, now_s: float) -> bool:
        """True if a segment could be submitted now.

        A draining worker takes no new message, but finishes those that it has begun.
        """
        return (
            now_s >= self.throttle.ready_at_s()
            and self._may_submit()
            and self.breaker.allows(now_s)
        )

    def next_ready_s(self) -> float | None:
        """When time alone makes it ready; None if something else must happen first."""
        if not self._may_submit():
            return None
        return max(self.throttle.ready_at_s(), self.breaker.open_until_s or 0.0)

    @property
    def busy(self) -> bool:
        """True while it handles a message."""
        begun = self.solo.waiting is not None and self.solo.waiting.attempt > 0
        return self.in_flight + self.settling > 0 or bool(self.continuing) or begun

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run the tasks of this worker's submits, until cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                task_status.started()
                self.hooks.changed()
                await self._calls.watch()
        finally:
            self._nursery = None

    async def run_driver(self, driver: Driver, context: DriverContext) -> None:
        """Run the driver until cancelled; however it ends, its link is then down."""
        self.standing.begin()
        self.driving = trio.Event()
        try:
            await driver.run(context)
        finally:
            self.driving.set()
            self.driving = None
            if self._rests:  # the operator wants it to end
                self.standing.begin()
            self.set_health(Health(HealthState.DOWN, "The driver is not running."))

    async def question(self, ask: Callable[[], Awaitable[object]]) -> object:
        """The driver's answer to a call; None if there is no answer in time."""
        if self._nursery is None:
            return None
        return await self._questions.ask(self._nursery, ask)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Within this context nothing is submitted: its link is about to be dropped."""
        self._rests = True
        self.offers.withdraw_all()
        try:
            yield
        finally:
            self._rests = False
            self.hooks.changed()

    async def wait_idle(self) -> None:
        """Wait until it handles no message."""
        while self.busy:
            await self._idle.park()

    async def wait_answers(self) -> None:
        """Wait until nothing is in flight."""
        while self.in_flight + self.settling:
            await self._idle.park()

    def _tell_idle(self) -> None:
        if self._idle and not self.in_flight + self.settling:
            self._idle.unpark_all()

    def may_repeat(self, message_id: str) -> bool:
        """Whether each submit of this message has ended, so that the next may be handed over: until
        then its carrier may get the one before at any moment."""
        is_usable = self.standing.is_up and self.standing.gate in (Gate.OPEN, Gate.DRAINING)
        return is_usable and not self._calls.is_open(message_id)

    def start(self, job: Job, now_s: float) -> None:
        """Submit the job's next part. Call only while :meth:`ready`.

        A message that goes alone waits in :attr:`solo` while others are in flight.
        """
        assert self._nursery is not None
        if not self.solo.may_start(job, self.in_flight):
            return
        self.throttle.take(now_s)
        self.breaker.submitted()
        self.in_flight += 1
        if self._is_choosy and job.attempt == 0 and not job.partly_accepted:
            row, segments = job.row, len(job.parts.texts)
            declined = declines(self.name, self.driver, row.recipient, segments, is_next=True)
            if declined is not None:
                self._nursery.start_soon(self._let_wait, job, declined)
                return
        opens, own = job.attempt == 0, self.standing.own_number
        lease = _lease(job.row.id, job.remaining[0], self.name, opens, own, job.row, job.repeat)
        if self._calls.fetches:
            job.attempt = job.attempt or job.row.attempts + 1
            self._calls.submit(job, self._nursery, lease)
            return
        self.scribe.start(lease, partial(self._begun, job))

    async def _let_wait(self, job: Job, declined: Declined) -> None:
        try:
            await let_wait(self.name, job, declined, self.recorder, self.hooks)
        except Unavailable as error:
            await self._rest(job, error)
        else:
            self._withdraw(job)

    def _withdraw(self, job: Job) -> None:
        """Take back a message that must not be sent, or not from here."""
        self.breaker.withdrew()
        self.throttle.give_back()
        self.finished(job, goes_on=False)

    async def _rest(self, job: Job, error: BaseException) -> None:
        """Nothing was written and nothing left: the message's due time is unchanged."""
        tell_unwritten(self.name, job.row.id, error)
        self.breaker.withdrew()
        try:
            await trio.sleep(STORAGE_PAUSE_S)
            self.hooks.put_back(job.row)
        finally:
            self.finished(job, goes_on=False)

    def _begun(self, job: Job, result: Started | Failed | None) -> None:
        """The start of its next part is on disk, or will never be."""
        if result is None:
            self._withdraw(job)
        elif isinstance(result, Started):
            job.attempt = result.attempt
            if self._nursery is None:  # we stop: what has not left is uncertain at the next start
                self.finished(job, goes_on=False)
                return
            # Only after the commit: a process that was frozen over it may have lost its lease.
            self.fence()
            self.counts.submitted += 1
            self._calls.submit(job, self._nursery)
        elif self._nursery is None:
            self.finished(job, goes_on=False)
        else:
            self._nursery.start_soon(self._rest, job, result.error)

    def finished(self, job: Job, *, goes_on: bool) -> None:
        """See :class:`~risala.engine.delivery.worker.answers.AnswersOwner`."""
        self.in_flight -= 1
        if goes_on:
            self.continuing.append(job)
        else:
            self.hooks.release(job.row.id)
        if not self.standing.is_up or self.standing.gate is Gate.PAUSED:
            self._give_back_begun(Cause.LINK_DOWN)
        self._tell_idle()
        self.hooks.changed()

    def made_room(self) -> None:
        """See :class:`~risala.engine.delivery.worker.answers.AnswersOwner`."""
        self.in_flight -= 1
        self.settling += 1
        self.hooks.changed()

    def room_settled(self, job: Job) -> None:
        """See :class:`~risala.engine.delivery.worker.answers.AnswersOwner`."""
        self.settling -= 1
        self.hooks.release(job.row.id)
        self._tell_idle()

    def set_health(self, health: Health) -> None:
        """Take over the driver's report on its link."""
        if self.standing.hear(health):
            self._learning.forget_unsent()
            log.info("carrier.health", carrier=self.name, state=health.state, text=health.text)
        if not self.standing.is_up:
            self._calls.lose_link()
            self.offers.withdraw_all()
            self._give_back_solo()
            self._give_back_begun(Cause.LINK_DOWN)
        self.hooks.changed()

    def set_gate(self, gate: Gate) -> None:
        """Set the operator's gate."""
        self.standing.obey(gate)
        if gate is not Gate.OPEN:
            self._give_back_solo()
            self.offers.withdraw_all(but_repeats=gate is Gate.DRAINING)
        if gate is Gate.PAUSED:
            self._give_back_begun(None)
        self.hooks.changed()

    def _give_back_solo(self) -> None:
        """A message that waits to go alone need not wait here."""
        job = self.solo.take()
        if job is not None and job.attempt:
            self.continuing.append(job)
        elif job is not None:
            self.hooks.put_back(job.row)

    def _give_back_begun(self, cause: Cause | None) -> None:
        """Messages between two parts return to the queue, where their validity is watched."""
        while self.continuing and self._nursery is not None:
            job = self.continuing.popleft()
            if job.repeat is not None:  # it stays uncertain, and is handed over again
                self.hooks.release(job.row.id)
                continue
            self.in_flight += 1
            self._nursery.start_soon(self._give_back, job, cause)

    async def _give_back(self, job: Job, cause: Cause | None) -> None:
        try:
            attempt = Attempt(job.row.id, 1, job.attempt, self.name)
            await self.recorder.give_back(attempt, cause)
        finally:
            self.finished(job, goes_on=False)
