"""Sealed secrets: what of them can be opened, and the asks for their key."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, Count, Moment


@dataclass(frozen=True, slots=True)
class LostSecret:
    """A secret that no key here opens."""

    purpose: str
    id: str
    """The id of the secret's row."""
    remedy: str
    """The command that makes it anew."""
    key: str | None
    """The id of the key that would open it; null: it was changed."""


@dataclass(frozen=True, slots=True)
class SealedCount:
    """How many secrets of one purpose are stored."""

    purpose: str
    count: Count


@dataclass(frozen=True, slots=True)
class SealedState:
    """The stored secrets, and the keys that open them."""

    keys: tuple[str, ...]
    """The ids of the keys, the newest first."""
    exported_at: Moment | None
    """When the newest key was last exported; null: never."""
    secrets: tuple[SealedCount, ...]
    lost: tuple[LostSecret, ...]


@dataclass(frozen=True, slots=True)
class ExportedKey:
    """The sealing keys in the clear, which is shown here only."""

    key: Annotated[str, UNAUDITED]
    """The id of the newest."""
    text: Annotated[str, UNAUDITED] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Resealed:
    """The keys after a change of them."""

    key: Annotated[str, UNAUDITED]
    """The id of the key that seals now."""
    former: Annotated[tuple[str, ...], UNAUDITED]
    """The ids of former keys that still open."""
    sealed: Annotated[Count, UNAUDITED]
    """How many secrets were sealed anew."""


SHOW: Final = Ask("secrets.show", SealedState)
EXPORT: Final = Ask("secrets.export_key", ExportedKey)
IMPORT: Final = Ask("secrets.import_key", Resealed)
ROTATE: Final = Ask("secrets.rotate", Resealed)
