"""Words in messages that come in: the first one routes, a lone one may end or begin messages."""

from __future__ import annotations

import unicodedata
from typing import Final

STOP_WORDS: Final = frozenset({"stop", "arret", "توقف"})
START_WORDS: Final = frozenset({"start"})
_TATWEEL: Final = "\u0640"


def folded(text: str) -> str:
    """Without case, accents, vowel signs and marks around: ``« ARRÊT ! »`` is ``arret``."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(c for c in plain if not unicodedata.combining(c) and c != _TATWEEL)
    return kept.strip(" \t\r\n.,;:!?«»\"'()؟،؛\u200e\u200f")


def keyword_of(text: str) -> str:
    """The first word of a message, folded."""
    return folded(text.split(maxsplit=1)[0]) if text.strip() else ""
