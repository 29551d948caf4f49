"""Mailings that repeat: made, changed, paused, ended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.lists.stored import RecipientListRepository
from risala.engine.features.mailings.operations.arguments import (
    MaybeFromHour,
    MaybeMessage,
    MaybePace,
    MaybeToHour,
    whole_between,
)
from risala.engine.features.mailings.records import FROM_HOUR, TO_HOUR
from risala.engine.features.repeats import records
from risala.engine.features.repeats.records import (
    COUNT_MAX,
    DAYS,
    EVERY_MAX,
    NAME_MAX,
    UPCOMING,
    MailingRepeat,
    MailingRepeats,
    RepeatReason,
    RepeatState,
    RepeatUnit,
    RepeatView,
)
from risala.engine.features.repeats.rules import (
    is_day,
    is_time,
    next_due,
    rhythm_of,
    upcoming,
)
from risala.engine.features.repeats.service import INACTIVE, RepeatRunning
from risala.engine.features.repeats.stored import RepeatRepository
from risala.engine.features.tables.rules.rendering import unknown_placeholders
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeSender,
    MaybeWhole,
    ModeWord,
    OfOrganization,
    Text,
    any_text,
    fault,
    maybe,
    name_text,
    one_of,
    text,
    texts,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import CallerKind
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound
from risala.engine.model.states import Mode
from risala.engine.rules.days import date_of
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS
from risala.engine.services import Services
from risala.sms.limits import TEXT_CHARACTERS_MAX

MONTH_DAY_MAX: Final = 31
_MAY_BE_NONE: Final = ("sender", "pace", "until", "count")
"""What a null, or an empty text, takes away; of the others a null leaves what is there."""
_RHYTHM: Final = ("unit", "every", "days", "month_days", "time", "until", "count")


_words: Final = text
"""The parser of a text: in the classes below, ``text`` is a field."""


def _message(value: object) -> str:
    message = text(value)
    if len(message) > TEXT_CHARACTERS_MAX:
        raise fault("too_long", f"`{{name}}` has at most {TEXT_CHARACTERS_MAX} characters.")
    return message


def _days(value: object) -> tuple[str, ...]:
    days = texts(value)
    if any(each not in DAYS for each in days):
        raise fault("unknown_word", f"`{{name}}` must be of {', '.join(DAYS)}.")
    return tuple(each for each in DAYS if each in days)


def _month_days(value: object) -> tuple[int, ...]:
    is_list = isinstance(value, list | tuple)
    days = [*value] if isinstance(value, list | tuple) else []
    right = all(
        isinstance(each, int) and not isinstance(each, bool) and 1 <= each <= MONTH_DAY_MAX
        for each in days
    )
    if not is_list or not right or len(days) > MONTH_DAY_MAX:
        raise fault("out_of_range", "`{name}` must be a list of days, 1 to 31.")
    return tuple(sorted(set(days)))


def _time(value: object) -> str:
    time = text(value)
    if not is_time(time):
        raise fault("invalid_time", "`{name}` must be a time of day such as 18:00.")
    return time


def _day(value: object) -> str:
    """A day; an empty text: none."""
    day = any_text(value)
    if day and not is_day(day):
        raise fault("invalid_day", "`{name}` must be a day such as 2026-12-31.")
    return day


_unit: Final = one_of("invalid_unit", [each.value for each in RepeatUnit])
_NAME: Final = ArgumentKind(f"text, at most {NAME_MAX} characters")
_TIME: Final = ArgumentKind("time of day")
_MESSAGE: Final = ArgumentKind(f"text, at most {TEXT_CHARACTERS_MAX} characters")
_UNITS: Final = ArgumentKind("`days`, `weeks` or `months`")
_MaybeDay = Annotated[
    str | None, PlainValidator(maybe(_day)), ArgumentKind("day such as `2026-12-31`, or empty")
]


class _Fields(Arguments):
    """What a repeat may have beside its name, list, text, unit and time."""

    sender: MaybeSender = Field(default=None, alias="from")
    pace: MaybePace = None
    """Messages a minute."""
    from_hour: MaybeFromHour = None
    """The hour of the day from which its mailings send; usually 8 …"""
    to_hour: MaybeToHour = None
    """… until this one, usually 20. Its time lies between them."""
    every: Annotated[
        int | None,
        PlainValidator(maybe(whole_between(1, EVERY_MAX))),
        ArgumentKind(f"whole number, 1 to {EVERY_MAX}"),
    ] = None
    """2 with `weeks`: every other week. Usually 1."""
    days: Annotated[
        tuple[str, ...] | None,
        PlainValidator(maybe(_days)),
        ArgumentKind("list of `mon` to `sun`"),
    ] = None
    """With `weeks`; none: the day of the week on which it starts."""
    month_days: Annotated[
        tuple[int, ...] | None,
        PlainValidator(maybe(_month_days)),
        ArgumentKind("list of days, 1 to 31"),
    ] = None
    """With `months`; none: the day of the month on which it starts. A month without that day has
    its run on its last day."""
    until: _MaybeDay = None
    """The last day; an empty text: none."""
    count: Annotated[
        int | None,
        PlainValidator(maybe(whole_between(0, COUNT_MAX))),
        ArgumentKind(f"whole number, 0 to {COUNT_MAX}"),
    ] = None
    """So many runs; 0: without end."""


class CreateRepeat(OfOrganization, _Fields):
    """Repeat a mailing. Each run is a mailing of its own, to the list as it is then."""

    name: Annotated[str, PlainValidator(name_text(NAME_MAX)), _NAME] = Field(examples=["Rent"])
    list_id: Text = Field(examples=["lst_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])
    text: Annotated[str, PlainValidator(_message), _MESSAGE] = Field(
        repr=False, examples=["Your rent is due."]
    )
    """`{{name}}` stands for what the list's column `name` has for each person."""
    unit: Annotated[str, PlainValidator(_unit), _UNITS] = Field(examples=["weeks"])
    time: Annotated[str, PlainValidator(_time), _TIME] = Field(examples=["10:00"])
    """The time of day, in the organization's time zone."""
    starts_on: _MaybeDay = None
    """The first day; none: today."""
    mode: ModeWord = "live"
    """The mode: in `test` no carrier is used, and nothing is charged."""


