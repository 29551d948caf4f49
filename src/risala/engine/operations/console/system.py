"""Facts about the service and its machine."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import trio

from risala import __version__
from risala.engine.journal.store.schema.migrations import known
from risala.engine.journal.upkeep import backup_note
from risala.engine.journal.upkeep.database_facts import SQLITE_VERSION
from risala.engine.kernel.arguments import NoArguments
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.features import features
from risala.engine.model.findings import Grade
from risala.engine.model.records.record import shallow
from risala.engine.model.records.upkeep.service import (
    SYSTEM,
    ClockState,
    FoundPlugin,
    Machine,
    SystemFacts,
)
from risala.engine.rules.roles import OPERATORS, READERS
from risala.engine.services import Services
from risala.engine.upkeep.doctor.database import clock_finding

REQUESTS: Final = "requests.db"


def machine(data_dir: Path) -> Machine:
    """The disk's state now."""
    try:
        disk = shutil.disk_usage(data_dir)
    except OSError:
        free = total = None
    else:
        free, total = disk.free, disk.total
    path = data_dir / "risala.db"
    wal, requests = path.with_name(f"{path.name}-wal"), data_dir / REQUESTS
    note = backup_note.read(data_dir)
    return Machine(free, total, _size(path), _size(wal), _size(requests), note)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _facts(services: Services, now_ms: int, theirs: Mapping[str, Any]) -> SystemFacts:
    """``theirs`` are those of features, by their names."""
    birth, data_dir = services.birth, services.settings.storage.data_dir
    clock = clock_finding(services.repositories.storage.newest_ms(), now_ms)
    return SystemFacts(
        version=__version__,
        python=platform.python_version(),
        sqlite=".".join(map(str, SQLITE_VERSION)),
        schema=known()[-1],
        pid=os.getpid(),
        started_at=birth.at_ms,
        uptime_s=round(trio.current_time() - birth.at_s),
        now=now_ms,
        settings_file=None if birth.settings_file is None else str(birth.settings_file.absolute()),
        data_dir=str(data_dir.absolute()),
        **shallow(machine(data_dir)),
        last_upkeep_at=services.repositories.storage.passed_at(),
        clock=ClockState(clock.state is Grade.OK, clock.text),
        plugins=tuple(
            FoundPlugin(each.name, each.source, tuple(each.names), each.disabled, each.fault)
            for each in birth.plugins
        ),
        **theirs,
    )


OPERATIONS: Final = Operations()


@OPERATIONS(SYSTEM, roles=OPERATORS, operators=READERS)
async def _show(call: Call[NoArguments]) -> SystemFacts:
    theirs = {
        name: await each()(call.services)
        for feature in features()
        for name, each in feature.system.items()
    }
    return _facts(call.services, call.now_ms, theirs)
