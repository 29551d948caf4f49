"""Keywords of inbound messages: the first word may route a message; a message of a single word may
be an opt-out (STOP) or an opt-in (START)."""

from __future__ import annotations

import unicodedata
from typing import Final

STOP_WORDS: Final = frozenset({"stop", "arret", "توقف"})
START_WORDS: Final = frozenset({"start"})
_TATWEEL: Final = "\u0640"


def folded(text: str) -> str:
    """A text without case, accents, vowel signs and the marks around it: ``« ARRÊT ! »`` is
    ``arret``."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    kept = "".join(c for c in plain if not unicodedata.combining(c) and c != _TATWEEL)
    return kept.strip(" \t\r\n.,;:!?«»\"'()؟،؛\u200e\u200f")


def keyword_of(text: str) -> str:
    """The first word of a message, folded."""
    return folded(text.split(maxsplit=1)[0]) if text.strip() else ""
