"""The pages' templates: all values are escaped, and a missing value is an error.

Templates call what their reader needs as if it were global (``_``, ``money``, ``ago``): drawing
never waits, so one variable is enough to hold the reader. They are compiled in a thread, all at the
first page: a page that comes during a flood of messages must not hold the flood up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import trio
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.people import Language
from risala.engine.model.records.fields import NAME_MAX
from risala.http.common.assets import asset_response
from risala.http.common.problems import plain
from risala.http.web.assets import PLACE, Shelf, load_shelf
from risala.http.web.cached import QuickEnvironment, as_markup, caching
from risala.http.web.charts import (
    bars_svg,
    curves_svg,
    funnel_svg,
    spark_svg,
    strip_svg,
    times_svg,
    top_of,
)
from risala.http.web.face import WebFace
from risala.http.web.formats import Formats, bare_formats
from risala.http.web.languages import OWN_NAMES, STATES, Words, direction_of, load_words
from risala.http.web.live import PIECE_END

_BADGES_KEPT: Final = 512
"""States as they are drawn in each language: there are some forty, and answers of servers."""
OWN: Final = Path(__file__).parent / "templates"
_ISOLATE: Final = re.compile(r"<bdi\b[^>]*>")
_FOR: ContextVar[PageReader] = ContextVar("risala_reader")
_FORMATS: Final = (
    *(
        "plain",
        "num",
        "nums",
        "pace",
        "share",
        "money",
        "typed",
        "tel",
        "tel8",
        "date",
        "date_text",
    ),
    *("clock", "moment", "moment_text", "ago", "lasting", "clock_text", "unit", "counter_words"),
)
"""Methods of :class:`Formats` that templates call by their bare names."""


class PageReader(Protocol):
    """The reader of a page."""

    @property
    def formats(self) -> Formats: ...

    def marks(self, *, once: bool = False) -> Markup:
        """The hidden fields without which a form is not taken."""

    def at(self, page: str, **query: str) -> str:
        """The address of a page of the current organization."""

    @property
    def face(self) -> WebFace:
        """The face of the pages."""

    def may(self, access: str) -> bool:
        """Whether the reader has the role that something needs."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The parts that are read once."""

    environment: Environment
    shelf: Shelf
    words: Mapping[Language, Words]


class Templates:
    """All templates, from the folders of the faces that are mounted."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = (OWN, *folders)
        self._loaded: Loaded | None = None
        self._loading = trio.Lock()

    async def load(self) -> Loaded:
        """Everything, read and compiled; the first time in a thread."""
        if self._loaded is None:
            async with self._loading:
                if self._loaded is None:
                    self._loaded = await trio.to_thread.run_sync(_load, self._folders)
        return self._loaded

    async def static(self, name: str) -> TrioResponse:
        """The answer for a file of the shelf.

        Raises:
            Problem: there is no such file.
        """
        asset = (await self.load()).shelf.assets.get(PLACE + name)
        if asset is None:
            raise plain(404)
        return asset_response(asset)


@cache
def _load(folders: tuple[Path, ...]) -> Loaded:
    # Cached: the content of the package does not change, and half a second is long in a test.
    shelf = load_shelf()
    environment = _environment(folders, shelf)
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)
    return Loaded(environment, shelf, {each: load_words(each) for each in Language})


def render(loaded: Loaded, name: str, reader: PageReader, values: Mapping[str, object]) -> str:
    """A page as text."""
    token = _FOR.set(reader)
    try:
        return loaded.environment.get_template(name).render(values)
    finally:
        _FOR.reset(token)


def _environment(folders: Sequence[Path], shelf: Shelf) -> Environment:
    environment = QuickEnvironment(
        loader=ChoiceLoader([FileSystemLoader(folder) for folder in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    environment.globals.update(
        {
            "drawn_once": caching(environment, _FOR, bare_formats),
            "_": lambda sentence, **holes: _FOR.get().formats.words(sentence, **holes),
            "counted": lambda *forms, **holes: _FOR.get().formats.words.counted(*forms, **holes),
            "among": lambda *texts, **holes: _FOR.get().formats.words.among(*texts, **holes),
            "marks": lambda **options: _FOR.get().marks(**options),
            "at": lambda page, **query: _FOR.get().at(page, **query),
            "piece_end": PIECE_END,
            "root": lambda: _FOR.get().face.root,
            "may": lambda access: _FOR.get().may(access),
            "asset": lambda name: shelf.addresses[name],
            "icon": _icon(shelf),
            "badge": _badge(shelf),
            "bars_svg": bars_svg,
            "curves_svg": curves_svg,
            "funnel_svg": funnel_svg,
            "spark": spark_svg,
            "strip_svg": strip_svg,
            "times_svg": times_svg,
            "top_of": top_of,
            "language": lambda: _FOR.get().formats.words.language,
            "direction": lambda: direction_of(_FOR.get().formats.words.language),
            "languages": OWN_NAMES,
            "title_text": title_text,
            "name_max": NAME_MAX,
            **{name: _bound(name) for name in _FORMATS},
        }
    )
    return environment


def title_text(title: Markup) -> str:
    """A page's title without its elements, which browsers would show as text: marks hold apart
    what the elements did."""
    return as_markup(_ISOLATE.sub("\u2068", title).replace("</bdi>", "\u2069")).striptags()


def _bound(name: str) -> Callable[..., object]:
    def call(*arguments: Any, **named: Any) -> object:  # noqa: ANN401 -- as the method takes them
        return getattr(_FOR.get().formats, name)(*arguments, **named)

    return call


def _icon(shelf: Shelf) -> Callable[..., Markup]:
    sprite = shelf.addresses["icons.svg"]

    @cache
    def icon(name: str, classes: str = "") -> Markup:
        return Markup('<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>').format(
            f"icon {classes}".strip(), sprite, name
        )

    return icon


def _badge(shelf: Shelf) -> Callable[..., Markup]:
    icon = _icon(shelf)

    # By type too: text and markup of the same letters are equal as keys.
    @lru_cache(_BADGES_KEPT, typed=True)
    def drawn(words: Words, state: str, word: str | None) -> Markup:
        known = STATES[state]
        return Markup('<span class="badge is-{}">{}{}</span>').format(
            state,
            icon(known.shape, "turn" if known.turns else ""),
            word or words.among("state", known.word),
        )

    def badge(state: str, word: str | None = None) -> Markup:
        """A state: a shape, a word, and a colour behind both."""
        return drawn(_FOR.get().formats.words, state, word)

    return badge
