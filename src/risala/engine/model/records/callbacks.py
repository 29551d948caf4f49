"""Calls that faces owe: who wants to hear of which message, and each call until it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from risala.engine.model.events import MessageEvent


@dataclass(frozen=True, slots=True)
class Callback:
    """Who is called as a message goes on."""

    credential: str
    url: str = field(repr=False)
    told: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OwedCall:
    """A call for one event of a message."""

    event: int
    message: int
    credential: str


@dataclass(frozen=True, slots=True)
class DueCall:
    event: int
    due_at: int


@dataclass(frozen=True, slots=True)
class CallToMake:
    """Everything that one attempt needs."""

    message: int
    event: MessageEvent
    event_id: str
    callback: Callback
    tries: int = 0
    """With this one."""
