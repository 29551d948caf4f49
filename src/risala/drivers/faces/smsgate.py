"""SMSGate's API for other programs, ``/api/3rdparty/v1``: sending, states and withdrawal.

As in the server and the clients of github.com/android-sms-gateway. One of SMSGate's messages has up
to a hundred recipients. Here each gets a message of its own; what belongs to one request is found
again by idempotency keys that are made from its id.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from risala.dataclass import dataclass
from risala.plugins.face import (
    FaceAnswer,
    FaceCaller,
    FaceFactory,
    FaceMessage,
    FaceMessageState,
    FacePath,
    FaceRefusal,
    FaceRefusedError,
    FaceRequest,
    FaceService,
)

BASE: Final = "/api/3rdparty/v1/"
SENDS: Final = (f"{BASE}messages", f"{BASE}message")
"""The second is the older name, which the client for JavaScript still asks."""
SHOWS: Final = tuple(f"{each}/{{id}}" for each in SENDS)
RECEIVERS_MAX: Final = 100
"""As SMSGate's own limit (its ``Message`` of client-go)."""
VALIDITY_S: Final = (60, 259_200)
"""The shortest and longest that a message is tried here; what is beyond is made one of them."""
ID_CHARACTERS_MAX: Final = 36
"""As SMSGate's own limit; an id of ours has as many."""
_is_id: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{ID_CHARACTERS_MAX}}}").fullmatch
_OURS: Final = "sms_"

STATES: Final[Mapping[str, str]] = {
    "pending": "Pending",
    "processing": "Processed",
    "sent": "Sent",
    "delivered": "Delivered",
    "canceled": "Cancelled",
}
"""SMSGate's word for a message's state; every other has failed."""
FAILED: Final = "Failed"
_STATUSES: Final[Mapping[FaceRefusal, int]] = {
    FaceRefusal.UNAUTHORIZED: 401,
    FaceRefusal.SUSPENDED: 403,
    FaceRefusal.ADDRESS: 403,
    FaceRefusal.COUNTRY: 403,
    FaceRefusal.NO_BALANCE: 402,
    FaceRefusal.NOT_FOUND: 404,
    FaceRefusal.CONFLICT: 409,
    FaceRefusal.LIMITED: 429,
    FaceRefusal.UNAVAILABLE: 503,
    FaceRefusal.UNKNOWN: 503,
}
"""Any other refusal is 400."""
_CANNOT: Final = {
    "dataMessage": "Data messages are not supported here: send a textMessage.",
    "mmsMessage": "There is no MMS here: send a textMessage.",
}
_TAKEN: Final = "Another message has this id. Give each message an id of its own."
_UNKNOWN: Final = "There is no message with this id."


class SmsgateSettings(BaseModel):
    """``[compat.smsgate]``."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class SmsgateError(Exception):
    """A request that is refused; ``str()`` is a sentence for its program."""

    def __init__(self, status: int, text: str, retry_after_s: int | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.retry_after_s = retry_after_s

    def answer(self) -> FaceAnswer:
        more: tuple[tuple[str, str], ...] = ()
        if self.status == 401:
            more = (("WWW-Authenticate", 'Basic realm="smsgate"'),)
        if self.retry_after_s is not None:
            more = (("Retry-After", str(self.retry_after_s)),)
        return _json({"code": self.status, "message": str(self)}, self.status, more)


@dataclass(frozen=True, slots=True)
class SmsgateRequest:
    """What a request wants sent."""

    id: str
    receivers: Sequence[str]
    """``+`` and digits, each once."""
    message: FaceMessage
    """Without its receiver and its key."""


class SmsgateCompat:
    """The face; see the module's text."""

    paths: Sequence[FacePath] = (
        *(FacePath(each, ("POST",)) for each in SENDS),
        *(FacePath(each, ("GET", "DELETE")) for each in SHOWS),
    )
    beneath: Sequence[str] = (BASE,)

    def __init__(self, settings: SmsgateSettings) -> None:
        self._settings = settings

    async def answer(self, request: FaceRequest, service: FaceService) -> FaceAnswer:
        try:
            caller = await service.admit(*_basic(request.headers.get("authorization", "")))
            if request.path in SENDS:
                return await _send(await _read(request, service, caller), service, caller)
            messages = _found(service, caller, request.arguments["id"])
            if request.method == "DELETE":
                messages = await _withdrawn(service, caller, messages)
            return _json(_state_of(request.arguments["id"], [*map(_recipient, messages)], messages))
        except SmsgateError as error:
            return error.answer()
        except FaceRefusedError as refused:
            return _of_refusal(refused).answer()

    def fault(self, status: int, text: str) -> FaceAnswer:
        if status == 404:
            text = (
                "Risala has no such part of SMSGate's API. It sends messages and shows their "
                "states; texts that come in go to a webhook of Risala's own."
            )
        return SmsgateError(status, text).answer()


