"""Twilio's ``Messages.json`` and Verify v2, limited to sending and checking.

For programs that use one of Twilio's libraries, with an HTTP client that calls another host.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict

from risala.drivers.faces.twilio import wire
from risala.drivers.faces.twilio.wire import TwilioError, sid_of, start_of
from risala.plugins.face import (
    CompatCodeDetails,
    CompatPayment,
    FaceAnswer,
    FaceCall,
    FaceCallback,
    FaceCaller,
    FaceEvent,
    FaceFactory,
    FaceMessage,
    FaceMessageState,
    FacePath,
    FaceRefusedError,
    FaceRequest,
    FaceService,
    FaceVerification,
    Fields,
    Sign,
)

VALIDITY_MIN_S: Final = 60
"""A shorter ``ValidityPeriod`` is made this one, the shortest that there is."""
PAGE_MAX: Final = 100
PAGE_USUAL: Final = 50
DAY_MS: Final = 86_400_000
_IDEMPOTENCY: Final = "i-twilio-idempotency-token"

_ACCOUNT: Final = "/2010-04-01/Accounts/{account}"
MESSAGES: Final = f"{_ACCOUNT}/Messages.json"
MESSAGE: Final = f"{_ACCOUNT}/Messages/{{sid}}.json"
_SERVICES: Final = "/v2/Services"
_SERVICE: Final = f"{_SERVICES}/{{service}}"
VERIFICATIONS: Final = f"{_SERVICE}/Verifications"
VERIFICATION: Final = f"{_SERVICE}/Verifications/{{+sid}}"
CHECK: Final = f"{_SERVICE}/VerificationCheck"

_REFUSED: Final = {
    "MediaUrl": (21620, "There is no MMS here."),
    "ContentSid": (wire.INVALID, "There are no content templates here: send a Body."),
}
"""Fields that would change the meaning of a message here: Twilio's code, and the reason."""


class TwilioSettings(BaseModel):
    """``[compat.twilio]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    forced_sender: bool = False
    """Messages are from the credential's sender, whatever ``From`` says: for programs that send
    from a number at Twilio."""


class TwilioCompat:
    """The face; see the module's text."""

    paths: Sequence[FacePath] = (
        FacePath(MESSAGES),
        FacePath(MESSAGE, ("GET", "POST", "DELETE")),
        FacePath(VERIFICATIONS, ("POST",)),
        FacePath(VERIFICATION),
        FacePath(CHECK, ("POST",)),
    )
    beneath: Sequence[str] = (f"/{wire.VERSION}/", f"{_SERVICES}/")

    def __init__(self, settings: TwilioSettings) -> None:
        self._settings = settings

    async def answer(self, request: FaceRequest, service: FaceService) -> FaceAnswer:
        try:
            caller = await service.admit(*_basic(request.headers.get("authorization", "")))
            _refuse_another(request, caller)
            return await self._answer(request, service, caller)
        except TwilioError as error:
            return error.answer()
        except FaceRefusedError as refused:
            is_verify = request.path.startswith(_SERVICE)
            return wire.of_refusal(refused, verify=is_verify).answer()

    async def _answer(
        self, request: FaceRequest, service: FaceService, caller: FaceCaller
    ) -> FaceAnswer:
        match request.path, request.method:
            case (path, "POST") if path == MESSAGES:
                return await self._send(request, service, caller)
            case (path, _) if path == MESSAGES:
                return await _list(request, service, caller)
            case (path, _) if path == MESSAGE:
                return await _one_message(request, service, caller)
            case (path, _) if path == VERIFICATIONS:
                return await _verify(request, service, caller)
            case (path, _) if path == VERIFICATION:
                session = _session(service, caller, request.arguments["sid"])
                if request.method == "POST":
                    session = await _ended(request, service, caller, session)
                return _verification_answer(request, caller, session, wire.status_of(session))
        return await _check(request, service, caller)

    async def _send(
        self, request: FaceRequest, service: FaceService, caller: FaceCaller
    ) -> FaceAnswer:
        fields = await request.form()
        for name, (code, text) in _REFUSED.items():
            if _word(fields, name):
                raise TwilioError(400, code, text)
        to, body = _word(fields, "To"), _text(fields, "Body")
        if not to:
            raise TwilioError(400, 21604, "A 'To' phone number is required.")
        if not body:
            raise TwilioError(400, 21602, "Message body is required.")
        # A Messaging Service represents the senders of its account: here the credential's default
        # sender.
        messaging_service = _word(fields, "MessagingServiceSid") or None
        sender = None if self._settings.forced_sender else _word(fields, "From") or None
        callback = _word(fields, "StatusCallback")
        validity = _whole(fields, "ValidityPeriod")
        message = FaceMessage(
            to=to,
            text=body,
            sender=sender,
            idempotency_key=request.headers.get(_IDEMPOTENCY),
            validity_s=None if validity is None else max(validity, VALIDITY_MIN_S),
            send_at_ms=_moment(_word(fields, "SendAt")),
            callback=FaceCallback(callback) if callback else None,
        )
        state = await service.send(caller, message)
        return wire.answer(wire.message(caller.username, state, messaging_service), 201)

    def fault(self, status: int, text: str) -> FaceAnswer:
        return wire.of_status(status, text).answer()

    def call(
        self, event: FaceEvent, url: str, stored: Mapping[str, Any], sign: Sign
    ) -> FaceCall | None:
        fields = wire.callback_fields(event)
        return FaceCall(
            url,
            headers={
                "content-type": "application/x-www-form-urlencoded; charset=utf-8",
                "user-agent": "TwilioProxy/1.1",
                "x-twilio-signature": wire.signature(url, fields, sign),
                # The same for each attempt at a call.
                "i-twilio-idempotency-token": event.event_id,
            },
            body=urlencode(fields).encode(),
        )


