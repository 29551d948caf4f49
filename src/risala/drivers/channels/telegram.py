"""Codes by Telegram: the Gateway API (core.telegram.org/gateway/api).

Telegram tells by a signed report, or when it is asked, whether a code was delivered within its
time to live, and gives its fee back where it was not. So a delivery waits for that word: it is
delivered, or has failed and is refunded.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

import trio

from risala.drivers.channels.calls import CALL_S, CallFailedError, VendorAnswer, json_object, post
from risala.drivers.channels.settings import TelegramSettings
from risala.drivers.channels.vendor_account import Facts, VendorAccount
from risala.drivers.later_words import AwaitedWord, LaterWords
from risala.plugins.channel import (
    Accepted,
    CarrierAnswer,
    CarrierRequest,
    Cause,
    ChannelCapabilities,
    CodeToSend,
    DriverContext,
    NotStoredError,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Throttled,
)

WINDOW_MAX: Final = 100
"""Codes that wait for Telegram's word at once."""
ASK_S: Final = 5.0
"""How often Telegram is asked where it does not report."""
LATE_S: Final = 3.0
"""How long after a code's time to live the last question is asked."""
REPORT_AGE_S: Final = 600
"""The oldest report that is believed: who recorded one cannot use it for ever."""
UP: Final = "Codes go by Telegram."
STRANGER: Final = "Telegram does not know the token: set it again."
NO_CREDIT: Final = "The account at Telegram has no money left."
_FLOOD: Final = re.compile(r"FLOOD_WAIT_(\d{1,6})")
_THERE: Final = ("delivered", "read")
_GONE: Final = ("expired", "revoked")
_UNPROVED: Final = CarrierAnswer(status=401)
_DONE: Final = CarrierAnswer(b"{}")


class TelegramChannel:
    """A :class:`risala.plugins.channel.Channel` of one account at Telegram's Gateway."""

    def __init__(self, settings: TelegramSettings) -> None:
        self._settings = settings
        self._token = settings.token.get_secret_value()
        self._key = sha256(self._token.encode()).digest()
        self.capabilities = ChannelCapabilities(
            receipts=True,
            window_max=WINDOW_MAX,
            send_s=settings.ttl_s + LATE_S + 2 * CALL_S,
            account=sha256(self._key).hexdigest()[:16],
        )
        self._account = VendorAccount(UP)
        self._words: LaterWords[str] = LaterWords()

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        await self._account.watch(context, task_status, self._examine)

    async def _examine(self) -> tuple[str, Facts] | None:
        """Ask for a code that is none: that costs nothing, and tells whether the token is known."""
        try:
            answer = await self._call("checkVerificationStatus", {"request_id": "0"})
        except CallFailedError:
            return None
        return (STRANGER if _error_of(answer).startswith("ACCESS_TOKEN") else ""), {}

    async def send_code(self, code: CodeToSend) -> Outcome:
        settings = self._settings
        more = {"callback_url": settings.callback_url, "sender_username": settings.sender}
        body: dict[str, object] = {
            "phone_number": code.to,
            "code": code.code,
            "ttl": settings.ttl_s,
            "payload": code.id,
            **{name: value for name, value in more.items() if value is not None},
        }
        try:
            answer = await self._call("sendVerificationMessage", body)
        except CallFailedError as failed:
            return failed.outcome
        request_id = _result(answer).get("request_id")
        if not isinstance(request_id, str):
            return self._refused(answer)
        self._account.is_well()
        return await self._awaited(request_id)

    async def _call(self, method: str, body: Mapping[str, object]) -> VendorAnswer:
        return await post(f"{self._settings.url}/{method}", self._token, body)

    # -- what became of it

    async def _awaited(self, request_id: str) -> Outcome:
        """Wait for Telegram's word, at most for the code's time to live."""
        with self._words.awaited(request_id) as awaited:
            with trio.move_on_after(self._settings.ttl_s + LATE_S):
                await self._word(request_id, awaited)
            word = awaited.word or await self._ask(request_id)
        if word in _GONE:
            return Refused(Scope.FINAL, word, cause=Cause.EXPIRED)
        return Accepted(request_id, word or "sent", is_delivered=word in _THERE)

    async def _word(self, request_id: str, awaited: AwaitedWord[str]) -> None:
        if self._settings.callback_url is not None:
            await awaited.wait()
            return
        while not awaited.has_come:
            await trio.sleep(ASK_S)
            if word := await self._ask(request_id):
                awaited.tell(word)

    async def _ask(self, request_id: str) -> str:
        """The last word on a code; empty: there is none, or Telegram does not say."""
        try:
            answer = await self._call("checkVerificationStatus", {"request_id": request_id})
        except CallFailedError:
            return ""
        return _word_of(_result(answer))

    def _refused(self, answer: VendorAnswer) -> Outcome:
        word = _error_of(answer)
        if flood := _FLOOD.fullmatch(word):
            return Throttled("FLOOD_WAIT", retry_after_s=float(flood[1]))
        if word.startswith("ACCESS_TOKEN"):
            self._account.is_ill(STRANGER)
            return Refused(Scope.CARRIER, word, cause=Cause.NOT_ALLOWED)
        if word.startswith("BALANCE"):
            self._account.is_ill(NO_CREDIT)
            return Refused(Scope.CARRIER, word, cause=Cause.NO_CREDIT)
        if word.startswith("PHONE_NUMBER"):
            return Refused(Scope.FINAL, word, cause=Cause.UNKNOWN_NUMBER)
        if answer.status >= 500 or not answer.body:
            return Refused(Scope.NOW, word, cause=Cause.CARRIER_FAULT)
        return Refused(Scope.FINAL, word)

    # -- reports

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        """Take a report of what became of a code.

        Raises:
            NotStoredError: it comes again.
        """
        body = await request.read()
        if not self._is_signed(request, body):
            return _UNPROVED
        request.prove()
        status = json_object(body)
        request_id, word = status.get("request_id"), _word_of(status)
        if isinstance(request_id, str) and word:
            await self._reported(request_id, word)
        return _DONE

    def _is_signed(self, request: CarrierRequest, body: bytes) -> bool:
        at = request.headers.get("x-request-timestamp", "")
        signature = request.headers.get("x-request-signature", "")
        if not (at.isascii() and at.isdigit() and len(at) <= 12):
            return False
        if abs(request.received_at_ms / 1000 - int(at)) > REPORT_AGE_S:
            return False
        own = hmac.new(self._key, at.encode() + b"\n" + body, sha256).hexdigest()
        return hmac.compare_digest(own.encode(), signature.lower().encode("utf-8", "replace"))

    async def _reported(self, request_id: str, word: str) -> None:
        if self._words.tell(request_id, word):
            return
        context = self._account.context
        if context is None:
            raise NotStoredError
        state = ReceiptState.DELIVERED if word in _THERE else ReceiptState.EXPIRED
        await context.receipt(Receipt(request_id, state, word))


def _result(answer: VendorAnswer) -> Mapping[str, Any]:
    result = answer.body.get("result")
    return result if answer.body.get("ok") is True and isinstance(result, dict) else {}


def _error_of(answer: VendorAnswer) -> str:
    """The word of an error; the status where there is none."""
    error = answer.body.get("error")
    return error if isinstance(error, str) and error.isascii() else str(answer.status)


def _word_of(status: Mapping[str, Any]) -> str:
    """The last word in a ``RequestStatus``; empty: it is merely sent."""
    delivery = status.get("delivery_status")
    word = delivery.get("status") if isinstance(delivery, dict) else None
    return word if word in (*_THERE, *_GONE) else ""
