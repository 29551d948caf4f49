"""Lists of messages: an organization's, page by page or all in parts, and of all organizations."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    CONTAINED_MAX,
    ArgumentKind,
    Arguments,
    Json,
    MaybeDigits,
    MaybeMoment,
    MaybeNumber,
    MaybeText,
    MaybeWhole,
    ModeWord,
    OfOrganization,
    fault,
    maybe,
    one_of,
    text,
    words,
)
from risala.engine.kernel.cursors import MaybeCursor, cursor, few_numbers, limit_of
from risala.engine.kernel.operation import Call, Operations, line_of
from risala.engine.model.audit import masked
from risala.engine.model.errors import Invalid
from risala.engine.model.numbers import KINDS, STATUSES, part_of
from risala.engine.model.records import message_lists
from risala.engine.model.records.message_lists import (
    NEWER_MAX,
    UNCERTAIN,
    CutMessage,
    ExportPart,
    FoundPage,
    Listed,
    ListPage,
    MessageFilter,
    NewerCount,
    PartPlace,
    Sought,
)
from risala.engine.model.times import maybe_iso
from risala.engine.rules.roles import OPERATORS, SUPPORT, VIEWERS
from risala.engine.services import Services
from risala.sms.address import fold_sender

EXPORT_PART: Final = 100
"""Messages in one part of an export: some milliseconds, during which nothing else runs."""


def _status(value: object) -> str:
    found = text(value)
    if found != UNCERTAIN and found not in STATUSES.words:
        raise fault("invalid_status", "`{name}` must be a status, or uncertain.")
    return found


_kind: Final = one_of("invalid_kind", KINDS.words)


class ListMessages(OfOrganization):
    """A page of an organization's messages, the newest first."""

    mode: ModeWord = "live"
    status: Annotated[
        str | None, PlainValidator(maybe(_status)), ArgumentKind("status, or `uncertain`")
    ] = None
    to: MaybeNumber = None
    sender: MaybeText = Field(default=None, alias="from")
    kind: Annotated[str | None, PlainValidator(maybe(_kind)), ArgumentKind("`sms` or `code`")] = (
        None
    )
    key_id: MaybeText = None
    """The key that sent them."""
    cause: MaybeText = None
    """An error code, or the carrier's own word."""
    contains: Annotated[
        str | None,
        PlainValidator(maybe(words(CONTAINED_MAX))),
        ArgumentKind("digits of the number, or words of the text"),
    ] = None
    """For callers who see no texts: only the number, or the carrier's own word."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeCursor = None
    after: MaybeCursor = None
    limit: MaybeWhole = None


class CountNewer(ListMessages):
    """How many messages that fit the filters came after one; they are only counted."""

    after: Annotated[int, PlainValidator(cursor), ArgumentKind("`newer` or `older` of a page")]


class ExportMessages(ListMessages):
    """A part of all of an organization's messages that fit the filters, the newest first.

    The first part writes an audit entry, and returns its number as ``export``; calls for the other
    parts hand that back, and write none.
    """

    export: MaybeCursor = None


def _wanted(call: Call[Any]) -> MessageFilter:
    given: ListMessages = call.given
    return MessageFilter(
        given.organization_id,
        given.mode,
        status=given.status,
        recipient=given.to,
        sender=_spelt(call.services, given),
        kind=given.kind,
        api_key=given.key_id,
        cause=given.cause,
        contains=given.contains,
        digits=call.services.settings.plan.digits_of(given.contains or ""),
        searches_texts=not call.hides_texts,
        since=given.since,
        until=given.until,
    )


def _spelt(services: Services, given: ListMessages) -> str | None:
    """A sender in its registered spelling, as messages have it."""
    if given.sender is None:
        return None
    found = services.senders.by_name(given.organization_id, given.sender)
    if found is not None:
        return found.name
    default = services.settings.service.default_sender
    return default if fold_sender(given.sender) == fold_sender(default) else given.sender


OPERATIONS: Final = Operations()
_OF_ORGANIZATION: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": owners.named}


@OPERATIONS(message_lists.LIST, operators=SUPPORT, shows_texts=True, **_OF_ORGANIZATION)
async def _list(call: Call[ListMessages]) -> ListPage:
    given = call.given
    call.services.accounts.organization(given.organization_id)
    wanted = _wanted(call)
    limit = limit_of(given.limit)
    lists = call.services.repositories.message_lists
    found = lists.page(wanted, before=given.before, after=given.after, limit=limit)
    if found.messages:
        told = {"messages": len(found.messages)}
        by = call.audit(organization_id=given.organization_id, said=told, always=True)
        await call.note_look(by)
    parts = [each.key for each in found.messages if each.part_number is not None]
    cut = {} if call.hides_texts else lists.cut_messages(parts)
    shown = tuple(_placed(each, cut.get(each.key)) for each in _shown(call, found.messages))
    return replace(found, messages=shown)


def _placed(message: Listed, whole: CutMessage | None) -> Listed:
    """A message, with its place in the longer one if it is a part."""
    if message.part_number is None:
        return message
    place = part_of(message.part_number)
    text = None if whole is None else whole.text
    return replace(message, part=PartPlace(place.number, place.total, text))


@OPERATIONS(message_lists.NEWER, operators=SUPPORT, **_OF_ORGANIZATION)
async def _newer(call: Call[CountNewer]) -> NewerCount:
    given = call.given
    call.services.accounts.organization(given.organization_id)
    lists = call.services.repositories.message_lists
    found = lists.count_newer(_wanted(call), given.after, NEWER_MAX + 1)
    return NewerCount(min(found, NEWER_MAX), found > NEWER_MAX)


@OPERATIONS(message_lists.EXPORT, operators=SUPPORT, shows_texts=True, **_OF_ORGANIZATION)
async def _export(call: Call[ExportMessages]) -> ExportPart:
    given, lists = call.given, call.services.repositories.message_lists
    call.services.accounts.organization(given.organization_id)
    line = await line_of(call, given.export, _said(given), given.organization_id)
    found = lists.page(_wanted(call), before=given.before, limit=EXPORT_PART)
    shown = _shown(call, found.messages)
    return ExportPart(shown, found.newer, found.older, found.looked_to, line)


def _shown(call: Call[Any], found: tuple[Listed, ...]) -> tuple[Listed, ...]:
    """Messages as the caller may see them."""
    if not call.hides_texts:
        return found
    return tuple(replace(each, body=None, metadata={}) for each in found)


def _said(given: ExportMessages) -> Json:
    """The filters as the audit entry says them."""
    told = {
        "mode": given.mode,
        "status": given.status,
        "to": None if given.to is None else masked(given.to),
        "from": given.sender,
        "kind": given.kind,
        "key": given.key_id,
        "cause": given.cause,
        # It may be part of a text or of a number; the trail keeps neither.
        "contains": None if given.contains is None else f"{len(given.contains)} characters",
        "since": maybe_iso(given.since),
        "until": maybe_iso(given.until),
    }
    return {name: value for name, value in told.items() if value is not None}


# -- of all organizations: found by what a customer says on the phone


class FindMessages(Arguments):
    """A page of messages: those to a number, the one of an id, or those with these digits or this
    carrier's id."""

    to: MaybeNumber = None
    digits: MaybeDigits = None
    message_id: MaybeText = None
    carrier_id: MaybeText = None
    """The carrier's id (``providerMessageId``), in any form."""
    before: MaybeCursor = None
    after: MaybeCursor = None
    limit: MaybeWhole = None


@OPERATIONS(message_lists.FIND, roles=OPERATORS, operators=SUPPORT, shows_texts=True)
async def _find(call: Call[FindMessages]) -> FoundPage:
    given = call.given
    told = {
        "to": None if given.to is None else masked(given.to),
        # They may be just the digits that the trail leaves out.
        "digits": None if given.digits is None else f"{len(given.digits)} digits",
        "message": given.message_id,
        "carrierId": given.carrier_id if given.digits is None else None,
    }
    said = {name: value for name, value in told.items() if value is not None}
    if len(said) != 1:
        advice = "Give one of `to`, `digits`, `message_id` and `carrier_id`."
        raise Invalid("to", "one_of", advice)
    await call.note(call.audit(said=said, always=True))
    limit = limit_of(given.limit)
    plan = call.services.settings.plan
    ranges = None if given.digits is None else plan.ranges_of(given.digits)
    wanted = Sought(given.to, ranges, given.message_id, given.carrier_id)
    lists = call.services.repositories.message_lists
    with few_numbers():
        return lists.find(wanted, before=given.before, after=given.after, limit=limit)
