"""What the reference tells of one endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

EVERY = (405, 500)
"""Any endpoint may answer so."""
WITH_BODY = (400, 401, 403, 408, 413, 415, 503, *EVERY)
"""And so may any that wants a key and a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOperation:
    path: str
    method: str = "post"
    name: str
    """The operationId: clients are generated with methods of this name."""
    tag: str
    summary: str
    description: str
    body: type[BaseModel] | None = None
    """None: it takes none, and no key either."""
    answer: type[BaseModel] | None = None
    """None: ``answer_types`` tells what 200 is."""
    answer_types: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, Any] = field(default_factory=dict)
    """What to ask next with what 200 brought."""
    errors: tuple[int, ...] = EVERY
    body_examples: Mapping[str, Any] = field(default_factory=dict)
    answer_examples: Mapping[str, Any] = field(default_factory=dict)
