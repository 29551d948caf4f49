"""Writes all changes of messages, and then notifies those who wait.

Everything here commits first and notifies after: the queue, the followers, the deadlines.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.actors.answer_window import AnswerWindow
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.journal import minutes
from risala.engine.journal.messages import awaiting, deadlines, delivery, endings, receipts
from risala.engine.journal.messages.under_way import UnderWay
from risala.engine.journal.minutes import Minutes
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.transaction import Group
from risala.engine.journal.store.writer import Journal, Unit
from risala.engine.model.audit import AuditEntry
from risala.engine.model.clock import Clock
from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import Failed, Unavailable
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.attempts import (
    Arrival,
    Attempt,
    Declining,
    Lease,
    Started,
    SubmitAnswer,
)
from risala.engine.model.records.messages import Change, Stamp
from risala.engine.model.states import Status
from risala.engine.rules.receiptgroups import ReceiptGroups
from risala.sms.cause import Cause

T = TypeVar("T")
_TOLD: Final = (Status.FAILED, Status.UNDELIVERED)
"""Statuses that somebody may have to check; the others are logged at debug level."""
_UNSENT: Final = (Status.FAILED, Status.CANCELED)
"""Statuses of a message that must not leave any more."""
_WORDS: Final = {status: status.value for status in Status} | {Status.PENDING: "requeued"}
"""Events that are counted and logged for a message's status after its acceptance."""
log = structlog.get_logger(__name__)

MINUTES_EVERY_S: Final = 60.0
"""Between two writes of the counts of each minute."""

DEADLINES_BATCH: Final = 64
"""Messages that end by time in one unit: a small one, so that sends get their turn between."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """The listeners to committed changes."""

    pending: Callable[[Change], None]
    """A message is in the queue (again)."""
    deadline: Callable[[int], None]
    """Something must be done at this time."""
    entered: Callable[[Entered], None]
    """A balance has changed: a message was refunded."""
    ended: Callable[[str], None]
    """A message that had not left was canceled, or has failed: its id."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is written together, in this order."""

    answers: Sequence[SubmitAnswer]
    arrivals: Sequence[Arrival]
    leases: Sequence[Lease]


@dataclass(frozen=True, slots=True)
class Written:
    """The result of each item of a page, in its order."""

    answers: list[Failed | None]
    arrivals: list[Failed | None]
    leases: list[Started | Failed | None]
    """None: it must no longer be sent."""


def unheard(_: object) -> None:
    """For a command that opens the journal alone: the next service finds it there."""


