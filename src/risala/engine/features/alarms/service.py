"""Writes to the people of an alarm's chain, one after the other, until somebody answers.

A step is noted in the transaction that accepts its message, by its alarm and its number, so that a
crash, a second machine and a clock that is set write to nobody twice, and leave nobody out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.alarms.records import (
    STEPS_MAX,
    AlarmChain,
    AlarmState,
    AlarmStep,
    RaisedAlarm,
    StepOutcome,
)
from risala.engine.features.alarms.rules import (
    DutyPerson,
    body_of,
    is_over,
    next_person,
    on_duty,
    person_of,
)
from risala.engine.features.alarms.stored.alarms import AlarmRepository, StepSettled
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import (
    Conflict,
    CountryNotOpen,
    Draining,
    Forbidden,
    InsufficientBalance,
    NotFound,
    RateLimited,
    Refusal,
    SpendCapReached,
    Unavailable,
)
from risala.engine.model.features import Task
from risala.engine.model.records.keys import KeyType
from risala.engine.services import Services

log = structlog.get_logger(__name__)

FACE: Final = "alarm"
"""What the timeline of a step's message says of the way it came, with its alarm and step."""
AT_ONCE: Final = 50
"""Alarms that are read together."""
AGAIN_MS: Final = 5000
"""Milliseconds until another try where the service could not accept the message."""
_OF_ALL: Final = (Forbidden, InsufficientBalance, SpendCapReached)
"""Refusals that would meet the next person too: that one's turn comes after the interval."""


class AlarmCalling:
    """A service: one step at a time."""

    def __init__(self, services: Services) -> None:
        self._intake = services.intake
        self._accounts = services.accounts
        self._ids = services.ids
        self._clock = services.recorder.clock
        self._stored = services.repositories.part(AlarmRepository)
        self._items = services.set_aside.loop("alarms")
        self._alarm = Alarm(services.recorder.clock)

    async def raise_alarm(
        self,
        by: AuditEntry | None,
        principal: Principal,
        chain_id: str,
        text: str,
        once: str | None,
    ) -> RaisedAlarm:
        """Raise an alarm, whose first person is written to at once.

        Args:
            principal: who raises it, and of which mode its messages are.
            once: a program's key: what was raised by it before is answered again.

        Raises:
            NotFound: the chain is gone.
            Conflict: too many alarms go on.
            Unavailable: the disk did not take it.
        """
        now_ms = self._clock.now_ms()
        new = RaisedAlarm(
            id=self._ids.new("alm"),
            chain_id=chain_id,
            organization_id=principal.organization_id,
            mode=principal.mode,
            text=text,
            state=AlarmState.GOING,
            steps=0,
            next_at=now_ms,
            raised_at=now_ms,
            raised_by=principal.key_id,
            ended_at=None,
            ended_by=None,
        )
        raised = await self._stored.raise_alarm(by, new, once)
        self._alarm.ring()
        return raised

    async def run(self) -> None:
        """Make the steps that are due, until cancelled."""
        try:
            while True:
                await self._take_turns()
        except Draining:
            await trio.sleep_forever()  # the service stops: the next one goes on

    async def _take_turns(self) -> None:
        """Make the steps that are due; if there are none, wait for the next."""
        due = self._stored.due(self._clock.now_ms(), AT_ONCE, self._items.broken_row)
        free = self._items.free(due, lambda each: each.id)
        for each in free:
            with self._items.item(each.id):
                await self._step(each)
        if not free:
            await self._alarm.wait(self._stored.next_at() if not due else None)

    def duty_of(self, chain: AlarmChain) -> list[DutyPerson]:
        """The people of a chain who are on duty now, in their order."""
        zone = self._accounts.organization(chain.organization_id).time_zone
        people = [each for line in chain.people if (each := person_of(line)) is not None]
        return on_duty(people, zone, self._clock.now_ms())

    async def _step(self, alarm: RaisedAlarm) -> None:
        """Write to the next person, or end the alarm: all were written to."""
        try:
            chain = self._stored.chain(alarm.chain_id)
            duty = self.duty_of(chain)
        except NotFound:  # deleted meanwhile
            return
        former = [each.number for each in self._stored.steps_of(alarm.id)]
        if len(former) < STEPS_MAX and not is_over(duty, former, chain.rounds):
            await self._write_to(alarm, chain, next_person(duty, former).number)
            return
        log.warning("alarm.unanswered", alarm=alarm.id)
        state, now_ms = AlarmState.UNANSWERED, self._clock.now_ms()
        with suppress(Conflict, NotFound):  # somebody has just ended it
            finish = partial(self._stored.finish, alarm.id, state, None, now_ms)
            await retry_until_committed("alarms", finish)

    async def _write_to(self, alarm: RaisedAlarm, chain: AlarmChain, number: str) -> None:
        now_ms, step = self._clock.now_ms(), alarm.steps + 1
        place = f"{alarm.id}:{step}"
        principal = Principal(alarm.organization_id, place, KeyType.SECRET, alarm.mode, face=FACE)
        body = body_of(alarm.text, chain.word, chain.language)
        command = SendMessage(number, body, chain.sender, idempotency_key=place)
        after_ms = now_ms + 1000 * chain.interval_seconds
        around = AlarmRepository.stepping(alarm.id, step, number, now_ms, after_ms)
        try:
            accepted = await self._intake.send(principal, command, around=around)
        except Draining:
            raise
        except StepSettled:
            log.info("alarm.settled_before", alarm=alarm.id, step=step)
        except (RateLimited, Unavailable) as error:
            wait_ms = max(AGAIN_MS, 1000 * (error.retry_after_s or 0))
            again = partial(self._stored.put_off, alarm.id, now_ms + wait_ms)
            await retry_until_committed("alarms", again)
        except Refusal as refusal:
            log.info("alarm.refused", alarm=alarm.id, step=step, reason=type(refusal).__name__)
            why = str(refusal)
            made = AlarmStep(step, now_ms, number, StepOutcome.REFUSED, None, why)
            is_of_all = isinstance(refusal, _OF_ALL) and not isinstance(refusal, CountryNotOpen)
            await self._note(alarm, made, after_ms if is_of_all else now_ms)
        else:  # noted in the same transaction, but where somebody else had used its key before
            message_id = json.loads(accepted)["messageId"]
            made = AlarmStep(step, now_ms, number, StepOutcome.SENT, message_id, None)
            with suppress(NotFound):  # deleted meanwhile
                if self._stored.alarm(alarm.id).steps < step:
                    await self._note(alarm, made, after_ms)

    async def _note(self, alarm: RaisedAlarm, made: AlarmStep, following_at: int) -> None:
        note = partial(self._stored.note, alarm.id, made, following_at)
        with suppress(StepSettled):  # it was made, or the alarm has just ended
            await retry_until_committed("alarms", note)


def tasks(services: Services) -> Sequence[Task]:
    """What runs as long as the service."""
    return [("alarms", services.part(AlarmCalling).run, True)]