# -- requests --------------------------------------------------------------------------------------


def _basic(header: str) -> tuple[str, str]:
    scheme, _, word = header.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise ValueError("another way to sign in")  # such as SMSGate's tokens
        username, _, password = base64.b64decode(word, validate=True).decode().partition(":")
    except ValueError:
        raise SmsgateError(401, "Sign in with the name and password of a credential.") from None
    return username, password


async def _read(request: FaceRequest, service: FaceService, caller: FaceCaller) -> SmsgateRequest:
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise SmsgateError(400, "The body must be a JSON object.")
    for name, sentence in _CANNOT.items():
        if body.get(name) is not None:
            raise SmsgateError(400, sentence)
    if body.get("isEncrypted"):
        raise SmsgateError(400, "Risala cannot read encrypted messages: send the text itself.")
    content = body.get("textMessage")
    text = content.get("text") if isinstance(content, dict) else body.get("message")
    if not isinstance(text, str) or not text:
        raise SmsgateError(400, "textMessage.text is missing.")
    message_id = body.get("id") or request.request_id.partition("_")[2]
    if not isinstance(message_id, str) or not _is_id(message_id):
        sentence = f"An id has 1 to {ID_CHARACTERS_MAX} letters, digits, `-` and `_`."
        raise SmsgateError(400, sentence)
    at_ms = _moment(body, "scheduleAt")
    message = FaceMessage(
        "",
        text,
        caller.sender,
        validity_s=_validity_s(body, at_ms or request.received_at_ms),
        send_at_ms=at_ms,
    )
    return SmsgateRequest(message_id, _receivers(body.get("phoneNumbers"), service), message)


def _receivers(numbers: object, service: FaceService) -> Sequence[str]:
    """Every number is read before any message is accepted: one that is wrong spoils the request."""
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= RECEIVERS_MAX:
        raise SmsgateError(400, f"phoneNumbers is a list of 1 to {RECEIVERS_MAX} numbers.")
    if not all(isinstance(each, str) for each in numbers):
        raise SmsgateError(400, "Each of phoneNumbers must be a text.")
    return tuple(dict.fromkeys(map(service.number, numbers)))


def _validity_s(body: Mapping[str, Any], from_ms: int) -> int | None:
    """How long a message is tried, from the moment at which it may leave; None: as usual."""
    ttl, until_ms = body.get("ttl"), _moment(body, "validUntil")
    if ttl is not None and until_ms is not None:
        raise SmsgateError(400, "Give ttl or validUntil, not both.")
    if ttl is not None and (not isinstance(ttl, int) or isinstance(ttl, bool)):
        raise SmsgateError(400, "ttl is a whole number of seconds.")
    if until_ms is not None and until_ms <= from_ms:
        raise SmsgateError(400, "validUntil is over before the message may leave.")
    if until_ms is not None:
        ttl = (until_ms - from_ms) // 1000
    return None if ttl is None else min(max(ttl, VALIDITY_S[0]), VALIDITY_S[1])


def _moment(body: Mapping[str, Any], name: str) -> int | None:
    """UTC epoch milliseconds of an ISO 8601 time; None: it is not given."""
    word = body.get(name)
    if word is None:
        return None
    try:
        moment = datetime.fromisoformat(word)
        # The client for Python sends times without an offset as it is given them.
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)
    except (TypeError, ValueError, OverflowError):
        raise SmsgateError(400, f"{name} is like 2026-11-30T08:30:00Z.") from None


# -- messages --------------------------------------------------------------------------------------


def _keys(message_id: str) -> Iterator[str]:
    """The idempotency key of each recipient's message, by the recipient's place."""
    return (f"smsgate:{message_id}:{place}" for place in range(1, RECEIVERS_MAX + 1))


