"""Requests of other software to a hook: who calls, what is sent, and the answer it understands."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Final

import trio

from risala.engine.actors.alarm import Alarm
from risala.engine.features.hooks.codes import HookCodes, SendHookCode
from risala.engine.features.hooks.records import Storm
from risala.engine.features.hooks.registry import HookRegistry, KnownHook
from risala.engine.features.hooks.rules.answers import (
    CLOSED_CODE,
    HookAnswer,
    HookAnswerShape,
    HookOutcome,
    HookReceipt,
    HookResult,
    answer_of,
)
from risala.engine.features.hooks.rules.rates import HookRates
from risala.engine.features.hooks.rules.reading import HOOK_STEPS_MAX, read
from risala.engine.features.hooks.rules.requests import (
    HookFault,
    HookMessage,
    HookProof,
    HookRequest,
    proof_fault,
)
from risala.engine.features.hooks.rules.work_budget import WorkBudget
from risala.engine.features.hooks.stored import HookRepository
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import (
    CountryNotOpen,
    EngineError,
    Forbidden,
    InsufficientBalance,
    NotFound,
    RateLimited,
    Refusal,
    SpendCapReached,
    Unavailable,
)
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.states import Mode
from risala.engine.services import Services

LOOK_S: Final = 300.0
"""Between two looks for windows of alerts that are over: each new one rings, and a clock that is
set makes a message of alerts late at worst."""
LATER: Final = 503
"""The status of what is not possible now."""
RETRY_AFTER_S: Final = 5
"""Seconds after which programs try again what is not possible now."""
_STATUSES: Final[Mapping[type[EngineError], int]] = {
    InsufficientBalance: 402,
    SpendCapReached: 402,
    Forbidden: 403,
}
"""Statuses of refusals, in the words that programs understand (contract §10); any other is 400."""
STORM_WORDS: Final = {
    "en": "{count} more alerts. The first: {first}",
    "fr": "{count} autres alertes. La première : {first}",
    "ar": "تنبيهات أخرى: {count}. أولها: {first}",
}
"""What is said of the alerts that a storm held, by the hook's language."""
_UNKNOWN: Final = HookResult(
    HookOutcome.NEVER, 401, "unauthorized", "The hook is unknown, or the secret is wrong."
)
_ADDRESS: Final = HookResult(
    HookOutcome.NEVER, 403, "address", "The hook may not be used from this address."
)
_INACTIVE: Final = HookResult(
    HookOutcome.NEVER, 403, "disabled", "The hook is disabled, or its organization is not active."
)


def _suffix_of(request: HookRequest, known: KnownHook) -> str:
    """What the program has added to the hook's address."""
    in_path = HookProof(known.hook.proof) is HookProof.PATH
    if in_path or request.path_secret is None or not known.preset.suffix:
        return request.suffix
    # The secret is not in the address: what is read as it is the suffix's first part.
    return f"/{request.path_secret}{request.suffix}"


