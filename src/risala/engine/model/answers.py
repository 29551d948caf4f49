"""The answer of ``POST /api/sms``: made when a message is accepted, and again from its row.

A key that is used again gives the same bytes, for ever. So what this writes may change only with
another version, which rows carry from then on; those of before keep their own.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as _quoted
from typing import Final

NOT_MADE_ANEW: Final = 0
"""Of messages of before: their answers are kept as they were given."""
VERSION: Final = 1
"""Of the answers that are given now; null in a row stands for it."""
_OURS: Final = "idk_"


def own_key(message_id: str) -> str:
    """The idempotency key of a message that came without one.

    It may share the message's own random bits: it is no secret.
    """
    return _OURS + message_id.partition("_")[2]


def message_of_own_key(key: str) -> str | None:
    """The id of the message whose own key this may be."""
    return f"sms_{key.removeprefix(_OURS)}" if key.startswith(_OURS) else None


def ending(organization_id: str, sender: str, notice: str | None) -> str:
    """The end of an answer, which those of one request and sender share.

    Args:
        notice: JSON, where the message leaves by another sender than the one that was asked for.
    """
    tail = f',"notice":{notice}' if notice else ""
    return f'"organizationId":"{organization_id}","from":{_quoted(sender)}{tail}}}'


def ended(message_id: str, key: str, end: str) -> bytes:
    """The body (specification §2.2), written out: our ids need no escaping.

    Args:
        end: what :func:`ending` says.
    """
    return (
        f'{{"accepted":true,"messageId":"{message_id}","idempotencyKey":{_quoted(key)},{end}'
    ).encode()


def without_id(body: bytes) -> bytes:
    """A body without its ``messageId``, for clients that refuse what they do not know. The same
    body, however old, gives the same."""
    told = json.loads(body)
    told.pop("messageId", None)
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()


def answer(
    message_id: str, key: str, organization_id: str, sender: str, notice: str | None
) -> bytes:
    """The whole body, of what its row says."""
    return ended(message_id, key, ending(organization_id, sender, notice))
