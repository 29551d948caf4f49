"""What a caller says of a code that it asks for, and how much of it."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED

NAME: Final = "session_details"
"""The feature's, by which sessions name it."""

TEMPLATES_MAX: Final = 20
"""Texts of codes by name that an organization has in a language."""


@dataclass(frozen=True, slots=True)
class CodeTemplate:
    """A text of codes that requests choose by name."""

    organization_id: Annotated[str, UNAUDITED]
    name: Annotated[str, AUDITED]
    language: Annotated[str, AUDITED]
    """Empty: for codes in any other language."""
    text: Annotated[str, AUDITED]


@dataclass(frozen=True, slots=True)
class CodeTemplates:
    """An organization's texts of codes by name."""

    organization_id: Annotated[str, UNAUDITED]
    templates: Annotated[tuple[CodeTemplate, ...], UNAUDITED]


TEMPLATES: Final = Ask("verify.templates", CodeTemplates)


@dataclass(frozen=True, slots=True)
class SaidDetails:
    """What a caller said of a session, as it is stored."""

    verification_id: str
    organization_id: str
    mode: str
    created_at: int
    client: str | None = None
    """The mark of the user's address: the same for the same address in one organization, and no
    more."""
    user_agent: str | None = None
    tags: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Names of what is sealed: ``code``, ``amount`` and so on. They stay when that is gone."""
    sealed: bytes | None = field(default=None, repr=False)
    """JSON of what only the session needs; None: there is none, or the session has ended."""
