"""Codes by WhatsApp: authentication templates of the Cloud API.

WhatsApp takes nearly every code with an id, and tells by a signed report what becomes of it: who
has no account there is refused only then. So a delivery waits some seconds for the first word; what
comes later is a receipt.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

import trio

from risala.dataclass import dataclass
from risala.drivers.channels.calls import (
    CALL_S,
    CallFailedError,
    VendorAnswer,
    get,
    json_object,
    post,
)
from risala.drivers.channels.settings import WhatsAppSettings
from risala.drivers.channels.vendor_account import Facts, VendorAccount
from risala.drivers.channels.whatsapp_errors import ATTENTION, cause_of_code, refusal_of
from risala.drivers.later_words import LaterWords
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
    Uncertain,
)

WINDOW_MAX: Final = 100
"""Codes that wait for WhatsApp's word at once."""
UP: Final = "Codes go by WhatsApp."
NO_TEMPLATE: Final = "WhatsApp has not approved the template in each language: see its Manager."
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
_THERE: Final = ("delivered", "read")
_WORDS: Final = ("sent", *_THERE, "failed")
_UNPROVED: Final = CarrierAnswer(status=401)
_DONE: Final = CarrierAnswer(b"{}")


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says of one code."""

    word: str
    """``sent``, ``delivered``, ``read`` or ``failed``."""
    code: int = 0
    """The error's code; 0: the message did not fail."""

    @property
    def raw(self) -> str:
        return f"{self.word} {self.code}" if self.code else self.word


