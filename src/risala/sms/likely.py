"""How likely a text is: the bits that its letters cost in a rough model of what people write. Pure.

The model knows scripts, and for each how large its usual repertoire is; a letter of another script
than the one before costs more, and so do odd marks, controls and characters that nobody has. It is
no model of a language: it tells a text from the same octets read in a wrong form.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

_SWITCH_BITS: Final = 7.0
"""A letter of another script than the last one."""
_CASE_BITS: Final = 5.0
"""A capital behind a small letter, or a small letter behind two capitals."""
_EDGE_BITS: Final = 1.5
"""A digit behind a letter, or the reverse."""
_ODD_BITS: Final = 22.0
"""A control, half of a pair, an unassigned or private character, or U+FFFD."""
_CLOSING_BITS: Final = 3.0
"""A bracket that closes another one: it is expected."""
_HALF_BITS: Final = 8.0
"""Half of a letter at an end, which a cut between two parts leaves."""
_RARE_BITS: Final = 17.0
"""An assigned character outside every row below."""
_TEXT_BITS: Final = 6.0
"""The most that a letter of a text costs on average, where its script has few letters; texts have
4 to 5."""
_SLACK_BITS: Final = 4.0
"""What a text of few letters may cost above that."""
_WIDE_BITS: Final = 13.5
"""The most that a letter costs on average in scripts of thousands of letters."""
CACHED_MAX: Final = 4096
"""Characters whose row is kept: half a megabyte."""

_LATIN: Final = "latin"
_HAN: Final = "han"
_HANGUL: Final = "hangul"
_NONE: Final = ""
_FIRST_EMOJI: Final = "\U0001f000"

_SCRIPTS: Final = (
    # first, last, script, bits
    (0x00C0, 0x00FF, _LATIN, 7.0),
    (0x0100, 0x024F, _LATIN, 8.5),
    (0x0250, 0x02AF, _LATIN, 14.0),
    (0x0370, 0x03FF, "greek", 5.5),
    (0x0400, 0x045F, "cyrillic", 5.2),
    (0x0460, 0x052F, "cyrillic", 11.0),
    (0x05D0, 0x05EA, "hebrew", 4.6),
    (0x0621, 0x0652, "arabic", 5.0),
    (0x0660, 0x0669, _NONE, 4.5),
    (0x066E, 0x06D3, "arabic", 8.0),
    (0x0750, 0x077F, "arabic", 11.0),
    (0x07C0, 0x07FF, "nko", 6.0),
    (0x0900, 0x0DFF, "indic", 6.5),
    (0x0E00, 0x0EFF, "thai", 6.0),
    (0x1000, 0x109F, "burmese", 6.5),
    (0x10A0, 0x10FF, "georgian", 5.5),
    (0x1200, 0x139F, "ethiopic", 8.5),
    (0x1780, 0x17FF, "khmer", 6.5),
    (0x1E00, 0x1EFF, _LATIN, 9.0),
    (0x2D30, 0x2D7F, "tifinagh", 5.5),
    (0x3400, 0x4DBF, _HAN, 20.0),
    (0x3041, 0x30FF, _HAN, 7.0),
    (0x3105, 0x312F, _HAN, 14.0),
    (0xFB50, 0xFDFF, "arabic", 11.0),
    (0xFE70, 0xFEFC, "arabic", 9.0),
    (0xFF00, 0xFF9F, _HAN, 8.0),
    (0x1F1E6, 0x1FAFF, _NONE, 10.0),
)
"""Letters and digits by block, with the bits of one of them in a text of that script."""
_MARKS: Final = (
    (" ", 2.5),
    ("\n", 5.0),
    ("\r", 6.0),
    (".,:-'/!?()\"+*#&@%=;_", 6.5),
    (
        "،؛؟ـ。，、！？：；（）「」《》【】“”‘’…–—•«»°€£\u00a0\u202f\u200b\u200c\u200d\u200e\u200f\ufe0f\ufeff",
        7.5,
    ),
    ("\t`~^|\\{}[]<>$", 10.0),
    ("¡¿§¥²³¹½¼·º", 10.5),
    ("☀☎☺♥❤✅✔✨★☆⚠⚡⚽⏰⌚→←↑↓✓✗❌❓❗➡\u2728", 9.0),
)
_FREQUENT: Final = frozenset(
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可"
    "她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已"
    "老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力"
    "机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军"
    "产入先山五太水万市眼体别处总才场师书比住员九笑性通目报立马命张活难神数件安表原车白应路期叫死常提"
    "感金何更反合放做系计或司利受光王果今京务制解各任至清物台象记边共风战接它许八特觉望直服毛林题建南"
    "度色字请交爱让认算百吃科怎社六功指思非流每青管夫连远资队跟带花快条院变联言权往该领传近留红治周保"
    "办运七候必城父强步完深区即求品量空众轻程告语派式息写呢极收脸钱党倒未取设始双历史商千片容像找友孩"
    "站广改议早音火际则单影拿网香似专石若谁校读志飞观争究包组造落视喜离坏热停取消谢吗吧早晚昨午点钟"
    "码证验账号元额款订送货件银行客户详情链退"
)
"""The Han characters of most words of a message."""
_OPENING: Final = {"]": "[", "}": "{", ">": "<"}
_lower_upper: Final = re.compile(r"[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ]|[A-ZÀ-ÖØ-Þ]{2}[a-zß-öø-ÿ]").findall
_edges: Final = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]").findall


@cache
def _levels() -> dict[str, float]:
    """Bits of Han and Hangul characters by how common they are: the first levels of the national
    standards, which were chosen by frequency."""
    levels: dict[str, float] = {}
    rows = (
        ("euc_kr", range(0xB0, 0xC9), range(0xA1, 0xFF), 9.5),
        ("shift_jis", range(0x88, 0x98), (*range(0x40, 0x7F), *range(0x80, 0xFD)), 13.5),
        ("big5", range(0xA4, 0xC7), (*range(0x40, 0x7F), *range(0xA1, 0xFF)), 13.0),
        ("gb2312", range(0xB0, 0xD8), range(0xA1, 0xFF), 12.5),
    )
    for codec, firsts, seconds, bits in rows:
        for first in firsts:
            for second in seconds:
                text = bytes((first, second)).decode(codec, "ignore")
                levels.update(dict.fromkeys(text, bits))
    levels.update(dict.fromkeys(_FREQUENT, 8.5))
    return levels


_MARK_BITS: Final = {mark: bits for marks, bits in _MARKS for mark in marks}


@lru_cache(maxsize=CACHED_MAX)
def _row(character: str) -> tuple[str, float]:
    """The script of a character, empty for one of any; and its bits."""
    point = ord(character)
    if character.isascii():
        if character.isalpha():
            return _LATIN, 4.5
        if character.isdigit():
            return _NONE, 3.5
    if character in _MARK_BITS:
        return _NONE, _MARK_BITS[character]
    if 0x4E00 <= point <= 0x9FFF:
        return _HAN, _levels().get(character, 18.0)
    if 0xAC00 <= point <= 0xD7A3:
        return _HANGUL, _levels().get(character, 14.0)
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn"):
        return _NONE, _ODD_BITS
    for first, last, script, bits in _SCRIPTS:
        if first <= point <= last:
            return script, bits
    return _NONE, _RARE_BITS


def cost_bits(text: str) -> float:
    """The bits that a text costs."""
    whole = text.strip(_HALVES)
    bits, before = _HALF_BITS * (len(text) - len(whole)), _NONE
    for at, character in enumerate(whole):
        script, own = _row(character)
        if character in _OPENING and _OPENING[character] in whole[:at]:
            own = _CLOSING_BITS
        is_run = at > 1 and character == whole[at - 1] == whole[at - 2]
        if own >= _ODD_BITS or not is_run:  # a third of the same letter says nothing more
            bits += own
        if script and script != before:
            bits += _SWITCH_BITS if before else 0.0
            before = script
    mixed = len(_lower_upper(text)) * _CASE_BITS + len(_edges(text)) * _EDGE_BITS
    return bits + mixed


_HALVES: Final = "".join(map(chr, range(0xD800, 0xE000)))


def reads_as_text(text: str) -> bool:
    """Whether a text looks written by people or programs for people, and not like octets that were
    read in a wrong form."""
    if not text.strip():
        return False
    wide = sum(_row(each)[0] in (_HAN, _HANGUL) or each >= _FIRST_EMOJI for each in text)
    marks = sum(each in _MARK_BITS and not each.isspace() for each in text)
    if 2 * marks > len(text) or any(_row(each)[1] >= _ODD_BITS for each in text):
        return False
    most = _TEXT_BITS * (len(text) - wide) + _WIDE_BITS * wide
    return cost_bits(text) <= most + _SLACK_BITS
