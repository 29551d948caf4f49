"""Reads the messages out of a program's request, by a mapping. Pure.

Whatever the request is, there are messages or a fault, and neither a fault nor an exception has a
value of the request in it. What a mapping and a request multiply to is bounded too
(:mod:`risala.engine.features.hooks.rules.work_budget`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl

from risala.dataclass import dataclass
from risala.engine.features.hooks.rules.mapping import HookMapping, HookSource, Line, SourceChoice
from risala.engine.features.hooks.rules.requests import HookFault, HookMessage, HookRequest
from risala.engine.features.hooks.rules.work_budget import WorkBudget, WorkBudgetSpent
from risala.sms.limits import TEXT_CHARACTERS_MAX

HOOK_STEPS_MAX: Final = 15_000
"""Values that are looked at, and :data:`STEP_CHARACTERS` that are written, for one request: below
``LOOP_MS``. A body of 64 KiB whose texts are each sent once stays within."""
STEP_CHARACTERS: Final = 5
"""Characters of a value that are cleaned in one step."""
PARSED_OCTETS: Final = 256
"""Octets of texts in JSON, a form or a query that are parsed in one step."""
PARSED_MARKS: Final = 8
"""Lists, objects, their items and escapes that are parsed in one step."""
VALUE_CHARACTERS_MAX: Final = 2000
"""Characters that are read of a value: more than a text may have."""
ITEMS_MAX: Final = 50
"""Items of a list that a text joins."""
HOOK_MESSAGES_MAX: Final = 100
"""Messages of one request, as of the API's batches."""
FIELDS_MAX: Final = 100
"""Fields of a form or query."""
NUMBER_CHARACTERS_MAX: Final = 40
"""A number with every space and hyphen."""
CODE_CHARACTERS_MAX: Final = 32
SENDER_CHARACTERS_MAX: Final = 20
REFERENCE_CHARACTERS_MAX: Final = 200
ALERT_CHARACTERS_MAX: Final = 480
"""The length at which an alert's text is cut: each of its segments is paid for once for each
number."""
_NUMBER: Final = re.compile(rf"(?!\d*\.\d\Z)[+0-9 ().\-/]{{1,{NUMBER_CHARACTERS_MAX}}}")
"""A phone number as programs write it; ``36123456.0`` is none."""
_CODE: Final = re.compile(rf"[^\s.\x00-\x1f\x7f-\x9f]{{1,{CODE_CHARACTERS_MAX}}}")
"""No dot: it would be that of a number that lost its digits on its way."""
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END: Final = re.compile("\r\n?|[\u2028\u2029\x85]")
_GAPS: Final = re.compile(r"[ \t\u00a0]+")
_LANGUAGE_END: Final = re.compile("[-_]")
_is_language: Final = re.compile("[a-z]{2,3}").fullmatch
_WILDCARD: Final = "*"
_CUT: Final = "…"
_MISSING: Final = object()


class _Unread(Exception):
    """What is wrong with a request."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(code)
        self.fault = HookFault(code, sentence)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Values in which sources are looked up."""

    values: tuple[object, ...]
    """JSON: the list's item first, the whole body last; empty: the body is no JSON."""
    fields: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    steps: WorkBudget
    known: dict[tuple[SourceChoice, bool, int], str | None] = field(default_factory=dict)
    """What was looked up before, by the source and the identity of the value: several messages, and
    several holes of a template, look at the same."""


def read(
    mapping: HookMapping, request: HookRequest, steps: WorkBudget | None = None
) -> tuple[HookMessage, ...] | HookFault:
    """The messages that a request asks for; or why there are none. Empty: it is one of those that
    the mapping passes over.

    Args:
        steps: counts the work; None: a budget of :data:`HOOK_STEPS_MAX`.
    """
    try:
        scope = _scope_of(mapping, request, steps or WorkBudget(HOOK_STEPS_MAX))
        if not all(_has(scope, *condition) for condition in mapping.only):
            return ()
        scopes = [scope] if mapping.each is None else [*_scopes_in(mapping.each, scope)]
        if not scopes:
            raise _Unread("missing_field", f"The list `{_written(mapping.each)}` is empty.")
        return tuple(_message_of(mapping, each) for each in scopes)
    except _Unread as unread:
        return unread.fault
    except WorkBudgetSpent:
        return _TOO_MUCH


def _has(scope: _Scope, pointer: tuple[str, ...], word: str) -> bool:
    """Whether the value at a pointer is a word, a number, or ``true`` or ``false``."""
    for values in _walked(pointer, scope.values, scope.steps):
        value = values[0]
        if isinstance(value, bool):
            return word == ("true" if value else "false")
        return isinstance(value, str | int) and str(value) == word
    return False


_TOO_MUCH: Final = HookFault(
    "too_much",
    "The hook's mapping would look up too many values in this request. Send fewer items at once, or"
    " name fewer sources in the mapping.",
)


