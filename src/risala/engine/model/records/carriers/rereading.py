"""What reading the settings again would change, or has changed."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, SnakeCase


class Effect(StrEnum):
    """The effect of a change of a carrier's settings."""

    STARTS = "starts"
    """The carrier connects."""
    LEAVES = "leaves"
    """The carrier gets nothing new, finishes what it has begun, and is disconnected."""
    RESTARTS = "restarts"
    """The carrier finishes what it has begun, is disconnected, and connects again with the new
    settings."""
    AT_ONCE = "at_once"
    """The carrier goes on, with the new settings."""
    NONE = "none"
    """The carrier is disabled before and after."""


@dataclass(frozen=True, slots=True)
class FieldChange(SnakeCase):
    """A setting that differs."""

    field: str
    """``rate_per_s``; in the driver's own table ``smpp.host``."""
    before: Any | None
    """None: it was missing, or is a secret."""
    after: Any | None
    is_secret: bool


@dataclass(frozen=True, slots=True)
class CarrierChange:
    """A carrier that differs."""

    carrier: str
    kind: str
    """``added``, ``changed`` or ``removed``."""
    effect: Effect
    fields: tuple[FieldChange, ...]
    """Only if it is changed."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that differs and may be shown: it is no secret."""

    key: str
    before: Any | None
    after: Any | None


@dataclass(frozen=True, slots=True)
class SettingFault:
    """What keeps the settings from being used."""

    key: str
    text: str
    """The whole sentence."""
    source: str


@dataclass(frozen=True, slots=True)
class SettingsPreview(SnakeCase):
    """What reading the settings again would change."""

    hash: Annotated[str | None, UNAUDITED] = None
    """Pass it back to apply exactly this; None if there are faults."""
    faults: Annotated[tuple[SettingFault, ...], UNAUDITED] = ()
    carriers: Annotated[tuple[CarrierChange, ...], UNAUDITED] = ()
    settings: Annotated[tuple[SettingChange, ...], UNAUDITED] = ()
    """Changes that hold at once."""
    need_restart: Annotated[tuple[str, ...], UNAUDITED] = ()
    """Keys of those that wait for a restart. Their values are not shown: one may be a secret."""


PREVIEW: Final = Ask("carriers.preview", SettingsPreview)
APPLY: Final = Ask("carriers.apply", SettingsPreview)
