"""The words of reverse verifications, how they are found in texts, and the links to send them.
Pure."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from risala.engine.rules.keyring import KeyRing, key_for

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""32 characters that people do not mistake for others (Crockford's base32)."""
WORD_CHARACTERS: Final = 8
"""40 bits."""
NAME_CHARACTERS_MAX: Final = 40
"""Characters of the organization's name in the text."""
SEARCHED_MAX: Final = 500
"""Characters of a text that are searched for a word: a forwarded or signed text has it too."""
WORDS_MAX: Final = 8
"""Words of one text that are looked up, the last ones: ours stands at the end."""
_PURPOSE: Final = "reverse verification"
_MISREAD: Final = str.maketrans("OIL", "011")
_JOINING: Final = re.compile(r"(?<=[0-9A-Z])[-\u2010-\u2015_](?=[0-9A-Z])")
_RUN: Final = re.compile(r"[0-9A-Z]+")
_HALF: Final = WORD_CHARACTERS // 2
_is_word: Final = re.compile(f"[{ALPHABET}]{{{WORD_CHARACTERS}}}").fullmatch


def word_of(ring: KeyRing, verification_id: str) -> str:
    """The word of a session: derived, never stored."""
    key = key_for(ring.for_id(verification_id), _PURPOSE)
    digest = hmac.digest(key, verification_id.encode(), "sha256")
    bits = int.from_bytes(digest[:5], "big")
    return "".join(ALPHABET[bits >> 5 * at & 31] for at in reversed(range(WORD_CHARACTERS)))


def mark_of(ring: KeyRing, verification_id: str) -> str:
    """The mark by which a session's word is found, which reveals nothing of it."""
    return _mark(ring.for_id(verification_id), word_of(ring, verification_id))


def _mark(server_key: bytes, word: str) -> str:
    return hmac.digest(key_for(server_key, f"{_PURPOSE} mark"), word.encode(), "sha256").hex()


def marks_in(ring: KeyRing, text: str) -> list[str]:
    """The marks of all that may be a word in a text, by each of the server's keys."""
    return [_mark(each.secret, word) for word in words_in(text) for each in ring.keys]


def words_in(text: str) -> list[str]:
    """All that may be a word in a text, whatever its case, its script's digits and the signs in
    it."""
    plain = _western(unicodedata.normalize("NFKC", text[:SEARCHED_MAX]).upper())
    words = dict.fromkeys(_words(_RUN.findall(_JOINING.sub("", plain))))
    return list(words)[-WORDS_MAX:]


def _western(text: str) -> str:
    """A text with the digits of all scripts as 0 to 9, and without marks of direction."""
    return "".join(
        str(unicodedata.digit(each)) if unicodedata.category(each) == "Nd" else each
        for each in text
        if unicodedata.category(each) != "Cf"
    )


def _words(runs: Iterable[str]) -> Iterator[str]:
    before = ""
    for run in runs:
        for candidate in (run, before + run if len(before) == len(run) == _HALF else ""):
            word = candidate.translate(_MISREAD)
            if _is_word(word):
                yield word
        before = run


def name_in_text(name: str) -> str:
    """An organization's name as its texts have it: one line, without what is not seen."""
    seen = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in name)
    return " ".join(seen.split())[:NAME_CHARACTERS_MAX].rstrip()


def text_link(number: str, text: str) -> str:
    """A link that opens a new text. Android wants ``?body=``, and older iOS ``&body=`` (RFC 5724
    §2.2): with both signs each finds its own."""
    return f"sms:{number}?&body={quote(text, safe='')}"


def text_code(number: str, text: str) -> str:
    """What a QR code says so that a phone's camera opens a new text."""
    return f"SMSTO:{number}:{text}"


def call_link(number: str) -> str:
    """A link that opens a call (RFC 3966)."""
    return f"tel:{number}"


def token_mark(token: str) -> bytes:
    """What is stored of a page's address: it has 128 random bits."""
    return hashlib.sha256(token.encode()).digest()