async def _send(order: SmsgateRequest, service: FaceService, caller: FaceCaller) -> FaceAnswer:
    """Accept a message for each receiver. Once one is accepted the request is: else the program
    would send all of them again. The same id again sends nothing twice."""
    recipients: list[dict[str, str]] = []
    accepted: list[FaceMessageState] = []
    why: FaceRefusedError | None = None
    for to, key in zip(order.receivers, _keys(order.id), strict=False):
        message = FaceMessage(
            to,
            order.message.text,
            order.message.sender,
            key,
            order.message.validity_s,
            order.message.send_at_ms,
        )
        try:
            state = await service.send(caller, message)
        except FaceRefusedError as refused:
            why = why or refused
            recipients.append({"phoneNumber": to, "state": FAILED, "error": str(refused)})
            continue
        if state.to != to:  # what was accepted with this key before
            raise SmsgateError(409, _TAKEN)
        accepted.append(state)
        recipients.append(_recipient(state))
    if why is not None and not accepted:
        raise why
    location = ("Location", f"{SENDS[0]}/{order.id}")
    return _json(_state_of(order.id, recipients, accepted), 202, (location,))


def _found(service: FaceService, caller: FaceCaller, message_id: str) -> list[FaceMessageState]:
    if _is_id(message_id):
        if messages := service.sent_with(caller, [*_keys(message_id)]):
            return [*messages]
        if message_id.startswith(_OURS):  # as Risala's pages and webhooks name it
            return [service.message(caller, message_id)]
    raise SmsgateError(404, _UNKNOWN)


async def _withdrawn(
    service: FaceService, caller: FaceCaller, messages: Sequence[FaceMessageState]
) -> list[FaceMessageState]:
    """The messages after those that have not left were withdrawn; refused if all have left."""
    after: list[FaceMessageState] = []
    why: FaceRefusedError | None = None
    is_withdrawn = False
    for each in messages:
        try:
            after.append(await service.cancel(caller, each.message_id))
            is_withdrawn = True
        except FaceRefusedError as refused:
            why = why or refused
            after.append(each)
    if why is not None and not is_withdrawn:
        raise why
    return after


# -- answers ---------------------------------------------------------------------------------------


def _recipient(state: FaceMessageState) -> dict[str, str]:
    recipient = {"phoneNumber": state.to, "state": STATES.get(state.status, FAILED)}
    if recipient["state"] == FAILED:
        recipient["error"] = (
            state.error_text or state.error_code or "The message was not delivered."
        )
    return recipient


def _whole(states: Sequence[str]) -> str:
    """The state of a message with several recipients: what is least far, as SMSGate counts."""
    for word in ("Pending", "Processed"):
        if word in states:
            return word
    return states[0] if len(set(states)) == 1 else "Sent"


def _state_of(
    message_id: str, recipients: Sequence[Mapping[str, str]], messages: Sequence[FaceMessageState]
) -> dict[str, Any]:
    """SMSGate's ``MessageState``."""
    whole = _whole([each["state"] for each in recipients])
    moments = {"Pending": min(each.created_at_ms for each in messages)}
    sent = [each.sent_at_ms for each in messages if each.sent_at_ms is not None]
    if sent:
        moments["Sent"] = max(sent)
    moments.setdefault(whole, max(each.updated_at_ms for each in messages))
    return {
        "id": message_id,
        "deviceId": "risala",
        "state": whole,
        "isHashed": False,
        "isEncrypted": False,
        "recipients": recipients,
        "states": {word: _iso(at_ms) for word, at_ms in moments.items()},
        "createdAt": _iso(moments["Pending"]),
    }


def _iso(at_ms: int) -> str:
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _of_refusal(refused: FaceRefusedError) -> SmsgateError:
    status = _STATUSES.get(refused.refusal, 400)
    return SmsgateError(status, str(refused), refused.retry_after_s)


def _json(
    content: Mapping[str, Any], status: int = 200, more: tuple[tuple[str, str], ...] = ()
) -> FaceAnswer:
    body = json.dumps(content, separators=(",", ":")).encode()
    return FaceAnswer(body, status, headers=more)


SMSGATE: Final = FaceFactory(
    name="smsgate",
    settings=SmsgateSettings,
    build=SmsgateCompat,
    summary="SMSGate's API for other programs: sending and states",
)
