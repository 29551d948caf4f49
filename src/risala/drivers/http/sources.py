"""Sources, which say where a value is in what a carrier told, and how they are looked up. Pure.

A **source** is a JSON pointer (RFC 6901) such as ``/messages/0/id``, in which ``*`` stands for the
first item of a list that has what follows; the name of a field of a form, a query or a JSON object;
``header:NAME``; ``last:POINTER``, the last part of an address; ``body:``, the whole body;
``match:PATTERN``, the first group of a regular expression in the body; or ``=word``, the word
itself. ``|`` separates alternatives: the first that is there. ``match:`` is the last of them, as a
pattern may have a ``|`` of its own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import field, replace
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl

from risala.dataclass import dataclass

SOURCE_CHARACTERS_MAX: Final = 300
POINTER_DEPTH_MAX: Final = 16
ALTERNATIVES_MAX: Final = 8
VALUE_CHARACTERS_MAX: Final = 4000
"""Characters that are read of a value: more than a text of an SMS has."""
MATCHED_CHARACTERS_MAX: Final = 1000
"""Characters of a body in which a pattern is looked for."""
FIELDS_MAX: Final = 200
ITEMS_MAX: Final = 1000
"""Items of a list that are read."""
CHARSETS: Final[Mapping[str, str]] = {
    "utf-16be": "utf-16-be",
    "utf-16": "utf-16",
    "ucs-2": "utf-16-be",
    "iso-8859-1": "latin-1",
    "windows-1252": "cp1252",
}
"""Charsets that are not found out without their name, and their codecs."""
_CHARSET: Final = re.compile(r"(?i)charset=\"?([a-z0-9-]{2,20})")
_FIELD: Final = re.compile(r"[^/=:|{}\s][^|{}\s:]*")
_HEADER: Final = re.compile(r"[A-Za-z0-9-]+")
_MATCH: Final = "match:"
_MISSING: Final = object()


class SourceError(ValueError):
    """A source is wrong; the sentence says how."""


@dataclass(frozen=True, slots=True)
class SourcePart:
    """One alternative of a source."""

    kind: str
    """``pointer``, ``last``, ``field``, ``header``, ``body``, ``match`` or ``word``."""
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A description of where a value is: alternatives, of which the first that is there counts."""

    written: str
    parts: tuple[SourcePart, ...]


