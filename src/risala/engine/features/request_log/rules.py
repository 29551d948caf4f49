"""What is kept of a request's body, and of its answer's. Pure.

Members are kept by name, so that nothing unexpected is kept. Of other values only the shape is
kept: ``‹43›`` is a text of 43 characters, ``‹[3]›`` a list of three, ``‹{2}›`` an object of two
members, ``‹#›`` a number; a phone number is its last four digits, ``…3456``. The marks are no
words, because readers speak three languages.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Show = Callable[[object], object]

KEPT_CHARACTERS_MAX: Final = 256
"""Limit for a kept text: more than any permitted one has."""
SENDER_CHARACTERS_MAX: Final = 16
"""Limit for a kept sender: a sender has 11 at most, and a number has 16 with its sign."""
ITEMS_MAX: Final = 20
"""Items kept of a list: enough of a batch to recognise it."""
DEPTH_MAX: Final = 6
"""Nested levels that are read; no answer of ours has more."""
_DIGITS_SHOWN: Final = 4
_NUMBER_MIN: Final = 8
"""The length from which the last four characters do not reveal the whole."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z_-]{0,23}")
"""An unknown member's name that may be shown: a typing error, no code, no number."""
_digits: Final = re.compile(r"\+?[0-9]{6,}")
_REST: Final = "…"
UNKNOWN: Final = "‹?›"
"""The member of a kept request that lists those which the endpoint does not read."""
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_halves: Final = re.compile("[\ud800-\udfff]").sub
"""Removes halves of surrogate pairs from a text. JSON can write them, and no file can keep them."""


def _is_secret(text: str) -> bool:
    """Whether a text looks like a key or a webhook's secret."""
    return "k_live_" in text or "k_test_" in text or "whsec_" in text


def hidden(value: object) -> object:
    """The shape of a value."""
    if isinstance(value, str):
        return f"‹{len(value)}›"
    if isinstance(value, list):
        return f"‹[{len(value)}]›"
    if isinstance(value, dict):
        return f"‹{{{len(value)}}}›"
    return value if value is None or isinstance(value, bool) else "‹#›"


def _stored(value: object) -> object:
    if isinstance(value, str):
        is_kept = len(value) <= KEPT_CHARACTERS_MAX and not _is_secret(value)
        return value if is_kept else hidden(value)
    if isinstance(value, float) and not math.isfinite(value):
        return hidden(value)  # refused as JSON, and no JSON can write it
    return hidden(value) if isinstance(value, list | dict) else value


def _number(value: object) -> object:
    """A phone number, or a text in its place."""
    if isinstance(value, str) and len(value) >= _NUMBER_MIN and not _is_secret(value):
        return f"…{value[-_DIGITS_SHOWN:]}"
    return hidden(value)


def _sentence(value: object) -> object:
    """A sentence of ours, without any whole number."""
    stored = _stored(value)
    if not isinstance(stored, str):
        return stored
    return _digits.sub(lambda digits: f"…{digits[0][-_DIGITS_SHOWN:]}", stored)


def _sender(value: object) -> object:
    """A sender, or the number that something came from. A value that is too long for either was put
    into the wrong place, such as the text."""
    is_one = not isinstance(value, str) or len(value) <= SENDER_CHARACTERS_MAX
    return _sentence(value) if is_one else hidden(value)


def _location(value: object) -> object:
    """The location of a fault: names of members, and places in lists."""
    if not isinstance(value, list):
        return hidden(value)
    return [each if isinstance(each, int) or _is_name(str(each)) else _REST for each in value]


def _is_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and not _is_secret(text)


