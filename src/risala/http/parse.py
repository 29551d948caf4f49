"""Bytes of a request → a JSON object, strictly; every fault with its place and a stable code.

JSON as RFC 8259 has it and nothing more: UTF-8, no member twice, no NaN or Infinity, no NUL and
no lone surrogate in any string (no carrier and no database could keep them), nesting bounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from quart.wrappers import Request

from risala.http.problems import Issue, Problem, bad_body, plain

DEPTH_MAX: Final = 32
"""Objects within arrays within objects; nothing that we take needs more than four."""


class _Duplicate(Exception):
    pass


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Duplicate
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_no_constant)


async def read_body(request: Request) -> bytes:
    """The raw body, when it says that it is JSON and is not too large.

    Raises:
        Problem: 415. 413 and 408 come from Quart's own reading.
    """
    if request.mimetype != "application/json":
        raise plain(415)
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise plain(415)
    return await request.get_data(cache=False, as_text=False, parse_form_data=False)


def read_object(raw: bytes) -> dict[str, Any]:
    """Decode the one JSON object that a body is.

    Raises:
        Problem: 400.
    """
    try:
        value = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise _fault("invalid_utf8", "The body is not UTF-8.") from None
    except _Duplicate:
        raise _fault("duplicate_member", "A member occurs twice in one object.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _fault("invalid_json", "The body is not valid JSON.") from None
    # Fewer brackets than the bound cannot nest deeper than it: most bodies skip the walk.
    if raw.count(b"[") + raw.count(b"{") > DEPTH_MAX and _deeper(value, DEPTH_MAX):
        raise _too_deep()
    if not isinstance(value, dict):
        raise _fault("not_an_object", "The body must be a JSON object.")
    return value


def character_faults(raw: bytes, members: dict[str, Any], known: frozenset[str]) -> list[Issue]:
    """A fault for each member that holds a NUL or a lone surrogate.

    Only members that we know are named: an unknown name would be the client's own text.
    """
    if b"\\u" not in raw:  # JSON spells both only by an escape
        return []
    paths = {
        (name,) if name in known else ()
        for name, value in members.items()
        if any(_unfit(text) for text in _strings({name: value}))
    }
    return [
        Issue(path, "invalid_characters", "NUL and lone surrogates are not allowed.")
        for path in sorted(paths)
    ]


def _unfit(text: str) -> bool:
    return "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)


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


def _deeper(value: object, left: int) -> bool:
    """Whether ``value`` nests deeper than ``left`` levels; looks no further than that."""
    if not isinstance(value, dict | list):
        return False
    if left == 0:
        return True
    inner = value.values() if isinstance(value, dict) else value
    return any(_deeper(item, left - 1) for item in inner)


def _fault(code: str, message: str) -> Problem:
    return bad_body([Issue((), code, message)])


def _too_deep() -> Problem:
    return _fault("too_deep", f"The body nests deeper than {DEPTH_MAX} levels.")
