"""What a hook answers: what its program takes for yes, for later and for never. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from risala.engine.rules.hooks.hook_request import HookMessage, HookRequest

LATER: Final = 503


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
    GOTRUE = "gotrue"
    """Supabase Auth: no is ``{"error": {"http_code", "message"}}``."""
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class HookResult:
    """What became of a request, or of one of its messages."""

    outcome: HookOutcome
    status: int = 200
    """Of what is not accepted: 400, 401, 402, 403 or 503."""
    code: str = ""
    """The error's word, such as ``invalid_recipient``."""
    sentence: str = ""
    retry_after_s: int | None = None
    message: HookMessage | None = None
    """The message that it is of; None: of the whole request."""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    status: int
    body: bytes
    content_type: str | None
    headers: Mapping[str, str] = field(default_factory=dict)


def answer_of(
    shape: HookAnswerShape, request: HookRequest, results: Sequence[HookResult]
) -> HookAnswer:
    """The answer to a request.

    Args:
        results: of each message, in their order; or one, of the whole request. If one was
            accepted and the answer has no place for each, that counts: who tries again would
            send it twice.
    """
    decisive = min(results, key=lambda each: _ORDER[each.outcome])
    if decisive.outcome is HookOutcome.ACCEPTED:
        return _YES[shape]
    headers = {}
    if decisive.outcome is HookOutcome.LATER:
        headers["Retry-After"] = str(decisive.retry_after_s or 1)
    told: object = {"message": decisive.sentence, "code": decisive.code}
    if shape is HookAnswerShape.GOTRUE:
        told = {"error": {"http_code": decisive.status, "message": decisive.sentence}}
    if shape is HookAnswerShape.TEXT:
        return HookAnswer(decisive.status, decisive.sentence.encode(), _PLAIN, headers)
    return HookAnswer(decisive.status, _json(told), _JSON, headers)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_JSON: Final = "application/json"
_PLAIN: Final = "text/plain; charset=utf-8"
_ORDER: Final = {HookOutcome.ACCEPTED: 0, HookOutcome.LATER: 1, HookOutcome.NEVER: 2}
_YES: Final = {
    HookAnswerShape.EMPTY: HookAnswer(204, b"", None),
    HookAnswerShape.JSON: HookAnswer(200, b'{"message":"Accepted."}', _JSON),
    HookAnswerShape.GOTRUE: HookAnswer(200, b"{}", _JSON),
    HookAnswerShape.TEXT: HookAnswer(200, b"OK", _PLAIN),
}
