"""Requests to hooks: what a mapping and a body of 64 KiB multiply to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from proofs.budgets.budget import Budget
from risala.engine.features.hooks.rules.answers import (
    HookAnswerShape,
    HookOutcome,
    HookResult,
    answer_of,
)
from risala.engine.features.hooks.rules.mapping import mapping_of
from risala.engine.features.hooks.rules.presets import custom_preset, preset, presets
from risala.engine.features.hooks.rules.reading import HOOK_MESSAGES_MAX, read
from risala.engine.features.hooks.rules.requests import (
    HookMessage,
    HookProof,
    HookRequest,
    HookSecrets,
    known_of,
    proof_fault,
)

BODY_BYTES: Final = 65_536
"""The default of ``http.body_max_bytes``."""
TEMPLATE: Final = "{{%s}}"
ITEMS: Final = 12_900
HOLES: Final = 50
_READ: Final = "engine/features/hooks/rules/reading.py:read"
_EACH: Final = b'{"m":[' + b",".join([b"[]"] * HOOK_MESSAGES_MAX) + b'],"x":'


def request(body: bytes, *, content_type: str = "application/json", query: str = "") -> HookRequest:
    """A request with such a body."""
    return HookRequest("POST", query, {}, body[:BODY_BYTES], content_type, None, 0)


def holes(source: str) -> str:
    """The longest template of this source."""
    return TEMPLATE % source * (480 // len(TEMPLATE % source))


def many(item: bytes, begin: bytes, end: bytes) -> bytes:
    """As many items as a body has room for."""
    room = BODY_BYTES - len(begin) - len(end)
    return begin + b",".join([item] * (room // (len(item) + 1))) + end


def _reading(table: Mapping[str, object], body: bytes, content_type: str) -> Callable[[], object]:
    mapping = mapping_of(table, is_cut="to" not in table)
    return partial(read, mapping, request(body, content_type=content_type))


def _read(given: str, table: Mapping[str, object], body: bytes, kind: str = "json") -> Budget:
    return Budget(_READ, given, partial(_reading, table, body, f"application/{kind}"))


def _preset(name: str) -> Budget:
    """A preset, with a body that is as many empty items as there is room for at its first list."""

    def made() -> Callable[[], object]:
        found = preset(name)
        assert found is not None
        assert found.mapping is not None
        choices = [
            choice
            for line in found.mapping.text
            for piece in line
            if not isinstance(piece, str)
            for choice in piece.choices
        ]
        lists = [each.parts for each in choices if "*" in each.parts]
        parts = found.mapping.each or (lists[0] if lists else ("x",))
        begin, end = b"", b""
        for part in parts:
            if part == "*":
                break
            begin, end = begin + b"{" + json.dumps(part).encode() + b":", b"}" + end
        return partial(read, found.mapping, request(many(b"{}", begin + b"[", b"]" + end)))

    return Budget(_READ, f"preset {name}, a list of empty items", made)


def _answers() -> Callable[[], object]:
    message = HookMessage("+22236123456", "x" * 1600, None, reference="r" * 200)
    results = [HookResult(HookOutcome.ACCEPTED, message=message)] * HOOK_MESSAGES_MAX
    body = request(many(b"{}", b'{"id":1,"x":[', b"]}"))
    return partial(answer_of, HookAnswerShape.ODOO, body, results)


def _proof() -> Callable[[], object]:
    known = known_of(HookProof.STANDARD_WEBHOOKS, "whsec_" + "QUFB" * 16)
    assert known is not None
    signatures = " ".join(["v1," + "A" * 43 + "="] * 180)
    headers = {"webhook-id": "x", "webhook-timestamp": "0", "webhook-signature": signatures}
    asked = HookRequest("POST", "", headers, b"x" * BODY_BYTES, "", None, 0)
    return partial(proof_fault, HookProof.STANDARD_WEBHOOKS, HookSecrets(known, known), asked)


_TABLE: Final = {"to": "to", "text": holes("/a|/b|/c")}
_LONG_TABLE: Final = json.dumps({"mapping": _TABLE, "x": "y" * 3000})

BUDGETS: Final[tuple[Budget, ...]] = (
    _read(
        f"{HOLES} holes, {ITEMS} items",
        {"text": TEMPLATE % "/x/*" * HOLES, "reads": "json"},
        many(b"null", b'{"x":[', b"]}"),
    ),
    _read(
        f"{HOOK_MESSAGES_MAX} messages, {HOLES} holes, one list for all of them",
        {"each": "/m", "to": "=1", "text": holes("/x/*/a"), "reads": "json"},
        many(b"[]", _EACH + b"[", b"]}"),
    ),
    _read(
        "a value of spaces in each hole of each message",
        {"each": "/m", "to": "=1", "text": holes("/x"), "reads": "json"},
        _EACH + b'"' + b"a " * 1000 + b'"}',
    ),
    _read(
        "a value of line ends in each hole",
        {"text": holes("/x"), "reads": "json"},
        b'{"x":"' + b"a\\r \\u2028" * 180 + b'"}',
    ),
    _read(
        "the whole body in each hole",
        {"each": "/m", "to": "=1", "text": holes("body:"), "reads": "json"},
        _EACH + b'"' + "é".encode() * 32_000 + b'"}',
    ),
    _read(
        "lists in lists, to the depth of a pointer",
        {"text": holes("/" + "/".join("*" * 16)), "reads": "json"},
        many(b"[]", b"[" * 15, b"]" * 15),
    ),
    _read(
        "the longest numbers",
        {"text": holes("/*"), "reads": "json"},
        many(b"9" * 4300, b"[", b"]"),
    ),
    _read(
        "a number that is a list, for each message",
        {"each": "/m", "to": "/x/*", "text": "=a", "reads": "json"},
        many(b'""', _EACH + b"[", b"]}"),
    ),
    _read("a list of lengths", {"text": holes("count:/*/a|/*/b")}, many(b"{}", b"[", b"]")),
    _read(
        "a form of escapes",
        {"text": "text"},
        b"text=" + b"%C3%A9" * 10_900,
        "x-www-form-urlencoded",
    ),
    *(_preset(each.name) for each in presets() if each.mapping is not None),
    Budget(
        "engine/features/hooks/rules/answers.py:answer_of",
        "100 messages, the longest body",
        _answers,
    ),
    Budget(
        "engine/features/hooks/rules/requests.py:proof_fault",
        "180 signatures, the longest body",
        _proof,
    ),
    Budget(
        "engine/features/hooks/rules/requests.py:known_of",
        "256 characters",
        lambda: partial(known_of, HookProof.PATH, "x" * 256),
    ),
    Budget(
        "engine/features/hooks/rules/mapping.py:mapping_of",
        "the longest template",
        lambda: partial(mapping_of, _TABLE),
    ),
    Budget(
        "engine/features/hooks/rules/presets.py:custom_preset",
        "the longest table",
        lambda: partial(custom_preset, _LONG_TABLE),
    ),
    Budget(
        "engine/features/hooks/rules/presets.py:custom_preset",
        "the deepest table",
        lambda: partial(custom_preset, "[" * 4096),
    ),
)
