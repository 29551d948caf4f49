"""Reads a request's body as a JSON object, strictly; every fault has its place and a stable code.

JSON is read as RFC 8259 defines it and no wider: UTF-8, no member twice, no NaN or Infinity, no NUL
and no lone surrogate in any string (no carrier and no database could keep them), nesting bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, takewhile
from math import inf
from typing import Any, Final, NoReturn

import trio

from risala.http.common.plain import JSON, IncomingBody, PlainRequest
from risala.http.common.problems import BodyIssue, Problem, bad_body, plain

DEPTH_MAX: Final = 32
"""Levels of objects and arrays within one another; no body that we take needs more than four."""


_USUAL: Final = frozenset({b"application/json", b"application/json; charset=utf-8"})
"""Content types as libraries write them."""


class DuplicateMember(Exception):
    pass


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise DuplicateMember
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


DECODER: Final = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_no_constant)
LENIENT: Final = json.JSONDecoder(parse_constant=_no_constant)
"""A decoder that lets a member occur twice: it finds the end of a value in which :data:`DECODER`
stopped for that reason."""

_JSON_TYPE: Final = JSON.encode()
_WHITE: Final = b" \t\r\n"
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # one level down; one up, as -1
_NO_BRACKETS: Final = bytes(sorted({*range(256)} - {*b"[{]}"}))
_is_unfit: Final = re.compile("[\0\ud800-\udfff]").search


async def read_body(request: PlainRequest) -> bytes:
    """The raw body of a request.

    Raises:
        Problem: 415 if its type is not JSON, 413 if it is too large, 408 if it does not come in
            time.
    """
    types = request.fields.get(b"content-type")
    if not types or (types[0] != _JSON_TYPE and not _is_json(types[0])):
        raise plain(415)
    return await read_raw(request)


async def read_raw(request: PlainRequest, *, first_s: float | None = None) -> bytes:
    """The raw body of a request of any content type.

    Args:
        first_s: seconds in which its first part comes; None: only the whole has a time.

    Raises:
        Problem: 415 if it is compressed, 413 and 408 as for :func:`read_body`.
    """
    codings = request.fields.get(b"content-encoding")
    if codings and codings[0].strip().lower() != b"identity":
        raise plain(415)
    body, bytes_max = request.body, request.body_bytes_max
    if body.length is not None and body.length > bytes_max:
        raise plain(413)
    if body.complete:  # nearly always: the body came with the head, and nothing is waited for
        request.raw = raw = await _gather(body, bytes_max)
        return raw
    with trio.move_on_after(request.body_timeout_s):
        request.raw = raw = await _gather(body, bytes_max, first_s)
        return raw
    raise plain(408)


async def _gather(body: IncomingBody, bytes_max: int, first_s: float | None = None) -> bytes:
    """All of a body. Stops reading once there is too much of it."""
    with trio.move_on_after(inf if first_s is None else first_s) as waiting:
        parts = [await body.next_part()]
    if waiting.cancelled_caught:
        raise plain(408)
    received = len(parts[0])
    while received <= bytes_max:
        if body.complete:
            return b"".join(parts)
        parts.append(await body.next_part())
        received += len(parts[-1])
    raise plain(413)


@lru_cache(maxsize=64)
def _is_json(content_type: bytes) -> bool:
    """Whether a content type is JSON in UTF-8. A charset may be left out (RFC 8259 §8.1), but not
    be another one."""
    if content_type in _USUAL:
        return True
    # Imported here: nearly everybody sends what is usual, and werkzeug is megabytes.
    from werkzeug.http import parse_options_header

    kind, parameters = parse_options_header(content_type.decode("latin-1"))
    charset = parameters.get("charset", "utf-8")
    return kind.lower() == JSON and charset.lower() in ("utf-8", "utf8")


def read_text(raw: bytes) -> str:
    """A body as text. Raises :class:`Problem`, 400, if it is not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise fault("invalid_utf8") from None


def read_object(raw: bytes) -> dict[str, Any]:
    """Decode the one JSON object that a body is.

    Raises:
        Problem: 400.
    """
    text = read_text(raw)
    try:
        value = DECODER.decode(text)
    except (ValueError, DuplicateMember, RecursionError) as error:
        raise fault(_decoding_fault(error, raw)) from None
    return as_object(value, raw.count(b"[") + raw.count(b"{"))


