"""Lets automatic answers leave, one after the other, in the order in which their texts came."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import structlog
import trio

from risala.config.model import Settings
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.answers.forwarding import forwarding, limits_of
from risala.engine.features.answers.records import (
    LATE_MS,
    AnswerFault,
    AnswerKind,
    WaitingAnswer,
    key_of_answer,
)
from risala.engine.features.answers.stored.queue import (
    AnswerRefused,
    AnswerRepository,
    AnswerSettled,
)
from risala.engine.model.commands import AnswerWay, Principal, SendMessage
from risala.engine.model.errors import Draining, RateLimited, Refusal, Unavailable
from risala.engine.model.features import Task
from risala.engine.model.people import Language
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.services import Services

log = structlog.get_logger(__name__)

AT_ONCE: Final = 50
"""Answers that are read together."""
AGAIN_MS: Final = 5000
"""Milliseconds until another try where the service could not accept it."""
_ASKED_FOR: Final = (AnswerKind.OPT_OUT, AnswerKind.HELP)
"""Answers that leave though the person wants no messages: they answer that very word."""


class AnswerSending:
    """A service: one answer at a time, so that its limits are exact."""

    def __init__(self, services: Services) -> None:
        self._intake = services.intake
        self._router = services.router
        self._plan = services.settings.plan
        self._recorder = services.recorder
        self._texts = services.repositories.inbound.came
        self._replies = services.repositories.deliveries.replied
        self._stored = services.repositories.part(AnswerRepository)
        self._items = services.set_aside.loop("automatic_answers")
        self._alarm = Alarm(services.recorder.clock)
        self._limits = limits_of(services.settings)

    def retune(self, settings: Settings) -> None:
        """Apply limits that were changed at run time."""
        self._limits = limits_of(settings)

    async def put_in(
        self,
        organization_id: str,
        text_id: str,
        kind: AnswerKind,
        texts: str | Mapping[Language, str],
        name: str = "",
    ) -> bool:
        """:func:`~risala.engine.features.answers.stored.queue.put_in` in a transaction of its own.

        Raises:
            Unavailable: it could not be written.
        """
        stamp = self._recorder.stamp()
        put = await self._stored.put_in(organization_id, text_id, kind, texts, stamp, name)
        self._alarm.ring()
        return put

    async def run(self) -> None:
        """Let answers leave, until cancelled."""
        with self._texts.hear(self._came), self._replies.hear(self._came):
            try:
                while True:
                    await self._take_turns()
            except Draining:
                await trio.sleep_forever()  # the service stops: the next one goes on

    async def _take_turns(self) -> None:
        """Let those leave whose turn it is; if there are none, wait for the next."""
        waiting = self._stored.due(self._now_ms, AT_ONCE, self._items.broken_row)
        free = self._items.free(waiting, lambda each: each.text_id)
        for each in free:
            with self._items.item(each.text_id):
                await self._leave(each)
        if not free:
            await self._alarm.wait(self._stored.next_due() if not waiting else None)

    def _came(self, _: str) -> None:
        self._alarm.ring()

    @property
    def _now_ms(self) -> int:
        return self._recorder.clock.now_ms()

    async def _leave(self, answer: WaitingAnswer) -> None:
        """Send an answer, refuse it, or put it off."""
        now_ms = self._now_ms
        if now_ms - answer.at >= LATE_MS:
            await self._refuse(answer, AnswerFault.LATE)
            return
        way = self._stored.way_of(answer)
        if not self._plan.serves(answer.number):
            await self._refuse(answer, AnswerFault.NO_PHONE)
        elif way is None or not self._router.sends_by(way.carrier):
            await self._refuse(answer, AnswerFault.NO_CARRIER)
        else:
            await self._send(answer, way, now_ms)

    async def _send(self, answer: WaitingAnswer, way: AnswerWay, now_ms: int) -> None:
        principal = Principal(answer.organization_id, "answers", KeyType.SECRET, Mode.LIVE)
        command = SendMessage(
            to=answer.number,
            body=answer.body,
            idempotency_key=key_of_answer(answer.text_id),
            way=way._replace(is_asked_for=answer.kind in _ASKED_FOR),
        )
        around = AnswerRepository.leaving(answer, self._limits, now_ms)
        try:
            accepted = await self._intake.send(principal, command, around=around)
        except Draining:
            raise
        except AnswerRefused as refused:
            await self._refuse(answer, refused.fault)
        except AnswerSettled:
            log.info("answer.settled_before", text_id=answer.text_id)
        except (RateLimited, Unavailable) as error:
            wait_ms = max(AGAIN_MS, 1000 * (error.retry_after_s or 0))
            again = partial(self._stored.put_off, answer.text_id, now_ms + wait_ms)
            await retry_until_committed("answers", again)
        except Refusal as refusal:
            await self._refuse(answer, AnswerFault.REFUSED, str(refusal))
        else:  # noted in the same transaction, but where somebody else had used its key before
            message_id = json.loads(accepted)["messageId"]
            if self._stored.waits(answer.text_id):
                note = partial(self._stored.note_sent, answer, message_id, now_ms)
                await retry_until_committed("answers", note)

    async def _refuse(self, answer: WaitingAnswer, fault: AnswerFault, why: str = "") -> None:
        log.info("answer.refused", text_id=answer.text_id, reason=fault.value)
        settle = partial(self._stored.refuse, answer.text_id, fault, why)
        await retry_until_committed("answers", settle)


def tasks(services: Services) -> Sequence[Task]:
    """What runs as long as the service."""
    return [
        ("automatic answers", services.part(AnswerSending).run, True),
        ("forwarded texts", services.part(forwarding).run, True),
    ]


def retuned(services: Services, settings: Settings) -> None:
    """Apply settings that changed while it runs."""
    services.part(AnswerSending).retune(settings)
    services.part(forwarding).limits = limits_of(settings)
