"""A received message in the shape in which another program takes it. Pure.

An endpoint with another shape than ``event`` gets received messages as a form, a query or JSON.
Templates write the fields, with placeholders such as ``{{from}}`` for what differs from message to
message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote_plus

from risala.dataclass import dataclass
from risala.engine.model.errors import FieldFault
from risala.engine.model.events import EventType
from risala.engine.model.records.inbound import Received
from risala.engine.model.records.webhooks import SHAPE_TEMPLATE_MAX, SHAPES
from risala.engine.model.times import iso, maybe_iso, moment
from risala.engine.rules.webhooks import kannel_words
from risala.sms.numbering.plan import EXAMPLE

FIELDS_MAX: Final = 20
"""Fields of a form or query, and placeholders of a template: each may stand for a long text."""
DEPTH_MAX: Final = 20
"""Levels of a JSON template: it is filled by a function that calls itself."""
USUAL: Final = "id={{id}}\nfrom={{from}}\nto={{to}}\ntext={{text}}\nreceivedAt={{receivedAt}}"
"""The template of a form or query that has none of its own."""
RAPIDPRO: Final = "id={{id}}\nts={{timestamp}}\nmessage={{text}}\nsender={{from}}\nto={{to}}"
"""What the address of a RapidPro channel of the type Kannel takes (nyaruka/courier,
``handlers/kannel``); it needs ``id``, ``ts`` and ``sender``."""
PLACEHOLDERS: Final = (
    *("id", "from", "to", "text", "receivedAt", "sentAt", "timestamp", "organization", "carrier"),
)
KNOWN: Final = ", ".join(f"{{{{{name}}}}}" for name in PLACEHOLDERS)
"""The placeholders as they are written."""
TEMPLATED: Final = ("form", "get", "json")
"""The shapes that a template describes."""
FIELD_EXAMPLE: Final = "sender={{from}}"
JSON_EXAMPLE: Final = '{"from": "{{from}}", "text": "{{text}}"}'
_FORM: Final = "application/x-www-form-urlencoded"
_PLACEHOLDER: Final = re.compile(r"\{\{([^{}]*)\}\}")
"""The spaces in it are taken away afterwards: an expression for them looks at a row of spaces in
every way there is."""
_to_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)

Values = Mapping[str, str | int | None]
"""What placeholders stand for in one message; None: unknown."""


@dataclass(frozen=True, slots=True)
class ShapedRequest:
    """The request that gives one message to a receiver."""

    method: str
    url: str
    query: str
    """To be added to that of the URL."""
    content_type: str | None
    body: str

    def __repr__(self) -> str:
        return f"ShapedRequest({self.method})"


def shaped(shape: str, template: str, url: str, received: Received) -> ShapedRequest:
    """The request for a message, by a shape that has no fault."""
    if shape == "kannel":
        address, _, pattern = url.partition("?")
        query = kannel_words.filled(pattern, received)
        return ShapedRequest("GET", address, query, None, "")
    values = _values_of(received)
    if shape == "json":
        body = _to_json.encode(_filled(json.loads(template), values))
        return ShapedRequest("POST", url, "", "application/json", body)
    fields = _fields_of(RAPIDPRO if shape == "rapidpro" else template or USUAL)
    # Each value is escaped once: a long one may stand in every field.
    escaped = {
        name: quote_plus("" if value is None else str(value)) for name, value in values.items()
    }
    form = "&".join(f"{quote_plus(name)}={_escaped(value, escaped)}" for name, value in fields)
    if shape == "get":
        return ShapedRequest("GET", url, form, None, "")
    return ShapedRequest("POST", url, "", _FORM, form)


def received_of(body: str, carrier: str | None, received_at: int) -> Received:
    """The message of an event's body. A test event has none: it becomes a message from the example
    number with the text ``Test``.

    Args:
        carrier: the one that brought the message; None: no longer known.
    """
    event = json.loads(body)
    whose = event["organizationId"]
    if event["type"] != EventType.SMS_RECEIVED:
        return Received(event["id"], whose, carrier or "", EXAMPLE, None, "Test", received_at)
    who, sent_at = (event["from"], event["to"], event["text"]), event.get("sentAt")
    its_own = None if sent_at is None else moment(sent_at)
    return Received(event["messageId"], whose, carrier or "", *who, received_at, its_own)


def _values_of(received: Received) -> Values:
    return {
        "id": received.id,
        "from": received.sender,
        "to": received.recipient,
        "text": received.body,
        "receivedAt": iso(received.received_at),
        "sentAt": maybe_iso(received.sent_at),
        "timestamp": received.received_at // 1000,
        "organization": received.organization_id,
        "carrier": received.carrier or None,
    }


def _escaped(template: str, escaped: Mapping[str, str]) -> str:
    """A field's template with its values, for a form or query."""
    words = _PLACEHOLDER.split(template)
    return "".join(
        escaped[word.strip()] if place % 2 else quote_plus(word) for place, word in enumerate(words)
    )


