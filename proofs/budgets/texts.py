"""Texts, templates, names and addresses: the longest that may come."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from proofs.budgets.budget import Budget
from risala.drivers.payments import patterns
from risala.drivers.payments.mobile_money import PATTERNS_MAX, READ_CHARACTERS_MAX
from risala.drivers.policies import plugin as words
from risala.engine.features.request_log import rules as request_bodies
from risala.engine.features.session_details import rules as named_templates
from risala.engine.features.tables.rules import rendering
from risala.engine.model.records.inbound import Received
from risala.engine.model.records.webhooks import SHAPE_TEMPLATE_MAX
from risala.engine.rules import keyring, keywords, likeness, references, template, verify_settings
from risala.engine.rules.people import emails, names
from risala.engine.rules.webhooks import kannel_words, schedule, shapes, signatures, url
from risala.sms import alphabet, evident, segment, typed, unseen
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.numbering import written
from risala.sms.numbering.plan import EXAMPLE, plan_of

INBOUND_CHARACTERS: Final = 255 * 153
"""A received message of as many parts as a header can number."""
FORM_CHARACTERS: Final = 65_536
"""A field of a form: as long as a body."""
URL_CHARACTERS: Final = 2048
PAYLOAD_OCTETS: Final = 65_535
"""The field ``message_payload`` of SMPP."""
WIDE: Final = "\ufdfa"
"""Eighteen letters in its compatibility form: the most of all characters."""
FLAG: Final = "\U0001f1e6"
FILLED: Final = template.CODE + "\U0001f600" * (94 * 60)
"""A text of a code, with as many places for a variable as it has room for, each filled in."""
_RECEIVED: Final = Received(
    "sms_1", "org_1", "mattel", EXAMPLE, "1234", "é " * (INBOUND_CHARACTERS // 2), 0
)
_WORDS_MAX: Final = 1000
"""As of the settings of the policy ``words``."""


def _budget(place: str, given: str, call: Callable[..., object], *what: object) -> Budget:
    return Budget(place, given, lambda: partial(call, *what))


def _text(place: str, call: Callable[..., object], *what: object) -> Budget:
    return _budget(place, "the longest text", call, *what)


def _faults(shape: str, written: str) -> Callable[[], object]:
    return lambda: [*shapes.shape_faults(shape, written, "https://example.com/")]


def _policy() -> Callable[[], object]:
    known = [f"w{number}" + "é" * 90 for number in range(_WORDS_MAX)]
    settings = words.WordsSettings(refuse=tuple(known), replace=dict.fromkeys(known, "x"))
    found = words.WordsPolicy("words", settings)
    return partial(found._judged, ("w1é w2 " * TEXT_CHARACTERS_MAX)[:TEXT_CHARACTERS_MAX])


def _patterns() -> Callable[[], object]:
    """The patterns of a bank, each of as many ways as one may have, over a text that fits none."""
    known = [patterns.parse_pattern(".* {reference} .* {amount} .* X") for _ in range(PATTERNS_MAX)]
    text = ("a1 " * patterns.TEXT_CHARACTERS_MAX)[: patterns.TEXT_CHARACTERS_MAX]
    return lambda: [each.read(text) for each in known]


def _refused(call: Callable[..., object], *given: object) -> None:
    with suppress(ValueError):
        call(*given)


def as_sent(text: str) -> str:
    """As the function of this name, where everything is replaced."""
    return unseen.as_sent(text, smart=True)


def keyword(text: str) -> str:
    """:func:`typed.typed`, as words are compared."""
    return typed.typed(text, typed.Purpose.KEYWORD)


def read_written(text: str) -> object:
    """A number in the plan of three countries."""
    with suppress(ValueError):
        return plan_of(("MR", "FR", "US")).read(text)


def _pieces(count: int) -> dict[int, segment.PartText]:
    text = "é" * 153
    return {number: segment.PartText(text, "", "") for number in range(1, count + 1)}


_NAMES: Final = {keyword: "typed"}
_SHAPES: Final = "engine/rules/webhooks/shapes.py:"
_SEGMENT: Final = "sms/segment.py:"
_ALPHABET: Final = "sms/alphabet.py:"
_RENDERING: Final = "engine/features/tables/rules/rendering.py:"
_PLACES: Final = tuple(f"{number} {'x' * 90}" for number in range(100))

BUDGETS: Final[tuple[Budget, ...]] = (
    *(
        Budget(_SHAPES + "shape_faults", given, partial(_faults, shape, written))
        for shape, given, written in (
            ("form", "an open placeholder of spaces", "{{" + " " * (SHAPE_TEMPLATE_MAX - 2)),
            ("form", "open placeholders", "{{ " * (SHAPE_TEMPLATE_MAX // 3)),
            ("json", "lists in lists", "[" * SHAPE_TEMPLATE_MAX),
        )
    ),
    *(
        _budget(
            _SHAPES + "shaped",
            f"{shape}, the longest message in 20 fields",
            shapes.shaped,
            shape,
            written,
            "https://example.com/",
            _RECEIVED,
        )
        for shape, written in (
            ("form", "\n".join(["a={{text}}"] * shapes.FIELDS_MAX)),
            ("json", json.dumps(["{{text}}"] * shapes.FIELDS_MAX)),
        )
    ),
    _budget(
        _SHAPES + "received_of",
        "the longest message",
        shapes.received_of,
        json.dumps(
            {
                "type": "sms.received",
                "organizationId": "o",
                "from": EXAMPLE,
                "to": None,
                "messageId": "m",
                "text": WIDE * INBOUND_CHARACTERS,
            }
        ),
        None,
        0,
    ),
    *(
        _budget(
            "engine/rules/webhooks/kannel_words.py:filled",
            f"the longest message, {word}",
            kannel_words.filled,
            f"a={word}&" * kannel_words.WORDS_MAX,
            _RECEIVED,
        )
        for word in ("%b", "%a", "%k", "%s", "%r")
    ),
    _budget(
        "engine/rules/webhooks/kannel_words.py:fault",
        "the longest URL",
        kannel_words.fault,
        "https://example.com/?" + "%b" * (URL_CHARACTERS // 2),
    ),
    _budget(
        "engine/rules/webhooks/url.py:parse_target",
        "the longest URL",
        _refused,
        url.parse_target,
        "https://" + "a." * (URL_CHARACTERS // 2),
        url.AddressRules(),
    ),
    _budget(
        "engine/rules/webhooks/schedule.py:retry_after_s",
        "the longest header",
        schedule.retry_after_s,
        "9" * FORM_CHARACTERS,
        0,
    ),
    _budget(
        "engine/rules/webhooks/signatures.py:signed",
        "the longest event",
        signatures.signed,
        "evt_1",
        "x" * INBOUND_CHARACTERS,
        ("whsec_" + "QUFB" * 8,),
        0,
    ),
    _text(
        "engine/rules/template.py:template_fault",
        template.template_fault,
        template.CODE + "{{" * 236,
    ),
    _text("engine/rules/template.py:freeze", template.freeze, template.EXPIRY * 26, 10, "x", "y"),
    _text("engine/rules/template.py:render", template.render, template.CODE * 60, "12345678"),
    *(
        _text(f"engine/{path}.py:{call.__name__}", call, hole * (480 // len(hole)))
        for path, call in (
            ("rules/template", template.variables_of),
            ("features/session_details/rules", named_templates.names_payment),
        )
        for hole in ("{{a}}", "{{", "{{" + "a" * 41)
    ),
    _budget(
        "engine/features/session_details/rules.py:named_template_fault",
        "the longest field",
        named_templates.named_template_fault,
        "{{" + "a" * FORM_CHARACTERS,
    ),
    _text(
        "engine/features/session_details/rules.py:named_template_fault",
        named_templates.named_template_fault,
        template.CODE + "{{a}}" * 94,
    ),
    *(
        _text(f"engine/rules/verify_settings.py:{call.__name__}", call, FILLED, 8)
        for call in (verify_settings.filled, verify_settings.size_of)
    ),
    _budget(
        "engine/rules/keyring.py:is_code",
        "the longest field",
        keyring.is_code,
        WIDE * FORM_CHARACTERS,
        "12345678",
    ),
    _budget(
        "engine/rules/template.py:is_origin",
        "the longest field",
        template.is_origin,
        "a-" * (FORM_CHARACTERS // 2),
    ),
    _budget(
        "engine/rules/keywords.py:keyword_of",
        "the longest message",
        keywords.keyword_of,
        WIDE * INBOUND_CHARACTERS,
    ),
    _budget(
        "engine/rules/likeness.py:resembles",
        "the longest names",
        likeness.resembles,
        WIDE * 11,
        WIDE * 11,
    ),
    _budget(
        "engine/rules/people/emails.py:normalised",
        "the longest field",
        emails.normalised,
        "a@" + "é" * FORM_CHARACTERS,
    ),
    _budget(
        "engine/rules/people/names.py:name_fault",
        "the longest field",
        names.name_fault,
        WIDE * FORM_CHARACTERS,
    ),
    _budget(
        "engine/rules/references.py:comparable",
        "the longest field",
        references.comparable,
        WIDE * FORM_CHARACTERS,
    ),
    *(
        _text(_RENDERING + name, call, *what)
        for name, call, what in (
            ("placeholders", rendering.placeholders, ("{{a}}" * 320,)),
            ("unknown_placeholders", rendering.unknown_placeholders, ("{{a}}" * 320, _PLACES)),
            ("text_pieces", rendering.text_pieces.__wrapped__, ("{{a}}" * 320, _PLACES)),
        )
    ),
    *(
        _text(_SEGMENT + call.__name__, call, text * (TEXT_CHARACTERS_MAX // len(text)))
        for call in (segment.count, segment.split, segment.cut)
        for text in (FLAG, "e\u0301", "\u200d", "😀", "€")
    ),
    *(
        _budget(
            "sms/evident.py:judge_octets",
            f"the longest payload, {given}, declared {declared}",
            evident.judge_octets,
            (octets * PAYLOAD_OCTETS)[:PAYLOAD_OCTETS],
            declared,
        )
        for given, octets in (
            ("Latin-1", b"\xff"),
            ("UTF-8", "é ".encode()),
            ("Han", "你好".encode("utf-16-be")),
            ("halves of pairs", b"\xd8\x00"),
            ("escapes", b"\x1be"),
        )
        for declared in (evident.TextForm.GSM7, evident.TextForm.UCS2)
    ),
    _budget("sms/segment.py:text_of_parts", "255 parts", segment.text_of_parts, _pieces(255), 255),
    _text(_ALPHABET + "smart_encode", alphabet.smart_encode, "“" * TEXT_CHARACTERS_MAX),
    *(
        _text(
            f"{place}:{_NAMES.get(call, call.__name__)}",
            call,
            text * (TEXT_CHARACTERS_MAX // len(text)),
        )
        for place, call in (
            ("sms/unseen.py", unseen.has_unseen),
            ("sms/unseen.py", unseen.without_unseen),
            ("sms/unseen.py", unseen.with_needed),
            ("sms/unseen.py", unseen.cheapest),
            ("sms/unseen.py", as_sent),
            ("sms/unseen.py", unseen.as_value),
            ("sms/typed.py", keyword),
            ("sms/typed.py", typed.typed_code),
            ("sms/alphabet.py", alphabet.with_plain_signs),
            ("sms/numbering/written.py", read_written),
            ("sms/numbering/written.py", written.entries),
            ("engine/rules/keywords.py", keywords.only_word),
            ("engine/rules/keywords.py", keywords.said),
            ("engine/rules/keywords.py", keywords.keyword_ways),
            ("engine/rules/keywords.py", keywords.words_of),
            ("engine/rules/people/emails.py", emails.typed_address),
        )
        for text in (WIDE, "\u200b", "\u200d\u0628", "\u202e\u2066a", "1 ", "1.", "+1", " ", "hi ")
    ),
    Budget("drivers/policies/plugin.py:folded", "1,000 words to refuse and to replace", _policy),
    _text("drivers/payments/patterns.py:plain", patterns.plain, WIDE * READ_CHARACTERS_MAX),
    Budget(
        "drivers/payments/patterns.py:parse_pattern", "a bank's patterns, a long text", _patterns
    ),
    _budget(
        "engine/features/request_log/rules.py:asked_text",
        "the longest body that is noted",
        request_bodies.asked_text,
        b"[" + b'{"to":"+22236123456"},' * 370 + b"{}]",
    ),
)
