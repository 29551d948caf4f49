"""Alerts: present and past problems, who works on them, and which are muted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.alerts import records
from risala.engine.features.alerts.records import (
    Alert,
    AlertKind,
    AlertMute,
    AlertPage,
    AlertView,
    MuteView,
    is_muted,
)
from risala.engine.features.alerts.stored.alerts import AlertRepository
from risala.engine.features.alerts.words import alert_words
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    Text,
    fault,
    maybe,
    text,
    whole,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import NotFound
from risala.engine.model.people import Language
from risala.engine.model.times import iso
from risala.engine.rules.roles import OPERATORS, READERS, SUPPORT

LISTED_MAX: Final = 500
"""The most alerts in one answer."""
LISTED_USUAL: Final = 50
MUTE_MINUTES_MAX: Final = 30 * 24 * 60
"""The longest mute, in minutes; to mute alerts for longer, switch them off in the settings."""
MINUTE_MS: Final = 60_000
ALERT: Final = "alert"
MUTE: Final = "mute"
"""The beginning of their ids."""


def _id(what: str, seq: int) -> str:
    return f"{what}_{seq}"


def _seq(what: str, word: str) -> int:
    """The number in an id.

    Raises:
        NotFound: it has another form.
    """
    digits = word.removeprefix(f"{what}_")
    if not re.fullmatch(r"[0-9]{1,15}", digits, re.ASCII):
        raise NotFound(f"There is no {what} {word}.")
    return int(digits)


def _kind(value: object) -> AlertKind:
    try:
        return AlertKind(text(value))
    except ValueError:
        raise fault("invalid_kind", "`{name}` must be a kind of alert.") from None


def _minutes(value: object) -> int:
    minutes = whole(value)
    if not 1 <= minutes <= MUTE_MINUTES_MAX:
        raise fault("invalid_minutes", f"`{{name}}` must be from 1 to {MUTE_MINUTES_MAX}.")
    return minutes


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
    """Send no notices about some alerts for a time."""

    kind: Annotated[AlertKind, PlainValidator(_kind), ArgumentKind("text")]
    minutes: Annotated[int, PlainValidator(_minutes), ArgumentKind("whole number")]
    subject: MaybeText = None
    """None: every subject."""


class OfMute(Arguments):
    """Names one mute."""

    mute_id: Text


OPERATIONS: Final = Operations()


def _view(alert: Alert, mutes: Sequence[AlertMute], now_ms: int) -> AlertView:
    words = {language.value: alert_words(alert, language) for language in Language}
    return AlertView(
        id=_id(ALERT, alert.seq),
        kind=alert.kind.value,
        subject=alert.subject or None,
        is_open=alert.is_open,
        title={language: each.title for language, each in words.items()},
        text={language: each.text for language, each in words.items()},
        facts=alert.facts,
        raised_at=alert.raised_at,
        over_at=alert.over_at,
        flaps=alert.flaps,
        told_at=alert.told_at,
        acknowledged_at=alert.acknowledged_at,
        acknowledged_by=alert.acknowledged_by,
        is_muted=is_muted(alert, mutes, now_ms),
    )


def _mute_view(mute: AlertMute) -> MuteView:
    kind = mute.kind.value
    return MuteView(_id(MUTE, mute.seq), kind, mute.subject, mute.until, mute.by, mute.at)


@OPERATIONS(records.LIST, roles=OPERATORS, operators=READERS)
async def _list(call: Call[ListAlerts]) -> AlertPage:
    arguments, alerts = call.arguments, call.stored(AlertRepository)
    limit = max(1, min(arguments.limit or LISTED_USUAL, LISTED_MAX))
    kind = None if arguments.kind is None else arguments.kind.value
    before = None if arguments.before is None else _seq(ALERT, arguments.before)
    page = alerts.page(limit + 1, before=before, is_open=arguments.open, kind=kind)
    following = _id(ALERT, page[limit - 1].seq) if len(page) > limit else None
    mutes = alerts.mutes(call.now_ms)
    shown = tuple(_view(each, mutes, call.now_ms) for each in page[:limit])
    return AlertPage(shown, following, alerts.open_count(), tuple(map(_mute_view, mutes)))


@OPERATIONS(records.ACKNOWLEDGE, roles=OPERATORS, operators=SUPPORT, changes=AlertView)
async def _acknowledge(call: Call[OfAlert]) -> AlertView:
    seq, now_ms = _seq(ALERT, call.arguments.alert_id), call.now_ms
    alerts, by = call.stored(AlertRepository), call.audit(AuditImage.ALERT, _id(ALERT, seq))
    alert = await alerts.acknowledge(by, seq, call.caller.who, now_ms)
    return _view(alert, alerts.mutes(now_ms), now_ms)


@OPERATIONS(records.MUTE, roles=OPERATORS, operators=SUPPORT, changes=MuteView)
async def _mute(call: Call[MuteAlerts]) -> MuteView:
    arguments, now_ms = call.arguments, call.now_ms
    until = now_ms + arguments.minutes * MINUTE_MS
    details = {"kind": arguments.kind.value, "subject": arguments.subject, "until": iso(until)}
    by = call.audit(subject=arguments.kind.value, details=details, always=True)
    who = call.caller.who
    return _mute_view(
        await call.stored(AlertRepository).mute(
            by, arguments.kind, arguments.subject, until, who, now_ms
        )
    )


@OPERATIONS(records.UNMUTE, roles=OPERATORS, operators=SUPPORT, changes=MuteView)
async def _unmute(call: Call[OfMute]) -> MuteView:
    seq = _seq(MUTE, call.arguments.mute_id)
    by = call.audit(AuditImage.ALERT_MUTE, _id(MUTE, seq))
    return _mute_view(await call.stored(AlertRepository).unmute(by, seq))
