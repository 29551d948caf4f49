"""The rows of a mailing: looking at them, mending them, and their report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.operations.arguments import (
    Cells,
    MaybeRow,
    OfMailing,
    RowNumber,
    meant,
    need_texts,
    of_mailing,
)
from risala.engine.features.mailings.records import (
    Mailing,
    MailingRow,
    MailingRows,
    Person,
    ReportPart,
    RowState,
    Workbook,
)
from risala.engine.features.mailings.rules import ReportCell, report_cells, report_heading
from risala.engine.features.mailings.service import MailingService, mailing_service
from risala.engine.features.tables.uploads import private
from risala.engine.kernel.arguments import (
    ArgumentKind,
    MaybeWhole,
    any_text,
    fault,
    maybe,
    one_of,
    text,
)
from risala.engine.kernel.cursors import limit_of
from risala.engine.kernel.operation import Call, Operations, line_of
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.errors import Invalid
from risala.engine.rules.roles import DEVELOPERS, SUPPORT, VIEWERS

STEPS: Final = ("next", "previous", "random")
_WORDS_MAX: Final = 400
"""Words of a report: its headings, and the names of states, faults and countries."""
_WORD_CHARACTERS_MAX: Final = 200
_state: Final = one_of("invalid_state", (each.value for each in RowState))


def _row_state(value: object) -> RowState:
    return RowState(_state(value))


def _words(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > _WORDS_MAX:
        raise fault("invalid_words", "`{name}` must be words with their translations.")
    words = {text(name): any_text(word) for name, word in value.items()}
    if any(len(word) > _WORD_CHARACTERS_MAX for word in words.values()):
        raise fault("too_long", f"A word has at most {_WORD_CHARACTERS_MAX} characters.")
    return words


class ListMailingRows(OfMailing):
    """A page of a mailing's rows, in the order of its file."""

    state: Annotated[
        RowState | None,
        PlainValidator(maybe(_row_state)),
        ArgumentKind(", ".join(f"`{each.value}`" for each in RowState)),
    ] = None
    after: MaybeRow = None
    limit: MaybeWhole = None


class ShowPerson(OfMailing):
    """One person of a mailing, with their text. Nothing given: the first one."""

    place: MaybeRow = None
    """The person's place among the rows that are ready or accepted, from 1."""
    row: MaybeRow = None
    step: Annotated[
        str | None,
        PlainValidator(maybe(one_of("invalid_step", STEPS))),
        ArgumentKind("`next` or `previous` of `row`, or `random`"),
    ] = None


class MendRow(OfMailing):
    """Write other cells into a row of a draft, and check it again."""

    row: RowNumber
    cells: Cells = Field(repr=False)


class LeaveOut(OfMailing):
    """Leave out one row of a draft; none given: all bad ones."""

    row: MaybeRow = None


class ReadReport(OfMailing):
    """Some rows of a mailing's report, in their order."""

    after: MaybeRow = None
    """The last row of the part before; None: the first part."""
    export: MaybeWhole = None
    """The first part's `export`, for each later part."""


class WriteWorkbook(OfMailing):
    """Write the report of a mailing as a file for spreadsheets (XLSX), on the service's disk."""

    words: Annotated[
        dict[str, str] | None,
        PlainValidator(maybe(_words)),
        ArgumentKind("words with their translations"),
    ] = None
    """What the file says in place of its English headings, states and faults."""


OPERATIONS: Final = Operations()
_ONE: Final[dict[str, Any]] = {"owner": of_mailing}
_LOOK: Final[dict[str, Any]] = {**_ONE, "roles": VIEWERS, "shows_texts": True}
_CHANGE: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": of_mailing,
    "changes": Mailing,
}


@OPERATIONS(mailings.ROWS, operators=SUPPORT, **_LOOK)
async def _rows(call: Call[ListMailingRows]) -> MailingRows:
    need_texts(call)
    arguments, mailing = call.arguments, meant(call)
    limit = limit_of(arguments.limit)
    await _note_rows_shown(call, mailing, state=arguments.state and arguments.state.value)
    return await call.part(mailing_service).rows(
        mailing.id, arguments.state, arguments.after or 0, limit
    )


