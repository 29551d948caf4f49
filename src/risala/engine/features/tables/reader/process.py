"""The child process that reads tables: ``python -m risala.engine.features.tables.reader.process``.

It reads one request (JSON) from its standard input, and writes one answer. Before it looks at a
file it bounds itself: what a file makes it need beyond that ends it, and nothing else.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from risala.engine.features.tables.reader.rows import read_table
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable

MEMORY_MAX_BYTES: Final = 256 * 1024 * 1024
"""Address space: some thirty times what the largest lists need beyond Python's own."""
CPU_MAX_S: Final = 60
"""Three times what a list of the most rows takes."""
WRITTEN_MAX_BYTES: Final = 200_000_000
"""A file that is written: the rows of the largest upload are a tenth of it."""
WORKBOOK_CPU_MAX_S: Final = 300
"""A report of the most rows and columns takes a minute or two."""

NICENESS: Final = 10
"""The priority of a child: behind the service itself, which has messages to take and to send."""


def main() -> None:
    os.umask(0o077)
    with suppress(OSError):
        os.nice(NICENESS)
    request = json.load(sys.stdin)
    is_reading = request.pop("do") == "read"
    _bound(CPU_MAX_S if is_reading else WORKBOOK_CPU_MAX_S)
    answer = _read(request) if is_reading else _written(request)
    json.dump(answer, sys.stdout)


def _bound(cpu_s: int) -> None:
    for limit, most in (
        (resource.RLIMIT_AS, MEMORY_MAX_BYTES),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, WRITTEN_MAX_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (bound, bound))


def _read(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return read_table(request)
    except UnreadableTable as error:
        return _fault(error)
    except MemoryError:
        return _fault(UnreadableTable(TableFault.TOO_BIG))
    except OSError as error:
        if error.errno == errno.EFBIG:
            return _fault(UnreadableTable(TableFault.TOO_BIG))
        return {"storage": str(error)}


def _fault(error: UnreadableTable) -> dict[str, Any]:
    return {"fault": error.fault, "sentence": str(error)}


def _written(request: dict[str, Any]) -> dict[str, Any]:
    from risala.engine.features.tables.reader.workbook_writing import write_workbook

    try:
        return {"rows": write_workbook(Path(request["cells_path"]), Path(request["out_path"]))}
    except (MemoryError, OSError) as error:
        return {"storage": str(error)}


if __name__ == "__main__":
    main()
