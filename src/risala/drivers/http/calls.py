"""Codes by a call: an HTTP API calls somebody, and a voice says the code, digit by digit, twice.

A call that nobody takes brings no code. So a delivery waits for the call's end: it is delivered, or
has failed and is refunded. Whether a person or a mailbox took the call, an aggregator does not say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

import trio

from risala.drivers.http.driver import HttpDriver
from risala.drivers.http.settings import CallSettings
from risala.drivers.later_words import LaterWords
from risala.plugins.channel import (
    Accepted,
    CarrierAnswer,
    CarrierRequest,
    ChannelCapabilities,
    CodeToSend,
    DriverContext,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
)
from risala.sms.message import Alphabet, Segment

SPEAKS_S: Final = 45.0
"""The longest that a call may take beside its ringing: a connection, and the code twice."""
ASK_S: Final = 5.0
"""How often the aggregator is asked for a call's end where it has no address to tell it to."""
_TEXTS: Final = {
    "en": "Hello. Your code for {name} is: {digits}. Once more: {digits}. Goodbye.",
    "fr": "Bonjour. Votre code pour {name} est : {digits}. Encore une fois : {digits}. Au revoir.",
    "ar": "مرحبا. رمزك في {name} هو: {digits}. مرة أخرى: {digits}. مع السلامة.",
}
_ENGLISH: Final = "en"


def spoken(name: str, code: str, language: str) -> str:
    """What the voice says: a pause after each digit, and the code twice."""
    pause = "، " if language == "ar" else ", "
    return _TEXTS[language].format(name=name, digits=pause.join(code))


class CallDriver(HttpDriver):
    """One account that calls. A call's end is told to the task that waits for it."""

    def __init__(
        self, carrier: str, settings: CallSettings, now_s: Callable[[], float] = time.time
    ) -> None:
        super().__init__(carrier, settings, now_s)
        self.ends: LaterWords[Receipt] = LaterWords()

    async def call(self, segment: Segment, filling: Mapping[str, str]) -> Outcome:
        """Call somebody, and judge the answer.

        Args:
            filling: fills the holes of a call.
        """
        return await self._submit(segment, filling)

    async def _hear(self, context: DriverContext, receipt: Receipt) -> None:
        if not (receipt.state.is_final and self.ends.tell(receipt.carrier_id, receipt)):
            await super()._hear(context, receipt)


class VoiceChannel:
    """A :class:`risala.plugins.channel.CodeChannel` of one account that calls."""

    def __init__(
        self, name: str, settings: CallSettings, now_s: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._driver = CallDriver(name, settings, now_s)
        can = self._driver.capabilities
        self._end_s = settings.ring_s + SPEAKS_S if can.receipts else 0.0
        self.capabilities = ChannelCapabilities(
            receipts=can.receipts,
            window_max=can.window_max,
            send_s=settings.submit_s + self._end_s,
            account=can.account,
            secret_address=can.secret_address,
        )

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        await self._driver.run(context, task_status=task_status)

    async def send_code(self, code: CodeToSend) -> Outcome:
        settings = self._settings
        voices = settings.shape.send.languages
        language = code.language if code.language in voices else _ENGLISH
        segment = Segment(
            message_id=code.id,
            number=0,
            total=1,
            attempt=code.attempt,
            sender=settings.caller,
            recipient=code.to,
            alphabet=Alphabet.UCS2,
            text=spoken(settings.name, code.code, language),
            reference=0,
            expires_at_ms=code.expires_at_ms,
            urgent=True,
        )
        filling = {"language": voices.get(language, language), "ring_s": str(settings.ring_s)}
        outcome = await self._driver.call(segment, filling)
        return await self._ended(outcome) if isinstance(outcome, Accepted) else outcome

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        """Take the word of a call's end.

        Raises:
            NotStoredError: it comes again.
        """
        return await self._driver.answer(request)

    async def _ended(self, accepted: Accepted) -> Outcome:
        """Wait for the end of a call that was taken."""
        if not self._end_s:
            return accepted
        with self._driver.ends.awaited(accepted.carrier_id) as awaited:
            with trio.move_on_after(self._end_s):
                if self._has_receipts:
                    await awaited.wait()
                else:
                    awaited.tell(await self._asked(accepted.carrier_id))
            receipt = awaited.word
        if receipt is None:
            return accepted
        if receipt.state is ReceiptState.DELIVERED:
            return Accepted(accepted.carrier_id, receipt.raw, is_delivered=True)
        return Refused(Scope.FINAL, receipt.raw, cause=receipt.why)

    @property
    def _has_receipts(self) -> bool:
        """Whether the aggregator tells a call's end, and is not asked for it."""
        has_address = bool(self._settings.secret_address.get_secret_value())
        return has_address or not self._driver.capabilities.query

    async def _asked(self, carrier_id: str) -> Receipt:
        while True:
            await trio.sleep(ASK_S)
            receipt = await self._driver.query(carrier_id, sender=self._settings.caller)
            if receipt is not None and receipt.state.is_final:
                return receipt