# -- requests --------------------------------------------------------------------------------------


def _basic(header: str) -> tuple[str, str]:
    scheme, _, word = header.partition(" ")
    if scheme.lower() != "basic":
        raise TwilioError(401, 20003, "Authenticate")
    try:
        username, _, password = base64.b64decode(word, validate=True).decode().partition(":")
    except ValueError:  # no base64, or no UTF-8 in it
        raise TwilioError(401, 20003, "Authenticate") from None
    return username, password


def service_of(account: str) -> str:
    """The id of the one Verify service that an account has here."""
    return f"VA{account[2:]}"


def _refuse_another(request: FaceRequest, caller: FaceCaller) -> None:
    """Refuse a path that names another account, or another service, than the caller's."""
    account = request.arguments.get("account", caller.username)
    service = request.arguments.get("service", service_of(caller.username))
    if account != caller.username or service != service_of(caller.username):
        raise TwilioError(404, 20404, wire.NOT_FOUND)


def _text(fields: Fields, name: str) -> str:
    try:
        return fields.get(name, (b"",))[0].decode()
    except UnicodeDecodeError:
        raise TwilioError(400, wire.INVALID, f"{name} is not UTF-8.") from None


def _word(fields: Fields, name: str) -> str:
    return _text(fields, name).strip()


async def _ended(
    request: FaceRequest, service: FaceService, caller: FaceCaller, session: FaceVerification
) -> FaceVerification:
    """A verification after its end: by the program's wish, or, where it gave the code itself, with
    its user."""
    status = _word(await request.form(), "Status")
    if status not in ("canceled", "approved"):
        text = "Invalid parameter `Status`: `canceled` or `approved` is possible."
        raise TwilioError(400, wire.VERIFY_INVALID, text)
    if session.status != "pending":
        raise TwilioError(404, 20404, wire.NOT_FOUND)
    if status == "canceled":
        return await service.cancel_code(caller, session.verification_id)
    await service.report_code(caller, session.verification_id, is_approved=True)
    return service.verification(caller, session.verification_id)


