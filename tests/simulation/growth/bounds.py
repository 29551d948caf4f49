"""What is bounded, its limit, and the most that was ever in it."""

from __future__ import annotations

import ast
import types
from collections import deque
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import trio
from tests.simulation.growth.containers import SOURCE

from risala.config.model import Settings

LIST = Path(__file__).with_name("bounds.txt")
WORDS = (
    "cached",
    "configured",
    "organizations",
    "fixed",
    "flight",
    "flushed",
    "request",
    "call",
    "unit",
    "upgrade",
)
"""Bounds that are no number; the list says what each means."""
HOLDERS = dict | list | set | deque
SHOWN = ("configured", "organizations", "flight", "flushed")
"""Words of bounds that are worth a row beside those that are numbers."""
_DEEP_MAX = 12


@dataclass(frozen=True)
class Bound:
    container: str
    """``engine/limits/limits.py Limits._histories``."""
    by: str
    """A constant, a setting, or one of :data:`WORDS`."""

    @property
    def path(self) -> str:
        return self.container.partition(" ")[0]

    @property
    def name(self) -> str:
        return self.container.partition(" ")[2]

    def limit(self, settings: Settings) -> int | None:
        """The number; None where the bound is a word.

        Raises:
            LookupError: there is no such constant or setting.
        """
        return None if self.by in WORDS else limit_of(self.by, settings, self.path)


def limit_of(by: str, settings: Settings, path: str = "") -> int:
    """The number that is written so: itself, a setting, a constant of this module or another.

    Raises:
        LookupError: there is no such constant or setting.
    """
    if by.isdecimal():
        return int(by)
    if by.startswith("setting:"):
        value: Any = settings
        for word in by.removeprefix("setting:").split("."):
            if not hasattr(value, word):
                raise LookupError(f"no setting {by}")
            value = getattr(value, word)
        return int(value)
    other, _, name = by.rpartition(":")
    return _constant(other or path, name)


@cache
def listed() -> dict[str, Bound]:
    lines = LIST.read_text("utf-8").splitlines()
    found = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return {container: Bound(container, by) for container, by in found}


@cache
def _constant(path: str, name: str) -> int:
    tree = ast.parse((SOURCE / path).read_text("utf-8"))
    written = {
        ast.unparse(node.target): node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and node.value is not None
    }
    taken = {
        alias.name: (node.module or "").removeprefix("risala.").replace(".", "/")
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    if name in taken:
        return _constant(f"{taken[name]}.py", name)
    if name not in written:
        raise LookupError(f"{path} has no {name}")
    others = {each.id for each in ast.walk(written[name]) if isinstance(each, ast.Name)}
    known = {each: _constant(path, each) for each in others}
    return int(eval(ast.unparse(written[name]), {}, known))


class Bounds:
    """The most that was ever in each container of a world's engines."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.highest: dict[str, tuple[int, str]] = {}
        """By container: the most in it, and its limit in words."""
        self.faults: list[str] = []

    def look(self, *roots: object) -> None:
        """Walk all that is reached from here, and count."""
        known = {(each.path, each.name): each for each in listed().values()}
        seen: set[int] = set()
        waiting: list[tuple[object, int]] = [(root, 0) for root in roots]
        while waiting:
            thing, depth = waiting.pop()
            if id(thing) in seen or depth > _DEEP_MAX:
                continue
            seen.add(id(thing))
            module = type(thing).__module__
            if isinstance(thing, HOLDERS):
                inside = thing.values() if isinstance(thing, dict) else thing
                waiting += [(each, depth + 1) for each in [*inside][:50]]
            elif isinstance(thing, types.MethodType):
                waiting.append((thing.__self__, depth + 1))
            elif module.startswith("risala."):
                for name, value in _attributes(thing):
                    for kind in type(thing).__mro__:
                        at = kind.__module__.removeprefix("risala.").replace(".", "/") + ".py"
                        if (bound := known.get((at, f"{kind.__name__}.{name}"))) is not None:
                            self._note(bound, value)
                    waiting.append((value, depth + 1))

    def _note(self, bound: Bound, value: object) -> None:
        used = _size(value)
        limit = bound.limit(self._settings)
        if used is None or (limit is None and bound.by not in SHOWN):
            return
        if limit is not None and used > limit:
            self.faults.append(f"{bound.container} has {used}, its limit is {limit}")
        before, _ = self.highest.get(bound.container, (0, ""))
        self.highest[bound.container] = (max(before, used), shown(limit, bound.by, bound.by))


def shown(limit: int | None, by: str, words: str) -> str:
    """A limit for the page: the number, and the constant or setting that says it."""
    if limit is None:
        return words
    name = by.removeprefix("setting:").rpartition(":")[2]
    return f"{limit:,}" if name.isdecimal() else f"{limit:,} (`{name}`)"


def _size(value: object) -> int | None:
    if isinstance(value, HOLDERS | bytes | bytearray):
        return len(value)
    if isinstance(value, trio.MemorySendChannel):
        return value.statistics().current_buffer_used
    if hasattr(value, "qsize"):
        return int(value.qsize())
    return None


def _attributes(thing: object) -> list[tuple[str, object]]:
    found = [*getattr(thing, "__dict__", {}).items()]
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            found += [(name, getattr(thing, name))] if hasattr(thing, name) else []
    return found
