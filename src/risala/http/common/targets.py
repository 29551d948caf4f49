"""The target of a request: its allowed forms, and the one spelling of a path (contract §2)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote_to_bytes

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
