"""Alerts as operators see them: the answers of their operations, and the asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment


@dataclass(frozen=True, slots=True)
class AlertView:
    """An alert with its words in each language."""

    id: Annotated[str, UNAUDITED]
    kind: Annotated[str, AUDITED]
    subject: Annotated[str | None, AUDITED]
    """None: the service itself."""
    is_open: Annotated[bool, UNAUDITED]
    title: Annotated[Mapping[str, str], UNAUDITED]
    text: Annotated[Mapping[str, str], UNAUDITED]
    facts: Annotated[Mapping[str, str | int | float | None], UNAUDITED]
    """The values at the time when it was raised."""
    raised_at: Annotated[Moment, UNAUDITED]
    over_at: Annotated[Moment | None, UNAUDITED]
    flaps: Annotated[int, UNAUDITED]
    """How often it had come back within a day when it was raised."""
    told_at: Annotated[Moment | None, UNAUDITED]
    """When mails and calls were owed for it."""
    acknowledged_at: Annotated[Moment | None, UNAUDITED]
    acknowledged_by: Annotated[str | None, AUDITED]
    is_muted: Annotated[bool, UNAUDITED]


@dataclass(frozen=True, slots=True)
class MuteView:
    """Some alerts are not sent for a time."""

    id: Annotated[str, UNAUDITED]
    kind: Annotated[str, AUDITED]
    subject: Annotated[str | None, AUDITED]
    """None: any subject."""
    until: Annotated[Moment, AUDITED]
    by: Annotated[str, UNAUDITED]
    at: Annotated[Moment, UNAUDITED]


@dataclass(frozen=True, slots=True)
class AlertPage:
    """Alerts, the newest first, and the mutes that hold now."""

    alerts: tuple[AlertView, ...]
    next: str | None
    """The ``before`` of the next page; None: this is the last one."""
    open: int
    """What is wrong now, whatever is listed."""
    mutes: tuple[MuteView, ...]


LIST: Final = Ask("alert.list", AlertPage)
ACKNOWLEDGE: Final = Ask("alert.acknowledge", AlertView)
MUTE: Final = Ask("alert.mute", MuteView)
UNMUTE: Final = Ask("alert.unmute", MuteView)
