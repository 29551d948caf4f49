"""What every part of HTTP knows of a request: its target, its id, the words in its state.

The target has few allowed forms, and each path has one spelling (contract §2).
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import IdSource

_SAFE: Final = "/!$&'()*+,;=:@-._~"
"""Characters that RFC 3986 §3.3 allows unescaped in a path; only this spelling is accepted."""
_is_usual: Final = re.compile(rb"(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)+").fullmatch
_is_absolute: Final = re.compile(
    rb"https?://((?:\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::[0-9]*)?)(/[^?]*)?(\?.*)?", re.IGNORECASE
).fullmatch


def origin_form(target: bytes) -> tuple[bytes, bytes | None]:
    """Path and query of a target, and the host before them, if any.

    A server accepts the whole URL too, and that host has priority over the header (RFC 9112
    §3.2.2).

    Raises:
        ValueError: the target has none of the forms allowed for an origin server.
    """
    if target[:1] == b"/" or target == b"*":
        return target, None
    parts = _is_absolute(target)
    if parts is None:
        raise ValueError
    host, path, query = parts.groups()
    return (path or b"/") + (query or b""), host


def is_plain_path(path: bytes) -> bool:
    """Whether a path, as received, is spelled as its page or endpoint is documented.

    Every path has other spellings (``//api/sms``, ``/api%2fsms``, ``/x/../api/sms``), which a proxy
    in front may judge differently: none of them is accepted.
    """
    if _is_usual(path):
        return True
    if path[:1] != b"/" or b"//" in path:
        return False
    # For some servers the text after a semicolon is not part of the name, and ``..;x`` is ``..``.
    if any(each.partition(b";")[0] in (b".", b"..") for each in path.split(b"/")):
        return False
    return quote(unquote_to_bytes(path), safe=_SAFE).encode() == path


# The id of each request: in its answer, in the body of an error, in our log.

_IDS: Final = IdSource(SystemClock())
REQUEST_ID: Final[ContextVar[str | None]] = ContextVar("risala_request_id", default=None)
"""The id of the request that is being answered; it is in each line that is logged on its behalf."""


def new_request_id() -> str:
    # The client's own x-request-id is ignored: it would let strangers write our log.
    return _IDS.new("req")


# Words by which the server and the apps behind it understand each other, in a request's state.

IN_PLACE: Final = "in_place"
"""A key of a request's state. If present, the app may answer in the task that calls it, and call
``receive`` only when it wants the body: the server then requests it from the client (``100
Continue``), and notices itself when the client goes away. If missing, as on any other server, a
task of the app must listen meanwhile."""
