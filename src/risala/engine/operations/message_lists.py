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
    status = text(value)
    if status != UNCERTAIN and status not in STATUSES.words:
        raise fault("invalid_status", "`{name}` must be a status, or uncertain.")
    return status


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
    arguments: ListMessages = call.arguments
    return MessageFilter(
        arguments.organization_id,
        arguments.mode,
        status=arguments.status,
        recipient=arguments.to,
        sender=_spelt(call.services, arguments),
        kind=arguments.kind,
        api_key=arguments.key_id,
        cause=arguments.cause,
        contains=arguments.contains,
        digits=call.services.settings.plan.digits_of(arguments.contains or ""),
        searches_texts=not call.hides_texts,
        since=arguments.since,
        until=arguments.until,
    )


def _spelt(services: Services, arguments: ListMessages) -> str | None:
    """A sender in its registered spelling, as messages have it."""
    if arguments.sender is None:
        return None
    known = services.senders.by_name(arguments.organization_id, arguments.sender)
    if known is not None:
        return known.name
    default = services.settings.service.default_sender
    return default if fold_sender(arguments.sender) == fold_sender(default) else arguments.sender


OPERATIONS: Final = Operations()
_OF_ORGANIZATION: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": owners.named}


@OPERATIONS(message_lists.LIST, operators=SUPPORT, shows_texts=True, **_OF_ORGANIZATION)
async def _list(call: Call[ListMessages]) -> ListPage:
    arguments = call.arguments
    call.services.accounts.organization(arguments.organization_id)
    message_filter = _wanted(call)
    limit = limit_of(arguments.limit)
    lists = call.services.repositories.message_lists
    page = lists.page(message_filter, before=arguments.before, after=arguments.after, limit=limit)
    if page.messages:
        details = {"messages": len(page.messages)}
        by = call.audit(organization_id=arguments.organization_id, details=details, always=True)
        await call.note_look(by)
    parts = [each.key for each in page.messages if each.part_number is not None]
    cut = {} if call.hides_texts else lists.cut_messages(parts)
    shown = tuple(_placed(each, cut.get(each.key)) for each in _shown(call, page.messages))
    return replace(page, messages=shown)


def _placed(message: Listed, whole: CutMessage | None) -> Listed:
    """A message, with its place in the longer one if it is a part."""
    if message.part_number is None:
        return message
    place = part_of(message.part_number)
    text = None if whole is None else whole.text
    return replace(message, part=PartPlace(place.number, place.total, text))


@OPERATIONS(message_lists.NEWER, operators=SUPPORT, **_OF_ORGANIZATION)
async def _newer(call: Call[CountNewer]) -> NewerCount:
    arguments = call.arguments
    call.services.accounts.organization(arguments.organization_id)
    lists = call.services.repositories.message_lists
    newer = lists.count_newer(_wanted(call), arguments.after, NEWER_MAX + 1)
    return NewerCount(min(newer, NEWER_MAX), newer > NEWER_MAX)


@OPERATIONS(message_lists.EXPORT, operators=SUPPORT, shows_texts=True, **_OF_ORGANIZATION)
async def _export(call: Call[ExportMessages]) -> ExportPart:
    arguments, lists = call.arguments, call.services.repositories.message_lists
    call.services.accounts.organization(arguments.organization_id)
    line = await line_of(call, arguments.export, _said(arguments), arguments.organization_id)
    page = lists.page(_wanted(call), before=arguments.before, limit=EXPORT_PART)
    shown = _shown(call, page.messages)
    return ExportPart(shown, page.newer, page.older, page.looked_to, line)


def _shown(call: Call[Any], listed: tuple[Listed, ...]) -> tuple[Listed, ...]:
    """Messages as the caller may see them."""
    if not call.hides_texts:
        return listed
    return tuple(replace(each, body=None, metadata={}) for each in listed)


def _said(arguments: ExportMessages) -> Json:
    """The filters as the audit entry says them."""
    details = {
        "mode": arguments.mode,
        "status": arguments.status,
        "to": None if arguments.to is None else masked(arguments.to),
        "from": arguments.sender,
        "kind": arguments.kind,
        "key": arguments.key_id,
        "cause": arguments.cause,
        # It may be part of a text or of a number; the trail keeps neither.
        "contains": None if arguments.contains is None else f"{len(arguments.contains)} characters",
        "since": maybe_iso(arguments.since),
        "until": maybe_iso(arguments.until),
    }
    return {name: value for name, value in details.items() if value is not None}


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
    arguments = call.arguments
    every_detail = {
        "to": None if arguments.to is None else masked(arguments.to),
        # They may be just the digits that the trail leaves out.
        "digits": None if arguments.digits is None else f"{len(arguments.digits)} digits",
        "message": arguments.message_id,
        "carrierId": arguments.carrier_id if arguments.digits is None else None,
    }
    details = {name: value for name, value in every_detail.items() if value is not None}
    if len(details) != 1:
        advice = "Give one of `to`, `digits`, `message_id` and `carrier_id`."
        raise Invalid("to", "one_of", advice)
    await call.note(call.audit(details=details, always=True))
    limit = limit_of(arguments.limit)
    plan = call.services.settings.plan
    ranges = None if arguments.digits is None else plan.ranges_of(arguments.digits)
    sought = Sought(arguments.to, ranges, arguments.message_id, arguments.carrier_id)
    lists = call.services.repositories.message_lists
    with few_numbers():
        return lists.find(sought, before=arguments.before, after=arguments.after, limit=limit)
