"""playSMS's answers: errors, messages, and the formats that they are written in. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from risala.plugins.face import FaceMessageState, FaceRefusal, FaceRefusedError

TIME: Final = "%Y-%m-%d %H:%M:%S"
_QUEUE_DIGITS: Final = 32
_NOT_IN_XML: Final = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

ERRORS: Final = {
    "100": "authentication failed",
    "101": "type of action is invalid or unknown",
    "102": "one or more field empty",
    "103": "not enough credit for this operation",
    "106": "webservice token not allowed from this IP address",
    "200": "send message failed",
    "201": "destination number or message is empty",
    "400": "no delivery status available",
}
"""playSMS's errors that happen here, in its words."""
_REFUSALS: Final[Mapping[FaceRefusal, tuple[int, str]]] = {
    FaceRefusal.UNAUTHORIZED: (403, "100"),
    FaceRefusal.SUSPENDED: (403, "100"),
    FaceRefusal.ADDRESS: (403, "106"),
    FaceRefusal.BAD_REQUEST: (400, "102"),
    FaceRefusal.NO_BALANCE: (402, "103"),
    FaceRefusal.COUNTRY: (403, "200"),
    FaceRefusal.LIMITED: (429, "200"),
    FaceRefusal.UNAVAILABLE: (503, "200"),
    FaceRefusal.UNKNOWN: (503, "200"),
}
"""The status and playSMS's error of each refusal; any other is :data:`REFUSED`."""
REFUSED: Final = (400, "200")
STATES: Final = {"pending": "0", "processing": "0", "sent": "1", "delivered": "3"}
"""playSMS's number of a message's state; every other has ended without delivery."""
FAILED: Final = "2"


@dataclass(eq=False)
class PlaysmsError(Exception):
    """A request that failed as a whole."""

    status: int
    error: str
    """A number of :data:`ERRORS`."""
    text: str | None = None
    """The reason, where playSMS's words do not say it."""
    retry_after_s: int | None = None

    def body(self) -> dict[str, str]:
        words = ERRORS[self.error]
        text = words if self.text is None else f"{words}: {self.text}"
        return {"status": "ERR", "error": self.error, "error_string": text}


def of_refusal(refused: FaceRefusedError) -> PlaysmsError:
    status, error = _REFUSALS.get(refused.refusal, REFUSED)
    # What a stranger is told is the same whatever was wrong.
    text = None if error == "100" else str(refused)
    return PlaysmsError(status, error, text, refused.retry_after_s)


def receipt_of(state: FaceMessageState) -> dict[str, str]:
    """What the client of an accepted message is told."""
    return {
        "status": "OK",
        "error": "0",
        "smslog_id": str(state.number),
        # playSMS's is random, and of a whole request; its clients look one message up by it.
        "queue": f"{state.number:0{_QUEUE_DIGITS}x}",
        "to": state.to,
    }


def state_of(state: FaceMessageState) -> dict[str, str]:
    """A message as a list has it; times are UTC, as playSMS keeps them."""
    made, changed = (
        datetime.fromtimestamp(ms / 1000, UTC).strftime(TIME)
        for ms in (state.created_at_ms, state.updated_at_ms)
    )
    return {
        "smslog_id": str(state.number),
        "src": state.sender,
        "dst": state.to,
        "msg": state.text or "",
        "dt": made,
        "update": changed,
        "status": STATES.get(state.status, FAILED),
    }


def written(told: Mapping[str, Any], form: str) -> tuple[bytes, str]:
    """An answer in the format that was asked for, and its content type."""
    if form == "XML":
        return f'<?xml version="1.0"?>\n{_xml("response", told)}\n'.encode(), "text/xml"
    if form == "SERIALIZE":
        return _serialized(told), "text/plain"
    return json.dumps(told, separators=(",", ":")).encode(), "application/json"


def _xml(name: str, value: object) -> str:
    """A value as an element; each of a list is an ``item``."""
    if isinstance(value, Mapping):
        inner = "".join(_xml(key, each) for key, each in value.items())
    elif isinstance(value, list):
        inner = "".join(_xml("item", each) for each in value)
    else:
        inner = "" if value is None else _escaped(_NOT_IN_XML.sub("", str(value)))
    return f"<{name}>{inner}</{name}>" if inner else f"<{name}/>"


def _escaped(text: str) -> str:
    """As ``xml.sax.saxutils`` does it, which imports an HTTP client."""
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


def _serialized(value: Any) -> bytes:  # noqa: ANN401 -- whatever JSON has
    """A value as PHP's ``serialize`` writes it; the length of a text is in octets."""
    if value is None:
        return b"N;"
    if isinstance(value, int):
        return b"i:%d;" % value
    if isinstance(value, str):
        octets = value.encode()
        return b's:%d:"%s";' % (len(octets), octets)
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
    inner = [_serialized(each) for pair in pairs for each in pair]
    return b"a:%d:{%s}" % (len(inner) // 2, b"".join(inner))