def quick_object(raw: bytes) -> dict[str, Any] | None:
    """The object in a body that is plainly valid; None: :func:`read_object` must check it."""
    try:
        text = raw.decode("utf-8")
        value, end = DECODER.raw_decode(text)
    except (ValueError, DuplicateMember, RecursionError):
        return None
    if type(value) is not dict or end != len(text) or raw.count(b"{") + raw.count(b"[") > DEPTH_MAX:
        return None
    return value if not has_escapes(raw) or is_fit(value) else None


def as_object(value: object, brackets: int) -> dict[str, Any]:
    """A decoded value, if it is an object that nests no deeper than :data:`DEPTH_MAX`.

    Raises:
        Problem: 400.
    """
    check_depth(value, brackets)
    if not isinstance(value, dict):
        raise fault("not_an_object")
    return value


def check_depth(value: object, brackets: int, depth_max: int = DEPTH_MAX) -> None:
    """Refuse a value that nests too deep.

    Args:
        brackets: brackets in the value's text. Fewer than the bound cannot nest deeper, so that
            most values need no walk.

    Raises:
        Problem: 400.
    """
    if brackets > depth_max and is_deeper(value, depth_max):
        raise fault("too_deep")


def _decoding_fault(error: ValueError | DuplicateMember | RecursionError, raw: bytes) -> str:
    """The code of what is wrong with a text that the decoder stopped in.

    A decoder goes as deep as its Python lets it: some hundred levels until 3.13, and as far as the
    stack reaches since 3.14. What is too deep is called so whether it stopped for that or not.
    """
    if isinstance(error, RecursionError) or opens_deeper(raw, DEPTH_MAX):
        return "too_deep"
    return "duplicate_member" if isinstance(error, DuplicateMember) else "invalid_json"


def opens_deeper(raw: bytes, levels: int) -> bool:
    """Whether the object or list that a text begins with opens more than so many within one
    another. Counts brackets alone: the text may be cut off, or no JSON after all."""
    if raw.lstrip(_WHITE)[:1] not in (b"[", b"{"):
        return False
    steps = _STRING.sub(b"", raw).translate(_STEPS, _NO_BRACKETS)
    depths = accumulate(memoryview(steps).cast("b"))  # signed octets
    return any(map(levels.__lt__, takewhile(bool, depths)))


def has_escapes(raw: bytes) -> bool:
    """Whether a body may hold a NUL or a lone surrogate: JSON can write both only as escapes."""
    return b"\\u" in raw


def is_fit(members: dict[str, Any]) -> bool:
    """Whether no string in an object holds a NUL or a lone surrogate."""
    return not any(map(_is_unfit, _strings(members)))


def character_faults(members: dict[str, Any], known: frozenset[str]) -> list[BodyIssue]:
    """A fault for each member that holds a NUL or a lone surrogate.

    Only members that we know are named: an unknown name would be the client's own text.
    """
    paths = {
        (name,) if name in known else ()
        for name, value in members.items()
        if any(_is_unfit(text) for text in _strings({name: value}))
    }
    return [
        BodyIssue(path, "invalid_characters", "NUL and lone surrogates are not allowed.")
        for path in sorted(paths)
    ]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def is_deeper(value: object, left: int) -> bool:
    """Whether ``value`` nests deeper than ``left`` levels; looks no further than that."""
    if not isinstance(value, dict | list):
        return False
    if left == 0:
        return True
    inner = value.values() if isinstance(value, dict) else value
    return any(is_deeper(item, left - 1) for item in inner)


_SENTENCES: Final = {
    "invalid_utf8": "The body is not UTF-8.",
    "invalid_json": "The body is not valid JSON.",
    "duplicate_member": "A name occurs twice in one object.",
    "too_deep": f"The body nests deeper than {DEPTH_MAX} levels.",
    "not_an_object": "The body must be a JSON object.",
}


def fault(code: str, path: tuple[str | int, ...] = ()) -> Problem:
    """The problem 400 with one fault: of the body as a whole, or of the part at ``path``."""
    return bad_body([BodyIssue(path, code, _SENTENCES[code])])
