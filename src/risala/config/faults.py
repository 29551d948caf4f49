"""Faults of settings: where, from which source, and what to do.

::

    ConfigError     the operator's fault: correct the file or the variable and start again

No sentence here repeats a value, which may be a secret in the wrong place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic_core import ErrorDetails

from risala.config import schema

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault."""

    key: str
    """``carriers[0].rate_per_s``; empty: the file itself."""
    text: str
    """What to do, as the rest of a sentence about ``key``."""
    source: str
    """``risala.toml``, ``environment variable RISALA_HTTP__PORT`` or ``command line``."""

    def __str__(self) -> str:
        return f"{self.key}: {self.text} ({self.source})" if self.key else self.text


class ConfigError(Exception):
    """The settings cannot be used. The message lists every fault."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        """In the order of their key paths; for one key, in the order in which they were found."""
        lines = [str(fault) for fault in self.faults]
        if len(lines) > 1:
            lines = [f"The settings have {len(lines)} faults:", *(f"  {line}" for line in lines)]
        super().__init__("\n".join(lines))


@dataclass(frozen=True, slots=True)
class Origins:
    """The source of each key path."""

    default: str
    by_path: Mapping[Path, str]

    def of(self, path: Sequence[str | int]) -> str:
        """The source of the nearest setting above ``path``, else of any below it."""
        key = tuple(path)
        for length in range(len(key), 0, -1):
            if source := self.by_path.get(key[:length]):
                return source
        below = (src for at, src in self.by_path.items() if at[: len(key)] == key)
        return next(below, self.default)


def from_pydantic(errors: Iterable[ErrorDetails], origins: Origins) -> list[Fault]:
    """Plain sentences for the model's faults."""
    return [
        Fault(schema.key_of(error["loc"]), _sentence(error), origins.of(error["loc"]))
        for error in errors
    ]


def _sentence(error: ErrorDetails) -> str:
    path = error["loc"]
    if error["type"] == "extra_forbidden":
        return unknown(path)
    context: Mapping[str, Any] = error.get("ctx", {})
    if error["type"] == "value_error":
        return str(context["error"])
    requirement = wanted_at(path)
    if error["type"] == "missing":
        return f"is missing; add it. It must be {requirement}"
    return f"must be {requirement}"


def wanted_at(path: Sequence[str | int]) -> str:
    """The values that the setting at ``path`` may have, with their unit."""
    node = schema.node_at(path)
    words = schema.allowed(node) if node else "something else"
    unit = schema.unit_of(str(path[-1])) if path else ""
    return f"{words}, in {unit}" if unit in ("seconds", "bytes") else words


NEAR: Final = 0.6
"""How similar two names are if one counts as a misspelling of the other (1: the same)."""
NEAR_TABLE: Final = 0.8
"""For tables: `server` is not a misspelt `service`; there the whole list helps more."""


def unknown(path: Sequence[str | int], also: Iterable[str] = ()) -> str:
    """The sentence for an unknown key, with the nearest known one."""
    *parent, name = path
    node = schema.node_at(parent)
    known = [*(schema.names_in(node) if node else ()), *also]
    # With the first fault: a service whose settings are right does without the module.
    from difflib import get_close_matches

    near = get_close_matches(str(name), known, n=1, cutoff=NEAR if parent else NEAR_TABLE)
    if near:
        return f'there is no such setting; did you mean "{near[0]}"?'
    if not parent:
        return f"there is no such table; there are {', '.join(sorted(known))}"
    return "there is no such setting; take it away"
