"""The chapters as files: where they are, what they are called, and in which of them words are."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from risala.engine.model.people import Language
from risala.http.common.assets import STATIC
from risala.http.web.handbook.sections import (
    FOR_OPERATORS,
    LIST,
    NOT_FOR_MEMBERS,
    HandbookSection,
    sections,
)

_PACKED: Final = STATIC / "handbook"
"""In the service's wheel; ``clients/python/hatch_server.py`` puts it there."""
_WRITTEN: Final = Path(__file__).parents[5] / "docs"
"""In a checkout."""
FOUND_MAX: Final = 30
"""Chapters that a search shows."""
_EXCERPT: Final = 160
"""Characters of the line that is shown of a chapter that was found."""
_HEADING: Final = re.compile(r"^# (.+)$", re.M)
_ONLY_FORGES: Final = re.compile(
    r"\A---\n(?:.*\n)*?---\n"  # what a skill says of itself
    r"|^(?:\*\*English\*\*|\[English\]).*\n"  # the line of languages
    r"|^ *(?:<div dir=\"(?:rtl|ltr)\">|</div>)\n"
    r"|<!--(?:.|\n)*?-->\n?",
    re.M,
)
_MARKS: Final = re.compile(r"\]\([^)]*\)|[\[\]*`|#>]+")


class FoundChapter(NamedTuple):
    """A chapter with the words of a search."""

    chapter: str
    title: str
    line: str
    """The first line with one of the words; empty: only the title has them."""


def _root() -> Path:
    return _PACKED if _PACKED.is_dir() else _WRITTEN


def is_there() -> bool:
    """Whether this service came with its handbook: what was built without ``docs`` has none."""
    return (_root() / LIST).is_file()


@cache
def contents() -> tuple[HandbookSection, ...]:
    """The sections with the chapters that are there; none, if this service came without them."""
    text = (_root() / LIST).read_text(encoding="utf-8") if is_there() else ""
    chapters = (
        (of.heading, tuple(each for each in of.chapters if _file(each, Language.ENGLISH)))
        for of in sections(text)
    )
    return tuple(HandbookSection(heading, there) for heading, there in chapters if there)


def sections_for(*, is_operator: bool) -> tuple[HandbookSection, ...]:
    """Chapters that a reader's contents have: members have no machine to run."""
    if is_operator:
        return contents()
    return tuple(
        HandbookSection(
            of.heading, tuple(each for each in of.chapters if each not in NOT_FOR_MEMBERS)
        )
        for of in contents()
        if of.heading not in FOR_OPERATORS
    )


def listed(*, is_operator: bool) -> tuple[str, ...]:
    """The chapters of these sections, each once."""
    of = sections_for(is_operator=is_operator)
    return tuple(dict.fromkeys(each for section in of for each in section.chapters))


@cache
def known() -> frozenset[str]:
    """The paths of all chapters: nothing else is ever read."""
    return frozenset(each for of in contents() for each in of.chapters)


def _file(chapter: str, language: Language) -> Path | None:
    folder = _root() if language is Language.ENGLISH else _root() / language.value
    path = folder / f"{chapter}.md"
    return path if path.is_file() else None


def language_of(chapter: str, language: Language) -> Language:
    """The language that a reader gets a chapter in: English where it is not translated."""
    return language if _file(chapter, language) else Language.ENGLISH


def text_of(chapter: str, language: Language) -> str:
    """The Markdown of a chapter, without what only forges need.

    Raises:
        LookupError: there is none.
    """
    path = _file(chapter, language) if chapter in known() else None
    if path is None:
        raise LookupError(chapter)
    return _ONLY_FORGES.sub("", path.read_text(encoding="utf-8"))


@cache
def titles(language: Language) -> dict[str, str]:
    """What each chapter is called, for readers of a language."""
    return {each: title_of(text_of(each, language_of(each, language))) for each in known()}


def title_of(text: str) -> str:
    heading = _HEADING.search(text)
    return _plain(heading[1]) if heading else ""


def _plain(markdown: str) -> str:
    return " ".join(_MARKS.sub("", markdown).split())


def folded(text: str) -> str:
    """As it is compared: small letters, and none of the marks above or below letters."""
    if text.isascii():
        return text.casefold()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each))


def with_words(words: str, language: Language, *, is_operator: bool) -> list[FoundChapter]:
    """The chapters that have all of the words: first those with them in their title, then those in
    the reader's language. It reads them all: a tenth of a second, so in a thread."""
    terms = folded(words).split()
    if not terms:
        return []
    hits = []
    for chapter in listed(is_operator=is_operator):
        own = language_of(chapter, language)
        text = text_of(chapter, own)
        whole = folded(text)
        if all(word in whole for word in terms):
            title = title_of(text)
            is_titled = all(word in folded(title) for word in terms)
            hit = FoundChapter(chapter, title, _plain(_line_with(terms[0], text))[:_EXCERPT])
            hits.append((not is_titled, own is not language, hit))
    hits.sort(key=lambda each: each[:2])
    return [hit for _, _, hit in hits[:FOUND_MAX]]


def _line_with(word: str, text: str) -> str:
    """The first line with a word, code only if no sentence has it; empty: the title has it."""
    in_code, code = False, ""
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not line.startswith("# ") and word in folded(line):
            if not in_code:
                return line
            code = code or line
    return code
