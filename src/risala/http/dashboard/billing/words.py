"""The texts of payment methods, in their reader's language."""

from __future__ import annotations

from collections.abc import Mapping

from risala.http.web import languages
from risala.http.web.page_request import PageRequest


def in_language(visit: PageRequest, texts: Mapping[str, str]) -> str:
    """A method's text; in English if the reader's language is missing."""
    return languages.in_language(visit.words.language, texts)