class OfRepeat(Arguments):
    """Names one repeat."""

    repeat_id: Text = Field(examples=["rpt_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"])


class SetRepeat(OfRepeat, _Fields):
    """Change a repeat; what is not given stays as it is. Runs that have begun stay as they are."""

    name: Annotated[str | None, PlainValidator(maybe(name_text(NAME_MAX))), _NAME] = None
    list_id: Annotated[str | None, PlainValidator(maybe(_words)), ArgumentKind("text")] = None
    text: MaybeMessage = Field(default=None, repr=False)
    unit: Annotated[str | None, PlainValidator(maybe(_unit)), _UNITS] = None
    time: Annotated[str | None, PlainValidator(maybe(_time)), _TIME] = None
    version: MaybeWhole = None
    """The version as ``repeat.show`` has it; None: whatever changed meanwhile."""


OPERATIONS: Final = Operations()


def of_repeat(services: Services, arguments: OfRepeat) -> str:
    """The organization of a repeat. Raises ``NotFound``."""
    stored = services.repositories.part(RepeatRepository)
    return stored.find(arguments.repeat_id).organization_id


_CHANGE: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": of_repeat,
    "changes": MailingRepeat,
}


@OPERATIONS(records.LIST, roles=VIEWERS, operators=SUPPORT, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> MailingRepeats:
    organization_id = call.arguments.organization_id
    call.services.accounts.organization(organization_id)
    repeats = call.stored(RepeatRepository).of_organization(organization_id)
    return MailingRepeats(tuple(_shown(call, each) for each in repeats))


@OPERATIONS(
    records.SHOW, roles=VIEWERS, operators=SUPPORT, owner=of_repeat, versioned_by="repeat_id"
)
async def _show(call: Call[OfRepeat]) -> RepeatView:
    stored = call.stored(RepeatRepository)
    repeat = stored.find(call.arguments.repeat_id)
    zone = call.services.accounts.organization(repeat.organization_id).time_zone
    left = UPCOMING if repeat.count is None else min(UPCOMING, repeat.count - repeat.runs)
    ahead = (
        ()
        if repeat.next_at is None
        else upcoming(rhythm_of(repeat), zone, max(repeat.next_at, call.now_ms), max(0, left))
    )
    return RepeatView(_shown(call, repeat), zone, ahead, tuple(stored.runs_of(repeat.id)))


def _shown(call: Call[Any], repeat: MailingRepeat) -> MailingRepeat:
    """A repeat as the caller may see it."""
    return replace(repeat, text="") if call.hides_texts else repeat


@OPERATIONS(records.CREATE, roles=DEVELOPERS, owner=owners.named, changes=MailingRepeat)
async def _create(call: Call[CreateRepeat]) -> MailingRepeat:
    arguments = call.arguments
    organization = call.services.accounts.fresh_organization(arguments.organization_id)
    zone = organization.time_zone
    new = MailingRepeat(
        id=call.services.ids.new("rpt"),
        organization_id=organization.id,
        mode=Mode(arguments.mode),
        name=arguments.name,
        state=RepeatState.ACTIVE,
        reason=None,
        list_id=arguments.list_id,
        text=arguments.text,
        sender=arguments.sender,
        pace=arguments.pace,
        from_hour=FROM_HOUR if arguments.from_hour is None else arguments.from_hour,
        to_hour=arguments.to_hour or TO_HOUR,
        unit=RepeatUnit(arguments.unit),
        every=arguments.every or 1,
        days=arguments.days or (),
        month_days=arguments.month_days or (),
        time=arguments.time,
        starts_on=arguments.starts_on or date_of(zone, call.now_ms).isoformat(),
        until=arguments.until or None,
        count=arguments.count or None,
        runs=0,
        next_at=None,
        created_at=call.now_ms,
        created_by=call.caller.who,
    )
    _check(call, new, None)
    new = replace(new, next_at=_first(call, new, zone))
    by = call.audit(AuditImage.REPEAT)
    added = await call.stored(RepeatRepository).add(by, new, _owner(call), zone)
    call.part(RepeatRunning).changed()
    return added


def _owner(call: Call[Any]) -> str:
    """Without whom the repeat ends: a member, or a key; empty: nobody."""
    caller = call.caller
    if not caller.is_member:
        return ""
    return caller.who if caller.face is CallerKind.API else caller.user_id or ""


def _check(call: Call[Any], repeat: MailingRepeat, changed: Collection[str] | None) -> None:
    """Refuse what could never be sent.

    Args:
        changed: the names of fields that are new; None: all.

    Raises:
        Invalid: the text is empty, names a column that the list does not have, or the
            time is outside the hours.
        NotFound: the organization has no such list.
        SenderNotApproved: the sender is not on the account.
    """
    if not repeat.text.strip():
        raise Invalid("text", "empty", "Write the text first.")
    if repeat.from_hour >= repeat.to_hour:
        raise Invalid("to_hour", "invalid_hours", "The hours must end after they begin.")
    if not repeat.from_hour <= int(repeat.time[:2]) < repeat.to_hour:
        sentence = (
            f"At {repeat.time} its mailings do not send: only from {repeat.from_hour} to"
            f" {repeat.to_hour} o’clock. Choose another time, or other hours."
        )
        raise Invalid("time", "outside_hours", sentence)
    if changed is None or "list_id" in changed or "text" in changed:
        _check_columns(call, repeat)
    if changed is None or "sender" in changed:
        call.services.intake.drafts.sender_of(repeat.organization_id, repeat.sender)


def _check_columns(call: Call[Any], repeat: MailingRepeat) -> None:
    people = call.stored(RecipientListRepository).recipient_list(repeat.list_id)
    if people.organization_id != repeat.organization_id:
        raise NotFound(f"There is no list {repeat.list_id}.")
    unknown = unknown_placeholders(repeat.text, people.columns)
    if unknown:
        names = ", ".join(f"{{{{{each}}}}}" for each in unknown)
        raise Invalid("text", "unknown_column", f"The list has no column for {names}.")


def _first(call: Call[Any], repeat: MailingRepeat, zone: str) -> int:
    """The next run, also where the clock was set back behind one that was made. Raises ``Invalid``:
    there is none."""
    stored, rhythm = call.stored(RepeatRepository), rhythm_of(repeat)
    at = next_due(rhythm, zone, call.now_ms)
    while at is not None and stored.has_run(repeat.id, at):
        at = next_due(rhythm, zone, at)
    if at is None or (repeat.count is not None and repeat.runs >= repeat.count):
        name = "until" if at is None else "count"
        raise Invalid(name, "no_run", "So there is no run any more. Choose a later end.")
    return at


@OPERATIONS(records.SET, versioned_by="repeat_id", **_CHANGE)
async def _set(call: Call[SetRepeat]) -> MailingRepeat:
    arguments = call.arguments
    stored = call.stored(RepeatRepository)
    before = stored.find(arguments.repeat_id)
    values = {
        name: value
        for name, value in arguments.given_of(MailingRepeat).items()
        if value is not None or name in _MAY_BE_NONE
    }
    values |= {name: values[name] or None for name in ("until", "count") if name in values}
    if "unit" in values:
        values["unit"] = RepeatUnit(values["unit"])
    after = replace(before, **values)
    _check(call, after, values)
    if before.state is RepeatState.ACTIVE and any(name in values for name in _RHYTHM):
        zone = call.services.accounts.organization(before.organization_id).time_zone
        values |= {"next_at": _first(call, after, zone), "zone": zone}
    states = (RepeatState.ACTIVE, RepeatState.PAUSED)
    changed = await stored.change(_signed(call), before.id, values, states)
    call.part(RepeatRunning).changed()
    return changed


@OPERATIONS(records.PAUSE, operators=SUPPORT, **_CHANGE)
async def _pause(call: Call[OfRepeat]) -> MailingRepeat:
    values = {"state": RepeatState.PAUSED, "reason": RepeatReason.HAND, "next_at": None}
    return await call.stored(RepeatRepository).change(
        _signed(call), call.arguments.repeat_id, values, (RepeatState.ACTIVE,)
    )


@OPERATIONS(records.GO_ON, **_CHANGE)
async def _go_on(call: Call[OfRepeat]) -> MailingRepeat:
    stored = call.stored(RepeatRepository)
    repeat = stored.find(call.arguments.repeat_id)
    organization = call.services.accounts.organization(repeat.organization_id)
    if organization.status != "active":
        raise Forbidden(INACTIVE)
    zone = organization.time_zone
    if repeat.state is not RepeatState.PAUSED:
        raise Conflict("This repeat is not paused.")
    at = _first(call, repeat, zone)
    values = {"state": RepeatState.ACTIVE, "reason": None, "next_at": at, "zone": zone}
    gone_on = await stored.change(_signed(call), repeat.id, values, (RepeatState.PAUSED,))
    call.part(RepeatRunning).changed()
    return gone_on


@OPERATIONS(records.END, **_CHANGE)
async def _end(call: Call[OfRepeat]) -> MailingRepeat:
    return await call.stored(RepeatRepository).end_by_hand(
        _signed(call), call.arguments.repeat_id, call.now_ms
    )


@OPERATIONS(records.DELETE, **_CHANGE)
async def _delete(call: Call[OfRepeat]) -> MailingRepeat:
    return await call.stored(RepeatRepository).delete(_signed(call), call.arguments.repeat_id)


def _signed(call: Call[Any]) -> AuditEntry:
    return call.audit(AuditImage.REPEAT, call.arguments.repeat_id)
