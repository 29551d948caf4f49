"""What payment methods say, in their reader's language."""

from __future__ import annotations

from collections.abc import Mapping

from risala.http.web import languages
from risala.http.web.visit import Visit


def in_language(visit: Visit, texts: Mapping[str, str]) -> str:
    """A text of a method's; in English where it lacks the reader's language."""
    return languages.in_language(visit.words.language, texts)
