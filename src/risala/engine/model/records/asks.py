"""What faces ask by: the name of an operation, and the type of its answer.

A face imports asks and records, never the operations themselves: a command starts without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """An operation, as faces know it."""

    name: str
    result: type[R]


class Versioned(NamedTuple, Generic[R]):
    """What an operation answered."""

    value: R
    version: int | None
    """Of the thing, where it can be edited: an edit hands it back, so that nobody undoes unawares
    what somebody else did since. None: the operation edits nothing."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """An answer that came as JSON, from a service that may be older or newer than who asked."""

    value: R
    json: Mapping[str, Any]
    """All of it, also what the record does not know."""
