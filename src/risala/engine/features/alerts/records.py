"""Alerts to operators, as words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment

Fact = str | int | float | None
Facts = Mapping[str, Fact]
"""The measured values, by name; an amount is a decimal text, a share is between 0 and 1, and the
end of a name gives the unit of another number."""


_OF_BEFORE: Final = {"lane_down": "carrier_down"}
"""Names of before 1.0, which people and programs may still write."""


class AlertKind(StrEnum):
    """The possible problems; the subject of each is named below it."""

    @classmethod
    def _missing_(cls, value: object) -> AlertKind | None:
        now = _OF_BEFORE.get(value) if isinstance(value, str) else None
        return None if now is None else cls(now)

    CARRIER_DOWN = "carrier_down"
    """A carrier's link has been down, or needed the operator, for five minutes. The carrier."""
    QUEUE_OLD = "queue_old"
    """A message that is due has waited for ten minutes. The route."""
    RECEIPTS_MISSING = "receipts_missing"
    """A carrier that gave receipts accepts messages, and gives none for half an hour. The
    carrier."""
    ENDS_MISSING = "ends_missing"
    """A carrier's receipts have ended no message for a day. The carrier."""
    DELIVERY_LOW = "delivery_low"
    """Fewer of a network's messages arrive than usual. The network."""
    APPROVAL_LOW = "approval_low"
    """Fewer of a network's codes are entered than usual. The network."""
    CODES_ABUSED = "codes_abused"
    """Many codes go to numbers with one prefix, and are not entered. The prefix."""
    CODES_UNENTERED = "codes_unentered"
    """Hardly any of a carrier's last 50 codes was entered. The carrier."""
    CODES_PUMPED = "codes_pumped"
    """Codes of an organization are asked for, and never entered, far from what is usual there. The
    organization."""
    BALANCE_LOW = "balance_low"
    """An organization that sends has a low balance. The organization."""
    SIM_BALANCE_LOW = "sim_balance_low"
    """A SIM's balance is below ``ussd_balance.low``. The carrier."""
    QUOTA_LOW = "quota_low"
    """Nine tenths of a SIM's messages a day, or recipients a month, are used up. The carrier."""
    DISK_LOW = "disk_low"
    """Less than a gigabyte is free. The service's."""
    BACKUP_OLD = "backup_old"
    """No backup was made for a day and a half. The service's."""
    NUMBERS_UNSERVED = "numbers_unserved"
    """Messages wait because no carrier serves their numbers. The service's."""
    INBOUND_UNSERVED = "inbound_unserved"
    """Messages come in that have no route, though others have one. The number that they come to."""
    SIGN_IN_FAILING = "sign_in_failing"
    """Many codes are tried, or a limit of sign-in is used up. The pages: console, dashboard."""
    ERRORS = "errors"
    """One in fifty answers of five minutes, and at least 20, were errors of ours (5xx). The
    service's."""
    CLOCK_JUMPED = "clock_jumped"
    """The machine's clock was changed by a minute or more. The service's."""
    SINK_BEHIND = "sink_behind"
    """An event sink accepts nothing, is far behind, or lost events to retention. The sink."""
    ITEM_SET_ASIDE = "item_set_aside"
    """An item breaks a task that serves everybody, and waits aside. The task's name."""
    STORAGE_FULL = "storage_full"
    """An organization stores four fifths of what it may. Its id."""
    STANDBY_BEHIND = "standby_behind"
    """Nothing has reached the standby for five minutes. The service's."""
    STANDBY_COPY = "standby_copy"
    """The copy could not be restored when it was tried. The service's."""
    STANDBY_SILENT = "standby_silent"
    """PostgreSQL, which answers wait for, was late three times in a row; written once it answers
    again. The service's."""
    STANDBY_ASYNC = "standby_async"
    """Answers do not wait for it, by an operator's order. The service's."""
    TRAIL_BROKEN = "trail_broken"
    """The audit trail is not as it was written. The service's."""


@dataclass(frozen=True, slots=True)
class Alert:
    """A problem, present or past."""

    seq: int
    kind: AlertKind
    subject: str
    """Empty: the service itself."""
    facts: Facts
    """The values at the time when it was raised."""
    raised_at: int
    over_at: int | None
    """None: it has not ended."""
    over_facts: Facts
    flaps: int
    """How often it had come back within a day when it was raised."""
    told_at: int | None
    """When mails and calls were owed for it; None: it is, or was, muted."""
    acknowledged_at: int | None
    acknowledged_by: str | None

    @property
    def is_open(self) -> bool:
        return self.over_at is None


@dataclass(frozen=True, slots=True)
class AlertMute:
    """Some alerts are not sent for a time; pages still show them."""

    seq: int
    kind: AlertKind
    subject: str | None
    """None: any subject."""
    until: int
    by: str
    at: int

    def covers(self, kind: AlertKind, subject: str, now_ms: int) -> bool:
        return self.kind is kind and self.subject in (None, subject) and now_ms < self.until


def is_muted(alert: Alert, mutes: Iterable[AlertMute], now_ms: int) -> bool:
    return any(each.covers(alert.kind, alert.subject, now_ms) for each in mutes)


@dataclass(frozen=True, slots=True)
class LowBalance:
    """An organization whose balance is below its limit."""

    organization_id: str
    name: str
    balance: int
    currency: str


@dataclass(slots=True)
class NetworkHour:
    """How one network did in one hour, all organizations together."""

    accepted: int = 0
    delivered: int = 0
    sessions: int = 0
    approved: int = 0


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
