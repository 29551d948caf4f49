"""The answer of ``POST /api/sms``: made when a message is accepted, and again from its row.

A repeated key gives the same bytes, for ever. So a change of what this writes needs a version that
new rows carry, in a column of its own; older rows keep this one.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as _quoted
from typing import Final

_OURS: Final = "idk_"


def own_key(message_id: str) -> str:
    """The idempotency key of a message that came without a key.

    It may share the message's own random bits: it is no secret.
    """
    return _OURS + message_id.partition("_")[2]


def message_of_own_key(key: str) -> str | None:
    """The id of the message whose own key this may be."""
    return f"sms_{key.removeprefix(_OURS)}" if key.startswith(_OURS) else None


def ending(organization_id: str, sender: str, notice: str | None) -> str:
    """The end of an answer, which those of one request and sender share.

    Args:
        notice: JSON, if the message leaves with another sender than the requested one.
    """
    tail = f',"notice":{notice}' if notice else ""
    return f'"organizationId":"{organization_id}","from":{_quoted(sender)}{tail}}}'


def ended(message_id: str, key: str, end: str) -> bytes:
    """The body (specification §2.2), written out: our ids need no escaping.

    Args:
        end: the result of :func:`ending`.
    """
    return (
        f'{{"accepted":true,"messageId":"{message_id}","idempotencyKey":{_quoted(key)},{end}'
    ).encode()


def without_id(body: bytes) -> bytes:
    """A body without its ``messageId``, for clients that refuse unknown fields. The same body,
    however old, gives the same result."""
    answer = json.loads(body)
    answer.pop("messageId", None)
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def answer(
    message_id: str, key: str, organization_id: str, sender: str, notice: str | None
) -> bytes:
    """The whole body, from the values in its row."""
    return ended(message_id, key, ending(organization_id, sender, notice))