def _scope_of(mapping: HookMapping, request: HookRequest, steps: WorkBudget) -> _Scope:
    steps.take(_parsing(request.body) + _parsing(request.query.encode(errors="replace")))
    kind = request.content_type.partition(";")[0].strip().lower()
    is_form = kind == "application/x-www-form-urlencoded"
    is_json = kind.endswith(("/json", "+json"))
    values: tuple[object, ...] = ()
    fields: dict[str, str] = {}
    # What curl sends is a form by its content type, whatever it is.
    is_object = request.body.lstrip()[:1] in (b"{", b"[")
    if mapping.reads == "form" or (mapping.reads == "any" and is_form and not is_object):
        fields = _fields_of(request.body.decode("latin-1"))
    elif mapping.reads == "json" or (mapping.reads == "any" and request.body):
        # Some programs name no content type, or a wrong one.
        values = _json_of(request.body, is_needed=is_json or mapping.reads == "json")
    if mapping.reads in ("query", "any", "text"):
        fields = {**_fields_of(request.query), **fields}
    return _Scope(values, fields, request.headers, request.body, steps)


def _parsing(written: bytes) -> int:
    """The steps that it takes to parse a body or a query."""
    return len(written) // PARSED_OCTETS + sum(map(written.count, b",[{%")) // PARSED_MARKS


def _json_of(body: bytes, *, is_needed: bool) -> tuple[object, ...]:
    """The body's value; empty if it is no JSON and need not be."""
    try:
        # Not strict: programs that fill a template by hand leave line ends in their texts.
        return (json.loads(body.decode("utf-8-sig"), strict=False),)
    except (ValueError, RecursionError):  # also of octets that are no Unicode, and endless digits
        if not is_needed:
            return ()
        raise _Unread("invalid_body", "The body must be JSON.") from None


def _fields_of(written: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            written, keep_blank_values=True, encoding="latin-1", max_num_fields=FIELDS_MAX
        )
    except ValueError:
        sentence = f"A form or query has at most {FIELDS_MAX} fields."
        raise _Unread("invalid_body", sentence) from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        fields.setdefault(_unicode(name), _unicode(value))
    return fields


def _unicode(octets: str) -> str:
    """Escaped octets as text: UTF-8, or Latin-1 of programs that write that and do not say so."""
    try:
        return octets.encode("latin-1").decode()
    except ValueError:
        return octets


def _scopes_in(pointer: tuple[str, ...], scope: _Scope) -> Iterator[_Scope]:
    """A scope for each item of the list; ``*`` in the pointer is a list around it."""
    walked = _walked((*pointer, _WILDCARD), scope.values, scope.steps)
    for place, values in enumerate(walked):
        if place == HOOK_MESSAGES_MAX:
            sentence = f"One request sends at most {HOOK_MESSAGES_MAX} messages."
            raise _Unread("too_many_messages", sentence)
        yield replace(scope, values=values)


def _walked(
    parts: tuple[str, ...], values: tuple[object, ...], steps: WorkBudget
) -> Iterator[tuple[object, ...]]:
    """Each value at a pointer, before it those that it is in, from the inside out."""
    if not values:
        return
    if not parts:
        steps.take(len(values))  # it is handed on through so many functions
        yield values
        return
    steps.take()
    value = values[0]
    if parts[0] == _WILDCARD:
        for item in value if isinstance(value, list) else ():
            yield from _walked(parts[1:], (item, *values), steps)
    else:
        inner = _member(value, parts[0])
        if inner is not _MISSING:
            yield from _walked(parts[1:], (inner, *values), steps)


def _member(value: object, part: str) -> object:
    if isinstance(value, dict):
        return value.get(part, _MISSING)
    if isinstance(value, list) and part.isascii() and part.isdigit() and len(part) <= 6:
        return value[int(part)] if int(part) < len(value) else _MISSING
    return _MISSING


def _message_of(mapping: HookMapping, scope: _Scope) -> HookMessage:
    to = None if mapping.to is None else _to(mapping, mapping.to, scope)
    code = None if mapping.code is None else _code(mapping.code, scope)
    text = _text(mapping, scope)
    if code is None and text is None:
        raise _missing(*filter(None, (mapping.code, *_sources(mapping))))
    return HookMessage(
        to=to,
        text=text,
        code=code,
        sender=_short(mapping.sender, scope, SENDER_CHARACTERS_MAX),
        reference=_short(mapping.reference, scope, REFERENCE_CHARACTERS_MAX),
        locale=_locale(mapping.locale, scope),
        once=_short(mapping.once, scope, VALUE_CHARACTERS_MAX),
    )


def _to(mapping: HookMapping, source: HookSource, scope: _Scope) -> str:
    number = _line(_value(source, scope) or "")
    if mapping.each is not None:
        # One wrong number must not stop the list: who reads it as a number refuses it alone.
        return number[:NUMBER_CHARACTERS_MAX]
    if not number:
        raise _missing(source)
    if not _NUMBER.fullmatch(number) or not any(each.isdigit() for each in number):
        sentence = f"`{source.written}` must be one phone number."
        raise _Unread("invalid_number", sentence)
    return number


