"""The doctor's findings for strangers' eyes: what may be shown in a public report of a fault.

Of a text only words stay that Risala itself writes: those in the sentences of its own code. Names,
numbers, addresses, paths and whatever a carrier said are left out, whoever chose them.
"""

from __future__ import annotations

import dis
import inspect
import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pkgutil import walk_packages
from types import CodeType
from typing import Any, Final, get_args

from pydantic import BaseModel

import risala
from risala.config.model import Settings
from risala.engine.journal.store.opening import SQLITE_VERSION
from risala.engine.model.findings import Finding

GONE: Final = "…"
_ROOMS: Final = (
    *("risala.engine.features", "risala.engine.upkeep", "risala.engine.model"),
    *(
        "risala.engine.journal.store",
        "risala.engine.journal.upkeep",
        "risala.engine.journal.people",
    ),
    *("risala.config", "risala.drivers"),
)
"""Whose sentences findings are made of."""
_AROUND: Final = "`'\"“”‘’«»()[]{}<>,.;:!?…"
"""Signs beside a word."""
_SMALL: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,2} ?%?")
"""A count, a size, a version; no phone number, PIN, code, port or address."""
_NUMBER: Final = re.compile(r"\+?\d(?:[\s().\-]*\d){4,}")
"""Five digits and more, written in groups or in one."""
_SETTING: Final = re.compile(r"[a-z_]+(?:\[\d{1,2}\])?(?:\.[a-z_]+)+")
"""Where a fault of the settings is: ``carriers[0].rate_per_s``."""
_WORD: Final = re.compile(r"\S+")
_DIGITS_MAX: Final = 3
"""Of a word in our own sentences: some of them have an example of a number."""
_FRENCH: Final = re.compile(r"(?i)\b(?:les?|la|des?|du|une?|est|votre|vous|pour|pas)\b")
"""Sentences for people whose language is French: findings are English."""
_HEAD_MAX: Final = 12
"""Instructions of a module or class among which its docstring is stored."""
_PUBLIC: Final = frozenset({"driver", "preset"})
"""Settings whose values are words of ours."""
_KNOWN_MIN: Final = 3
"""Characters of a value that is looked for: a shorter one is a part of many words."""


def redacted(findings: Iterable[Finding], known: Iterable[str]) -> list[Finding]:
    """The findings with nothing in them but words of ours and small numbers.

    Args:
        known: names and values of this installation: left out even where they are words of ours.
    """
    values = _pattern(known)
    return [
        Finding(_shown(each.name, None), each.state, _shown(each.text, values)) for each in findings
    ]


def _shown(text: str, known: re.Pattern[str] | None) -> str:
    if known is not None:
        text = known.sub(GONE, text)
    text = _NUMBER.sub(GONE, text)
    shown = _WORD.sub(lambda hit: hit[0] if _may_stay(hit[0]) else GONE, text)
    return re.sub(rf"{GONE}(?:\s+{GONE})+", GONE, shown)


def _may_stay(word: str) -> bool:
    bare = word.strip(_AROUND)
    if not bare or bare.lower() in vocabulary() or _SMALL.fullmatch(bare):
        return True
    return _SETTING.fullmatch(bare) is not None and _names(bare) <= setting_names()


def _names(setting: str) -> frozenset[str]:
    """The names in a setting's place: ``carriers`` and ``rate_per_s``."""
    return frozenset(re.findall(r"[a-z_]+", setting))


@cache
def setting_names() -> frozenset[str]:
    """The names of all settings: a fault says which one it is about."""
    known: set[str] = set()
    left: list[Any] = [Settings]
    while left:
        each = left.pop()
        for name, field in each.model_fields.items():
            if name not in known:
                known.add(name)
                left += _models(field.annotation)
    return frozenset(known)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    """The models within an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _pattern(known: Iterable[str]) -> re.Pattern[str] | None:
    """Where one of the values stands, the longest first; None: there are none."""
    values = {value.strip() for value in known if len(value.strip()) >= _KNOWN_MIN}
    if not values:
        return None
    alternatives = "|".join(re.escape(each) for each in sorted(values, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)", re.IGNORECASE)


@cache
def vocabulary() -> frozenset[str]:
    """The words of our own sentences, in small letters. Reads half of the package: a second."""
    words = (
        word.strip(_AROUND).lower()
        for sentence in _sentences()
        for word in sentence.split()
        if sum(map(str.isdigit, word)) <= _DIGITS_MAX
    )
    return frozenset(words)


def _sentences() -> Iterator[str]:
    for room in _ROOMS:
        spec = find_spec(room)
        if spec is None or spec.submodule_search_locations is None:
            continue
        for each in walk_packages(spec.submodule_search_locations, f"{room}."):
            loader: Any = each.module_finder.find_spec(each.name, None)
            code = loader and loader.loader and loader.loader.get_code(each.name)
            if isinstance(code, CodeType):
                yield from _texts(code)


def _texts(code: CodeType) -> Iterator[str]:
    """The English texts in code that are parts of sentences: not names, and not what explains the
    code."""
    explained = _explanation(code)
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _texts(value)
        elif isinstance(value, str) and value is not explained and _is_ours(value):
            yield value


def _is_ours(text: str) -> bool:
    """Whether a text is a part of an English sentence."""
    return " " in text and text.replace(GONE, "").isascii() and not _FRENCH.search(text)


def _explanation(code: CodeType) -> object:
    """The docstring of code; None: it has none, or says nothing."""
    if "__doc__" in code.co_names:  # of a module or a class
        last: object = None
        for each in islice(dis.get_instructions(code), _HEAD_MAX):
            if each.argval == "__doc__":
                return last
            last = each.argval
        return None
    says = bool(code.co_flags & getattr(inspect, "CO_HAS_DOCSTRING", ~0))  # told since 3.13
    return code.co_consts[0] if says and code.co_consts else None


def values_of(settings: object, name: str = "") -> Iterator[str]:
    """The texts in settings as they are written, but words of ours."""
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            yield from values_of(value, str(key))
    elif isinstance(settings, list):
        for value in settings:
            yield from values_of(value, name)
    elif isinstance(settings, str) and name not in _PUBLIC:
        yield settings


def about(settings: Settings | None) -> dict[str, str]:
    """What a report of a fault begins with: versions, the system, how many carriers by driver."""
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        system = platform.system()
    versions = {
        "risala": risala.__version__,
        "python": platform.python_version(),
        "sqlite": ".".join(map(str, SQLITE_VERSION)),
        "system": system,
        "kernel": platform.release(),
        "machine": platform.machine(),
    }
    if settings is not None:
        drivers = Counter(each.driver for each in settings.carriers)
        counted = (f"{_shown(name, None)} {count}" for name, count in sorted(drivers.items()))
        versions["carriers"] = ", ".join(counted) or "none"
    return versions
