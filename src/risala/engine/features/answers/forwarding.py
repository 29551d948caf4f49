"""Lets texts leave that rules forward: as an SMS, as a mail, into a chat, or to a webhook."""

from __future__ import annotations

import json
import random
from functools import partial
from typing import Final

import structlog
import trio

from risala import __version__
from risala.config.model import Settings
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.answers.forwards import (
    GIVEN_UP_MS,
    TELEGRAM,
    CameIn,
    ForwardFault,
    ForwardKind,
    WaitingForward,
    fault_of,
    key_of_forward,
    sms_of,
    targets_of,
    telegram_body,
    wait_ms,
    webhook_body,
)
from risala.engine.features.answers.records import AnswerLimits
from risala.engine.features.answers.rule_records import AnswerRule
from risala.engine.features.answers.stored.forwards import (
    ForwardRefused,
    ForwardRepository,
    ForwardSettled,
)
from risala.engine.features.answers.stored.rules import AnswerRuleRepository
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import (
    Draining,
    NotFound,
    RateLimited,
    Refusal,
    SecretLost,
    Unavailable,
)
from risala.engine.model.people_records import OwedMail
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.people.letters import Letters, Values, Words, moment, named
from risala.engine.rules.webhooks.schedule import ReceiverFault
from risala.engine.rules.webhooks.signatures import signed
from risala.engine.rules.webhooks.types import WebhookCall
from risala.engine.services import Services

log = structlog.get_logger(__name__)

AT_ONCE: Final = 16
"""Forwards that leave together: a slow receiver holds up few others."""
JITTER: Final = 0.2
"""The part of a wait that is chance: receivers that come back are not called by all at once."""


