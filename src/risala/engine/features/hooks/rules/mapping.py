"""Which parts of a program's request are the number, the text, the code. Pure.

A **source** says where a value is: a JSON pointer (RFC 6901) such as ``/user/phone``, in which
``*`` stands for each item of a list; the name of a field of a form or query (of a JSON body: its
member); ``header:NAME``; ``body:``, the whole body; or ``=word``, the word itself. ``|`` separates
alternatives: the first that is there. The text may also be a **template**: words with
``{{SOURCE}}``, and ``{{count:SOURCE}}`` for the length of a list. A line that has sources is left
out if none of them is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from risala.dataclass import dataclass

Reads = Literal["any", "json", "form", "query", "text"]
Line = tuple["str | HookSource", ...]
"""Words and sources of a line of a template, in their order."""
SOURCE_CHARACTERS_MAX: Final = 200
TEMPLATE_CHARACTERS_MAX: Final = 480
"""The most characters of a template, as of one for codes: a longer one is a mistake."""
POINTER_DEPTH_MAX: Final = 16
"""Parts of a pointer: no program's own JSON is as deep."""
ALTERNATIVES_MAX: Final = 8
_WORDS: Final = ("to", "code", "sender", "reference", "locale", "once")
"""Members of a mapping that are sources; ``each`` and ``text`` have forms of their own."""
_READS: Final[tuple[Reads, ...]] = ("any", "json", "form", "query", "text")
_HOLE: Final = re.compile(r"\{\{(.*?)\}\}")
_FIELD: Final = re.compile(r"[^/=:|{}\s][^|{}\s]*")
_HEADER: Final = re.compile(r"[A-Za-z0-9-]+")
_COUNT: Final = "count:"
_ESCAPE: Final = re.compile(r"~(?![01])")


@dataclass(frozen=True, slots=True)
class SourceChoice:
    """One alternative of a source."""

    kind: Literal["pointer", "field", "header", "body", "word"]
    parts: tuple[str, ...]
    """A pointer's parts without their escapes; otherwise the name or the word alone."""


@dataclass(frozen=True, slots=True)
class HookSource:
    written: str
    """The source as it is written in the mapping: how faults name it."""
    choices: tuple[SourceChoice, ...]
    is_count: bool = False
    """Whether the length of the list is meant, not the list."""


@dataclass(frozen=True, slots=True)
class HookMapping:
    """Which parts of a request are what. None: it is not read."""

    reads: Reads = "any"
    """The parts of a request that have fields: the body by its content type, then the query; or one
    of them alone. ``text``: the body is words, and nothing is looked up in it."""
    each: tuple[str, ...] | None = None
    """The pointer to the list of messages; every other pointer is then looked up in the list's
    item, and, if it is not there, in what that item is in."""
    to: HookSource | None = None
    code: HookSource | None = None
    text: tuple[Line, ...] = ()
    """A source alone, or the lines of a template; empty: there is no text."""
    is_template: bool = False
    sender: HookSource | None = None
    reference: HookSource | None = None
    locale: HookSource | None = None
    once: HookSource | None = None
    only: tuple[tuple[tuple[str, ...], str], ...] = ()
    """Pointers, and the word that each must have; a request of which one has another sends nothing,
    and nothing is wrong with it."""
    is_cut: bool = False
    """Whether a text that is too long is cut, as an alert's is, and not refused."""


class MappingError(ValueError):
    """A mapping is wrong; the sentence says how."""


def mapping_of(table: Mapping[str, object], *, is_cut: bool = False) -> HookMapping:
    """A mapping as it is written in TOML or JSON.

    Raises:
        MappingError: it is none.
    """
    unknown = sorted(set(table) - {*_WORDS, "reads", "each", "text", "only"})
    if unknown:
        raise MappingError(f"A mapping has no `{unknown[0][:40]}`.")
    for name, value in table.items():
        if not isinstance(value, str):
            raise MappingError(f"`{name}` must be a text.")
    words = {name: str(value) for name, value in table.items()}
    reads = words.get("reads", "any")
    if reads not in _READS:
        raise MappingError("`reads` is one of `any`, `json`, `form`, `query` and `text`.")
    if not words.get("text") and not words.get("code"):
        raise MappingError("A mapping needs `text` or `code`.")
    text, is_template = _text_of(words.get("text", ""))
    sources = {name: _source_of(name, words[name]) for name in _WORDS if words.get(name)}
    each = words.get("each")
    return HookMapping(
        reads=_READS[_READS.index(reads)],
        each=None if not each else _pointer_of("each", each),
        text=text,
        only=tuple(_condition_of(word) for word in words.get("only", "").split()),
        is_template=is_template,
        is_cut=is_cut,
        **sources,
    )


def _text_of(written: str) -> tuple[tuple[Line, ...], bool]:
    if not written:
        return (), False
    if "{{" not in written:
        return ((_source_of("text", written),),), False
    if len(written) > TEMPLATE_CHARACTERS_MAX:
        raise MappingError(f"A template has at most {TEMPLATE_CHARACTERS_MAX} characters.")
    return tuple(tuple(_pieces(line)) for line in written.splitlines()), True


def _condition_of(written: str) -> tuple[tuple[str, ...], str]:
    pointer, equals, word = written.rpartition("=")
    if not equals or not word:
        raise MappingError("`only` has conditions such as `/event=created`, with spaces between.")
    return _pointer_of("only", pointer), word


def _pieces(line: str) -> Iterator[str | HookSource]:
    # The words between the holes and the holes in turn.
    for place, piece in enumerate(_HOLE.split(line)):
        if place % 2:
            yield _source_of("text", piece.strip(), is_counted=True)
        elif "{{" in piece or "}}" in piece:
            raise MappingError("In a template, `{{` and `}}` stand around a source.")
        elif piece:
            yield piece


def _source_of(name: str, written: str, *, is_counted: bool = False) -> HookSource:
    if len(written) > SOURCE_CHARACTERS_MAX:
        raise MappingError(f"A source of `{name}` has at most {SOURCE_CHARACTERS_MAX} characters.")
    is_count = is_counted and written.startswith(_COUNT)
    alternatives = (written.removeprefix(_COUNT) if is_count else written).split("|")
    if len(alternatives) > ALTERNATIVES_MAX:
        raise MappingError(f"A source of `{name}` has at most {ALTERNATIVES_MAX} alternatives.")
    choices = tuple(_choice_of(name, each.strip()) for each in alternatives)
    return HookSource(written, choices, is_count)


def _choice_of(name: str, written: str) -> SourceChoice:
    if written.startswith("/"):
        return SourceChoice("pointer", _pointer_of(name, written))
    if written.startswith("="):
        return SourceChoice("word", (written[1:],))
    if written == "body:":
        return SourceChoice("body", ())
    if written.lower().startswith("header:") and _HEADER.fullmatch(written[7:]):
        return SourceChoice("header", (written[7:].lower(),))
    if not _FIELD.fullmatch(written) or ":" in written:
        raise MappingError(
            f"A source of `{name}` is a pointer such as `/to`, a field's name, `header:NAME`, "
            f"`body:` or `=word`."
        )
    return SourceChoice("field", (written,))


def _pointer_of(name: str, written: str) -> tuple[str, ...]:
    if not written.startswith("/") or _ESCAPE.search(written):
        raise MappingError(f"`{name}` must be a JSON pointer, such as `/messages`.")
    parts = written[1:].split("/")
    if len(parts) > POINTER_DEPTH_MAX:
        raise MappingError(f"A pointer has at most {POINTER_DEPTH_MAX} parts.")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)
