"""An endpoint as the OpenAPI document describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from pydantic import BaseModel

from risala.dataclass import dataclass
from risala.http.api.answers import Component

EVERY = (405, 500)
"""Statuses that any endpoint may answer with."""
LEAN = " An organization with lean answers gets a `LeanMessageAnswer` for each message."
WITH_BODY = (400, 401, 403, 408, 413, 415, 503, *EVERY)
"""Statuses that any endpoint may answer with that wants a key and a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOperation:
    """One endpoint: its path, bodies, answers and words."""

    path: str
    method: str = "post"
    name: str
    """The operationId: clients are generated with methods of this name."""
    tag: str
    summary: str
    description: str
    body: type[BaseModel] | None = None
    """The model of its body; None: it takes neither a body nor a key."""
    answer: type[BaseModel] | Component | None = None
    """The answer 200; None: ``answer_types`` describes it."""
    answer_types: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, Any] = field(default_factory=dict)
    """OpenAPI links: what can be asked next with values of the answer 200."""
    errors: tuple[int, ...] = EVERY
    body_examples: Mapping[str, Any] = field(default_factory=dict)
    answer_examples: Mapping[str, Any] = field(default_factory=dict)
