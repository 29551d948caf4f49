"""Removes message texts from drivers' answers, before they are stored, shown or published. Pure.

A driver should never repeat a message's text. If one does, no code may get into the database
(contract §4), and no text into an event.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from risala.sms.evident import read_label
from risala.sms.message import Segment
from risala.sms.outcome import Accepted, Outcome
from risala.sms.receipt import Receipt

RAW_CHARACTERS_MAX: Final = 120
"""Characters kept of a carrier's code: real ones have under 60."""
_CODE: Final = re.compile(r"[0-9]{4,8}")
"""Finds what may be a one-time code: 4 to 8 digits (specification §2.6)."""
_SHORT_CHARACTERS: Final = 4
"""A message's text with fewer characters is not searched for: it may be in any code by chance."""
_OF_THE_TEXT: Final = re.compile(r"(?i)\btext\s*:.*", re.DOTALL)
"""Finds the end of a receipt's text from ``text:`` on, which has the beginning of the message (SMPP
3.4 appendix B)."""


def discreet(outcome: Outcome, segment: Segment, *, is_code: bool) -> Outcome:
    """The outcome of submitting this segment, without the segment's text. For a code only ``raw``
    is left, and only if it has no digits that may be the code."""
    raw = _without(outcome.raw, segment.text, is_code=is_code)
    if isinstance(outcome, Accepted):
        return outcome if raw == outcome.raw else replace(outcome, raw=raw)
    text = "" if is_code else _without(outcome.text, segment.text, is_code=False)
    if raw == outcome.raw and text == outcome.text:
        return outcome
    return replace(outcome, raw=raw, text=text)


def discreet_receipt(receipt: Receipt) -> Receipt:
    """A receipt without the beginning of the message, which some carriers repeat in it."""
    if receipt.label is not None and read_label(receipt.label) is None:
        receipt = replace(receipt, label=None)
    if len(receipt.raw) <= RAW_CHARACTERS_MAX and ":" not in receipt.raw:
        return receipt
    raw = receipt.raw
    if "text" in raw.lower():  # this check takes a tenth of the time of a search
        raw = _OF_THE_TEXT.sub("", raw)
    raw = raw.rstrip()[:RAW_CHARACTERS_MAX]
    return receipt if raw == receipt.raw else replace(receipt, raw=raw)


def _without(words: str, text: str, *, is_code: bool) -> str:
    """``words``, or an empty text if that repeats the message's text or a code in it."""
    if not words:
        return words
    if len(text) >= _SHORT_CHARACTERS and text in words:
        return ""
    if is_code and any(code in words for code in _CODE.findall(text)):
        return ""
    return words[:RAW_CHARACTERS_MAX] if is_code else words
