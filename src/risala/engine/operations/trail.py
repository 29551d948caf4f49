"""The audit trail: page by page, or all of it in parts; whether it and the books are whole."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.journal.audit import heads_file
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeMoment,
    MaybeText,
    MaybeTexts,
    MaybeWhole,
    NoArguments,
    OfMaybeOrganization,
    maybe,
    one_of,
)
from risala.engine.kernel.cursors import MaybeCursor, MaybeTimedPlace, written
from risala.engine.kernel.operation import Call, Operations, line_of
from risala.engine.model.audit import TrailFilter
from risala.engine.model.callers import CallerKind
from risala.engine.model.errors import Invalid
from risala.engine.model.features import features
from risala.engine.model.records.asks import Place, Steps
from risala.engine.model.records.record import shallow
from risala.engine.model.records.upkeep import trail
from risala.engine.model.records.upkeep.trail import (
    AUDIT,
    AuditReport,
    ChainPart,
    ChainState,
    LinesPage,
    LinesPart,
)
from risala.engine.model.times import maybe_iso
from risala.engine.rules.roles import OPERATORS, READERS
from risala.engine.rules.trail.chain import COLUMNS, HASH
from risala.engine.rules.trail.heads import NoHead, heads_of

LINES_MAX: Final = 500
"""The most entries in one answer."""
LINES_USUAL: Final = 50
EXPORT_PART: Final = 500
"""Entries in one part of an export: some milliseconds, during which nothing else runs."""


_face: Final = one_of("invalid_face", CallerKind)


class ListLines(OfMaybeOrganization):
    """A page of the audit trail, the newest first."""

    operation: MaybeText = None
    """An operation, or a family of them, such as ``carriers.``."""
    who: MaybeText = None
    face: Annotated[
        str | None,
        PlainValidator(maybe(_face)),
        ArgumentKind(", ".join(f"`{each}`" for each in CallerKind)),
    ] = None
    subject: MaybeText = None
    """The id of the thing that was changed or viewed."""
    changes_only: MaybeFlag = None
    """True: without the entries of what was only read."""
    since: MaybeMoment = None
    until: MaybeMoment = None
    before: MaybeTimedPlace = None
    after: MaybeTimedPlace = None
    limit: MaybeWhole = None


class ExportLines(ListLines):
    """A part of all entries that fit the filters, the newest first.

    The first part writes an audit entry, and returns its number as ``export``; calls for the other
    parts hand that back, and write none.
    """

    export: MaybeCursor = None


class ChainLines(Arguments):
    """A part of the whole audit trail with its hashes, the oldest first, and the signed heads.

    The first part writes an audit entry, and returns its number as ``export``; calls for the other
    parts hand that back, and write none. The export ends with that entry.
    """

    after: MaybeWhole = None
    """The last line of the former part."""
    export: MaybeCursor = None


def _wanted(arguments: ListLines) -> TrailFilter:
    return TrailFilter(
        organization_id=arguments.organization_id,
        action=arguments.operation,
        who=arguments.who,
        face=arguments.face,
        subject=arguments.subject,
        since=arguments.since,
        until=arguments.until,
        left_out=views() if arguments.changes_only else (),
    )


_VIEWS: Final = (
    *("audit.chain", "audit.export", "audit.list", "carriers.preview", "carriers.traffic"),
    *("inbound.list", "inbound.routes", "message.export", "message.find", "message.list"),
    *("message.show", "number.show", "org.list", "security.show", "sender.list"),
    "sender.requests",
)


@cache
def views() -> tuple[str, ...]:
    """The operations whose lines tell of something that was only read. A text that an operator read
    for a stated reason (``message.body``) is none of them: the trail is looked at for it."""
    return (*_VIEWS, *(name for feature in features() for name in feature.views))


def _numbered(place: Place | None) -> Place | None:
    """The two numbers of a cursor."""
    if place is None:
        return None
    at, line = place
    return (int(at), int(line) if str(line).isdigit() else 0)


def _page(call: Call[Any], arguments: ListLines, limit: int) -> LinesPage:
    steps = Steps(limit, _numbered(arguments.before), _numbered(arguments.after))
    page = call.services.repositories.audit.page(_wanted(arguments), steps)
    looked_to = None if page.looked_to is None else page.looked_to.at
    return LinesPage(page.items, written(page.newer), written(page.older), looked_to)


OPERATIONS: Final = Operations()


@OPERATIONS(trail.LIST, roles=OPERATORS, operators=READERS, reads_all_organizations=True)
async def _list(call: Call[ListLines]) -> LinesPage:
    arguments = call.arguments
    return _page(call, arguments, max(1, min(arguments.limit or LINES_USUAL, LINES_MAX)))


@OPERATIONS(trail.EXPORT, roles=OPERATORS, shows_texts=True, fresh=True)
async def _export(call: Call[ExportLines]) -> LinesPart:
    arguments = call.arguments
    every_detail = {
        "organization": arguments.organization_id,
        "operation": arguments.operation,
        "who": arguments.who,
        "face": arguments.face,
        "subject": arguments.subject,
        "changesOnly": arguments.changes_only,
        "since": maybe_iso(arguments.since),
        "until": maybe_iso(arguments.until),
    }
    details = {name: value for name, value in every_detail.items() if value is not None}
    line = await line_of(call, arguments.export, details, arguments.organization_id)
    return LinesPart(**shallow(_page(call, arguments, EXPORT_PART)), export=str(line))


@OPERATIONS(trail.STATE, roles=OPERATORS, operators=READERS)
async def _state(call: Call[NoArguments]) -> ChainState:
    head = heads_file.last(call.services.settings.storage.data_dir)
    return ChainState(None, None) if head is None else ChainState(head.end.seq, head.at)


@OPERATIONS(trail.CHAIN, roles=OPERATORS, operators=READERS, shows_texts=True)
async def _chain(call: Call[ChainLines]) -> ChainPart:
    arguments, stored = call.arguments, call.services.repositories.audit
    end = await line_of(call, arguments.export, {}, None)
    chained = [each for each in stored.chained(arguments.after or 0, EXPORT_PART) if each[0] <= end]
    last = chained[-1][0] if chained else end
    is_last = last >= end
    directory = call.services.settings.storage.data_dir
    return ChainPart(
        columns=(*COLUMNS, HASH),
        lines=tuple(text for _, text in chained),
        heads=tuple(each.text for each in heads_file.read(directory)) if is_last else (),
        after=None if is_last else last,
        export=str(end),
    )


class AuditBooks(Arguments):
    """Check the books and the audit trail."""

    heads: MaybeTexts = None
    """Signed heads of the audit trail that went out, each one line of JSON."""


@OPERATIONS(AUDIT, roles=OPERATORS, operators=READERS)
async def _audit(call: Call[AuditBooks]) -> AuditReport:
    try:
        heads = list(heads_of(call.arguments.heads or ()))
    except NoHead as error:
        raise Invalid("heads", "invalid_heads", str(error)) from error
    return await call.services.repositories.ledger.audit(heads)
