"""Guards of mailings: what a file may do to the service, and what a row may become."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_READING: Final = ("engine/features/mailings/test_reading.py",)
_TEXTS: Final = ("engine/features/tables/reader/test_text_files.py",)
_WORKBOOKS: Final = ("engine/features/tables/reader/test_workbooks.py",)
_CHECKING: Final = ("engine/features/mailings/test_checking.py",)
_KILLS: Final = ("engine/features/mailings/test_kills.py",)
_WAITS: Final = ("engine/features/mailings/test_waits.py",)
_UPLOADS: Final = ("engine/features/mailings/test_uploads.py",)
_OPERATIONS: Final = ("engine/features/mailings/test_mailing_operations.py",)
_WRITTEN: Final = ("sms/numbering/test_written.py",)

GUARDS: Final = (
    Guard(
        "A file is taken only from who may send.",
        "engine/features/tables/operations.py",
        "    if verdict is RoleVerdict.FORBIDDEN:\n",
        "    if False:\n",
        _OPERATIONS,
    ),
    Guard(
        "A look at a mailing's people is no change of it.",
        "engine/features/mailings/operations/rows.py",
        "        organization_id=mailing.organization_id,\n",
        "        subject=mailing.id, organization_id=mailing.organization_id,\n",
        _OPERATIONS,
    ),
    Guard(
        "Nobody sees customers' people in the console.",
        "engine/features/mailings/operations/arguments.py",
        "    if call.hides_texts:\n",
        "    if False:\n",
        _OPERATIONS,
    ),
    Guard(
        "What a file needs beyond its bounds ends the child that reads it.",
        "engine/features/tables/reader/process.py",
        "        resource.setrlimit(limit, (bound, bound))\n",
        "",
        _READING,
    ),
    Guard(
        "A workbook that unpacks to too much is not unpacked.",
        "engine/features/tables/reader/workbooks.py",
        "    if sum(each.file_size for each in archive.infolist()) > EXPANDED_MAX_BYTES:\n",
        "    if False:\n",
        _WORKBOOKS,
    ),
    Guard(
        "A formula without its value is no empty cell.",
        "engine/features/tables/reader/workbooks.py",
        "        if cell.find(_FORMULA) is not None and not _has_value(cell):\n",
        "        if False:\n",
        _WORKBOOKS,
    ),
    Guard(
        "A file that is refused leaves no rows on disk.",
        "engine/features/tables/reading.py",
        "        request.rows_path.unlink(missing_ok=True)\n",
        "",
        _READING,
    ),
    Guard(
        "The child that reads files has none of the service's secrets.",
        "engine/features/tables/reading.py",
        "            env=_environment(),\n",
        "",
        _READING,
    ),
    Guard(
        "A child that nobody waits for is ended.",
        "engine/features/tables/reading.py",
        "    process.kill()\n",
        "    await process.wait()\n",
        _READING,
    ),
    Guard(
        "A cell of a report is no formula.",
        "engine/features/tables/reader/workbook_writing.py",
        '        cell._value, cell.data_type = written, "s"\n',
        "        cell.value = written  # type: ignore[attr-defined]\n",
        ("engine/features/tables/reader/test_workbook_writing.py",),
    ),
    Guard(
        "A list has a bounded number of rows.",
        "engine/features/tables/reader/rows.py",
        "            if count > ROWS_MAX:\n",
        "            if False:\n",
        _TEXTS,
    ),
    Guard(
        "A line of a file is not read beyond its bound.",
        "engine/features/tables/reader/text_files.py",
        "            if len(line) == LINE_CHARACTERS_MAX:\n",
        "            if False:\n",
        _TEXTS,
    ),
    Guard(
        "A person is written to once, however the number is written.",
        "engine/features/tables/rules/checking.py",
        "            if number in seen:\n",
        "            if False:\n",
        _CHECKING,
    ),
    Guard(
        "A text with a missing value is not sent.",
        "engine/features/tables/rules/checking.py",
        "            if not without_unseen(as_value(cell_at(cells, place))):\n",
        "            if False:\n",
        _CHECKING,
    ),
    Guard(
        "A row whose values have shifted is not sent.",
        "engine/features/tables/rules/checking.py",
        "        if len(values) > len(self.columns):\n",
        "        if False:\n",
        _CHECKING,
    ),
    Guard(
        "A row of a mailing is one message, however often it is sent.",
        "engine/features/mailings/mailing_sending.py",
        '        idempotency_key=f"{mailing.id}:{row.row}",\n',
        "",
        _KILLS,
    ),
    Guard(
        "So few messages of mailings wait for a carrier that a pause holds back the rest.",
        "engine/features/mailings/mailing_sending.py",
        "        if room < (ROOM_MIN if mailing.wait is MailingWait.QUEUE else 1):\n",
        "        if False:\n",
        _WAITS,
    ),
    Guard(
        "A mailing sends in its hours alone.",
        "engine/features/mailings/mailing_sending.py",
        "        if opens_ms is not None:\n",
        "        if False:\n",
        _WAITS,
    ),
    Guard(
        "A mailing keeps its pace.",
        "engine/features/mailings/mailing_sending.py",
        "            if now_ms < next_ms <= now_ms + pace.period_ms:\n",
        "            if False:\n",
        _WAITS,
    ),
    Guard(
        "Rows of a file that is lost are not taken for all of them.",
        "engine/features/mailings/checking.py",
        "            await self._give_up(stored, str(error))\n",
        "            await self._sources.mailings.finish_check(stored.mailing.id)\n",
        _KILLS,
    ),
    Guard(
        "An upload is its organization's alone.",
        "engine/features/tables/uploads.py",
        "        if upload is None or upload.organization_id != organization_id:\n",
        "        if upload is None:\n",
        _UPLOADS,
    ),
    Guard(
        "An upload that a mailing needs is not removed.",
        "engine/features/tables/uploads.py",
        "            if name in held or name in self._arriving or name in self._in_use:\n",
        "            if name in self._arriving or name in self._in_use:\n",
        _UPLOADS,
    ),
    Guard(
        "A file that is too large is not stored.",
        "engine/features/tables/uploads.py",
        "                if size > FILE_BYTES_MAX:\n",
        "                if False:\n",
        _UPLOADS,
    ),
    Guard(
        "The row of an erased number keeps the message that was sent for it.",
        "engine/features/mailings/stored/forgetting.py",
        "        if former == READY and note_one(conn, mailing, row, (former, segments, price)):\n",
        "        if False:\n",
        ("engine/features/mailings/stored/test_forgetting.py",),
    ),
    Guard(
        "Who stands in a row that a sheet hides is not written to.",
        "engine/features/tables/reader/workbooks.py",
        'cells, is_shown = {}, not _is_hidden(element, "ht")',
        "cells, is_shown = {}, True",
        ("engine/features/tables/reader/test_shown.py",),
    ),
    Guard(
        "A row's number is one of a sheet's, after that of the row before.",
        "engine/features/tables/reader/workbooks.py",
        "        if not before < self.row_counter <= ROW_NUMBER_MAX:\n",
        "        if False:\n",
        _WORKBOOKS,
    ),
    Guard(
        "Rows that are passed over are bounded, over all sheets.",
        "engine/features/tables/reader/workbooks.py",
        ").rows(hidden, self._passed)",
        ").rows(hidden, PassedRows())",
        _WORKBOOKS,
    ),
    Guard(
        "What an organization stores is bounded.",
        "engine/journal/storage.py",
        "    if limited_bytes(conn, organization_id) + more > bytes_max:\n",
        "    if False:\n",
        ("engine/features/mailings/test_storage.py",),
    ),
    Guard(
        "One organization's files leave a place for another's.",
        "engine/features/tables/fair_places.py",
        "if self._held[each] < self._each_max",
        "if True",
        ("engine/features/tables/test_fair_places.py",),
    ),
    Guard(
        "A number that a spreadsheet made a figure of is never a stranger's.",
        "sms/numbering/written.py",
        "    if figure is not None:\n        return figure\n",
        "",
        _WRITTEN,
    ),
    Guard(
        "Two numbers are never read as one.",
        "sms/numbering/written.py",
        " if _are_two(written, reads, strong=True) else one\n",
        " if False else one\n",
        _WRITTEN,
    ),
    Guard(
        "A day is nobody's number.",
        "engine/features/tables/rules/checking.py",
        "    if _is_day(written):\n        return NumberFault.NUMBER\n",
        "",
        _CHECKING,
    ),
)