def _code(source: HookSource, scope: _Scope) -> str | None:
    code = _line(_value(source, scope) or "")
    if code and not _CODE.fullmatch(code):
        sentence = (
            f"`{source.written}` must be a code of at most {CODE_CHARACTERS_MAX} characters, "
            f"without spaces."
        )
        raise _Unread("invalid_code", sentence)
    return code or None


def _text(mapping: HookMapping, scope: _Scope) -> str | None:
    if not mapping.text:
        return None
    lines = [_filled(line, scope, mapping.is_template) for line in mapping.text]
    text = "\n".join(line for line in lines if line).strip()
    if mapping.is_cut:
        is_long = len(text) > ALERT_CHARACTERS_MAX
        return (text[: ALERT_CHARACTERS_MAX - 1] + _CUT if is_long else text) or None
    if len(text) > TEXT_CHARACTERS_MAX:
        sentence = f"The text can have at most {TEXT_CHARACTERS_MAX} characters."
        raise _Unread("text_too_long", sentence)
    return text or None


def _filled(line: Line, scope: _Scope, is_template: bool) -> str:
    """One line of a template; empty if it has sources, and none of them is there."""
    values = [piece if isinstance(piece, str) else _value(piece, scope) or "" for piece in line]
    literal = sum(len(piece) for piece in line if isinstance(piece, str))
    scope.steps.take(1 + literal // STEP_CHARACTERS)
    pairs = zip(line, values, strict=True)
    if all(isinstance(piece, str) or not value for piece, value in pairs) and not all(
        isinstance(piece, str) for piece in line
    ):
        return ""
    text = _CONTROLS.sub("", _LINE_END.sub("\n", "".join(values)).replace("\t", " "))
    if not is_template:
        return text
    scope.steps.take(text.count("\n"))
    lines = (_GAPS.sub(" ", each).strip() for each in text.split("\n"))
    return "\n".join(each for each in lines if each)


def _line(word: str) -> str:
    """A value as one line."""
    return _CONTROLS.sub("", _GAPS.sub(" ", word.replace("\n", " "))).strip()


def _locale(source: HookSource | None, scope: _Scope) -> str | None:
    value = _short(source, scope, VALUE_CHARACTERS_MAX) or ""
    language = _LANGUAGE_END.split(value, maxsplit=1)[0].lower()
    return language if _is_language(language) else None


def _short(source: HookSource | None, scope: _Scope, characters: int) -> str | None:
    """A word on one line; None if there is none."""
    if source is None:
        return None
    word = _line(_value(source, scope) or "")
    if len(word) > characters:
        sentence = f"`{source.written}` can have at most {characters} characters."
        raise _Unread("too_long", sentence)
    return word or None


def _value(source: HookSource, scope: _Scope) -> str | None:
    """What a source names first; None if there is nothing."""
    for choice in source.choices:
        value = _looked_up(choice, scope, source)
        if value:
            scope.steps.take(1 + len(value) // STEP_CHARACTERS)
            return value
    return None


def _looked_up(choice: SourceChoice, scope: _Scope, source: HookSource) -> str | None:
    """What one alternative names, cut where it is longer than a value may be."""
    if choice.kind == "word":
        return choice.parts[0]
    if choice.kind == "field" and choice.parts[0] in scope.fields:
        return scope.fields[choice.parts[0]][: VALUE_CHARACTERS_MAX + 1]
    # Header and body are the same for all messages.
    places = scope.values if choice.kind in ("pointer", "field") else (scope.body,)
    for value in places:
        key = (choice, source.is_count, id(value))
        scope.steps.take()
        if key not in scope.known:
            words = _words_at(choice, value, scope, source)
            scope.known[key] = None if words is None else words[: VALUE_CHARACTERS_MAX + 1]
        if known_value := scope.known[key]:
            return known_value
    return None


def _words_at(choice: SourceChoice, value: object, scope: _Scope, source: HookSource) -> str | None:
    """What one alternative names in one value; None if nothing is there."""
    if choice.kind == "header":
        return _unicode(scope.headers.get(choice.parts[0], ""))
    if choice.kind == "body":
        return _unicode(scope.body.decode("latin-1"))
    walked = (values[0] for values in _walked(choice.parts, (value,), scope.steps))
    if source.is_count:
        all_values = [*walked]
        first = all_values[0] if all_values else None
        return (
            str(len(first) if isinstance(first, list) else len(all_values)) if all_values else None
        )
    words = [_word(each, source) for each in islice(walked, ITEMS_MAX)]
    return ", ".join(word for word in words if word) or None


def _word(value: object, source: HookSource) -> str:
    """A value as text: empty for null."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value[: VALUE_CHARACTERS_MAX + 1]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    sentence = f"`{source.written}` must be a text or a number."
    raise _Unread("not_text", sentence)


def _sources(mapping: HookMapping) -> Iterator[HookSource]:
    for line in mapping.text:
        for piece in line:
            if not isinstance(piece, str):
                yield piece


def _missing(*sources: HookSource) -> _Unread:
    names = " or ".join(f"`{each.written}`" for each in sources[:3])
    return _Unread("missing_field", f"{names} is missing or empty.")


def _written(pointer: tuple[str, ...] | None) -> str:
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in pointer or ())
