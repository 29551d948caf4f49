"""One request for the first-run page: its reader, and the ways to answer."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from markupsafe import Markup
from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.http.first_run.reading import Wrong
from risala.http.operator.carriers.driver_words import driver_said
from risala.http.web.face import WebFace
from risala.http.web.formats import Formats
from risala.http.web.forms import MARK_FIELD, SentForm, masked
from risala.http.web.languages import Words
from risala.http.web.page_request import Theme
from risala.http.web.templates import Loaded, render

ROOT: Final = "/first-run"
_COMPRESSED_FROM: Final = 1000
"""Bytes; shorter answers fit a packet anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRunPageRequest:
    """What templates know as ``visit``."""

    request: Request = field(repr=False)
    loaded: Loaded = field(repr=False)
    face: WebFace
    formats: Formats
    theme: Theme
    mark: str = field(repr=False)
    """Proves that a form is of this session; empty: there is no session."""
    form: SentForm = field(default_factory=SentForm, repr=False)
    """The fields of a POST."""
    said: None = None

    @property
    def words(self) -> Words:
        return self.formats.words

    @property
    def cookie(self) -> str:
        """Whether there are forms for a language and for colours."""
        return self.mark

    @property
    def here(self) -> str:
        return self.request.path

    def marks(self, *, once: bool = False) -> Markup:
        """The hidden field without which a form is not taken."""
        hidden = Markup('<input type="hidden" name="{}" value="{}">')
        return hidden.format(MARK_FIELD, masked(self.mark))

    def at(self, page: str, **query: str) -> str:
        """The address of a page."""
        return f"{ROOT}/{page}"

    def may(self, access: str) -> bool:
        """Whoever has the session may do everything."""
        return bool(self.mark)

    @staticmethod
    def code(text: str) -> Markup:
        """A typed text inside a sentence, in an isolate."""
        return Markup("<code>{}</code>").format(text)

    def explained(self, wrong: Wrong) -> Markup:
        """What is wrong with an answer, in the reader's language."""
        holes = {name: Markup("<bdi>{}</bdi>").format(value) for name, value in wrong.holes.items()}
        parts = []
        if wrong.sentence:
            parts.append(self.words(wrong.sentence, **holes))
        if wrong.said:
            parts.append(driver_said(self.words, wrong.said))
        return Markup(" ").join(parts)

    # -- answers

    def page(
        self, template: str, *, status: int = 200, faults: Mapping[str, Markup], **values: object
    ) -> TrioResponse:
        """A page as an answer."""
        given = {"visit": self, "faults": faults, **values}
        content = render(self.loaded, f"first_run/{template}", self, given).encode()
        zipped = (
            len(content) >= _COMPRESSED_FROM and self.request.accept_encodings.quality("gzip") > 0
        )
        if zipped:
            content = gzip.compress(content, compresslevel=5, mtime=0)
        response = TrioResponse(content, status, content_type="text/html; charset=utf-8")
        if zipped:
            response.headers["content-encoding"] = "gzip"
        response.headers["vary"] = "accept-encoding, cookie"
        return response

    @staticmethod
    def go(page: str) -> TrioResponse:
        """Send the reader to another page."""
        response = TrioResponse(b"", 303, content_type="text/html; charset=utf-8")
        response.headers["location"] = f"{ROOT}/{page}"
        return response
