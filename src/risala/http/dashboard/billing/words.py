"""What payment methods say, in their reader's language."""

from __future__ import annotations

from collections.abc import Mapping

from risala.http.web.visit import Visit


def in_language(visit: Visit, texts: Mapping[str, str]) -> str:
    """A text of a method's; in English where it lacks the reader's language."""
    return texts.get(visit.words.language.value) or texts.get("en", "")
