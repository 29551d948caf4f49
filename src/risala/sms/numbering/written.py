"""Phone numbers as people and their programs write them. Pure.

A sign between digits is not dropped before it is known what it separates. A full stop stands
between the groups of a number (``06.12.34.56.78``), before the decimals that a spreadsheet added to
one (``491701234567.0``), and in an amount; a slash between an area and a number, and between two
numbers. What is not certainly one number is read as none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from risala.sms.typed import Purpose, typed

CHARACTERS_MAX: Final = 120
"""A longer text is no number, nor two of them."""

ReadDigits = Callable[[str], str | None]
"""Reads digits, with or without ``+`` in front, as a number in one form; None: they are none."""


class NumberFault(StrEnum):
    """Why a text is not read as a number."""

    NUMBER = "number"
    """The text is not a number."""
    SHORTENED = "number_shortened"
    """A spreadsheet has written it as ``4.917E+11``: its last digits are lost."""
    TWO_NUMBERS = "two_numbers"
    EXTENSION = "extension"
    """A number with what is dialled behind it."""
    NOT_SERVED = "not_served"
    """A number of a country that the service does not serve."""


SENTENCES: Final = {
    NumberFault.SHORTENED: (
        "A spreadsheet has shortened this number, and its last digits are lost. Format the column"
        " as text, then enter the number again."
    ),
    NumberFault.TWO_NUMBERS: "These are two numbers. Leave only one of them.",
    NumberFault.EXTENSION: (
        "This number has an extension, which no message reaches. Leave only the number."
    ),
}
"""Each says what to do; of ``NUMBER`` the numbering plan knows it."""


class UnreadNumber(ValueError):
    """A text is no number of a plan; ``str()`` is one sentence."""

    def __init__(self, fault: NumberFault, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = fault


class _Group(NamedTuple):
    """Digits that stand together."""

    digits: str
    before: str
    """What stands between them and the group before."""


_label: Final = re.compile(
    r"(?:t[eé]l(?: ?[.:])*|(?:p|sms|callto|whatsapp|phone|mob(?:ile)?|gsm|هاتف|جوال) ?[.:]) *"
    r"(?=[+(0-9])",
    re.IGNORECASE,
).match
"""A word in front that says what the number is for. Lead lists of Facebook write ``p:+49…``."""
_ARABIC_MARKS: Final = str.maketrans("\u066b\u066c", ".,")
"""The decimal mark of figures in Arabic, and what parts thousands."""
_figure: Final = re.compile(r"(?P<whole>\+?[0-9 .,']*[0-9]) ?(?P<mark>[.,])0+").fullmatch
"""A whole number with decimals that are all zero."""
_plain: Final = re.compile(r"\+?[0-9]+").fullmatch
_thousands: Final = re.compile(r"\+?[0-9]{1,3}([ .,'])[0-9]{3}(\1[0-9]{3})*").fullmatch
_power: Final = re.compile(r"\+?([0-9]+)(?:[.,]([0-9]+))?[eE]\+?([0-9]{1,3})").fullmatch
"""``4.91701234567E+11``."""
_POWERS: Final = range(6, 18)
"""Powers of ten that numbers with an area or a country have."""
_trunk: Final = re.compile(r"(\(?(?:\+|00) ?[1-9][0-9]{0,2}\)?)[ ./-]*\( ?0 ?\)(.+)").fullmatch
"""``+49 (0) 170 …``: the zero that is dialled at home only."""
_extension: Final = re.compile(
    r"(?P<number>.*?[0-9]\)?) ?(?:"
    r"[;,]? ?(?:ext(?:ension|n)?|xtn|poste?|durchwahl|int|anexo|ramal|dahili|تحويلة|داخلي|[xpw])"
    r"|[;,]{2,}|;|#|~) ?[.:=#]* ?[0-9]{1,7}#?",
    re.IGNORECASE,
).fullmatch
_groups: Final = re.compile(r"([^0-9]*)([0-9]+)").findall
_behind: Final = re.compile(r"[^0-9]*\Z").search
_begins: Final = re.compile(r"\(? ?\+? ?\(? ?").fullmatch
_between: Final = re.compile(r"[ ]*[-./]? *|[ ]*[-./]? *\( *| *\) *[-./]? *").fullmatch
_ends: Final = re.compile(r" *\)? *\.?").fullmatch
_strong: Final = re.compile(r"[^ .()-]|\.{2}|- -").search
"""What stands between two numbers rather than within one; a slash is also written within one."""
_BRACKETED_GROUPS: Final = 3
"""Brackets stand around a country's code, or an area's behind it: among these first groups."""
_OTHER_MIN: Final = 7
"""Digits of what is a number too, although not one that a message reaches, such as a landline."""
_EXTENSION_MAX: Final = 4
"""Digits that are dialled behind a number with a dash or a slash."""


def read_written(text: str, reads: ReadDigits) -> str | NumberFault:
    """The number that a text is, in the form in which ``reads`` gives it, or why it is none.

    Spaces stand anywhere between digits; one dash, slash or full stop between two groups; brackets
    around one of the first groups. A whole number that a spreadsheet wrote with decimals or as a
    power of ten is read by its digits, if it has them all.
    """
    if _plain(text):
        return reads(text) or NumberFault.NUMBER
    written = _visible(text)
    if not written or len(written) > CHARACTERS_MAX:
        return NumberFault.NUMBER
    figure = _of_figure(written, reads)
    if figure is not None:
        return figure
    one = _one(written, reads)
    if not isinstance(one, NumberFault):
        return NumberFault.TWO_NUMBERS if _are_two(written, reads, strong=True) else one
    extension = _extension(written)
    if extension is not None and _is_one(extension["number"], reads):
        return NumberFault.EXTENSION
    return NumberFault.TWO_NUMBERS if _are_two(written, reads, strong=False) else one


def entries(text: str) -> list[str]:
    """The numbers of a text that has many, on lines of their own or with signs between them.

    A comma before zeros that end an entry is a decimal mark, which a spreadsheet wrote.
    """
    pieces = (each.strip() for each in re.split(r"[\r\n\t;|\u061b]+", text))
    parts: list[str] = []
    for piece in pieces:
        written = _visible(piece)
        is_figure = _power(written) is not None or _whole_of(written) is not None
        parts += [piece] if is_figure else re.split("[,\u060c]+", piece)
    return [each.strip() for each in parts if each.strip()]


def _visible(text: str) -> str:
    """A text without what nobody sees and the word in front, in ASCII digits and signs; a line's
    end is ``;``."""
    lines = (
        " ".join(typed(each, Purpose.NUMBER) for each in line.split())
        for line in text.strip().splitlines()
    )
    line_text = ";".join(filter(None, lines)).strip().translate(_ARABIC_MARKS)
    label = _label(line_text)
    return line_text if label is None else line_text[label.end() :]


def _of_figure(written: str, reads: ReadDigits) -> str | NumberFault | None:
    """The number that a spreadsheet has made a figure of; None: it is no figure."""
    power = _power(written)
    if power is not None:
        return _of_power(power[1], power[2] or "", int(power[3]), reads)
    whole = _whole_of(written)
    return None if whole is None else reads(whole) or NumberFault.NUMBER


def _whole_of(written: str) -> str | None:
    """The digits of a whole number that has decimals; None: it is none."""
    figure = _figure(written)
    if figure is None:
        return None
    whole, mark = figure["whole"], figure["mark"]
    if mark in whole or not (_plain(whole) or _thousands(whole)):
        return None
    return re.sub(r"[ .,']", "", whole)


def _of_power(whole: str, decimals: str, power: int, reads: ReadDigits) -> str | NumberFault:
    if power not in _POWERS:
        return NumberFault.NUMBER
    if len(decimals) < power:
        return NumberFault.SHORTENED
    if decimals[power:].strip("0"):
        return NumberFault.NUMBER
    return reads(whole + decimals[:power]) or NumberFault.NUMBER


def _is_one(text: str, reads: ReadDigits) -> bool:
    return not isinstance(_one(text, reads), NumberFault)


def _one(text: str, reads: ReadDigits) -> str | NumberFault:
    """The number of a text that has one alone."""
    trunk = _trunk(text)
    if trunk is None:
        return _grouped(text, reads)
    known = {_grouped(trunk[1] + zero + trunk[2], reads) for zero in ("", "0")}
    numbers = [each for each in known if not isinstance(each, NumberFault)]
    return numbers[0] if len(numbers) == 1 else NumberFault.NUMBER


def _grouped(text: str, reads: ReadDigits) -> str | NumberFault:
    groups, end = _split(text)
    if not groups or not _is_spelled(groups, end):
        return NumberFault.NUMBER
    digits = "+" * ("+" in groups[0].before) + "".join(each.digits for each in groups)
    number = reads(digits)
    if len(groups) > 1 and (sign := groups[-1].before.strip(" ()")):
        # The only such sign, behind what is a number already: what follows is dialled behind it.
        is_alone = all(sign not in each.before for each in groups[1:-1])
        rest = groups[-1].digits
        if is_alone and reads(digits[: -len(rest)]) is not None:
            is_dialled = len(rest) <= _EXTENSION_MAX and sign != "."
            return NumberFault.EXTENSION if is_dialled else NumberFault.NUMBER
    return number or NumberFault.NUMBER


def _split(text: str) -> tuple[list[_Group], str]:
    """The groups of digits, and what stands behind the last one."""
    groups = [_Group(digits, before) for before, digits in _groups(text)]
    end = _behind(text)
    return groups, "" if end is None else end[0]


def _is_spelled(groups: list[_Group], end: str) -> bool:
    """Whether signs stand where people write them in a number."""
    first, *others = groups
    if not _begins(first.before) or not all(_between(each.before) for each in others):
        return False
    if not _ends(end) or not _has_one_pair(groups, end):
        return False
    dots = ["." in each.before for each in others]
    if not any(dots):
        return True
    if len(groups) == 2:  # else it is an amount, or a measure
        return len(first.digits) <= 5 and len(others[0].digits) >= 4
    return not dots[-1] or len(others[-1].digits) > 1


def _has_one_pair(groups: list[_Group], end: str) -> bool:
    """Whether brackets are none, around the whole, or around one of the first groups."""
    signs = [*(each.before for each in groups), end]
    brackets = "".join(each for each in "".join(signs) if each in "()")
    if brackets in ("", "()"):
        closed = next((at for at, each in enumerate(signs) if ")" in each), 0)
        return "(" in signs[0] if closed == len(groups) else closed <= _BRACKETED_GROUPS
    return False


def _are_two(text: str, reads: ReadDigits, *, strong: bool) -> bool:
    """Whether a text begins with one number and ends with another.

    Args:
        strong: only with a sign between them that a single number has not.
    """
    groups, _ = _split(text)
    begun = _first_end(groups, reads, strong=strong)
    if begun is not None and any(
        _reads_from(groups[at:], reads) for at in range(begun, len(groups))
    ):
        return True
    return not strong and _has_another(groups, reads)


def _has_another(groups: list[_Group], reads: ReadDigits) -> bool:
    """Whether a sign parts a number from digits that may be one: a landline, one of abroad."""
    for at in range(1, len(groups)):
        if not _strong(groups[at].before):
            continue
        for one, other in ((groups[:at], groups[at:]), (groups[at:], groups[:at])):
            digits = sum(len(each.digits) for each in other)
            if digits >= _OTHER_MIN and _reads_from(one, reads):
                return True
    return False


def _first_end(groups: list[_Group], reads: ReadDigits, *, strong: bool) -> int | None:
    """How many of the first groups are a number; None: none are."""
    for end in range(1, len(groups)):
        if strong and not _strong(groups[end].before):
            continue
        if _reads_from(groups[:end], reads):
            return end
    return None


def _reads_from(groups: list[_Group], reads: ReadDigits) -> bool:
    plus = "+" * groups[0].before.rstrip(" (").endswith("+")
    digits = "".join(each.digits for each in groups)
    return len(digits) <= 18 and reads(plus + digits) is not None
