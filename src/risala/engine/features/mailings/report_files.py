"""The report of a mailing as a workbook, on the disk of the service."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from risala.engine.features.mailings.records import Mailing
from risala.engine.features.mailings.rules.reporting import ReportCell, report_cells, report_heading
from risala.engine.features.mailings.service import MailingService
from risala.engine.features.tables.uploads import private

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
