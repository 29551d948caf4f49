"""Files with all data of an organization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple


class ExportState(StrEnum):
    WRITING = "writing"
    READY = "ready"
    FAILED = "failed"
    GONE = "gone"
    """It expired, its owner deleted it, or something in it had to be erased."""


class ExportFault(StrEnum):
    """Why there is no file."""

    NO_ROOM = "no room"
    TOO_LARGE = "too large"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Export:
    id: str
    organization_id: str
    asked_by: str
    state: ExportState
    reason: str | None
    written: int
    """Rows."""
    expected: int
    """An estimate of the rows."""
    bytes: int
    created_at: int
    ended_at: int | None
    expires_at: int | None


class ExportedPart(NamedTuple):
    """Some rows for one file of an export."""

    name: str
    """Of the file, without its ending."""
    rows: Sequence[Mapping[str, Any]]
