"""What a person types or pastes, in the form in which it is read. Pure.

People write the same thing in many ways: with marks that nobody sees (:mod:`risala.sms.unseen`),
spaces that do not break, dashes and quotation marks of a word processor, digits of their own
script. What of it is meaningless depends on what the text is for: :data:`RULES` is the table.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Literal

from risala.dataclass import dataclass
from risala.sms.unseen import FILLERS, with_needed, without_unseen


class Purpose(StrEnum):
    """What a text is typed for."""

    NUMBER = "number"
    """A phone number, a card's number, a count."""
    CODE = "code"
    """A one-time code: digits."""
    KEYWORD = "keyword"
    """A word that an inbound message begins with, or is."""
    HEADING = "heading"
    """The name of a table's column, in a file and in a placeholder."""
    NAME = "name"
    """What a person calls something; kept and shown."""
    MONEY = "money"
    """An amount."""
    REFERENCE = "reference"
    """What names a payment at a bank."""
    ADDRESS = "address"
    """An e-mail address or a domain."""


@dataclass(frozen=True, slots=True)
class Normalisation:
    """What is done to a text of one purpose."""

    needed_marks: bool = False
    """Marks that its script needs stay; all others that nobody sees always go."""
    form: Literal["NFC", "NFKC", "NFKD"] | None = None
    """Unicode's normalisation; None: only full-width signs become those of ASCII. A form with K
    would make ``5²`` 52, and a footnote a digit of a number."""
    signs: bool = True
    """Each kind of dash becomes ``-``, of apostrophe ``'``, of quotation mark ``"``."""
    digits: bool = True
    """Digits of every script become 0 to 9."""
    spaces: Literal["one", "none"] = "one"
    """A run of spaces of any kind becomes one, outer ones go; or all go."""
    case: bool = True
    """Capitals stay."""
    accents: bool = True
    """Accents and vowel signs stay."""
    stroke: bool = True
    """The stroke that widens an Arabic word stays."""


RULES: Final[Mapping[Purpose, Normalisation]] = {
    Purpose.NUMBER: Normalisation(spaces="none"),
    Purpose.CODE: Normalisation(spaces="none"),
    Purpose.KEYWORD: Normalisation(form="NFKD", case=False, accents=False, stroke=False),
    Purpose.HEADING: Normalisation(form="NFKC", case=False, stroke=False),
    Purpose.NAME: Normalisation(needed_marks=True, form="NFC", digits=False, signs=False),
    Purpose.MONEY: Normalisation(spaces="none"),
    Purpose.REFERENCE: Normalisation(form="NFKC"),
    Purpose.ADDRESS: Normalisation(),
}

_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63"
_SINGLE: Final = "\u2018\u2019\u201a\u201b\u2032\u2035\u02bb\u02bc\u02b9\u00b4`"
_DOUBLE: Final = "\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\u301d\u301e\u301f"
_SIGNS: Final = str.maketrans(
    dict.fromkeys(_DASHES, "-") | dict.fromkeys(_SINGLE, "'") | dict.fromkeys(_DOUBLE, '"')
)
_FILLERS: Final = str.maketrans(dict.fromkeys(FILLERS, " "))
_FULL_WIDTH: Final = {ascii_ + 0xFEE0: ascii_ for ascii_ in range(0x21, 0x7F)}
_TATWEEL: Final = "\u0640"
_AROUND_CODE: Final = " \"'().,;:!?[]<>*_-…\u3002\u06d4\u060c\u061b\u061f\u0964\u3001"
"""What a person writes before or behind a code: a full stop of any script, quotation marks."""
_BETWEEN_DIGITS: Final = re.compile(r"(?<=[0-9])-+(?=[0-9])")


def typed(text: str, purpose: Purpose) -> str:
    """A text in the one form of its purpose (:data:`RULES`)."""
    rule = RULES[purpose]
    if not text.isascii():
        text = _plainer(text, rule)
    elif rule.signs:
        text = text.replace("`", "'")
    text = ("" if rule.spaces == "none" else " ").join(text.split())
    if not rule.case:
        text = text.casefold()
    return text


def typed_code(text: str) -> str:
    """A one-time code as it was sent: without what people write between and around its digits.

    A code of ``123456`` is also written ``123 456``, ``123-456``, ``«123456».`` and in the digits
    of any script. Letters stay: they make it another code.
    """
    return _BETWEEN_DIGITS.sub("", typed(text, Purpose.CODE).strip(_AROUND_CODE))


def _plainer(text: str, rule: Normalisation) -> str:
    text = text.translate(_FILLERS)
    text = with_needed(text) if rule.needed_marks else without_unseen(text)
    if rule.signs:  # before the normalisation, which takes some apart
        text = text.translate(_SIGNS)
    if rule.form is None:
        text = text.translate(_FULL_WIDTH)
    else:
        text = unicodedata.normalize(rule.form, text)
        text = text.translate(_SIGNS) if rule.signs else text  # of those that it took apart
    if not rule.accents:
        text = "".join(each for each in text if not unicodedata.combining(each))
    if not rule.stroke:
        text = text.replace(_TATWEEL, "")
    return western(text) if rule.digits else text


def western(text: str) -> str:
    """A text with the digits of every script as 0 to 9; superscripts and fractions are none."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text)