class WhatsAppChannel:
    """A :class:`risala.plugins.channel.Channel` of one number at WhatsApp's Cloud API."""

    def __init__(self, settings: WhatsAppSettings) -> None:
        self._settings = settings
        self._token = settings.token.get_secret_value()
        self._key = settings.app_secret.get_secret_value().encode()
        self.capabilities = ChannelCapabilities(
            receipts=True,
            window_max=WINDOW_MAX,
            send_s=settings.word_s + CALL_S,
            account=settings.phone_number_id,
            secret_address=settings.secret_address,
        )
        self._account = VendorAccount(UP)
        self._words: LaterWords[Report] = LaterWords(_is_sent)  # reports come in any order

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        await self._account.watch(context, task_status, self._examine)

    # -- the account

    async def _examine(self) -> tuple[str, Facts] | None:
        settings = self._settings
        fields = "display_phone_number,verified_name,quality_rating"
        try:
            number = await get(
                f"{settings.url}/{settings.phone_number_id}?fields={fields}", self._token
            )
            if number.status >= 500:
                return None
            if code := _error_code(number):
                cause = cause_of_code(code) or Cause.UNSUPPORTED
                return ATTENTION.get(cause, ""), {}
            approved = await self._has_template()
        except CallFailedError:
            return None
        shown = {"number": "display_phone_number", "quality": "quality_rating"}
        facts = {name: str(number.body[of])[:60] for name, of in shown.items() if of in number.body}
        return ("" if approved else NO_TEMPLATE), facts

    async def _has_template(self) -> bool:
        """Whether each language of the template is approved, as far as that may be asked."""
        settings = self._settings
        if settings.business_id is None:
            return True
        query = f"name={settings.template}&fields=name,language,status&limit=100"
        url = f"{settings.url}/{settings.business_id}/message_templates?{query}"
        answer = await get(url, self._token)
        listed = answer.body.get("data")
        if answer.status != 200 or not isinstance(listed, list):
            return True
        there = {
            each.get("language")
            for each in listed
            if isinstance(each, dict)
            and (each.get("name"), each.get("status")) == (settings.template, "APPROVED")
        }
        return there >= {*settings.languages}

    # -- codes

    async def send_code(self, code: CodeToSend) -> Outcome:
        url = f"{self._settings.url}/{self._settings.phone_number_id}/messages"
        try:
            answer = await post(url, self._token, self._body(code))
        except CallFailedError as failed:
            return failed.outcome
        if error := _error_code(answer):
            return self._refused(error)
        message_id = _message_id(answer)
        if answer.status >= 500:
            return Refused(Scope.NOW, str(answer.status), cause=Cause.CARRIER_FAULT)
        if not message_id:
            return Uncertain(str(answer.status))
        self._account.is_well()
        return await self._awaited(message_id)

    def _body(self, code: CodeToSend) -> Mapping[str, object]:
        """A template message, with the code in its text and in its button."""
        parameters = [{"type": "text", "text": code.code}]
        languages = self._settings.languages
        named = (each for each in languages if each.partition("_")[0] == code.language)
        return {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": code.to,
            "type": "template",
            "template": {
                "name": self._settings.template,
                "language": {"code": next(named, languages[0])},
                "components": [
                    {"type": "body", "parameters": parameters},
                    {"type": "button", "sub_type": "url", "index": "0", "parameters": parameters},
                ],
            },
        }

    async def _awaited(self, message_id: str) -> Outcome:
        """Wait for WhatsApp's first word, at most for some seconds."""
        with self._words.awaited(message_id) as awaited:
            with trio.move_on_after(self._settings.word_s):
                await awaited.wait()
            report = awaited.word or Report("accepted")
        if report.word == "failed":
            return self._refused(report.code, report.raw)
        return Accepted(message_id, report.raw, is_delivered=report.word in _THERE)

    def _refused(self, code: int, raw: str = "") -> Outcome:
        if text := ATTENTION.get(cause_of_code(code) or Cause.REJECTED):
            self._account.is_ill(text)
        return refusal_of(code, raw or str(code))

    # -- reports

    async def answer(self, request: CarrierRequest) -> CarrierAnswer:
        """Take reports, or say that this is the address for them.

        Raises:
            NotStoredError: they come again.
        """
        if request.method == "GET":
            return self._greeted(request)
        body = await request.read()
        signature = request.headers.get("x-hub-signature-256", "")
        own = "sha256=" + hmac.new(self._key, body, sha256).hexdigest()
        if not hmac.compare_digest(own.encode(), signature.lower().encode("utf-8", "replace")):
            return _UNPROVED
        request.prove()
        for message_id, report in _reports(body, self._settings.phone_number_id):
            await self._reported(message_id, report)
        return _DONE

    def _greeted(self, request: CarrierRequest) -> CarrierAnswer:
        """Answer the question whether this address is for reports."""
        query = {name: values[0] for name, values in request.query.items() if values}
        own = self._settings.verify_token.get_secret_value().encode()
        word = query.get("hub.verify_token", "").encode("utf-8", "replace")
        challenge = query.get("hub.challenge", "")
        if not hmac.compare_digest(own, word) or query.get("hub.mode") != "subscribe":
            return _UNPROVED
        request.prove()
        if not _CHALLENGE.fullmatch(challenge):
            return CarrierAnswer(status=400)
        return CarrierAnswer(challenge.encode(), content_type="text/plain")

    async def _reported(self, message_id: str, report: Report) -> None:
        if self._words.tell(message_id, report) or report.word == "sent":
            return
        context = self._account.context
        if context is None:
            raise NotStoredError
        is_there = report.word in _THERE
        state = ReceiptState.DELIVERED if is_there else ReceiptState.UNDELIVERABLE
        cause = None if is_there else cause_of_code(report.code)
        await context.receipt(Receipt(message_id, state, report.raw, cause=cause))


def _is_sent(report: Report) -> bool:
    return report.word == "sent"


def _reports(body: bytes, phone_number_id: str) -> Iterator[tuple[str, Report]]:
    """What a body says of this number's messages; all else in it is passed over."""
    for entry in _members(json_object(body), "entry"):
        for change in _members(entry, "changes"):
            value = change.get("value")
            whose = value.get("metadata") if isinstance(value, dict) else None
            if not isinstance(whose, dict) or whose.get("phone_number_id") != phone_number_id:
                continue
            for status in _members(value, "statuses"):
                message_id, word = status.get("id"), status.get("status")
                if isinstance(message_id, str) and word in _WORDS:
                    errors = (_code_of(each) for each in _members(status, "errors"))
                    yield message_id, Report(word, next(errors, 0))


def _members(of: object, name: str) -> list[Mapping[str, Any]]:
    listed = of.get(name) if isinstance(of, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _code_of(error: Mapping[str, Any]) -> int:
    code = error.get("code")
    return code if isinstance(code, int) else 0


def _error_code(answer: VendorAnswer) -> int:
    """The code of an error; 0: the answer has none."""
    error = answer.body.get("error")
    return (_code_of(error) or answer.status) if isinstance(error, dict) else 0


def _message_id(answer: VendorAnswer) -> str:
    ids = (each.get("id") for each in _members(answer.body, "messages"))
    message_id = next(ids, None)
    return message_id if isinstance(message_id, str) else ""
