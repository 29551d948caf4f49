"""Requests of faces: the name of an operation, and the type of its answer.

A face imports asks and records, never the operations themselves: a command starts without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from risala.dataclass import dataclass

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """An operation in the form for faces."""

    name: str
    result: type[R]


@dataclass(frozen=True, slots=True)
class FeatureAccess(Generic[R]):
    """What a feature offers that is no operation: ``R`` is its shape."""

    feature: str


class Versioned(NamedTuple, Generic[R]):
    """An operation's answer with its version."""

    value: R
    version: int | None
    """The version of the object, if it can be edited: an edit sends it back, so that it does not
    overwrite an unseen change. None: the operation edits nothing."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """An answer in JSON, from a service that may be older or newer than the caller."""

    value: R
    json: Mapping[str, Any]
    """The whole answer, including members unknown to the record."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Done, without an answer."""
