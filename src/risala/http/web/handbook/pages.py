"""The handbook's pages: its contents with a search, and its chapters."""

from __future__ import annotations

from typing import Any, Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import NotFound
from risala.engine.model.people import Language
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.handbook import chapters, rendering
from risala.http.web.languages import N_
from risala.http.web.lists import typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.http.web.search import FoundLine

_SEARCH: Final = N_("Search the handbook")
_NO_CHAPTER: Final = "The handbook has no such chapter."
LINES_MAX: Final = 5
"""Chapters among what the search over everything finds."""
HEADINGS: Final = {
    "Learn": N_("First steps"),
    "Quick start": N_("From a program, in a minute"),
    "Send and verify": N_("Send and verify"),
    "Coming from elsewhere": N_("Connect other software"),
    "For programs": N_("Look up: for programs"),
    "Carriers": N_("Carriers"),
    "The machine": N_("The machine"),
    "People and money": N_("People and money"),
    "For the operator": N_("Look up: for operators"),
    "Understand": N_("Understand why"),
}


async def contents(request: PageRequest) -> TrioResponse:
    """All chapters, or those with the words that were typed."""
    words = " ".join(request.form.text("q").split())
    language, is_operator = request.words.language, request.is_console
    values: dict[str, Any] = await trio.to_thread.run_sync(_listed, words, language, is_operator)
    return await request.page(
        "handbook/contents.html",
        text=words,
        slug=rendering.slug,
        search=_SEARCH,
        headings=HEADINGS,
        **values,
    )


def _listed(words: str, language: Language, is_operator: bool) -> dict[str, Any]:
    return {
        "sections": chapters.sections_for(is_operator=is_operator),
        "titles": chapters.titles(language),
        "english": frozenset(
            each
            for each in chapters.known()
            if chapters.language_of(each, language) is not language
        ),
        "found": chapters.with_words(words, language, is_operator=is_operator),
    }


async def chapter(request: PageRequest) -> TrioResponse:
    name = rendering.chapter_of(request.arguments.get("chapter", ""))
    if name is None:
        raise NotFound(_NO_CHAPTER)
    language = chapters.language_of(name, request.words.language)
    drawn = await trio.to_thread.run_sync(rendering.draw, name, language, request.tail)
    return await request.page("handbook/chapter.html", chapter=drawn, search=_SEARCH)


async def among_found(request: PageRequest, text: str) -> dict[str, Any]:
    """What the search over everything shows of it: chapters with the words in their title."""
    language, is_operator = request.words.language, request.is_console

    def titled() -> list[tuple[str, str]]:
        part, named = chapters.folded(text), chapters.titles(language)
        of = chapters.listed(is_operator=is_operator)
        return [(each, named[each]) for each in of if part in chapters.folded(named[each])]

    lines = (await trio.to_thread.run_sync(titled))[:LINES_MAX]
    at = request.at
    return {
        "lines": [
            FoundLine("chapter", title, at(f"handbook/{rendering.slug(each)}"))
            for each, title in lines
        ]
    }


def routes(base: str, access: PageAccess, after: str) -> tuple[PageRoute, ...]:
    """The pages below an address, and the entry in its rail; none without the chapters."""
    if not chapters.is_there():
        return ()
    return (
        PageRoute(
            path=f"{base}/handbook",
            view=contents,
            access=access,
            filters=(typed("q", _SEARCH),),
            entry=NavItem("handbook", "book", N_("Handbook"), access, key="h", after=after),
        ),
        PageRoute(path=f"{base}/handbook/<chapter>", view=chapter, access=access),
    )


DASHBOARD: Final = routes("/app/<org>", PageAccess.VIEWER, "settings")
CONSOLE: Final = routes("/operator", PageAccess.OPERATOR, "system")
