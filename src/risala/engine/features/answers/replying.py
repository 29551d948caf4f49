"""Takes the reply in a webhook's answer to a received text: ``{"reply": "…"}`` (contract §15).

It joins the queue of answers in the transaction that ends the attempt. A service that is killed
before that calls again; one that is killed after it has the reply in the queue, by the text's id.
"""

from __future__ import annotations

import json
from contextlib import suppress
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from risala.engine.features.answers.stored.queue import AnswerRepository
from risala.engine.model.feature_work import TakeReply
from risala.engine.model.records.webhooks import WebhookAttempt
from risala.engine.model.wire import is_text
from risala.engine.rules.webhooks.schedule import CONTENT_BYTES_MAX, ReceiverAnswer
from risala.sms.limits import TEXT_CHARACTERS_MAX

JSON_TYPE: Final = "application/json"


class ReplyOutcome(StrEnum):
    """What became of the reply in a webhook's answer, as commands print it."""

    TAKEN = "taken"
    ANSWERED = "answered before"
    NOT_ALLOWED = "not allowed"
    LATE = "late"
    TOO_LONG = "too long"
    BAD_JSON = "no JSON"
    BAD_TYPE = "wrong type"
    BAD_STATUS = "not 200"
    BAD_TEXT = "bad text"


def take(attempt: WebhookAttempt, seen: ReceiverAnswer) -> TakeReply | None:
    """What takes the reply, or notes why it is not taken; None: there is no reply in the answer."""
    reply, text = reply_in(seen), attempt.text
    if reply is None or text is None:
        return None
    if isinstance(reply, ReplyOutcome):
        return lambda _, __: reply.value
    host = urlsplit(attempt.url).hostname or ""
    put_in = AnswerRepository.replying(text.organization_id, text.id, reply, host)
    return lambda conn, now_ms: _outcome(is_first=put_in(conn, now_ms)).value


def _outcome(*, is_first: bool) -> ReplyOutcome:
    return ReplyOutcome.TAKEN if is_first else ReplyOutcome.ANSWERED


def reply_in(seen: ReceiverAnswer) -> str | ReplyOutcome | None:
    """The reply in an answer, or why it does not count; None: it has none.

    An answer that is not JSON, or has no member ``reply``, is an answer to the service alone. One
    whose content does not count is looked at as far as people read it.
    """
    if not 200 <= seen.status < 300:
        return None  # the event comes again
    content = seen.content
    if content is None:
        with suppress(ValueError):
            return None if _reply_of(seen.excerpt) is None else ReplyOutcome.NOT_ALLOWED
        return None
    is_json = content.type.partition(";")[0].strip().lower() == JSON_TYPE
    if content.octets is None:
        return ReplyOutcome.LATE if is_json else None
    if len(content.octets) > CONTENT_BYTES_MAX:
        return ReplyOutcome.TOO_LONG if is_json else None
    try:
        reply = _reply_of(content.octets)
    except ValueError:
        return ReplyOutcome.BAD_JSON if is_json and content.octets.strip() else None
    if reply is None:
        return None
    if seen.status != 200:
        return ReplyOutcome.BAD_STATUS
    if not is_json:
        return ReplyOutcome.BAD_TYPE
    if isinstance(reply, str) and 1 <= len(reply) <= TEXT_CHARACTERS_MAX and is_text(reply):
        return reply
    return ReplyOutcome.BAD_TEXT


def _reply_of(body: str | bytes) -> object:
    """The member ``reply`` of a JSON object; None: there is none.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        answer = json.loads(body)
    except RecursionError as error:
        raise ValueError("It is nested too deeply.") from error
    return answer.get("reply") if isinstance(answer, dict) else None