class HookReceiver:
    """Receives the requests to all hooks."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._registry = services.part(HookRegistry)
        self._codes = services.part(HookCodes)
        self._stored = services.repositories.part(HookRepository)
        self._messages = services.repositories.messages
        self._intake = services.intake
        self._seal = services.seal
        self._plan = services.settings.plan
        self._code_texts = services.settings.code_texts
        self._clock = services.recorder.clock
        self._rates = HookRates(services.settings.limits.hook_requests_per_s)
        self.alarm = Alarm(self._clock, LOOK_S)
        """Rings at the end of a window of alerts."""
        self._under_way: dict[str, trio.Event] = {}
        """Requests that are being answered, by their marks."""

    async def receive(
        self, hook_id: str, request: HookRequest, address: object | None
    ) -> HookReceipt:
        """Answer a request; what it accepted is on disk then.

        Args:
            address: the client's, as ``ipaddress`` has it; None: not known.
        """
        known = self._registry.find(hook_id)
        if known is None:
            return HookReceipt(_generic(request, _UNKNOWN), None, False, "")
        principal, preset = known.principal, known.preset
        now_ms = self._clock.now_ms()
        proof = HookProof(known.hook.proof)
        fault = proof_fault(proof, known.secrets_at(now_ms), request, header=preset.header)
        if fault is not None:
            return HookReceipt(_generic(request, _UNKNOWN), principal, False, fault.sentence)
        allowed = principal.allowed_addresses
        if allowed is not None and (
            address is None or not any(address in each for each in allowed)
        ):
            text = f"{_ADDRESS.sentence} It came from {address}."
            return HookReceipt(_generic(request, _ADDRESS), principal, True, text)
        self._registry.used(hook_id)
        results = await self._answered(known, request)
        wrong = next((each.sentence for each in results if each.sentence), "")
        return HookReceipt(
            answer_of(preset.answer, request, results),
            principal,
            True,
            wrong,
            next((each.message_id for each in results if each.message_id), None),
        )

    async def _answered(self, known: KnownHook, request: HookRequest) -> Sequence[HookResult]:
        preset, whose = known.preset, known.hook.organization_id
        if not self._registry.is_active(known):
            return (_INACTIVE,)
        if _suffix_of(request, known) not in ("", preset.suffix):
            return (_never("unknown_path", "The address is not this hook's."),)
        assert preset.mapping is not None
        try:
            await self._let_in(known)
        except EngineError as error:
            return (_refused(error),)
        steps = WorkBudget(HOOK_STEPS_MAX)
        messages = read(preset.mapping, request, steps)
        self._rates.spend(whose, steps.used, trio.current_time())
        if isinstance(messages, HookFault):
            return (_never(messages.code, messages.sentence),)
        if not messages:
            return (HookResult(HookOutcome.ACCEPTED),)
        proof, at_ms, once = HookProof(known.hook.proof), self._clock.now_ms(), None
        if proof is HookProof.STANDARD_WEBHOOKS:
            once = request.headers.get("webhook-id")
            at_ms = int(request.headers["webhook-timestamp"]) * 1000
        if preset.to == "fixed":
            return [await self._alert(known, each, each.once or once) for each in messages]
        return [await self._one(known, each, each.once or once, at_ms) for each in messages]

    async def _let_in(self, known: KnownHook) -> None:
        """Count a proved request, before anything in it is read.

        Raises:
            RateLimited: the hook, or its organization's hooks together, are called too often.
            Unavailable: the balance is not known now.
        """
        whose = known.hook.organization_id
        pays = known.hook.mode is not Mode.LIVE or await self._intake.can_pay(whose)
        self._rates.take(known.hook.id, whose, pays, trio.current_time())

    # -- one message to the number in the request

    async def _one(
        self, known: KnownHook, message: HookMessage, once: str | None, at_ms: int
    ) -> HookResult:
        """
        Args:
            at_ms: when the program wrote the request, as far as it says so and proves it.
        """
        try:
            to = self._plan.read(message.to or "")
        except ValueError as error:
            return HookResult(HookOutcome.NEVER, 400, "invalid_number", str(error), None, message)
        repeat_s = known.preset.repeat_s
        if repeat_s is None:
            key = None if once is None else _key(known, f"{sha256(once.encode()).hexdigest()}:{to}")
            return await self._send(known, message, to, key)
        mark = self._seal.mark(f"{to}\0{message.code or message.text}", known.hook.id)
        async with self._turn(mark):
            window = at_ms // (repeat_s * 1000)
            if self._is_repeat(known, mark, window, at_ms - repeat_s * 1000):
                return _accepted(message)
            return await self._send(known, message, to, _key(known, f"{mark}:{window}"))

    def _is_repeat(self, known: KnownHook, mark: str, window: int, since: int) -> bool:
        """Whether the same number and code or text was accepted within the window.

        By the time that the program signed: so a request that somebody else repeats later, within
        its signature's time, is found as well.
        """
        whose = (known.hook.organization_id, known.hook.mode.value)
        times = (
            self._messages.accepted_at(*whose, _key(known, f"{mark}:{each}"))
            for each in (window, window - 1, window + 1)
        )
        return any(at is not None and at > since for at in times)

    @asynccontextmanager
    async def _turn(self, mark: str) -> AsyncIterator[None]:
        """One after the other: the next sees what the one before it did."""
        while (before := self._under_way.get(mark)) is not None:
            await before.wait()
        over = self._under_way[mark] = trio.Event()
        try:
            yield
        finally:
            del self._under_way[mark]
            over.set()

    async def _send(
        self, known: KnownHook, message: HookMessage, to: str, key: str | None
    ) -> HookResult:
        principal = known.principal
        try:
            if known.preset.sends == "code":
                response = await self._codes.send(
                    principal,
                    SendHookCode(
                        to,
                        code=None if message.text else message.code,
                        text=message.text,
                        locale=self._language_of(message, known),
                        sender=known.hook.sender,
                        once=key,
                    ),
                )
            else:
                response = await self._intake.send(
                    principal, self._command(known, message, to, key)
                )
        except EngineError as error:
            return _refused(error, message)
        return _accepted(message, response)

    def _language_of(self, message: HookMessage, known: KnownHook) -> str | None:
        """The first of these languages that there are texts in; None: the organization's own."""
        wished, texts = (message.locale, known.hook.locale), self._code_texts
        return next((each for each in wished if each in texts), None)

    def _command(
        self, known: KnownHook, message: HookMessage, to: str, key: str | None
    ) -> SendMessage:
        text = message.text or message.code or ""
        metadata = {} if message.reference is None else {"reference": message.reference}
        sender = known.hook.sender or message.sender
        return SendMessage(to, text, sender, idempotency_key=key, metadata=metadata)

    # -- alerts: to the hook's own numbers

    async def _alert(self, known: KnownHook, message: HookMessage, once: str | None) -> HookResult:
        text = message.text or message.code or ""
        marked = None if once is None else _key(known, sha256(once.encode()).hexdigest())
        if marked is not None and self._was_accepted(known, marked):
            return _accepted(message)
        try:
            now_ms = self._clock.now_ms()
            passes, ends_at = await self._stored.take_alert(known.hook.id, text, now_ms)
        except EngineError as error:
            return _refused(error, message)
        self.alarm.expect(ends_at)
        return await self._to_all(known, message, marked) if passes else _accepted(message)

    def _was_accepted(self, known: KnownHook, key: str) -> bool:
        work = duty(Duty.ALARMS)
        if known.hook.alarm is not None and work is not None:
            raised: bool = work.was_raised(self._services, known.hook.organization_id, key)
            return raised
        whose = (known.hook.organization_id, known.hook.mode.value)
        numbers = known.hook.numbers or ()
        return any(self._messages.accepted_at(*whose, f"{key}:{to}") is not None for to in numbers)

    async def end_storm(self, storm: Storm) -> HookResult | None:
        """Send the message of a window that is over; None: its hook is gone, or may not send."""
        known = self._registry.find(storm.hook)
        if known is None or not self._registry.is_active(known):
            return None
        words = STORM_WORDS.get(known.hook.locale or "", STORM_WORDS["en"])
        text = words.format(count=storm.held, first=storm.text or "")
        message = HookMessage(None, text, None)
        return await self._to_all(known, message, _key(known, f"storm:{storm.ends_at}"))

    async def _to_all(self, known: KnownHook, message: HookMessage, key: str | None) -> HookResult:
        """Send a text to all numbers of a hook.

        Args:
            key: the beginning of each message's idempotency key; None: they have none.
        """
        if known.hook.alarm is not None:
            return await self._raise(known, message, known.hook.alarm, key)
        commands = [
            self._command(known, message, to, None if key is None else f"{key}:{to}")
            for to in known.hook.numbers or ()
        ]
        try:
            results = await self._intake.send_batch(known.principal, commands)
        except EngineError as error:
            return _refused(error, message)
        accepted = [each for each in results if not isinstance(each, Refusal)]
        if not accepted:
            (first, *_) = (each for each in results if isinstance(each, Refusal))
            return _refused(first, message)
        return _accepted(message, accepted[0])

    async def _raise(
        self, known: KnownHook, message: HookMessage, chain_id: str, key: str | None
    ) -> HookResult:
        """Raise an alarm, which writes to the people of a chain one after the other."""
        text, work = message.text or message.code or "", duty(Duty.ALARMS)
        try:
            if work is None:
                raise NotFound("This service raises no alarms.")
            await work.raise_for(self._services, known.principal, chain_id, text, key)
        except EngineError as error:
            return _refused(error, message)
        return _accepted(message)


