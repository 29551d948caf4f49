"""Verify settings of an organization: the answer of their operation, and the ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, JsonName, Money


@dataclass(frozen=True, slots=True)
class Bounds:
    """The lowest and the highest value of a setting."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class CodeSettings:
    """The fields of :class:`risala.engine.rules.verify_settings.VerifySettings`, which says what
    they are."""

    code_length: Annotated[int, JsonName("code_length")]
    expiry_minutes: Annotated[int, JsonName("expiry_minutes")]
    attempts_max: Annotated[int, JsonName("attempts_max")]
    per_phone_per_hour: Annotated[int, JsonName("per_phone_per_hour")]
    per_organization_per_hour: Annotated[int, JsonName("per_organization_per_hour")]
    language: str | None
    template: str | None
    templates: Mapping[str, str]
    sender: str | None
    app_hashes: Annotated[tuple[str, ...], JsonName("app_hashes")]
    origins: tuple[str, ...]
    client_ip_per_hour: Annotated[int, JsonName("client_ip_per_hour")] = 0
    own_codes: Annotated[bool, JsonName("own_codes")] = False
    never_share: Annotated[bool, JsonName("never_share")] = False


@dataclass(frozen=True, slots=True)
class CodeSize:
    """Length and price of the code message in one language."""

    segments: int
    encoding: str
    price: Money


@dataclass(frozen=True, slots=True)
class AutofillSize(CodeSize):
    """Length and price of the code message in one language, with the lines for autofill."""

    language: str
    app_hash: bool
    """With the line of an Android app: such a code is only filled in where it has one part."""
    origin: bool
    """With the line of a web page, of the longest host that is registered."""


@dataclass(frozen=True, slots=True)
class CodeConfiguration:
    """An organization's Verify settings, and what its code messages cost. By language, the text
    without one is :data:`ANY_LANGUAGE`."""

    organization_id: Annotated[str, UNAUDITED]
    settings: Annotated[CodeSettings, AUDITED]
    bounds: Annotated[Mapping[str, Bounds], UNAUDITED]
    """The least and the most of the numeric settings, by name."""
    template_max: Annotated[int, UNAUDITED]
    entries_max: Annotated[int, UNAUDITED]
    built_in: Annotated[Mapping[str, str], UNAUDITED]
    """The built-in texts by language."""
    sizes: Annotated[Mapping[str, CodeSize], UNAUDITED]
    autofill_sizes: Annotated[tuple[AutofillSize, ...], UNAUDITED]
    """As a send costs that asks for a line of a registered app or page."""
    language_names: Annotated[Mapping[str, str], UNAUDITED]
    """The languages that there are texts in, each by its name in itself."""
    never_share: Annotated[Mapping[str, str], UNAUDITED]
    """The line that asks to share the code with nobody, by language."""
    warnings: Annotated[tuple[str, ...], UNAUDITED]


ANY_LANGUAGE: Final = "default"
CONFIG: Final = Ask("verify.config", CodeConfiguration)
