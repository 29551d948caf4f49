"""Signatures by a shared secret: ours, and whether a request is the carrier's. Pure."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from risala.dataclass import dataclass
from risala.drivers.http.shape import ProofShape
from risala.drivers.http.sources import FIELDS_MAX, CarrierContent, looked_up

SIGNATURES_MAX: Final = 16
"""Signatures of one request that are compared."""


@dataclass(frozen=True, slots=True)
class Signed:
    """What a request's signature may be over."""

    url: str
    """Our whole address, as the carrier calls it."""
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"Signed({len(self.body)} bytes)"


def signed(key: bytes, content: bytes, algorithm: str, encoding: str) -> str:
    """The HMAC of some octets, written."""
    octets = hmac.digest(key, content, algorithm)
    return octets.hex() if encoding == "hex" else base64.b64encode(octets).decode()


def key_of(shape: ProofShape, secret: str) -> bytes:
    """The key of the signatures.

    Raises:
        ValueError: the secret has not the form that it must have.
    """
    if shape.secret_form == "text":  # noqa: S105 -- a form's name
        return secret.encode()
    encoded = secret.removeprefix("whsec_")
    return base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)


def is_signed(shape: ProofShape, key: bytes, request: Signed, now_s: float) -> bool:
    """Whether one of the signatures is made with the key, and is not too old."""
    content = CarrierContent(headers=request.headers)
    if shape.time is not None:
        written = looked_up(shape.time, content)
        if not (written.isascii() and written.isdigit() and len(written) <= 12):
            return False
        if abs(now_s - int(written)) > shape.age_s:
            return False
    right = signed(key, _content(shape, request), shape.algorithm, shape.encoding).encode()
    signatures = request.headers.get(shape.header.lower(), "")
    is_right = False
    for each in signatures.split(" ")[:SIGNATURES_MAX]:
        if each.startswith(shape.prefix):
            mark = each[len(shape.prefix) :].encode("utf-8", "replace")
            is_right |= hmac.compare_digest(mark, right)
    return is_right


def _content(shape: ProofShape, request: Signed) -> bytes:
    return b"".join(_part(each, request) for each in shape.parts)


def _part(part: str, request: Signed) -> bytes:
    if part.startswith("="):
        return part[1:].encode()
    if part.startswith("header:"):
        return request.headers.get(part[7:].lower(), "").encode("latin-1", "replace")
    if part == "body":
        return request.body
    if part == "url":
        return request.url.encode()
    return _sorted_form(request.body)


def _sorted_form(body: bytes) -> bytes:
    """The names and values of a form, by name."""
    try:
        pairs = parse_qsl(
            body.decode("latin-1"),
            keep_blank_values=True,
            encoding="latin-1",
            max_num_fields=FIELDS_MAX,
        )
    except ValueError:
        return b""
    return "".join(name + value for name, value in sorted(pairs)).encode("latin-1")
