"""The delivery scheduler: an actor that gives due messages to workers that are ready.

It moves on four occasions, and each of them sends it the same message, :class:`Pump`, at most one
of which waits in the mailbox: something fell due, a slot came free, a carrier's health changed, a
timer rang. All that it decides on is in the journal; losing a ``Pump`` loses nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

import structlog
import trio

from risala.config.model import CarrierSection
from risala.dataclass import dataclass
from risala.engine.actors.actor import Decider, Ref
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.delivery.notes import Notes
from risala.engine.delivery.worker.parts import Job
from risala.engine.delivery.worker.tile import statistics_of
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.ids import concat_reference
from risala.engine.model.records.attempts import Repeat
from risala.engine.model.records.messages import DueRow
from risala.engine.model.states import PRIORITY_CODE, PRIORITY_MAILING, PRIORITY_MESSAGE, Gate
from risala.engine.rules.router import Router
from risala.sms.message import WHOLE, Alphabet
from risala.sms.segment import cut, whole

log = structlog.get_logger(__name__)

_ALPHABETS: Final = {alphabet.value: alphabet for alphabet in Alphabet}
IDLE_S: Final = 60.0
"""The wall clock may be set: look at the queue again after this time, whatever was planned."""


@dataclass(frozen=True, slots=True)
class Pump:
    """Look whether anything can be given out."""


@dataclass(frozen=True, slots=True)
class SetGate:
    """The operator pauses, resumes or drains a carrier."""

    carrier: str
    gate: Gate


@dataclass(frozen=True, slots=True)
class Rearrange:
    """Use other carriers from now on: these workers run, and messages follow these settings."""

    carriers: tuple[CarrierSection, ...]
    """The workers that get messages."""
    lanes: Mapping[str, CarrierWorker]
    """Workers that take messages, and the ones that only finish what they have begun."""


@dataclass(frozen=True, slots=True)
class ReloadOrganization:
    """An organization was suspended or resumed: the journal has its present state.

    Of two such changes the later commit counts, even if they arrive in the other order.
    """

    organization_id: str


@dataclass(frozen=True, slots=True)
class RepeatSubmit:
    """Submit a segment again, in the same attempt. Losing it loses nothing: the journal says that
    the message is uncertain, and it is asked for again."""

    carrier: str
    message_id: str
    segment: int
    repeat: Repeat


SchedulerMessage = Pump | SetGate | Rearrange | ReloadOrganization | RepeatSubmit


class Board:
    """What the scheduler decides on; it survives a crash of the scheduler."""

    def __init__(
        self,
        notes: Notes,
        lanes: dict[str, CarrierWorker],
        rows: QueueRepository,
        text_of: Callable[[DueRow], str | None],
        items: ItemLoop,
    ) -> None:
        self.items = items
        """Keeps messages aside that break before they leave."""
        self.notes = notes
        self.queue = notes.queue
        self.lanes = lanes
        self.rows = rows
        self.text_of = text_of
        """The text to send for a row: a code's text exists only from here to the carrier. None: it
        can no longer be read."""
        self._leasing = True
        self.pumped_at_s = 0.0
        """When the scheduler looked last, on Trio's clock."""

    @property
    def leasing(self) -> bool:
        """Whether anything new is given out."""
        return self._leasing

    def replace_lanes(self, lanes: Mapping[str, CarrierWorker]) -> None:
        """Run these workers, in place of the present ones."""
        kept = dict(lanes)
        self.lanes.clear()
        self.lanes.update(kept)

    def stop_leasing(self) -> None:
        """Give out nothing new: the service stops."""
        self._leasing = False
        self.notes.wake()