def _text(template: str, values: Values) -> str:
    def value(match: re.Match[str]) -> str:
        known = values[match[1].strip()]
        return "" if known is None else str(known)

    return _PLACEHOLDER.sub(value, template)


def _filled(template: Any, values: Values, depth: int = 0) -> object:  # noqa: ANN401 -- any JSON
    """A JSON template with its values. A text that is a single placeholder becomes its value: a
    number, or null if it is unknown.

    Raises:
        ValueError: the template is too deep.
    """
    if depth > DEPTH_MAX:
        raise ValueError("too deep")
    if isinstance(template, dict):
        return {name: _filled(each, values, depth + 1) for name, each in template.items()}
    if isinstance(template, list):
        return [_filled(each, values, depth + 1) for each in template]
    if not isinstance(template, str):
        return template
    alone = _PLACEHOLDER.fullmatch(template)
    return values[alone[1].strip()] if alone else _text(template, values)


def _fields_of(template: str) -> Sequence[tuple[str, str]]:
    """The fields of a form or query: one a line, as ``name=value``."""
    pairs = []
    for line in template.splitlines():
        name, is_field, value = line.partition("=")
        if line.strip():
            pairs.append((name.strip() if is_field else "", value.strip()))
    return pairs


# -- what is wrong with a shape --------------------------------------------------------------------


def shape_faults(shape: str, template: str, url: str) -> Iterator[FieldFault]:
    """What is wrong with a shape, its template and its URL: at most one fault for each field."""
    if shape not in SHAPES:
        text = f"`shape` must be one of these: {', '.join(SHAPES)}."
        yield FieldFault("shape", "invalid", text)
        return
    if (wrong := _template_fault(shape, template)) is not None:
        yield FieldFault("template", *wrong)
    if shape == "kannel" and (fault := kannel_words.fault(url)) is not None:
        yield FieldFault("url", "invalid_words", fault)


def _template_fault(shape: str, template: str) -> tuple[str, str] | None:
    """The code and the sentence."""
    if shape not in TEMPLATED:
        text = "`template` goes with the shapes `form`, `get` and `json`."
        return ("needless_template", text) if template else None
    if len(template) > SHAPE_TEMPLATE_MAX:
        return "too_long", f"`template` can have at most {SHAPE_TEMPLATE_MAX} characters."
    names = [each.strip() for each in _PLACEHOLDER.findall(template)]
    if unknown := sorted({*names} - {*PLACEHOLDERS}):
        text = f"`template` can use {KNOWN}, but not {{{{{unknown[0][:50]}}}}}."
        return "invalid_placeholder", text
    if len(names) > FIELDS_MAX:
        return "invalid_placeholder", f"`template` can have at most {FIELDS_MAX} placeholders."
    if shape == "json":
        return None if _is_json(template) else ("invalid_json", _NO_JSON)
    return None if _has_fields(template) else ("invalid_fields", _NO_FIELDS)


_NO_JSON: Final = (
    "`template` must be JSON, an object or a list, with placeholders only inside texts:"
    f" {JSON_EXAMPLE}."
)
_NO_FIELDS: Final = (
    f"`template` has one field a line, at most {FIELDS_MAX}, each as name=value: {FIELD_EXAMPLE}."
)


def _is_json(template: str) -> bool:
    """Whether a template with known placeholders can be filled and written."""
    try:
        parsed = json.loads(template)
        _to_json.encode(_filled(parsed, dict.fromkeys(PLACEHOLDERS, ""))).encode()
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed, dict | list)


def _has_fields(template: str) -> bool:
    fields = _fields_of(template)
    return len(fields) <= FIELDS_MAX and all(name for name, _ in fields)