@dataclass(frozen=True, slots=True)
class CarrierContent:
    """What a carrier told, parsed. It prints nothing: it may hold texts and secrets."""

    values: tuple[object, ...] = field(default=(), repr=False)
    """JSON: the list's item first, the whole body last; empty: the body is no JSON."""
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By lower-case name."""
    body: bytes = field(default=b"", repr=False)

    @property
    def text(self) -> str:
        """The body as text, by the charset that it came with."""
        charset = _CHARSET.search(self.headers.get("content-type", ""))
        codec = CHARSETS.get(charset[1].lower()) if charset else None
        return unicode_of(self.body) if codec is None else self.body.decode(codec, "replace")

    @property
    def is_json(self) -> bool:
        return bool(self.values)


def source_of(written: str) -> Source:
    """A source as it is written.

    Raises:
        SourceError: it is none.
    """
    if len(written) > SOURCE_CHARACTERS_MAX:
        raise SourceError(f"a source has at most {SOURCE_CHARACTERS_MAX} characters")
    before, match, pattern = written.partition(_MATCH)
    words = [each.strip() for each in before.split("|")]
    if match and words[-1]:
        raise SourceError("`match:` begins an alternative")
    parts = [_part_of(each) for each in words if each or not match]
    if match:
        parts.append(_pattern_of(pattern))
    if len(parts) > ALTERNATIVES_MAX:
        raise SourceError(f"a source has at most {ALTERNATIVES_MAX} alternatives")
    return Source(written, tuple(parts))


def _pattern_of(pattern: str) -> SourcePart:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise SourceError(f"the pattern after `match:` is none: {error}") from None
    if groups < 1:
        raise SourceError("the pattern after `match:` needs a group in ( )")
    return SourcePart("match", (pattern,))


def _part_of(written: str) -> SourcePart:
    if written.startswith("/"):
        return SourcePart("pointer", pointer_of(written))
    if written.startswith("="):
        return SourcePart("word", (written[1:],))
    if written == "body:":
        return SourcePart("body", ())
    if written.startswith("last:/"):
        return SourcePart("last", pointer_of(written[5:]))
    if written.lower().startswith("header:") and _HEADER.fullmatch(written[7:]):
        return SourcePart("header", (written[7:].lower(),))
    if not _FIELD.fullmatch(written):
        raise SourceError(
            "a source is a pointer such as `/id`, a field's name, `header:NAME`, "
            "`last:/POINTER`, `body:`, `match:PATTERN` or `=word`"
        )
    return SourcePart("field", (written,))


def pointer_of(written: str) -> tuple[str, ...]:
    """A pointer's parts, without their escapes.

    Raises:
        SourceError: it is none.
    """
    if not written.startswith("/") or re.search("~(?![01])", written):
        raise SourceError("a JSON pointer begins with `/`, such as `/messages`")
    parts = written[1:].split("/")
    if len(parts) > POINTER_DEPTH_MAX:
        raise SourceError(f"a pointer has at most {POINTER_DEPTH_MAX} parts")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def content_of(
    body: bytes, content_type: str, headers: Mapping[str, str], query: Mapping[str, str] | None
) -> CarrierContent:
    """What a body and a query say. Nothing here is refused: what cannot be parsed has no values."""
    fields = dict(query or {})
    values: tuple[object, ...] = ()
    begin = body.lstrip()[:1]
    if begin in (b"{", b"["):
        values = _json_of(body)
    elif content_type.partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
        fields = {**fields, **form_of(body)}
    return CarrierContent(values, fields, headers, body)


def _json_of(body: bytes) -> tuple[object, ...]:
    try:
        return (json.loads(body.decode("utf-8-sig"), strict=False),)
    except (ValueError, RecursionError):  # also octets that are no Unicode
        return ()


def form_of(body: bytes) -> dict[str, str]:
    """The fields of a form, the first of several; none if there are too many."""
    try:
        pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, max_num_fields=FIELDS_MAX)
    except ValueError:
        return {}
    fields: dict[str, str] = {}
    for name, value in pairs:
        fields.setdefault(name, value)
    return fields


def unicode_of(octets: bytes) -> str:
    """UTF-8, or Latin-1 of those that write that and do not say so."""
    try:
        return octets.decode("utf-8-sig")
    except ValueError:
        return octets.decode("latin-1")


def each_in(pointer: tuple[str, ...] | None, content: CarrierContent) -> Iterator[CarrierContent]:
    """What was told, once for each item of a list; ``*`` is a list around it. Without a pointer it
    is told once. What is looked up is looked up in the item, then in what that is in."""
    if pointer is None:
        yield content
        return
    walked = _walked((*(() if pointer == ("",) else pointer), "*"), content.values)
    for values in islice(walked, ITEMS_MAX):
        yield replace(content, values=values)


def known_word(source: Source | None, content: CarrierContent, known: Container[str]) -> str:
    """What a source names first of what a table knows (in small letters); without that, as
    :func:`looked_up`."""
    words = [_value(part, content).strip() for part in (source.parts if source is not None else ())]
    words = [word[:VALUE_CHARACTERS_MAX] for word in words if word]
    first = words[0] if words else ""
    return next((word for word in words if word.casefold() in known), first)


def looked_up(source: Source | None, content: CarrierContent) -> str:
    """What a source names first; empty if there is nothing."""
    for part in source.parts if source is not None else ():
        if value := _value(part, content):
            return value[:VALUE_CHARACTERS_MAX]
    return ""


def _value(part: SourcePart, content: CarrierContent) -> str:
    if part.kind == "word":
        return part.parts[0]
    if part.kind == "header":
        return content.headers.get(part.parts[0], "")
    if part.kind == "body":
        return content.text
    if part.kind == "match":
        match = re.search(part.parts[0], content.text[:MATCHED_CHARACTERS_MAX])
        return (match[1] or "") if match else ""
    if part.kind == "field" and part.parts[0] in content.fields:
        return content.fields[part.parts[0]]
    for value in content.values:
        for values in _walked(part.parts, (value,)):
            if word := _word(values[0]):
                return word.rstrip("/").rpartition("/")[2] if part.kind == "last" else word
    return ""


def _walked(parts: tuple[str, ...], values: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    """Each value at a pointer, before it those that it is in, from the inside out."""
    if not values:
        return
    if not parts:
        yield values
        return
    value = values[0]
    if parts[0] == "*":
        for item in value[: ITEMS_MAX + 1] if isinstance(value, list) else ():
            yield from _walked(parts[1:], (item, *values))
        return
    inner = _member(value, parts[0])
    if inner is not _MISSING:
        yield from _walked(parts[1:], (inner, *values))


def _member(value: object, part: str) -> object:
    if isinstance(value, dict):
        return value.get(part, _MISSING)
    if isinstance(value, list) and part.isascii() and part.isdigit() and len(part) <= 6:
        return value[int(part)] if int(part) < len(value) else _MISSING
    return _MISSING


def _word(value: object) -> str:
    """A value as text; empty for null, and for what is no single value."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    return ""
