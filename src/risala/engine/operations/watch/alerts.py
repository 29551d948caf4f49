"""Alerts: what is wrong, what was, who sees to it, and what nobody is to be told of for a while."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import NotFound
from risala.engine.model.people import Language
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    Text,
    fault,
    maybe,
    text,
    whole,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.people.alert_words import alert_words
from risala.engine.rules.alerts.alert import Alert, AlertKind, AlertMute
from risala.engine.rules.roles import OPERATORS

LISTED_MAX: Final = 500
"""Alerts of one answer at most."""
LISTED_USUAL: Final = 50
MUTE_MINUTES_MAX: Final = 30 * 24 * 60
"""Whoever wants to hear nothing for longer switches it off in the settings."""
MINUTE_MS: Final = 60_000
ALERT: Final = "alert"
MUTE: Final = "mute"
"""What their ids begin with."""


def _id(what: str, seq: int) -> str:
    return f"{what}_{seq}"


def _seq(what: str, given: str) -> int:
    """The number in an id.

    Raises:
        NotFound: it is none.
    """
    digits = given.removeprefix(f"{what}_")
    if not re.fullmatch(r"[0-9]{1,15}", digits, re.ASCII):
        raise NotFound(f"There is no {what} {given}.")
    return int(digits)


def _kind(value: object) -> AlertKind:
    try:
        return AlertKind(text(value))
    except ValueError:
        raise fault("invalid_kind", "`{name}` is no kind of alert.") from None


def _minutes(value: object) -> int:
    found = whole(value)
    if not 1 <= found <= MUTE_MINUTES_MAX:
        raise fault("invalid_minutes", f"`{{name}}` is a number from 1 to {MUTE_MINUTES_MAX}.")
    return found


class ListAlerts(Arguments):
    """Alerts, the newest first."""

    open: MaybeFlag = None
    """True: what is wrong now; false: what is over."""
    kind: Annotated[AlertKind | None, PlainValidator(maybe(_kind)), ArgumentKind("text")] = None
    before: MaybeText = None
    """The id of an alert: only older ones are listed."""
    limit: MaybeWhole = None


class OfAlert(Arguments):
    """Names one alert."""

    alert_id: Text


class MuteAlerts(Arguments):
    """Tell nobody of some alerts for a time."""

    kind: Annotated[AlertKind, PlainValidator(_kind), ArgumentKind("text")]
    minutes: Annotated[int, PlainValidator(_minutes), ArgumentKind("whole number")]
    subject: MaybeText = None
    """None: whatever the subject is."""


class OfMute(Arguments):
    """Names one mute."""

    mute_id: Text


@dataclass(frozen=True, slots=True)
class AlertPage:
    """Alerts, and the mutes that hold now."""

    alerts: tuple[Alert, ...]
    next: str | None
    """The ``before`` of the next page; None: this is the last one."""
    open: int
    """What is wrong now, whatever is listed."""
    mutes: tuple[AlertMute, ...]
    now_ms: int


@dataclass(frozen=True, slots=True)
class ShownAlert:
    """One alert, and the mutes that hold now."""

    alert: Alert
    mutes: tuple[AlertMute, ...]
    now_ms: int


def alert_wire(found: Alert, mutes: tuple[AlertMute, ...], now_ms: int) -> Json:
    """An alert with its words in each language."""
    words = {language: alert_words(found, language) for language in Language}
    return {
        "id": _id(ALERT, found.seq),
        "kind": found.kind.value,
        "subject": found.subject or None,
        "isOpen": found.is_open,
        "title": {language.value: each.title for language, each in words.items()},
        "text": {language.value: each.text for language, each in words.items()},
        "facts": dict(found.facts),
        "raisedAt": iso(found.raised_at),
        "overAt": maybe_iso(found.over_at),
        "flaps": found.flaps,
        "toldAt": maybe_iso(found.told_at),
        "acknowledgedAt": maybe_iso(found.acknowledged_at),
        "acknowledgedBy": found.acknowledged_by,
        "isMuted": any(each.covers(found.kind, found.subject, now_ms) for each in mutes),
    }


def _mute_wire(mute: AlertMute) -> Json:
    return {
        "id": _id(MUTE, mute.seq),
        "kind": mute.kind.value,
        "subject": mute.subject,
        "until": iso(mute.until),
        "by": mute.by,
        "at": iso(mute.at),
    }


def _page_wire(page: AlertPage) -> Json:
    return {
        "alerts": [alert_wire(each, page.mutes, page.now_ms) for each in page.alerts],
        "next": page.next,
        "open": page.open,
        "mutes": [_mute_wire(each) for each in page.mutes],
    }


def _shown_wire(shown: ShownAlert) -> Json:
    return alert_wire(shown.alert, shown.mutes, shown.now_ms)


async def _list(call: Call[ListAlerts]) -> AlertPage:
    given, alerts = call.given, call.services.repositories.alerts
    limit = max(1, min(given.limit or LISTED_USUAL, LISTED_MAX))
    kind = None if given.kind is None else given.kind.value
    before = None if given.before is None else _seq(ALERT, given.before)
    found = alerts.page(limit + 1, before=before, is_open=given.open, kind=kind)
    shown = tuple(found[:limit])
    following = _id(ALERT, shown[-1].seq) if len(found) > limit else None
    mutes = tuple(alerts.mutes(call.now_ms))
    return AlertPage(shown, following, alerts.open_count(), mutes, call.now_ms)


async def _acknowledge(call: Call[OfAlert]) -> ShownAlert:
    seq, now_ms = _seq(ALERT, call.given.alert_id), call.now_ms
    alerts, by = call.services.repositories.alerts, call.audit(AuditImage.ALERT, _id(ALERT, seq))
    found = await alerts.acknowledge(seq, call.caller.who, now_ms, by=by)
    return ShownAlert(found, tuple(alerts.mutes(now_ms)), now_ms)


async def _mute(call: Call[MuteAlerts]) -> AlertMute:
    given, now_ms = call.given, call.now_ms
    until = now_ms + given.minutes * MINUTE_MS
    said = {"kind": given.kind.value, "subject": given.subject, "until": iso(until)}
    by = call.audit(subject=given.kind.value, said=said, always=True)
    return await call.services.repositories.alerts.mute(
        given.kind, given.subject, until, call.caller.who, now_ms, by=by
    )


async def _unmute(call: Call[OfMute]) -> AlertMute:
    seq = _seq(MUTE, call.given.mute_id)
    by = call.audit(AuditImage.ALERT_MUTE, _id(MUTE, seq))
    return await call.services.repositories.alerts.unmute(seq, by=by)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="alert.list",
        arguments=ListAlerts,
        result=AlertPage,
        wire=_page_wire,
        handler=_list,
        roles=OPERATORS,
    ),
    Operation(
        name="alert.acknowledge",
        arguments=OfAlert,
        result=ShownAlert,
        wire=_shown_wire,
        handler=_acknowledge,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="alert.mute",
        arguments=MuteAlerts,
        result=AlertMute,
        wire=_mute_wire,
        handler=_mute,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="alert.unmute",
        arguments=OfMute,
        result=AlertMute,
        wire=_mute_wire,
        handler=_unmute,
        roles=OPERATORS,
        changes=True,
    ),
)
