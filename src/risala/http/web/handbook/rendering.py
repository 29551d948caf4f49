"""A chapter as HTML: by markdown-it-py, by which the documentation is built, too. It is imported
when the first chapter is opened."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from markupsafe import Markup

from risala.engine.model.people import Language
from risala.http.web.handbook.chapters import known, text_of, title_of

if TYPE_CHECKING:
    from markdown_it.token import Token

KEPT_MAX: Final = 16
"""Chapters that are kept as they are drawn: the longest has 150 KiB, most have 15."""
_FRENCH_SPACES: Final = re.compile(r" (?=[:;?!%»])|(?<=«) ")
_NO_SLUG: Final = re.compile(r"[^\w\- ]")
_PROMPT: Final = re.compile(r"^\$ (.*(?:\\\n.*)*)$", re.M)
_HELD: Final = re.compile("\x1e(\\d+)\x1e")


class CodeBlock(NamedTuple):
    text: str
    copied: str
    """What the button copies: of a terminal the commands alone, without what they print."""


class Heading(NamedTuple):
    anchor: str
    text: str


class Chapter(NamedTuple):
    """A chapter as it is drawn."""

    title: str
    language: Language
    parts: tuple[Markup | CodeBlock, ...]
    """HTML, and blocks of code between it."""
    headings: tuple[Heading, ...]


def slug(chapter: str) -> str:
    """The name of a chapter in addresses: ``how-to.usb-modem``."""
    return chapter.replace("/", ".")


def chapter_of(name: str) -> str | None:
    """The chapter with this name in addresses; None: there is none."""
    path = name.replace(".", "/")
    return path if path in known() else None


@lru_cache(KEPT_MAX)
def draw(chapter: str, language: Language, tail: str) -> Chapter:
    """Draw a chapter, in a thread: the longest takes a tenth of a second.

    Args:
        language: one that it is there in.
        tail: stands behind each address of another chapter, such as ``?mode=test``.
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    text = text_of(chapter, language)
    tokens = reader.parse(text)
    drawing = _Drawing(chapter, language, tail)
    html = reader.renderer.render(drawing.changed(tokens), reader.options, {})
    pieces = _HELD.split(html)
    parts: list[Markup | CodeBlock] = []
    for number, piece in enumerate(pieces):
        # What is not code is ours: it came with the service, and tags in it are left out.
        parts.append(drawing.blocks[int(piece)] if number % 2 else Markup(piece))  # noqa: S704
    return Chapter(title_of(text), language, tuple(parts), tuple(drawing.headings))


class _Drawing:
    """What is changed of a chapter before it becomes HTML."""

    def __init__(self, chapter: str, language: Language, tail: str) -> None:
        self._chapter, self._tail = chapter, tail
        self._is_french = language is Language.FRENCH
        self._anchors: dict[str, int] = {}
        self.blocks: list[CodeBlock] = []
        self.headings: list[Heading] = []

    def changed(self, tokens: Sequence[Token]) -> list[Token]:
        kept: list[Token] = []
        title = False
        for at, token in enumerate(tokens):
            if token.type == "heading_open":
                title = token.tag == "h1"
                if not title:
                    self._name(token, tokens[at + 1])
            if token.type in ("fence", "code_block"):
                self._hold(token)
            elif token.type == "html_block":
                token.content = ""
            elif token.type in ("th_open", "td_open"):
                token.attrs.pop("style", None)  # the policy of pages takes no style but the sheet's
                if not tokens[at + 1].content:  # a heading without words heads nothing
                    token.tag = tokens[at + 2].tag = "td"
            for each in token.children or ():
                self._inline(each)
            self._lead(token.children or ())
            if not title:  # it stands in the head of the page
                kept.extend(_framed(token))
            if token.type == "heading_close":
                title = False
        return kept

    def _name(self, opening: Token, inline: Token) -> None:
        """The anchor that forges give a heading, with a prefix: pages have ids of their own."""
        shown = "".join(
            each.content
            for each in inline.children or ()
            if each.type in ("text", "code_inline", "softbreak")
        )
        name = _NO_SLUG.sub("", shown.lower()).replace(" ", "-")
        again = self._anchors.get(name, 0)
        self._anchors[name] = again + 1
        anchor = f"h-{name}-{again}" if again else f"h-{name}"
        opening.attrSet("id", anchor)
        if opening.tag == "h2":
            self.headings.append(Heading(anchor, shown))

    def _hold(self, token: Token) -> None:
        text = token.content.rstrip("\n")
        commands = _PROMPT.findall(text) if token.info.strip() == "console" else []
        self.blocks.append(CodeBlock(text, "\n".join(commands) or text))
        token.type, token.tag = "html_block", ""
        token.content = f"\x1e{len(self.blocks) - 1}\x1e\n"

    def _inline(self, token: Token) -> None:
        if token.type in ("html_inline", "image"):
            token.type, token.content = "text", ""
        elif token.type == "text" and self._is_french:
            token.content = _FRENCH_SPACES.sub("\N{NO-BREAK SPACE}", token.content)

    def _lead(self, tokens: Sequence[Token]) -> None:
        """Links lead to chapters and to other sites; what is neither stays as its words."""
        is_dead = False
        for token in tokens:
            if token.type == "link_open":
                to = self._address(str(token.attrs.get("href", "")))
                is_dead = to is None
                token.attrs = {} if to is None else {"href": to}
                if to is not None and "//" in to:
                    token.attrSet("rel", "noreferrer")
            if is_dead and token.type in ("link_open", "link_close"):
                token.tag = "span"

    def _address(self, href: str) -> str | None:
        url = urlsplit(href)
        if url.scheme:
            return href if url.scheme in ("http", "https", "mailto") else None
        anchor = f"#h-{unquote(url.fragment)}" if url.fragment else ""
        if not url.path:
            return anchor
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self._chapter), url.path))
        path = re.sub(r"^(?:\.\./)?(?:fr|ar)/", "", path).removesuffix(".md")
        return f"{slug(path)}{self._tail}{anchor}" if path in known() else None


def _framed(token: Token) -> list[Token]:
    """A table within what scrolls sideways on a phone."""
    from markdown_it.token import Token as Made

    if token.type == "table_open":
        opening = Made("wide_open", "div", 1, attrs={"class": "wide-table", "tabindex": "0"})
        return [opening, token]
    if token.type == "table_close":
        return [token, Made("wide_close", "div", -1)]
    return [token]
