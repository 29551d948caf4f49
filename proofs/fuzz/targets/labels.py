"""What comes in under a label, and what people type: judged, normalised, read as numbers."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from proofs.fuzz.target import FuzzTarget, Script, is_unicode, refusal_of, text_of, work_within
from risala.engine.rules.keywords import LOOKED_AT_MAX, keyword_of, only_word
from risala.sms.evident import InboundCoding, TextForm, judge_header, judge_octets, mms_notice
from risala.sms.numbering.plan import NumberingPlan, plan_of
from risala.sms.numbering.written import CHARACTERS_MAX, UnreadNumber
from risala.sms.typed import Purpose, typed, typed_code

_FORMS: Final = tuple(
    each for each in TextForm if each not in (TextForm.PACKED, TextForm.PLAIN)
)  # those two are read by who knows how many septets there are

_COUNTRIES: Final = ("MR", "DE", "FI", "ID", "AT")
_PLANS: Final = tuple(plan_of((each,)) for each in _COUNTRIES)
# What is made at the first use is not counted.
for _plan in _PLANS:
    for _text in ("0171 123456-7 / 4.9170123456,00", "+4917012345"):
        _plan.abroad(_text)
        refusal_of(partial(_plan.read, _text), UnreadNumber)
judge_octets("O`你好".encode("utf-16-be"), TextForm.UCS2)


def _labels(octets: bytes) -> None:
    """A text is read in a form that it may have, the same each time, as forced where it is forced,
    and in bounded work; a header lies within the octets."""
    script = Script(octets)
    declared, is_part, is_flagged = script.of(_FORMS), script.flag(), script.flag()
    rest = script.rest()
    with work_within(4000 + 30 * len(rest)):
        judged = judge_octets(rest, declared, is_part=is_part)
    assert judged == judge_octets(rest, declared, is_part=is_part)
    assert len(judged.text) <= len(rest)
    assert is_part or is_unicode(judged.text)
    if not rest or judged.is_as_declared:
        assert judged == judge_octets(
            rest, declared, coding=InboundCoding.DECLARED, is_part=is_part
        )
    forced = judge_octets(rest, declared, coding=InboundCoding.UCS2, is_part=is_part)
    assert forced.believed is TextForm.UCS2
    header, is_as_declared = judge_header(rest, is_declared=is_flagged)
    if header is not None:
        assert 1 <= header.length <= len(rest)
    elif not is_flagged:
        assert is_as_declared
    notice = mms_notice(rest, "+22236123456")
    assert notice is None or is_unicode(notice)


def _typed(octets: bytes) -> None:
    """What is typed has one form: to read it again changes nothing, and a keyword or code of it is
    that of its form."""
    text = text_of(octets)
    for purpose in Purpose:
        with work_within(2000 + 25 * len(text)):
            once = typed(text, purpose)
        assert typed(once, purpose) == once, purpose
    code = typed_code(text)
    assert typed_code(code) == code
    assert not re.search(r"\s", code)
    if len(keyword := keyword_of(text)) <= LOOKED_AT_MAX:  # one sign may become several letters
        assert keyword_of(keyword) == keyword
    word = only_word(text)
    assert not word or only_word(word) == word


def _written(octets: bytes) -> None:
    """A number that is read has the digits that were written, in their order: those of a country
    before them at most, and a zero at home away."""
    script = Script(octets)
    plan = script.of(_PLANS)
    text = text_of(script.rest())
    with work_within(15000 + 100 * min(len(text), CHARACTERS_MAX)):
        found = refusal_of(lambda: plan.read(text), UnreadNumber)
    if isinstance(found, Exception):
        return
    assert found == plan.read(found)
    assert _ends_alike(found, text, plan)


def _ends_alike(found: str, text: str, plan: NumberingPlan) -> bool:
    """Whether the digits of a number end a text, but for zeros of decimals and a power of ten."""
    digits = re.sub(r"\D", "", typed(text, Purpose.NUMBER))
    national = found.removeprefix(f"+{plan.home.calling_code}").removeprefix("+")
    if re.search(r"[eE]", typed(text, Purpose.NUMBER)):
        return digits[:6] in found or digits[:6].lstrip("0") in found
    return national in digits


TARGETS: Final = (
    FuzzTarget(
        "labels",
        "read in a form that it may have, the same each time, in bounded work; a header lies within"
        " the octets",
        _labels,
        lambda: (
            b"\0\0\0Salam",
            b"\4\0\0" + "السلام".encode("utf-16-be"),
            b"\4\0\0id:12 sub:001 dlvrd:001 stat:DELIVRD err:000",
            b"\0\0\0" + "été à la clinique".encode(),
            b"\4\0\1\x05\x00\x03\x07\x02\x01" + "你好".encode("utf-16-be"),
            b"\0\0\1\x06\x05\x04\x0b\x84\x23\xf0\x01\x06\x22application/vnd.wap.mms-message\0",
            b"\4\0\0" + "\ufeffSalam".encode("utf-16-le"),
        ),
        octets_max=600,
        words=(b"\xff\xfe", b"\xfe\xff", b"\0", b"stat:", "é".encode(), b"\x1b"),
    ),
    FuzzTarget(
        "typed-texts",
        "what is typed has one form, and to read it again changes nothing",
        _typed,
        lambda: (
            "« STOP \u200f🛑, merci »".encode(),
            "１２３-456.".encode(),
            "٤٨٢ ٩١٣".encode(),
            "Société l’Été\u00a0».".encode(),
            "\u3164\u2800\ufeffa\u200db".encode(),
        ),
        octets_max=300,
        words=("\u200f".encode(), "’".encode(), "\u0301".encode(), "ﬁ".encode(), "٢".encode()),
    ),
    FuzzTarget(
        "written-numbers",
        "a number that is read has the digits that were written, in their order",
        _written,
        lambda: (
            b"\x00+222 36-12.34(01)",
            b"\x01491701234567.0",
            b"\x014.91701234567E+11",
            b"\x010171 1234567 / 0171 7654321",
            b"\x02+358 50 123 456 ext 5",
        ),
        octets_max=100,
        words=(b"+222", b".0", b",00", b"E+11", b" / ", b"ext ", "\u00a0".encode()),
    ),
)
