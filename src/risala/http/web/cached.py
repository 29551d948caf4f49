"""Parts of pages that are drawn once for the same arguments, and kept.

The template of such a part is below ``kept/``. It gets its arguments and the language, and nothing
else: the reader, their organization, the marks of their forms and the data are out of its reach, so
that no data of one reader can be kept for another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import Any, Final, Generic, NoReturn, Protocol, TypeVar

from jinja2 import Environment
from jinja2.runtime import Context
from markupsafe import Markup

KEPT_MAX: Final = 2000
"""Parts of two thousand letters on average: some 8 MB. An organization has about forty for each
role and language of its readers; the least recently used are dropped and drawn again."""
_FOLDER: Final = "kept/"


class FormatsOfWords(Protocol):
    """The formats of a reader."""

    @property
    def words(self) -> Hashable:
        """The sentences of their language."""


F = TypeVar("F", bound=FormatsOfWords)


class NoReader(Generic[F]):
    """The reader of a part that is the same for all readers of a language."""

    def __init__(self, formats: F) -> None:
        self.formats = formats

    @property
    def face(self) -> NoReturn:
        raise _for_everybody("a face")

    def marks(self, *, once: bool = False) -> NoReturn:
        raise _for_everybody("marks")

    def at(self, page: str, **query: str) -> NoReturn:
        raise _for_everybody("an address")

    def may(self, access: str) -> NoReturn:
        raise _for_everybody("a role")


def _for_everybody(what: str) -> RuntimeError:
    return RuntimeError(f"what is kept for everybody has not {what}: hand it in as an argument")


def caching(
    environment: Environment, reader: ContextVar[Any], bare: Callable[[Any], FormatsOfWords]
) -> Callable[..., Markup]:
    """The function that templates call as ``drawn_once("name.html", argument=…)``.

    Args:
        reader: the reader of the page.
        bare: the formats of some words, without a reader's clock and money.
    """

    # By type too: text and markup of the same letters are equal as keys, and drawn differently.
    @lru_cache(KEPT_MAX, typed=True)
    def drawn(words: Hashable, name: str, names: tuple[str, ...], *values: Hashable) -> Markup:
        if any(isinstance(each, tuple | frozenset) for each in values):
            raise TypeError("of what is inside an argument nobody can tell text from markup")
        token = reader.set(NoReader(bare(words)))
        try:
            values_of = dict(zip(names, values, strict=True))
            return as_markup(environment.get_template(_FOLDER + name).render(values_of))
        finally:
            reader.reset(token)

    def drawn_once(name: str, **arguments: Any) -> Markup:  # noqa: ANN401 -- whatever can be a key
        return drawn(reader.get().formats.words, name, (*arguments,), *arguments.values())

    return drawn_once


# Jinja made faster for our templates, whose called functions need no context.
#
# A page of a list makes five hundred calls. Jinja checks each time, for any kind of template, what
# is known in advance for ours; the output stays the same.

as_markup: Final[Callable[[str], Markup]] = partial(str.__new__, Markup)
"""Makes markup of text that is markup already: all that is not ours in it has been escaped.

``Markup`` itself first asks each text whether it is an object that draws itself."""


class QuickContext(Context):
    """Makes the calls of a template without checking first whether the function wants a context."""

    def __init__(self, *positional: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*positional, **named)
        # Our templates have no globals of their own, which each import would look for.
        self.globals_keys = set()

    def call(
        self,
        called: Callable[..., Any],
        /,
        *positional: Any,  # noqa: ANN401 -- as it takes them
        _loop_vars: object = None,
        _block_vars: object = None,
        **named: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        return called(*positional, **named)


class QuickEnvironment(Environment):
    context_class: type[Context] = QuickContext
