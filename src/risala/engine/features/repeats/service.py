"""Makes a mailing of each run that is due, and starts it once its rows are checked.

A run is noted in the transaction that stores its mailing, by its repeat and its time, so that a
crash, a second machine and a clock that is set back send nothing twice. A mailing is started by its
state, which allows that once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.lists.stored import RecipientListRepository
from risala.engine.features.mailings.records import Mailing, MailingState, MailingWait, NewMailing
from risala.engine.features.mailings.service import mailing_service
from risala.engine.features.repeats.records import (
    MailingRepeat,
    RepeatReason,
    RepeatRun,
    RunOutcome,
)
from risala.engine.features.repeats.rules import (
    LATE_MS,
    dues,
    missed_until,
    next_due,
    rhythm_of,
)
from risala.engine.features.repeats.stored import (
    DueRepeat,
    MadeRun,
    NextStep,
    RepeatRepository,
    RunSettled,
)
from risala.engine.model.errors import Conflict, Draining, NotFound, Refusal, Unavailable
from risala.engine.model.features import Task
from risala.engine.model.ids import is_id
from risala.engine.services import Services

log = structlog.get_logger(__name__)

AT_ONCE: Final = 50
"""Repeats and runs that are read together."""
ACTIVE: Final = "active"
INACTIVE: Final = "The organization is not active."
EMPTY: Final = "There is nobody on this list yet."
NOT_ONE: Final = "No row of the list could be sent to."
DELETED: Final = "Its mailing was deleted or stopped before it was started."
AGAIN_S: Final = 5.0
"""Seconds until another try where the machine has no room for another table."""


class RepeatRunning:
    """A service: one run at a time."""

    def __init__(self, services: Services) -> None:
        self._accounts = services.accounts
        self._clock = services.recorder.clock
        self._mailings = services.part(mailing_service)
        self._lists = services.repositories.part(RecipientListRepository)
        self._stored = services.repositories.part(RepeatRepository)
        self._items = services.set_aside.loop("mailing_repeats")
        self._alarm = Alarm(services.recorder.clock)
        self._is_stale = True
        """Whether an organization may have another time zone."""

    def changed(self) -> None:
        """A repeat was made or changed."""
        self._alarm.ring()

    async def run(self) -> None:
        """Make the mailings that are due, until cancelled."""
        self._is_stale = True
        with self._accounts.changed.hear(self._moved), self._mailings.checked.hear(self._heard):
            try:
                while True:
                    await self._take_turns()
            except Draining:
                await trio.sleep_forever()  # the service stops: the next one goes on

    def _moved(self, _: str) -> None:
        self._is_stale = True
        self._alarm.ring()

    def _heard(self, _: str) -> None:
        self._alarm.ring()

    async def _take_turns(self) -> None:
        """Do what is due; if there is nothing, wait for the next."""
        if self._is_stale:
            await self._replan_moved()
        due = self._stored.due(self._now_ms, AT_ONCE, self._items.broken_row)
        free = self._items.free(due, lambda each: each.repeat.id)
        for each in free:
            with self._items.item(each.repeat.id):
                await self._take(each)
        for run in self._items.free(self._stored.made(AT_ONCE), lambda each: each.mailing_id):
            with self._items.item(run.mailing_id):
                await self._start(run)
        if not free:
            await self._alarm.wait(self._stored.next_at() if not due else None)

    @property
    def _now_ms(self) -> int:
        return self._clock.now_ms()

    # -- when the next one is

    async def _replan_moved(self) -> None:
        """Reckon anew for organizations that have another time zone."""
        self._is_stale = False
        moved = self._stored.elsewhere(AT_ONCE)
        for organization_id in moved:
            for each in self._stored.active_of(organization_id):
                if each.repeat.next_at is not None and each.repeat.next_at > self._now_ms:
                    await self._replan(each.repeat)
        self._is_stale = self._is_stale or len(moved) == AT_ONCE

    async def _replan(self, repeat: MailingRepeat) -> None:
        zone = self._zone(repeat)
        ahead = dues(rhythm_of(repeat), zone, self._now_ms - 1)
        at = next((d.at for d in ahead if not self._stored.has_run(repeat.id, d.at)), None)
        step = NextStep(at, RepeatReason.UNTIL if at is None else None)
        change = partial(self._stored.replan, repeat, step, zone, self._now_ms)
        await retry_until_committed("repeats", change)

    def _zone(self, repeat: MailingRepeat) -> str:
        return self._accounts.organization(repeat.organization_id).time_zone

    def _step_after(self, repeat: MailingRepeat, at_ms: int, *, is_run: bool) -> NextStep:
        """What becomes of a repeat after a run at this time."""
        if is_run and repeat.count is not None and repeat.runs + 1 >= repeat.count:
            return NextStep(None, RepeatReason.COUNT)
        at = next_due(rhythm_of(repeat), self._zone(repeat), at_ms)
        return NextStep(at, RepeatReason.UNTIL if at is None else None)

    # -- making the mailing of a run

    async def _take(self, due: DueRepeat) -> None:
        """Make the mailing of a run, or note why there is none."""
        repeat, now_ms = due.repeat, self._now_ms
        at = repeat.next_at
        assert at is not None
        rhythm = rhythm_of(repeat)
        is_moved = next_due(rhythm, due.zone, at - 1) != at
        if is_moved or self._stored.has_run(repeat.id, at):  # the clock was set: it looks anew
            await self._replan(repeat)
        elif now_ms - at >= LATE_MS:
            last, count = missed_until(rhythm, due.zone, at, now_ms - LATE_MS + 1)
            if self._stored.has_run(repeat.id, last):
                await self._replan(repeat)
                return
            step = self._step_after(repeat, last, is_run=False)
            await self._skip(due, RepeatRun(last, RunOutcome.MISSED, count, None, None), step)
        elif self._owner_left(due):
            await self._skip(due, None, NextStep(None, RepeatReason.OWNER_LEFT))
        elif self._waits_for_money(repeat):
            run = RepeatRun(at, RunOutcome.NO_MONEY, 0, None, None)
            await self._skip(due, run, NextStep(None, RepeatReason.NO_MONEY))
        else:
            await self._make(due, at)

    async def _make(self, due: DueRepeat, at: int) -> None:
        repeat = due.repeat
        if self._accounts.organization(repeat.organization_id).status != ACTIVE:
            await self._refuse(due, at, RunOutcome.REFUSED, INACTIVE)
            return
        step = self._step_after(repeat, at, is_run=True)
        if not await self._has_people(due, at):
            return
        settings = {name: getattr(repeat, name) for name in ("pace", "from_hour", "to_hour")}
        beside = RepeatRepository.taking(repeat, at, step, self._now_ms)
        try:
            made = await self._mailings.create(
                _mailing_of(repeat), settings=settings, beside=beside
            )
        except RunSettled:
            log.info("repeat.taken", repeat=repeat.id, due=at)
        except NotFound:  # the list is gone, or the organization
            await self._skip(due, None, NextStep(None, RepeatReason.LIST_GONE))
        except Refusal as error:
            await self._refuse(due, at, RunOutcome.REFUSED, str(error))
        except Draining:
            raise
        except Unavailable as error:  # it is late by then, or takes place
            log.warning("repeat.put_off", repeat=repeat.id, reason=str(error))
            await trio.sleep(AGAIN_S)
        else:
            log.info("repeat.begun", repeat=repeat.id, mailing=made.id)

    async def _has_people(self, due: DueRepeat, at: int) -> bool:
        """Whether there is somebody on a run's list; if not, that is noted."""
        repeat = due.repeat
        try:
            people = self._lists.recipient_list(repeat.list_id).people
        except NotFound:
            await self._skip(due, None, NextStep(None, RepeatReason.LIST_GONE))
            return False
        if not people:
            await self._refuse(due, at, RunOutcome.EMPTY, EMPTY)
        return bool(people)

    async def _refuse(self, due: DueRepeat, at: int, outcome: RunOutcome, why: str) -> None:
        step = self._step_after(due.repeat, at, is_run=False)
        await self._skip(due, RepeatRun(at, outcome, 0, None, why), step)

    async def _skip(self, due: DueRepeat, run: RepeatRun | None, step: NextStep) -> None:
        repeat = due.repeat
        log.info("repeat.skipped", repeat=repeat.id, run=run and run.outcome, ends=step.ends)
        assert repeat.next_at is not None
        note = partial(self._stored.skip, repeat, repeat.next_at, run, step, self._now_ms)
        with suppress(RunSettled, NotFound):  # it was changed or deleted meanwhile
            await retry_until_committed("repeats", note)

    def _owner_left(self, due: DueRepeat) -> bool:
        """Whether who made a repeat is no member any more, or its key does not work."""
        whose, owner = due.repeat.organization_id, due.owner
        if not owner:
            return False
        if is_id(owner, "usr"):
            return self._stored.owner_left(whose, owner)
        try:
            return not self._accounts.key(owner).enabled
        except NotFound:
            return True

    def _waits_for_money(self, repeat: MailingRepeat) -> bool:
        """Whether the mailing of the run before still waits for money."""
        last = next((r for r in self._stored.runs_of(repeat.id) if r.mailing_id), None)
        if last is None or last.mailing_id is None:
            return False
        mailing = self._find(last.mailing_id)
        is_sending = mailing is not None and mailing.state is MailingState.SENDING
        return is_sending and mailing is not None and mailing.wait is MailingWait.BALANCE

    def _find(self, mailing_id: str) -> Mailing | None:
        try:
            return self._mailings.mailing(mailing_id)
        except NotFound:
            return None

    # -- starting it

    async def _start(self, run: MadeRun) -> None:
        """Start the mailing of a run if its rows are checked."""
        mailing = self._find(run.mailing_id)
        if mailing is None or mailing.state is MailingState.STOPPED:
            await self._settle(run, RunOutcome.REFUSED, DELETED)
        elif mailing.state is MailingState.DRAFT:
            await self._start_draft(run, mailing)
        elif mailing.state is not MailingState.CHECKING:
            await self._settle(run, RunOutcome.STARTED, None)

    async def _start_draft(self, run: MadeRun, mailing: Mailing) -> None:
        outcome: RunOutcome = RunOutcome.EMPTY
        why: str | None = NOT_ONE
        try:
            if mailing.ready:
                await self._mailings.start(mailing.id)
                outcome, why = RunOutcome.STARTED, None
        except Refusal as error:
            outcome, why = RunOutcome.REFUSED, str(error)
        if outcome is not RunOutcome.STARTED:
            with suppress(Conflict, NotFound):  # somebody started or deleted it meanwhile
                await self._mailings.delete(mailing.id)
        await self._settle(run, outcome, why)

    async def _settle(self, run: MadeRun, outcome: RunOutcome, why: str | None) -> None:
        note = partial(self._stored.settle, run, outcome, why, self._now_ms)
        with suppress(NotFound):
            await retry_until_committed("repeats", note)


def _mailing_of(repeat: MailingRepeat) -> NewMailing:
    return NewMailing(
        organization_id=repeat.organization_id,
        mode=repeat.mode,
        created_by=repeat.created_by,
        name=repeat.name,
        text=repeat.text,
        sender=repeat.sender,
        list_id=repeat.list_id,
    )


def tasks(services: Services) -> Sequence[Task]:
    """What runs as long as the service."""
    return [("mailings that repeat", services.part(RepeatRunning).run, True)]
