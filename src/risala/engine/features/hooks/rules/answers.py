"""What a hook answers: what its program takes for yes, for later and for never. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.hooks.rules.requests import HookMessage, HookRequest
from risala.engine.model.commands import Principal

ID_CHARACTERS_MAX: Final = 64
"""Characters of an id that an answer repeats."""
NUMBER_CODES: Final = frozenset({"invalid_number", "invalid_recipient"})
"""Codes of results whose number is none that can be sent to."""
CLOSED_CODE: Final = "country_not_open"
"""The code of a result whose number is of a country that is not served, or not open."""


class HookOutcome(StrEnum):
    ACCEPTED = "accepted"
    LATER = "later"
    """Nothing is sent; the same request may be accepted later."""
    NEVER = "never"
    """Nothing is sent, and the same request is never accepted."""


class HookAnswerShape(StrEnum):
    """The form of an answer, by its name in a preset."""

    EMPTY = "empty"
    """Yes is 204 with nothing."""
    JSON = "json"
    """``{"message": …}``."""
    TEXT = "text"
    GOTRUE = "gotrue"
    """Supabase Auth: no is ``{"error": {"http_code", "message"}}``."""
    AUTHGEAR = "authgear"
    """``{"code": "ok"}``; no is another of its codes."""
    ODOO = "odoo"
    """JSON-RPC: a state for each message, by its reference."""


@dataclass(frozen=True, slots=True)
class HookResult:
    """What became of a request, or of one of its messages."""

    outcome: HookOutcome
    status: int = 200
    """The HTTP status; 400, 401, 402, 403 or 503 if the request is not accepted."""
    code: str = ""
    """The error's word, such as ``invalid_recipient``."""
    sentence: str = ""
    retry_after_s: int | None = None
    message: HookMessage | None = None
    """The message that it is of; None: of the whole request."""
    message_id: str = ""
    """The id of the message, if it is accepted."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    status: int
    body: bytes
    content_type: str | None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HookReceipt:
    """What a request came to."""

    answer: HookAnswer
    principal: Principal | None
    """The principal of the hook; None: there is no such hook."""
    is_proved: bool
    """The caller has the secret."""
    sentence: str
    """What was wrong with it, for the hook's administrator; empty: nothing."""
    message_id: str | None = None
    """The id of the first message that the request sent."""


def answer_of(
    shape: HookAnswerShape, request: HookRequest, results: Sequence[HookResult]
) -> HookAnswer:
    """The answer to a request.

    Args:
        results: of each message, in their order; or one, of the whole request. If one was
            accepted and the answer has no place for each, that counts: who tries again would
            send it twice.
    """
    if shape is HookAnswerShape.ODOO and all(each.message for each in results):
        return HookAnswer(200, _json(_odoo(request, results)), _JSON)
    decisive = min(results, key=lambda each: _ORDER[each.outcome])
    if decisive.outcome is HookOutcome.ACCEPTED:
        return _yes(shape, decisive)
    headers = {}
    if decisive.outcome is HookOutcome.LATER:
        headers["Retry-After"] = str(max(1, decisive.retry_after_s or 1))
    if shape is HookAnswerShape.TEXT:
        return HookAnswer(decisive.status, decisive.sentence.encode(), _PLAIN, headers)
    content: object = {"message": decisive.sentence, "code": decisive.code}
    if shape is HookAnswerShape.GOTRUE:
        content = {"error": {"http_code": decisive.status, "message": decisive.sentence}}
    if shape is HookAnswerShape.AUTHGEAR:
        content = {"code": _authgear(decisive), "description": decisive.sentence}
    return HookAnswer(decisive.status, _json(content), _JSON, headers)


def _yes(shape: HookAnswerShape, result: HookResult) -> HookAnswer:
    if shape is HookAnswerShape.EMPTY:
        return HookAnswer(204, b"", None)
    if shape is HookAnswerShape.TEXT:
        return HookAnswer(200, b"OK", _PLAIN)
    content: dict[str, str] = {}
    if shape is HookAnswerShape.AUTHGEAR:
        content = {"code": "ok"}
    if shape is HookAnswerShape.JSON:
        content = {"message": "Accepted."} | (
            {"id": result.message_id} if result.message_id else {}
        )
    return HookAnswer(200, _json(content), _JSON)


def _authgear(result: HookResult) -> str:
    """Authgear's word for why nothing is sent: of some it tells the person who signs in."""
    if result.outcome is HookOutcome.LATER:
        return "timeout"
    if result.code in NUMBER_CODES:
        return "invalid_phone_number"
    return "authentication_failed" if result.status in (401, 403) else "delivery_rejected"


def _odoo(request: HookRequest, results: Sequence[HookResult]) -> object:
    states = [
        {"uuid": each.message.reference if each.message else None, "state": _odoo_state(each)}
        for each in results
    ]
    return {"jsonrpc": "2.0", "id": _odoo_id(request.body), "result": states}


def _odoo_state(result: HookResult) -> str:
    if result.outcome is HookOutcome.ACCEPTED:
        return "success"
    if result.outcome is HookOutcome.LATER:
        return "server_error"
    if result.code in NUMBER_CODES:
        return "wrong_number_format"
    if result.code == CLOSED_CODE:
        return "country_not_supported"
    return {402: "insufficient_credit", 401: "unregistered", 403: "unregistered"}.get(
        result.status, "server_error"
    )


def _odoo_id(body: bytes) -> str | int | None:
    """The request's id, which JSON-RPC's answer repeats."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None
    request_id = content.get("id") if isinstance(content, dict) else None
    is_one = isinstance(request_id, str | int) and len(str(request_id)) <= ID_CHARACTERS_MAX
    return request_id if is_one else None


def _json(value: object) -> bytes:
    # In ASCII: a reference of the program's may have half a pair of surrogates.
    return json.dumps(value, separators=(",", ":")).encode()


_JSON: Final = "application/json"
_PLAIN: Final = "text/plain; charset=utf-8"
_ORDER: Final = {HookOutcome.ACCEPTED: 0, HookOutcome.LATER: 1, HookOutcome.NEVER: 2}