ASKED: Final[Mapping[str, Show]] = {
    **dict.fromkeys(("to",), _number),
    **dict.fromkeys(("body", "code", "metadata", "query"), hidden),
    **dict.fromkeys(
        (
            *("idempotencyKey", "sendAt", "validitySeconds", "messageId"),
            *("locale", "appHash", "origin", "verificationId"),
            *("limit", "before", "after", "status", "since", "until"),
            *("endpointId", "eventId", "enabled", "atOnce", "state", "kind"),
        ),
        _stored,
    ),
    # A sender; for an incoming message, the person's number.
    "from": _sender,
}
"""Members of requests, and how each is shown."""
ANSWERED: Final[Mapping[str, Show]] = {
    **dict.fromkeys(("to",), _number),
    # A carrier's own word may begin with the text that it refused.
    **dict.fromkeys(("body", "metadata", "carrierCode"), hidden),
    **dict.fromkeys(("message", "errorText"), _sentence),
    **dict.fromkeys(("path",), _location),
    **dict.fromkeys(
        (
            *("accepted", "messageId", "id", "idempotencyKey", "organizationId"),
            *("status", "segments", "encoding", "price", "currency", "attempts", "carrier"),
            *("providerMessageId", "errorCode", "verificationId"),
            *("sendAt", "sentAt", "deliveredAt", "createdAt", "updatedAt", "expiresAt"),
            *("code", "requestId", "limit", "retryAfter", "next", "previous"),
            *("endpointId", "eventId", "type", "state", "mode", "enabled", "kind", "characters"),
        ),
        _stored,
    ),
    "from": _sender,
}
"""Members of answers; ``code`` is the word for an error there."""
_WITHIN: Final = frozenset({"messages", "results", "items", "data", "issues", "notice"})
"""Members of both that contain others."""


def asked_text(body: bytes | int | None, unknown: Sequence[str] = ()) -> str | None:
    """What is kept of a request's body, as JSON; None if it was not read.

    Args:
        unknown: names of members that the endpoint does not read; kept under :data:`UNKNOWN`.
    """
    return None if body is None else _text(body, ASKED, unknown)


def answered_text(body: bytes | int) -> str:
    """What is kept of an answer's body, as JSON."""
    return _text(body, ANSWERED)


def _text(body: bytes | int, members: Mapping[str, Show], unknown: Sequence[str] = ()) -> str:
    if isinstance(body, int):
        return _encode(f"‹{body} B›")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = f"‹{len(body)} B›"
    else:
        value = _shown(value, members, 0)
        if unknown and isinstance(value, dict):
            value[UNKNOWN] = [*unknown]
    return _halves("\ufffd", _encode(value))


def _shown(value: Any, members: Mapping[str, Show], depth: int) -> object:  # noqa: ANN401 -- any JSON
    if isinstance(value, list) and depth < DEPTH_MAX:
        shown = [_shown(each, members, depth + 1) for each in value[:ITEMS_MAX]]
        return [*shown, f"‹[{len(value) - ITEMS_MAX}]›"] if len(value) > ITEMS_MAX else shown
    if not isinstance(value, dict) or depth >= DEPTH_MAX:
        return hidden(value)
    members_shown: dict[str, object] = {}
    strange = 0
    for name, inner in value.items():
        show = members.get(name)
        if show is not None:
            members_shown[name] = show(inner)
        elif name in _WITHIN:
            members_shown[name] = _shown(inner, members, depth + 1)
        elif _is_name(name):
            members_shown[name] = hidden(inner)
        else:
            strange += 1
    if strange:
        members_shown[_REST] = strange
    return members_shown


def made_thing(status: int, path: str, answered: str) -> str | None:
    """The id of the message or verification that a request made, or that its answer repeats."""
    if status != 200 or path not in MAKING:
        return None
    thing = json.loads(answered)
    thing_id = thing.get(MAKING[path]) if isinstance(thing, dict) else None
    return thing_id if isinstance(thing_id, str) else None


MAKING: Final[Mapping[str, str]] = {
    "/api/sms": "messageId",
    "/api/verify/send": "verificationId",
}
"""Paths that make something, and the member with its id in their answers."""