def _key(known: KnownHook, rest: str) -> str:
    return f"hook:{known.hook.id}:{rest}"


def _accepted(message: HookMessage, response: bytes | None = None) -> HookResult:
    """
    Args:
        response: of the engine; None: nothing new was sent for it.
    """
    message_id = "" if response is None else json.loads(response)["messageId"]
    return HookResult(HookOutcome.ACCEPTED, message=message, message_id=message_id)


def _never(code: str, sentence: str, status: int = 400) -> HookResult:
    return HookResult(HookOutcome.NEVER, status, code, sentence)


def _refused(error: EngineError, message: HookMessage | None = None) -> HookResult:
    """What an error of the engine is to a program; ``message`` is None if the whole request is
    refused."""
    if isinstance(error, RateLimited):
        wait_s = error.retry_after_s
        return HookResult(HookOutcome.LATER, LATER, "limited", str(error), wait_s, message)
    if isinstance(error, Unavailable):
        return HookResult(
            HookOutcome.LATER, LATER, "unavailable", str(error), RETRY_AFTER_S, message
        )
    status = next((_STATUSES[each] for each in type(error).__mro__ if each in _STATUSES), 400)
    code = CLOSED_CODE if isinstance(error, CountryNotOpen) else "refused"
    return HookResult(HookOutcome.NEVER, status, code, str(error), None, message)


def _generic(request: HookRequest, result: HookResult) -> HookAnswer:
    """The answer to a request in the shape that is the same for every hook, and for an unknown
    one."""
    return answer_of(HookAnswerShape.JSON, request, (result,))