class Recorder:
    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        listeners: Listeners,
        groups: ReceiptGroups,
        answers: AnswerWindow,
    ) -> None:
        self.journal = journal
        self.answers = answers
        """What waits for the journal on behalf of a caller waits in it."""
        self.clock = clock
        self.listeners = listeners
        self.life: Broadcast[LifeEvent] = Broadcast()
        self.statuses: Counter[str] = Counter()
        """How often a message came into each status after it was accepted, since the start."""
        self.minutes = Minutes(journal.reader())
        """Counts of live messages by the minute, as far as they are not written yet."""
        self.groups = groups
        self._under_way = UnderWay()
        self._log = log.bind()
        """Bound once, instead of for each of a message's three lines."""

    def stamp(self) -> Stamp:
        return Stamp(self.clock.now_ms())

    async def write(self, page: Page) -> Written:
        """Write many items, each with its own result, and notify of the changes.

        It raises nothing: an item that could not be written has its error as the result.
        """
        now_ms, groups, way = self.clock.now_ms(), self.groups.of, self._under_way
        units: list[Group[Any, Any]] = [
            Group(lambda conn, some: delivery.finish(conn, some, groups, way), page.answers),
            Group(lambda conn, some: receipts.record(conn, some, groups, way), page.arrivals),
            Group(lambda conn, some: delivery.start(conn, some, now_ms, way), page.leases),
        ]
        answers, arrivals, leases = await self._commit_all(units)
        changes: list[Change] = []
        for answer, result in zip(page.answers, answers, strict=True):
            if not isinstance(result, Failed):
                changes += result
                self._expect(answer.decision.resolve_at)
        for result in arrivals:
            if not isinstance(result, Failed):
                changes += result
        for result in leases:
            if isinstance(result, Started):
                changes += result.changes
        self.tell(changes)
        return Written(_failures(answers), _failures(arrivals), leases)

    async def _commit_all(self, groups: Sequence[Group[Any, Any]]) -> list[list[Any]]:
        """The result of each item of each group."""
        some = [group for group in groups if group.items]
        try:
            answered = iter(await self.journal.commit_all(some))
        except Unavailable as error:
            answered = iter([Failed(error)] * len(some))
        answers = [next(answered) if group.items else [] for group in groups]
        return [
            [answer] * len(group.items) if isinstance(answer, Failed) else answer
            for group, answer in zip(groups, answers, strict=True)
        ]

    def _expect(self, resolve_at: int | None) -> None:
        if resolve_at is not None:
            try:
                self.listeners.deadline(resolve_at)
            except Exception:
                log.exception("recorder.bug")

    async def give_back(self, attempt: Attempt, cause: Cause | None) -> None:
        """Queue a message again whose remaining parts cannot go out now.

        ``cause`` is None if the operator paused the carrier.
        """
        now_ms = self.clock.now_ms()
        self.tell(
            await self._commit_for_sure(
                lambda conn: delivery.give_back(conn, attempt, cause, now_ms)
            )
        )

    async def decline(self, declining: Declining) -> None:
        """Let a message that a carrier would not take wait, or go by another route.

        Raises:
            Unavailable: it could not be written: its due time is unchanged.
        """
        stamp = self.stamp()
        self.tell(await self.journal.commit(lambda conn: endings.decline(conn, declining, stamp)))

    async def note_reachable(self, carrier: str, number: str) -> None:
        """Write into the timelines of messages that wait for a phone that a carrier reports it
        reachable again. No status changes, so there is no notification.

        Raises:
            Unavailable: it could not be written.
        """
        carriers, now_ms = self.groups.of(carrier), self.clock.now_ms()
        await self.journal.commit(
            lambda conn: awaiting.note_reachable(conn, carrier, carriers, number, now_ms)
        )

    async def cancel(self, message_id: str, *, by: AuditEntry | None = None) -> None:
        """Withdraw a message that has not left.

        Raises:
            NotFound, Conflict: it cannot be withdrawn.
            Unavailable: it could not be written.
        """
        stamp = self.stamp()
        unit = audited(by, lambda conn: endings.cancel(conn, message_id, stamp))
        self.tell(await self.journal.commit(unit))

    async def settle_deadlines(
        self, submits_max: int = deadlines.SUBMITS_MAX, only: int | None = None
    ) -> int:
        """End what has expired, one batch; returns how many messages changed.

        Args:
            submits_max: of a segment with an unknown outcome; then it is not sent again.
            only: the key of the one message that is meant; None: all.

        Raises:
            Unavailable: it could not be written.
        """
        stamps = [self.stamp() for _ in range(DEADLINES_BATCH)]
        changes = await self.journal.commit(
            lambda conn: (
                *deadlines.expire_due(conn, stamps[: DEADLINES_BATCH // 2], only),
                *deadlines.resolve_due(
                    conn, stamps[DEADLINES_BATCH // 2 :], self.groups.of, submits_max, only
                ),
            )
        )
        self.tell(changes)
        return len(changes)

    async def write_minutes(self) -> None:
        """Write the counts by the minute so far.

        Raises:
            Unavailable: it could not be written; it is written with the next.
        """
        counts, failures = self.minutes.take()
        if not counts:
            return
        now_ms = self.clock.now_ms()
        try:
            await self.journal.commit(lambda conn: minutes.add(conn, counts, failures, now_ms))
        except Unavailable:
            self.minutes.put_back(counts, failures)
            raise

    async def flush_minutes(self) -> None:
        """Store the counts so far; what the disk refuses is written with the next."""
        try:
            await self.write_minutes()
        except Unavailable as error:
            log.warning("minutes.storage", reason=str(error))

    async def keep_writing_minutes(self) -> None:
        """Store the counts of each minute, until cancelled."""
        while True:
            await trio.sleep(MINUTES_EVERY_S)
            await self.flush_minutes()

    def tell(self, changes: Sequence[Change]) -> None:
        """Count committed changes, and notify the listeners. A listener's bug is logged: the other
        changes are on disk too, and must be reported."""
        # Three times a message: an unread value is not even built.
        is_watched, logs_all = self.life.listeners > 0, self._log.is_enabled_for(logging.DEBUG)
        for change in changes:
            status = change.status
            try:
                self.minutes.ended(change)
                if status is not Status.PENDING or change.carrier:
                    self.statuses[_WORDS[status]] += 1
                    if logs_all or status in _TOLD:
                        self._log_of(change)
                if is_watched:
                    self.life.publish(_life(change))
                if change.entered is not None:
                    self.listeners.entered(change.entered)
                if change.due_at is not None:
                    self.listeners.pending(change)
                elif status in _UNSENT:
                    self.listeners.ended(change.message_id)
            except Exception:
                log.exception("recorder.bug")

    def _log_of(self, change: Change) -> None:
        """Log a message's progress after its acceptance."""
        write = self._log.info if change.status in _TOLD else self._log.debug
        # Never a word of the carrier or its driver: it might contain the message's text.
        write(
            f"message.{_WORDS[change.status]}",
            message_id=change.message_id,
            carrier=change.carrier,
            what=change.line.kind.name,
            cause=change.line.cause,
        )

    async def _commit_for_sure(self, unit: Unit[T]) -> T:
        """A carrier's answer must be written, however long the disk is full."""
        return await retry_until_committed("journal", partial(self.journal.commit, unit))


def _failures(results: Sequence[object]) -> list[Failed | None]:
    return [result if isinstance(result, Failed) else None for result in results]


def _life(change: Change) -> LifeEvent:
    return LifeEvent(
        at=change.at,
        message_id=change.message_id,
        organization_id=change.organization_id,
        to=change.recipient,
        status=change.status,
        line=change.line,
        carrier=change.carrier,
        attempt=change.attempt,
        raw=change.raw,
    )
