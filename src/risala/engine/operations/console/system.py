"""Facts about the service and its machine."""

from __future__ import annotations

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import trio

from risala import __version__
from risala.engine.journal.store.schema.migrations import known
from risala.engine.journal.upkeep import backup_note
from risala.engine.journal.upkeep.backup_note import BackupNote
from risala.engine.journal.upkeep.database_facts import SQLITE_VERSION
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations.arguments import Json, NoArguments
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS
from risala.engine.services import Services
from risala.engine.upkeep.doctor.database import clock_finding
from risala.engine.upkeep.doctor.findings import Grade
from risala.plugins.manager import PluginInfo

REQUESTS: Final = "requests.db"


@dataclass(frozen=True, slots=True)
class Machine:
    """The disk, and what of ours is on it, in bytes; None: it cannot be told."""

    disk_free: int | None
    disk_total: int | None
    database: int | None
    wal: int | None
    requests: int | None
    backup: BackupNote | None
    """The last that was made here."""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    version: str
    python: str
    sqlite: str
    schema: str
    """The newest migration of the tables."""
    pid: int
    started_at: int
    uptime_s: int
    now: int
    settings_file: str | None
    """None: the service runs on defaults, environment and flags."""
    data_dir: str
    machine: Machine
    last_upkeep: int | None
    """When everything that is too old was last looked through."""
    clock_is_well: bool
    clock: str
    """A sentence on it."""
    plugins: tuple[PluginInfo, ...]


def machine(data_dir: Path) -> Machine:
    """How the disk stands at this moment."""
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


def machine_wire(found: Machine) -> Json:
    """The disk as JSON; sizes in bytes."""
    backup = found.backup
    return {
        "diskFreeBytes": found.disk_free,
        "diskTotalBytes": found.disk_total,
        "databaseBytes": found.database,
        "walBytes": found.wal,
        "requestLogBytes": found.requests,
        "backup": None
        if backup is None
        else {"at": iso(backup.at), "sizeBytes": backup.size_bytes},
    }


def _wire(found: SystemFacts) -> Json:
    return {
        "version": found.version,
        "python": found.python,
        "sqlite": found.sqlite,
        "schema": found.schema,
        "pid": found.pid,
        "startedAt": iso(found.started_at),
        "uptimeS": found.uptime_s,
        "now": iso(found.now),
        "settingsFile": found.settings_file,
        "dataDir": found.data_dir,
        **machine_wire(found.machine),
        "lastUpkeepAt": maybe_iso(found.last_upkeep),
        "clock": {"ok": found.clock_is_well, "text": found.clock},
        "plugins": [
            {
                "name": each.name,
                "source": each.source,
                "brings": list(each.names),
                "disabled": each.disabled,
                "fault": each.fault,
            }
            for each in found.plugins
        ],
    }


def _facts(services: Services, now_ms: int) -> SystemFacts:
    birth, data_dir = services.birth, services.settings.storage.data_dir
    clock = clock_finding(services.repositories.alert_facts.newest_ms(), now_ms)
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
        machine=machine(data_dir),
        last_upkeep=services.repositories.retention.passed_at(),
        clock_is_well=clock.state is Grade.OK,
        clock=clock.text,
        plugins=tuple(birth.plugins),
    )


async def _show(call: Call[NoArguments]) -> SystemFacts:
    return _facts(call.services, call.now_ms)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="system.show",
        arguments=NoArguments,
        result=SystemFacts,
        wire=_wire,
        handler=_show,
        roles=OPERATORS,
    ),
)