@OPERATIONS(mailings.PERSON, operators=SUPPORT, **_LOOK)
async def _person(call: Call[ShowPerson]) -> Person:
    need_texts(call)
    arguments, mailing = call.arguments, meant(call)
    if arguments.step in ("next", "previous") and arguments.row is None:
        raise Invalid("row", "missing", "`row` is required: the step is from there.")
    await _note_rows_shown(call, mailing)
    return await call.part(mailing_service).person(
        mailing.id, place=arguments.place, row=arguments.row, step=arguments.step
    )


async def _note_rows_shown(call: Call[Any], mailing: Mailing, **details: object) -> None:
    await call.note_look(_shown_entry(call, mailing, **details))


def _shown_entry(call: Call[Any], mailing: Mailing, **details: object) -> AuditEntry:
    """The line of a look. Its subject is not the mailing, whose version it would raise."""
    known = {name: value for name, value in details.items() if value is not None}
    return call.audit(
        organization_id=mailing.organization_id,
        details={"mailing": mailing.id, **known},
        always=True,
    )


@OPERATIONS(mailings.MEND, **_CHANGE)
async def _mend(call: Call[MendRow]) -> MailingRow:
    arguments = call.arguments
    by = call.audit(
        AuditImage.MAILING, arguments.mailing_id, details={"row": arguments.row}, always=True
    )
    return await call.part(mailing_service).mend(
        arguments.mailing_id, arguments.row, arguments.cells, by=by
    )


@OPERATIONS(mailings.LEAVE_OUT, **_CHANGE)
async def _leave_out(call: Call[LeaveOut]) -> Mailing:
    arguments, mailing = call.arguments, meant(call)
    details = {"rows": mailing.bad} if arguments.row is None else {"row": arguments.row}
    by = call.audit(AuditImage.MAILING, mailing.id, details=details, always=True)
    return await call.part(mailing_service).leave_out(mailing.id, arguments.row, by=by)


@OPERATIONS(mailings.REPORT, operators=SUPPORT, **_LOOK)
async def _report(call: Call[ReadReport]) -> ReportPart:
    need_texts(call)
    arguments, mailing = call.arguments, meant(call)
    details = {"mailing": mailing.id, "rows": mailing.rows}
    line = await line_of(call, arguments.export, details, mailing.organization_id)
    part = await call.part(mailing_service).report(mailing.id, arguments.after or 0)
    return replace(part, export=line)


@OPERATIONS(mailings.WORKBOOK, operators=SUPPORT, **_LOOK)
async def _workbook(call: Call[WriteWorkbook]) -> Workbook:
    need_texts(call)
    mailing, services = meant(call), call.services
    await call.note(_shown_entry(call, mailing, rows=mailing.rows))
    report_id, words = services.ids.new(PREFIX), call.arguments.words or {}
    path = await write_report(services.part(mailing_service), report_id, mailing, words)
    return Workbook(mailing, str(path))


# The report of a mailing as a workbook, on the disk of the service.

PREFIX: Final = "rep"
"""The beginning of a report's id. Its files stand beside the uploads and go with them after a
day."""


async def write_report(
    mailings: MailingService, report_id: str, mailing: Mailing, words: Mapping[str, str]
) -> Path:
    """Write the report of a mailing as XLSX; where it is.

    Args:
        words: what it says in place of the English words.

    Raises:
        Overloaded, StorageFailed: it cannot be written now.
    """
    uploads = mailings.uploads
    cells, out = (uploads.beside(report_id, kind) for kind in ("cells", "xlsx"))
    await uploads.work(partial(cells.parent.mkdir, mode=0o700, exist_ok=True))
    heading = report_heading(mailing.columns, words)
    await uploads.work(partial(_append, cells, [heading]))
    after: int | None = 0
    while after is not None:
        part = await mailings.report(mailing.id, after)
        lines = [report_cells(row, part.columns, words) for row in part.rows]
        await uploads.work(partial(_append, cells, lines))
        after = part.after
    await mailings.write_report(cells, out, mailing.organization_id)
    await uploads.work(cells.unlink)
    return out


def _append(path: Path, lines: Sequence[Sequence[ReportCell]]) -> None:
    with open(path, "a", encoding="utf-8", opener=private) as file:
        for line in lines:
            texts = ["" if each is None else str(each) for each in line]
            file.write(json.dumps(texts, ensure_ascii=False) + "\n")