def _map(fields: Fields, name: str) -> Mapping[str, str]:
    """A field that is a JSON object of texts; empty if it is not given."""
    try:
        values = json.loads(_word(fields, name) or "{}")
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not all(isinstance(each, str) for each in values.values()):
        text = f"Invalid parameter `{name}`: it must be a JSON object of texts."
        raise TwilioError(400, wire.VERIFY_INVALID, text)
    return values


_SYMBOLS: Final = {"€": "EUR", "$": "USD", "£": "GBP"}
_WHICH: Final = "|".join(("[A-Z]{3}", *map(re.escape, _SYMBOLS)))
_is_amount: Final = re.compile(rf"({_WHICH}|)\s?([0-9.]{{1,17}})\s?({_WHICH}|)").fullmatch


def _payment(fields: Fields, service: FaceService, caller: FaceCaller) -> CompatPayment | None:
    """``Amount``, such as ``€39.99`` or ``1500 MRU``, and ``Payee``; None: neither is given. An
    amount that names no currency is of the organization's."""
    amount, payee = _word(fields, "Amount"), _word(fields, "Payee")
    if not amount and not payee:
        return None
    written = _is_amount(amount)
    if written is None or (written[1] and written[3]):
        text = "Invalid parameter `Amount`: it is like 39.99 EUR."
        raise TwilioError(400, wire.VERIFY_INVALID, text)
    word = written[1] or written[3]
    currency = _SYMBOLS.get(word, word) or service.organization(caller).currency
    return CompatPayment(written[2], currency, payee)


def _whole(fields: Fields, name: str) -> int | None:
    word = _word(fields, name)
    if not word:
        return None
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise TwilioError(400, wire.INVALID, f"{name} must be a whole number.")
    return int(word)


def _moment(word: str) -> int | None:
    """UTC epoch milliseconds of an ISO 8601 time or day; None if not given."""
    if not word:
        return None
    try:
        moment = datetime.fromisoformat(word)
    except ValueError:
        raise TwilioError(400, wire.INVALID, "A time is like 2026-11-21T08:30:00Z.") from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


# -- messages --------------------------------------------------------------------------------------


def _message(service: FaceService, caller: FaceCaller, sid: str) -> FaceMessageState:
    start = start_of("SM", "sms", sid)
    message = None if start is None else service.message(caller, start)
    if message is None or sid_of("SM", message.message_id) != sid:
        raise TwilioError(404, 20404, wire.NOT_FOUND)
    return message


def _refuse_under_way(state: FaceMessageState) -> None:
    """Refuse changes before a message has left. One that has left never goes back."""
    if state.status in ("pending", "processing"):
        text = "The message has not left yet: cancel it, or wait until it has."
        raise TwilioError(409, wire.NOT_COMPLETE, text)


async def _one_message(
    request: FaceRequest, service: FaceService, caller: FaceCaller
) -> FaceAnswer:
    """Show, change or delete a message."""
    state = _message(service, caller, request.arguments["sid"])
    if request.method == "DELETE":
        _refuse_under_way(state)
        await service.delete(caller, state.message_id)
        return FaceAnswer(b"", 204)
    if request.method == "POST":
        fields = await request.form()
        status, body = _word(fields, "Status"), _text(fields, "Body") if "Body" in fields else None
        if (status, body) == ("canceled", None):
            state = await service.cancel(caller, state.message_id)
        elif (status, body) == ("", ""):
            _refuse_under_way(state)
            state = await service.redact(caller, state.message_id)
        else:
            text = "A message is changed by `Status=canceled`, or by an empty `Body`."
            raise TwilioError(400, wire.INVALID, text)
    return wire.answer(wire.message(caller.username, state))


