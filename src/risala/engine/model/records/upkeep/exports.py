"""Files with all data of an organization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED, Moment


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
    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    state: Annotated[ExportState, UNAUDITED]
    reason: Annotated[str | None, UNAUDITED]
    written: Annotated[int, UNAUDITED]
    """Rows."""
    expected: Annotated[int, UNAUDITED]
    """An estimate of the rows."""
    bytes: Annotated[int, UNAUDITED]
    asked_by: Annotated[str, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    ended_at: Annotated[Moment | None, UNAUDITED]
    expires_at: Annotated[Moment | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Exports:
    """The latest exports of an organization, the latest first."""

    exports: tuple[Export, ...]


@dataclass(frozen=True, slots=True)
class Fetched:
    """An export, and where its file is, for a face that hands it on."""

    export: Export
    path: str


class ExportedPart(NamedTuple):
    """Some rows for one file of an export."""

    name: str
    """Of the file, without its ending."""
    rows: Sequence[Mapping[str, Any]]


REQUEST: Final = Ask("export.ask", Export)
LIST: Final = Ask("export.list", Exports)
SHOW: Final = Ask("export.show", Export)
FETCH: Final = Ask("export.fetch", Fetched)
DELETE: Final = Ask("export.delete", Export)
