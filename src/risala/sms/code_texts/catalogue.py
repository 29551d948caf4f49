"""The texts of one-time codes by language: those of this folder, and those that an operator adds.

A file is named after its language, ``sw.toml``, and has four texts: see :class:`CodeText`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from risala.dataclass import dataclass
from risala.sms.segment import count, whole_capacity

BUILT_IN: Final = ("ar", "en", "es", "fr", "ha", "pt", "sw", "tr", "wo")
"""The languages that are built in."""
LANGUAGES_MAX: Final = 100
"""Files of a folder: pages show a text for each."""
FILE_BYTES_MAX: Final = 16_384
NAME_CHARACTERS_MAX: Final = 40
LINE_CHARACTERS_MAX: Final = 100
"""Characters of a line that is added to a code's text, which then takes two segments at most."""
_ENDING: Final = ".toml"
_LONGEST: Final = {"{{code}}": "00000000", "{{expiry_minutes}}": "60"}
"""What stands longest in the places of a code's text."""
_MUST: Final = {
    "name": frozenset[str](),
    "code": frozenset(("{{code}}",)),
    "payment": frozenset(("{{amount}}", "{{currency}}", "{{payee}}")),
    "never_share": frozenset[str](),
}
"""The texts of a file, and the placeholders that each must contain."""
_MAY: Final = {"code": frozenset(("{{expiry_minutes}}",))}

_JOINERS: Final = dict.fromkeys((0x200C, 0x200D))
"""Persian is written with them."""

_is_language: Final = re.compile(r"[a-z]{2,3}(-[a-z]{2})?").fullmatch
_placeholder: Final = re.compile(r"\{\{.*?\}\}")
has_link: Final = re.compile(
    r"://|\bwww\b|[^\s.\u3002\uff0e\uff61][.\u3002\uff0e\uff61][^\W\d_]{2}"
    r"|\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b",
    re.IGNORECASE,
).search
"""Finds what phones show as a link: addresses, names of hosts, IPv4 addresses."""


@dataclass(frozen=True, slots=True)
class CodeText:
    """What is said in one language."""

    name: str
    """The language's name in itself."""
    code: str
    """The text of a code, with ``{{code}}`` and perhaps ``{{expiry_minutes}}``."""
    payment: str
    """The line about the payment that a code is for."""
    never_share: str
    """The line that asks its reader to keep the code to himself."""


CodeTexts = Mapping[str, CodeText]
"""Texts by language, such as ``sw`` or ``pt-br``."""


class CatalogueError(ValueError):
    """A file of texts cannot be used; the sentence says why, and what to do."""


@cache
def built_in() -> CodeTexts:
    """The texts that are built in. They are read when they are first wanted, and kept."""
    folder = resources.files(__package__)
    return MappingProxyType(
        {
            each: _read(f"{each}{_ENDING}", (folder / f"{each}{_ENDING}").read_bytes())
            for each in BUILT_IN
        }
    )


def with_folder(folder: Path) -> CodeTexts:
    """The built-in texts and those of a folder's files, which win.

    Raises:
        CatalogueError: the folder cannot be read, or a file of it is wrong.
    """
    try:
        files = sorted(each for each in folder.iterdir() if each.suffix == _ENDING)
        if len(files) > LANGUAGES_MAX:
            raise CatalogueError(
                f"{folder} has {len(files)} files of texts. It may have {LANGUAGES_MAX}."
            )
        added = {each.stem: _read(each.name, _bounded(each)) for each in files}
    except OSError as error:
        raise CatalogueError(
            f"{error.filename or folder} cannot be read: {error.strerror}."
        ) from error
    return MappingProxyType(dict(sorted({**built_in(), **added}.items())))


def language_of(tag: str, texts: CodeTexts) -> str | None:
    """The language that a tag such as ``pt-BR`` asks for: that of the country if there is one,
    else the language alone; None: there are no texts in it."""
    whole = tag.replace("_", "-").lower()
    return next((each for each in (whole, whole.partition("-")[0]) if each in texts), None)


def _bounded(path: Path) -> bytes:
    with path.open("rb") as file:
        raw = file.read(FILE_BYTES_MAX + 1)
    if len(raw) > FILE_BYTES_MAX:
        raise CatalogueError(f"{path.name} is larger than {FILE_BYTES_MAX} bytes.")
    return raw


def _read(name: str, raw: bytes) -> CodeText:
    fault = next(_faults(name, table := _table(name, raw)), None)
    if fault is not None:
        raise CatalogueError(f"{name}: {fault}")
    return CodeText(**table)


def _table(name: str, raw: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CatalogueError(f"{name} is not UTF-8. Save it as UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CatalogueError(f"{name} is not TOML: {error}.") from error


def _faults(file: str, table: Mapping[str, Any]) -> Iterator[str]:
    if not _is_language(file.removesuffix(_ENDING)):
        yield "a file is named after its language, such as sw.toml or pt-br.toml. Rename it."
    if unknown := sorted(table.keys() - _MUST.keys()):
        yield f"there is no text {unknown[0]}. The texts are {', '.join(_MUST)}."
    for name, must in _MUST.items():
        text = table.get(name)
        if not isinstance(text, str) or not text.strip():
            yield f"the text {name} is missing. Write it in quotes."
            return
        yield from (f"{name}: {each}" for each in _text_faults(name, text, must))


def _text_faults(name: str, text: str, must: frozenset[str]) -> Iterator[str]:
    places = set(_placeholder.findall(text))
    if missing := sorted(must - places):
        yield f"the text must contain {' and '.join(missing)}."
    if unknown := sorted(places - must - _MAY.get(name, frozenset())):
        yield f"the text cannot contain {unknown[0]}."
    if not text.translate(_JOINERS).isprintable():
        yield "the text must be one line without control characters and marks of direction."
    if has_link(_placeholder.sub("0", text)):
        yield "the text must not contain a link."
    yield from _SIZES[name](text)


def _code_size(text: str) -> Iterator[str]:
    longest = text
    for place, value in _LONGEST.items():
        longest = longest.replace(place, value)
    size = count(longest)
    if size.segments > 1:
        yield (
            f"the text takes {size.units} of the {whole_capacity(size.alphabet)} characters"
            f" ({size.alphabet.value}) of one SMS, so that each code would cost more than one."
            " Shorten it."
        )


def _at_most(characters: int) -> Callable[[str], Iterator[str]]:
    def size(text: str) -> Iterator[str]:
        if len(text) > characters:
            yield f"the text has {len(text)} characters. It may have {characters}: shorten it."

    return size


_SIZES: Final[Mapping[str, Callable[[str], Iterator[str]]]] = {
    "name": _at_most(NAME_CHARACTERS_MAX),
    "code": _code_size,
    "payment": _at_most(LINE_CHARACTERS_MAX),
    "never_share": _at_most(LINE_CHARACTERS_MAX),
}