async def _list(request: FaceRequest, service: FaceService, caller: FaceCaller) -> FaceAnswer:
    query = request.query
    size = min(_whole(query, "PageSize") or PAGE_USUAL, PAGE_MAX)
    number = _whole(query, "Page") or 0
    since, until = _moment(_word(query, "DateSent>")), _moment(_word(query, "DateSent<"))
    if (day := _moment(_word(query, "DateSent"))) is not None:
        since, until = day, day + DAY_MS
    messages = await service.messages(
        caller,
        limit=size,
        before=_word(query, "PageToken") or None,
        to=_word(query, "To") or None,
        sender=_word(query, "From") or None,
        since_ms=since,
        until_ms=until,
    )
    path = f"{wire.messages_uri(caller.username)}.json"
    kept = {
        name: _word(query, name)
        for name in ("To", "From", "DateSent", "DateSent>", "DateSent<")
        if name in query
    }
    first = f"{path}?{urlencode({**kept, 'PageSize': size, 'Page': 0})}"
    later = {**kept, "PageSize": size, "Page": number + 1, "PageToken": messages.older}
    return wire.answer(
        {
            "messages": [wire.message(caller.username, each) for each in messages.items],
            "end": max(number * size + len(messages.items) - 1, 0),
            "first_page_uri": first,
            "next_page_uri": None if messages.older is None else f"{path}?{urlencode(later)}",
            "page": number,
            "page_size": size,
            "previous_page_uri": None,
            "start": number * size,
            "uri": first,
        }
    )


# -- Verify ----------------------------------------------------------------------------------------


async def _verify(request: FaceRequest, service: FaceService, caller: FaceCaller) -> FaceAnswer:
    fields = await request.form()
    to, channel = _word(fields, "To"), _word(fields, "Channel")
    if not to:
        raise TwilioError(400, wire.VERIFY_INVALID, "Invalid parameter `To`: it is missing.")
    if channel != "sms":
        text = "Invalid parameter `Channel`: codes are sent by `sms` here."
        raise TwilioError(400, wire.VERIFY_INVALID, text)
    details = CompatCodeDetails(
        language_tag=_word(fields, "Locale") or None,
        client_ip=_word(fields, "DeviceIp") or None,
        tags=tuple(f"{name}={value}" for name, value in _map(fields, "Tags").items()),
        code=_word(fields, "CustomCode") or None,
        template=_word(fields, "TemplateSid") or None,
        variables=_map(fields, "TemplateCustomSubstitutions"),
        payment=_payment(fields, service, caller),
    )
    session = await service.send_code(caller, to, details=details)
    return _verification_answer(request, caller, session, session.status, 201)


async def _check(request: FaceRequest, service: FaceService, caller: FaceCaller) -> FaceAnswer:
    fields = await request.form()
    sid, to, code = (_word(fields, name) for name in ("VerificationSid", "To", "Code"))
    if not code:
        raise TwilioError(400, wire.VERIFY_INVALID, "Invalid parameter `Code`: it is missing.")
    if not sid and not to:
        text = "Either `To` or `VerificationSid` is required."
        raise TwilioError(400, wire.VERIFY_INVALID, text)
    session = _session(service, caller, sid) if sid else service.verification_to(caller, to)
    if session.status != "pending":
        raise TwilioError(404, 20404, wire.NOT_FOUND)
    payment = _payment(fields, service, caller)
    approved = await service.check_code(caller, session.verification_id, code, payment)
    after = service.verification(caller, session.verification_id)
    status = "approved" if approved else wire.status_of(after)
    return _verification_answer(request, caller, after, status)


def _session(service: FaceService, caller: FaceCaller, sid: str) -> FaceVerification:
    """A session by its id, or the latest of a number."""
    if sid.startswith("+"):
        return service.verification_to(caller, sid)
    start = start_of("VE", "ver", sid)
    session = None if start is None else service.verification(caller, start)
    if session is None or sid_of("VE", session.verification_id) != sid:
        raise TwilioError(404, 20404, wire.NOT_FOUND)
    return session


def _verification_answer(
    request: FaceRequest,
    caller: FaceCaller,
    session: FaceVerification,
    status: str,
    answered: int = 200,
) -> FaceAnswer:
    account = caller.username
    body = wire.verification(account, service_of(account), request.base_url, session, status)
    return wire.answer(body, answered)


TWILIO: Final = FaceFactory(
    name="twilio",
    settings=TwilioSettings,
    build=TwilioCompat,
    summary="Twilio's Messages.json and Verify v2, with StatusCallback",
)