class Scheduler(Decider[SchedulerMessage]):
    def __init__(self, board: Board, router: Router, clock: Clock) -> None:
        self._board = board
        self._router = router
        self._clock = clock
        self._virtual_time = 0.0
        self._turns = self._turns_of_all()

    def _turns_of_all(self) -> dict[str, _Turns]:
        lanes = self._board.lanes
        return {name: _turns_of(name, self._router, lanes) for name in lanes}

    def decide(self, message: SchedulerMessage) -> object:
        match message:
            case Pump():
                self._pump()
            case SetGate(carrier, gate):
                lane = self._board.lanes.get(carrier)
                if lane is None:
                    raise NotFound(f"There is no carrier {carrier!r}.")
                if lane.standing.gate is Gate.LEAVING:
                    raise Conflict(
                        f"{carrier} is being removed: it finishes its current messages, then stops."
                    )
                lane.set_gate(gate)
                return statistics_of(lane)
            case Rearrange(carriers, lanes):
                flash = {each.name for each in lanes.values() if each.driver.capabilities.flash}
                self._router.rearrange(carriers, flash)
                self._board.replace_lanes(lanes)
                self._board.queue.keep_only(self._router.is_route)
                self._turns = self._turns_of_all()
                self._board.notes.wake()
            case ReloadOrganization(organization_id):
                self._reload_organization(organization_id)
            case RepeatSubmit():
                self._repeat(message)
        return None

    def _repeat(self, submit: RepeatSubmit) -> None:
        """Give the message to its worker, unless a worker has it already."""
        board = self._board
        lane, row = board.lanes.get(submit.carrier), board.rows.message(submit.message_id)
        if lane is None or row is None or not board.leasing or not board.queue.hold(row):
            return
        goes_whole = submit.segment == WHOLE
        job = board.items.made(row.id, self._job, row, goes_whole=goes_whole)
        if job is None or job.remaining[0] != submit.segment:
            board.queue.release(row.id)
            return
        job.attempt, job.repeat = row.attempts, submit.repeat
        lane.continuing.append(job)
        board.notes.wake()

    def _reload_organization(self, organization_id: str) -> None:
        if not self._board.rows.may_send(organization_id):
            self._board.queue.suspend(organization_id)
            return
        self._board.queue.resume(organization_id)
        self._board.notes.wake()

    def _pump(self) -> None:
        now_ms, now_s = self._clock.now_ms(), trio.current_time()
        self._board.pumped_at_s = now_s
        self._board.queue.wake(now_ms)
        ready = list(self._board.lanes.values())
        while ready := [lane for lane in ready if lane.ready(now_s)]:
            lane = self._neediest(ready)
            job = self._next_job(lane, now_ms, now_s)
            if job is None:
                ready.remove(lane)
                continue
            self._virtual_time = max(lane.virtual_time, self._virtual_time)
            lane.virtual_time = self._virtual_time + 1 / lane.carrier.weight
            lane.start(job, now_s)

    def _neediest(self, lanes: list[CarrierWorker]) -> CarrierWorker:
        """Start-time fair queueing: a worker's share of a tier is its weight."""
        if len(lanes) == 1:
            return lanes[0]
        return min(lanes, key=lambda lane: max(lane.virtual_time, self._virtual_time))

    def _next_job(self, lane: CarrierWorker, now_ms: int, now_s: float) -> Job | None:
        """In this order: messages that go alone; codes; messages that are begun; the others in
        turn; those of mailings in turn."""
        queue, made = self._board.queue, self._board.items.made
        may_begin = self._board.leasing and lane.standing.gate is Gate.OPEN
        if lane.solo.waiting is not None:
            waiting = lane.solo.take()
            if waiting is not None and (waiting.attempt or may_begin):
                return waiting
            if waiting is not None:
                self._board.notes.put_back(waiting.row)
        routes = self._routes_of(lane, now_s) if may_begin else ()
        goes_whole = lane.driver.capabilities.takes_whole
        while (row := queue.take(routes, PRIORITY_CODE, now_ms)) is not None:
            if (job := made(row.id, self._job, row, goes_whole=goes_whole)) is not None:
                self._turns[lane.name].rotate(-1)
                return job
        if lane.continuing:
            return lane.continuing.popleft()
        for priority in (PRIORITY_MESSAGE, PRIORITY_MAILING):
            while (row := queue.take(routes, priority, now_ms)) is not None:
                self._turns[lane.name].rotate(-1)
                if (job := made(row.id, self._job, row, goes_whole=goes_whole)) is not None:
                    return job
        return None

    def _routes_of(self, lane: CarrierWorker, now_s: float) -> list[str]:
        """The routes that this worker serves now: no earlier tier of them is healthy."""
        return [
            key
            for key, before in self._turns[lane.name]
            if not before or not any(earlier.healthy(now_s) for earlier in before)
        ]

    def _job(self, row: DueRow, *, goes_whole: bool) -> Job | None:
        """What is to be submitted for a row; None: its text can no longer be read. It is not given
        out again, and fails when its validity ends, a code's within minutes."""
        text, alphabet = self._board.text_of(row), _ALPHABETS[row.encoding]
        if text is None:
            log.error("scheduler.unreadable", message_id=row.id)
            return None
        # A text goes whole as it was counted at acceptance; a code is written in now.
        goes_uncut = row.segments == 1 and row.kind != "code"
        parts = whole(text) if goes_uncut else cut(text, alphabet)
        done = self._board.rows.acknowledged_parts(row.id) if row.attempts else ()
        count = len(parts.texts)
        numbers = (WHOLE,) if goes_whole and count > 1 and not done else range(1, count + 1)
        remaining = deque([n for n in numbers if n not in done] if done else numbers)
        reference = concat_reference(row.id) if count > 1 else 0
        return Job(row, parts, remaining, alphabet, reference, partly_accepted=bool(done))


_Turns = deque[tuple[str, tuple[CarrierWorker, ...]]]


def _turns_of(name: str, router: Router, lanes: Mapping[str, CarrierWorker]) -> _Turns:
    """The routes that contain this carrier, each with the workers of the tiers before its own."""
    turns: _Turns = deque()
    for key, route in router.routes.items():
        own = next((n for n, tier in enumerate(route.tiers) if name in tier), None)
        if own is not None:
            before = tuple(lanes[earlier] for tier in route.tiers[:own] for earlier in tier)
            turns.append((key, before))
    return turns


def next_turn_s(board: Board, clock: Clock) -> float:
    """When time alone gives the scheduler something to do, on Trio's clock."""
    now_s = trio.current_time()
    times = [now_s + IDLE_S]
    has_work = board.queue.has_work()
    for lane in board.lanes.values():
        at = lane.next_ready_s() if has_work or lane.continuing else None
        # A worker that was ready at the last pump found nothing: time does not change that.
        if at is not None and at > board.pumped_at_s:
            times.append(at)
    due_at = board.queue.next_due()
    if due_at is not None:
        times.append(now_s + max(0, due_at - clock.now_ms()) / 1000)
    return min(times)


async def keep_pumping(board: Board, scheduler: Ref[SchedulerMessage], clock: Clock) -> None:
    """Ask the scheduler to look whenever a note or the time requires it, until cancelled."""
    while True:
        await scheduler.ask(Pump())
        await board.notes.wait(next_turn_s(board, clock))
