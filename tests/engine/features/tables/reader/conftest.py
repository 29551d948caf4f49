import csv
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from risala.engine.features.tables.reader.rows import read_table
from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable


class ReadRow(NamedTuple):
    """A line of the output."""

    row: int
    cells: list[str]
    number: str | None
    fault: RowFault | None
    column: str | None
    segments: int


class ReadTable(NamedTuple):
    recognised: dict[str, Any]
    rows: list[ReadRow]

    @property
    def cells(self) -> list[list[str]]:
        return [each.cells for each in self.rows]

    @property
    def numbers(self) -> list[str | None]:
        return [each.number for each in self.rows]


Read = Callable[..., ReadTable]
Refused = Callable[..., TableFault]


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Read]:
    """Reads a file, or octets, in this process."""

    def reads(
        content: bytes | Path,
        *,
        text: str | None = None,
        source: str = "file",
        columns: tuple[str, ...] = (),
        countries: tuple[str, ...] = ("MR",),
        **chosen: object,
    ) -> ReadTable:
        path = content if isinstance(content, Path) else tmp_path / "upload.file"
        if isinstance(content, bytes):
            path.write_bytes(content)
        rows = tmp_path / "upload.rows"
        rows.unlink(missing_ok=True)
        request = {
            "path": str(path),
            "rows_path": str(rows),
            "countries": countries,
            "text": text,
            "smart_encoding": True,
            "source": source,
            "chosen": chosen,
            "columns": columns,
            "parent": os.getppid(),
        }
        answer = read_table(request)
        lines = map(json.loads, rows.read_bytes().split(b"\n")[:-1])
        found = [ReadRow(row, json.loads(cells), *others) for row, cells, *others in lines]
        assert len(found) == answer["rows"]
        return ReadTable(answer["recognised"], found)

    # The child bounds all cells; other tests run in this process.
    limit = csv.field_size_limit()
    yield reads
    csv.field_size_limit(limit)


@pytest.fixture
def refused(read: Read) -> Refused:
    """Why a file is not read."""

    def refuses(content: bytes | Path, **options: object) -> TableFault:
        with pytest.raises(UnreadableTable) as raised:
            read(content, **options)
        return raised.value.fault

    return refuses
