"""What is random in an answer or a page gets a name, so that two runs say the same."""

from __future__ import annotations

import re
from typing import Final

_ID: Final = r"\b(?P<kind>[a-z]{2,4})_(?:[a-z]+_)?[0-9A-HJKMNP-TV-Z]{32}\b"
_KEY: Final = r"\b(?P<key>[sp]k_(?:live|test))_[0-9A-Za-z]{20,}"
_SECRET: Final = r"\b(?P<secret>whsec)_[0-9A-Za-z+/=]{20,}"
_TOKEN: Final = (
    r"(?<![\w/+-])(?P<token>)(?=[\w+/-]*[0-9])(?=[\w+/-]*[A-Za-z])[\w+/-]{22,}={0,2}(?![\w/+-])"
)
_WORDS: Final = (
    (re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d{3}Z"), "Z"),
    (re.compile(r"\bu[0-9a-f]{12}\b"), "username"),
    (re.compile(r"\b(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}\b"), "SECRET"),
    (re.compile(r'(?<=<bdi class="num">)\d+(?=</bdi>\s(?:s|ث)<)'), "seconds"),
    (re.compile(r'(?<=<progress value=")\d+(?=" max="1000")'), "n"),
    (
        re.compile(
            r'(?<=<bdi class="num">)[\d.,]+(?=</bdi>(?: (?:sur|of|من) | (?:GiB|Gio|غيغابايت)))'
        ),
        "n",
    ),
    (re.compile(r'(?<=class="qr"><g ).*?(?=</svg>)', re.S), "…"),
)
"""What else is drawn or measured, and what stands for it."""
_ANY: Final = re.compile("|".join((_ID, _KEY, _SECRET, _TOKEN)))


def plain(text: str) -> str:
    """A text in which each id, key and token has the number of its first place."""
    names: dict[str, str] = {}
    counted: dict[str, int] = {}

    def named(found: re.Match[str]) -> str:
        whole = found[0]
        if whole not in names:
            kind = found["kind"] or found["key"] or found["secret"] or "token"
            counted[kind] = counted.get(kind, 0) + 1
            names[whole] = f"{kind}#{counted[kind]}"
        return names[whole]

    text = _ANY.sub(named, text)
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text