class TextForwarding:
    """A service: some forwards at a time, few of each organization."""

    def __init__(self, services: Services, limits: AnswerLimits) -> None:
        self._intake = services.intake
        self._accounts = services.accounts
        self._clock = services.recorder.clock
        self._texts = services.repositories.inbound.came
        self._around = services.surroundings
        self._stored = services.repositories.part(ForwardRepository)
        self._rules = services.repositories.part(AnswerRuleRepository)
        self._items = services.set_aside.loop("text_forwards")
        self._alarm = Alarm(self._clock)
        self.limits = limits
        self._is_draining = False

    async def run(self) -> None:
        """Let texts leave, until cancelled."""
        with self._texts.hear(self._came):
            while not self._is_draining:
                await self._take_turns()
            await trio.sleep_forever()  # the service stops: the next one goes on

    def _came(self, _: str) -> None:
        self._alarm.ring()

    async def _take_turns(self) -> None:
        now_ms = self._clock.now_ms()
        waiting = self._stored.due(now_ms, AT_ONCE, self._items.broken_row)
        free = self._items.free(waiting, lambda each: each.id)
        async with trio.open_nursery() as crew:
            for each in free:
                crew.start_soon(self._turn, each)
        if not free:
            await self._alarm.wait(self._stored.next_due() if not waiting else None)

    async def _turn(self, forward: WaitingForward) -> None:
        try:
            with self._items.item(forward.id):
                await self._leave(forward)
        except Draining:
            self._is_draining = True

    async def _leave(self, forward: WaitingForward) -> None:
        """Forward a text, refuse it, or put it off."""
        now_ms = self._clock.now_ms()
        if now_ms - forward.at >= GIVEN_UP_MS:
            await self._refuse(forward, ForwardFault.LATE)
            return
        came, rule = self._stored.text_of(forward.text_id), self._rule(forward)
        if came is None:
            await self._refuse(forward, ForwardFault.GONE)
        elif rule is None:
            await self._refuse(forward, ForwardFault.CHANGED)
        else:
            try:
                await self._by_kind(forward, rule, came, now_ms)
            except Draining:
                raise
            except ForwardRefused as refused:
                await self._refuse(forward, refused.fault)
            except ForwardSettled:
                log.info("forward.settled_before", forward=forward.id)
            except (RateLimited, Unavailable) as error:
                await self._again(forward, 1000 * (error.retry_after_s or 0))
            except Refusal as refusal:
                await self._refuse(forward, ForwardFault.REFUSED, str(refusal))

    def _rule(self, forward: WaitingForward) -> AnswerRule | None:
        """The rule; None: it no longer forwards there."""
        try:
            rule = self._rules.find(forward.rule_id)
        except NotFound:
            return None
        return rule if (forward.kind, forward.target) in targets_of(rule) else None

    async def _by_kind(
        self, forward: WaitingForward, rule: AnswerRule, came: CameIn, now_ms: int
    ) -> None:
        if forward.kind is ForwardKind.SMS:
            await self._send(forward, sms_of(rule.language, came.sender, came.body), now_ms)
        elif forward.kind is ForwardKind.MAIL:
            wake = self._around.wake_post
            if wake is None:
                raise ForwardRefused(ForwardFault.NO_MAILER)
            await self._stored.owe_mail(forward, self.limits, now_ms)
            wake()
        else:
            await self._call(forward, came, now_ms)

    async def _send(self, forward: WaitingForward, body: str, now_ms: int) -> None:
        principal = Principal(forward.organization_id, "answers", KeyType.SECRET, Mode.LIVE)
        key = key_of_forward(forward.text_id)
        message = SendMessage(to=forward.target, body=body, idempotency_key=key)
        around = ForwardRepository.leaving(forward, self.limits, now_ms)
        accepted = await self._intake.send(principal, message, around=around)
        if self._stored.waits(forward):  # somebody else had used its key before
            message_id = json.loads(accepted)["messageId"]
            note = partial(self._stored.note_done, forward, now_ms, message_id)
            await retry_until_committed("forwards", note)

    async def _call(self, forward: WaitingForward, came: CameIn, now_ms: int) -> None:
        """Call a chat or a webhook; its row is settled after the answer."""
        outbound = self._around.outbound
        if outbound is None:
            raise ForwardRefused(ForwardFault.NO_CALLS)
        if self._accounts.organization(forward.organization_id).status != "active":
            raise Refusal("The organization is not active.")
        fault = self._stored.fault(forward, self.limits, now_ms)
        if fault is not None:
            raise ForwardRefused(fault)
        answer = await outbound.post(self._request(forward, came, now_ms))
        if isinstance(answer, ReceiverFault):
            log.info("forward.failed", forward=forward.id, reason=answer.code)
            await self._again(forward)
        elif 200 <= answer.status < 300:
            note = partial(self._stored.note_done, forward, self._clock.now_ms())
            await retry_until_committed("forwards", note)
        elif (for_good := fault_of(forward.kind, answer.status)) is not None:
            raise ForwardRefused(for_good)
        else:
            log.info("forward.failed", forward=forward.id, reason=f"HTTP {answer.status}")
            await self._again(forward)

    def _request(self, forward: WaitingForward, came: CameIn, now_ms: int) -> WebhookCall:
        try:
            secret = self._rules.secret(forward.rule_id, forward.kind)
        except SecretLost:
            raise ForwardRefused(ForwardFault.NO_SECRET) from None
        headers = {"content-type": "application/json", "user-agent": f"Risala/{__version__}"}
        if forward.kind is ForwardKind.TELEGRAM:
            body, url = telegram_body(forward, came), f"{TELEGRAM}/bot{secret}/sendMessage"
            return WebhookCall(url, headers, body.encode())
        body = webhook_body(forward, came)
        headers |= signed(forward.id, body, [secret], now_ms)
        return WebhookCall(forward.target, headers, body.encode())

    async def _again(self, forward: WaitingForward, least_ms: int = 0) -> None:
        wait = wait_ms(forward.tries) * (1 + JITTER * random.random())  # noqa: S311 -- no secret
        end_at = forward.at + GIVEN_UP_MS
        due_at = min(self._clock.now_ms() + max(int(wait), least_ms), end_at)
        await retry_until_committed("forwards", partial(self._stored.put_off, forward, due_at))

    async def _refuse(self, forward: WaitingForward, fault: ForwardFault, why: str = "") -> None:
        log.info("forward.refused", forward=forward.id, reason=fault.value)
        settle = partial(self._stored.refuse, forward, fault, why)
        await retry_until_committed("forwards", settle)


def limits_of(settings: Settings) -> AnswerLimits:
    """The limits of the settings."""
    replies = settings.replies
    return AnswerLimits(replies.per_number_and_day, replies.per_organization_and_hour)


def forwarding(services: Services) -> TextForwarding:
    """The one of the services."""
    return TextForwarding(services, limits_of(services.settings))


def letter(letters: Letters, owed: OwedMail, _: Words) -> Values | None:
    """What fills the words of a mail that forwards a text; None: the text is no longer kept."""
    came = letters.repositories.part(ForwardRepository).text_of(owed.details["text"])
    if came is None:
        return None
    organization = letters.accounts.organization(owed.details["organization"])
    return {
        "organization": named(organization),
        "number": came.sender,
        "rule": owed.details["rule"],
        "text": came.body,
        "id": owed.details["text"],
        "when": moment(came.received_at, owed.language, organization.time_zone),
        "url": f"{letters.url}/app/{organization.id}/conversations",
    }
