"""The words of Kannel's ``get-url``: ``%p``, ``%a`` and others in the query of a URL. Pure.

What each stands for is as in Kannel's User's Guide ("Parameters (Escape Codes)") and its
``gw/urltrans.c``. A text is always UTF-8, percent-encoded. Kannel writes so what is in the GSM
alphabet, and the rest in UTF-16BE with the coding 2. Here ``%c`` is always 0, so that no receiver
takes UTF-8 for UTF-16BE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Final
from urllib.parse import quote_plus

from risala.engine.model.records.inbound import Received

WORDS_MAX: Final = 20
"""Words in one URL: each may stand for a long text."""
_WORD: Final = re.compile(r"%(.?)")
_IDD: Final = re.compile(r"^00")


def _time(received: Received) -> str:
    """Written with a plus sign between date and time, which reads as a space."""
    at = datetime.fromtimestamp(received.received_at // 1000, UTC)
    return f"{at:%Y-%m-%d+%H:%M:%S}"


_VALUES: Final[Mapping[str, Callable[[Received], str]]] = {
    "p": lambda received: quote_plus(received.sender),
    "P": lambda received: quote_plus(received.recipient or ""),
    "q": lambda received: quote_plus(_IDD.sub("+", received.sender)),
    "Q": lambda received: quote_plus(_IDD.sub("+", received.recipient or "")),
    "a": lambda received: quote_plus(" ".join((received.body or "").split())),
    "A": lambda received: quote_plus(received.body or ""),
    "b": lambda received: quote_plus(received.body or ""),
    "k": lambda received: quote_plus("".join((received.body or "").split()[:1])),
    "t": _time,
    "T": lambda received: str(received.received_at // 1000),
    "i": lambda received: quote_plus(received.carrier),
    "I": lambda received: received.id,
    "c": lambda _: "0",
    "C": lambda _: "UTF-8",
    "%": lambda _: "%",
}
"""All words but ``%s`` and ``%r``, which also depend on the words before them."""
_KNOWN: Final = (*_VALUES, "s", "r")
KNOWN: Final = ", ".join(f"%{word}" for word in _KNOWN)
"""All words as they are written."""
EXAMPLE: Final = "https://shop.example/sms?sender=%p&text=%a"
_OTHERS: Final = "0123456789"
"""After a ``%``, these begin an octet such as ``%20``, as they do in Kannel."""


def filled(pattern: str, received: Received) -> str:
    """A query with a message's values; ``%s`` is the next word of the text after its first, and
    ``%r`` all words that no ``%s`` has taken."""
    left = (received.body or "").split()[1:]

    @cache  # a long text may stand for every word
    def known(word: str) -> str:
        return _VALUES[word](received)

    @cache
    def rest(_: int) -> str:
        return quote_plus(" ".join(left))

    def value(match: re.Match[str]) -> str:
        word = match[1]
        if word == "s":
            return quote_plus(left.pop(0)) if left else ""
        if word == "r":
            return rest(len(left))
        return known(word) if word in _VALUES else match[0]

    return _WORD.sub(value, pattern)


def fault(url: str) -> str | None:
    """What is wrong with a URL of this kind, as a sentence; None if nothing."""
    address, _, pattern = url.partition("?")
    words = _WORD.findall(pattern)
    if "%" in address or not {*words} & {*_KNOWN}:
        return "With the shape `kannel`, the words of `get-url` such as %p and %a are after the ?."
    if unknown := [word for word in words if word not in (*_KNOWN, *_OTHERS)]:
        return f"With the shape `kannel`, a URL can use {KNOWN}, but not %{unknown[0]}."
    if len(words) > WORDS_MAX:
        return f"With the shape `kannel`, a URL can have at most {WORDS_MAX} words such as %p."
    return None
