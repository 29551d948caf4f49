"""How long another organization's list waits beside twelve workbooks of empty rows."""

from __future__ import annotations

import tempfile
import time
import zipfile
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Final

import trio

from risala.engine.features.tables.reading import ReadRequest, SheetFault, read
from risala.engine.model.errors import EngineError

WORKBOOKS: Final = 12
ROWS: Final = 1_000_000
"""Empty rows of each: five kilobytes as a file."""
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_SHEET_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_CELL: Final = '<c r="A1" t="inlineStr"><is><t>22236123456</t></is></c>'
_FILES: Final = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships'
    f'+xml"/><Override PartName="/xl/workbook.xml" ContentType="{_SHEET_TYPE}.sheet.main+xml"/>'
    f'<Override PartName="/xl/s.xml" ContentType="{_SHEET_TYPE}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_OFFICE}/worksheet" Target="s.xml"/></Relationships>',
    "xl/s.xml": f'<worksheet xmlns="{_MAIN}"><sheetData><row r="1">{_CELL}</row>'
    + "<row/>" * ROWS
    + "</sheetData></worksheet>",
}


def measure() -> None:
    """Print how long the list took alone, and beside the workbooks of another."""
    with tempfile.TemporaryDirectory() as folder:
        trio.run(_measure, Path(folder))


async def _measure(folder: Path) -> None:
    people = folder / "people.csv"
    people.write_text("Name,Phone\nAicha,22236123456\n", "utf-8")
    workbook = folder / "workbook.xlsx"
    with zipfile.ZipFile(workbook, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _FILES.items():
            archive.writestr(name, text)
    alone_s = await _reading("org_one", people)
    async with trio.open_nursery() as nursery:
        for number in range(WORKBOOKS):
            nursery.start_soon(_reading, "org_many", workbook, number)
        await trio.sleep(0.5)
        beside_s = await _reading("org_one", people)
        nursery.cancel_scope.cancel()
    print(
        f"a list: {alone_s:.1f} s alone, {beside_s:.1f} s beside {WORKBOOKS} workbooks of "
        f"{workbook.stat().st_size:,} bytes"
    )


async def _reading(owner: str, path: Path, number: int = 0) -> float:
    began_s = time.monotonic()
    given = {"owner": owner, "path": path, "countries": ("MR",)}
    known = {each.name for each in fields(ReadRequest)}  # before turns there was no owner
    rows = path.with_name(f"{owner}-{number}.rows")
    request = ReadRequest(
        rows_path=rows, **{name: value for name, value in given.items() if name in known}
    )
    with suppress(SheetFault, EngineError):
        await read(request)
    return time.monotonic() - began_s
