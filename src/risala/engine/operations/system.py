"""The running service: facts of it and its machine, its numbers, plugins and bound sessions."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import trio

from risala import __version__
from risala.dataclass import dataclass
from risala.engine.journal.store.opening import SQLITE_VERSION
from risala.engine.journal.store.schema.migrations import known
from risala.engine.journal.upkeep import backup_note
from risala.engine.kernel.arguments import Arguments, Json, NoArguments, Text
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import NotFound
from risala.engine.model.features import features
from risala.engine.model.findings import Grade, clock_finding
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.record import shallow
from risala.engine.model.records.upkeep import plugins
from risala.engine.model.records.upkeep.plugins import (
    PageFormNoted,
    PluginHealth,
    PluginsReport,
)
from risala.engine.model.records.upkeep.service import (
    SESSIONS,
    SYSTEM,
    WAITING,
    BoundEsmes,
    ClockState,
    Deciding,
    FoundPlugin,
    Machine,
    SystemFacts,
)
from risala.engine.rules.roles import OPERATORS, READERS
from risala.engine.services import Services
from risala.engine.upkeep.plugin_report import plugins_report
from risala.plugins.kinds import DRIVERS, EVENT_SINKS, MESSAGE_POLICIES

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


@OPERATIONS(WAITING, roles=OPERATORS, operators=READERS)
async def _waiting(call: Call[NoArguments]) -> Deciding:
    return call.services.repositories.storage.deciding(call.now_ms)


# -- its numbers


@dataclass(frozen=True, slots=True)
class ServiceStatistics:
    """All numbers that the service keeps in memory, named after its parts."""

    values: Mapping[str, Any]


def _values(statistics: ServiceStatistics) -> Json:
    return dict(statistics.values)


@OPERATIONS(Ask("statistics", ServiceStatistics), roles=OPERATORS, operators=READERS, wire=_values)
async def _statistics(call: Call[NoArguments]) -> ServiceStatistics:
    return ServiceStatistics(call.services.statistics())


# -- plugins, and the state of what they brought


ACTION_CHARACTERS_MAX: Final = 100
"""The most characters of a form's word in the trail."""


def health_of(services: Services) -> Iterator[PluginHealth]:
    """The state of carriers, event sinks and message policies."""
    for each in services.delivery.carriers():
        text = "" if each.state == "up" else each.text
        yield PluginHealth(DRIVERS.key, each.driver, each.name, each.state, text)
    numbers = services.statistics()
    for each in numbers.get("sinks", ()):
        yield PluginHealth(
            EVENT_SINKS.key, each["sink"], each["name"], each["state"], _of_sink(each)
        )
    for each in numbers.get("policies", ()):
        text = each["last_error"] or ""
        yield PluginHealth(MESSAGE_POLICIES.key, each["policy"], each["name"], each["state"], text)


def _of_sink(sink: Json) -> str:
    parts = [sink["text"]]
    if sink["behind"]:
        parts.append(f"{sink['behind']} events behind, the oldest by {sink['behindS']} s.")
    if sink["missed"]:
        parts.append(f"{sink['missed']} events were deleted before it had them.")
    if not sink["text"] and sink["lastError"]:
        parts.append(f"The last error, at {sink['lastErrorAt']}: {sink['lastError']}")
    return " ".join(filter(None, parts))


class SendPageForm(Arguments):
    """Record that an operator sends a form of a plugin's page, before the plugin gets it."""

    page: Text
    action: Text


@OPERATIONS(plugins.LIST, roles=OPERATORS, operators=READERS)
async def _list_plugins(call: Call[NoArguments]) -> PluginsReport:
    birth = call.services.birth
    return plugins_report(birth.plugins, birth.plugin_faults, tuple(health_of(call.services)))


@OPERATIONS(plugins.ACT, roles=OPERATORS, changes=PageFormNoted)
async def _act(call: Call[SendPageForm]) -> PageFormNoted:
    arguments = call.arguments
    if arguments.page not in call.services.pages:
        raise NotFound(f"There is no page {arguments.page!r}.")
    # The entry leaves out the typed values: they may be secrets.
    details = {"action": arguments.action[:ACTION_CHARACTERS_MAX]}
    await call.note(call.audit(subject=arguments.page, details=details, always=True))
    return PageFormNoted(arguments.page, arguments.action)


# -- sessions bound to the SMPP server


class ListEsmes(Arguments):
    """The sessions of customers' SMPP software that are bound now."""


@OPERATIONS(SESSIONS, roles=OPERATORS, operators=READERS)
async def _list_esmes(call: Call[ListEsmes]) -> BoundEsmes:
    esmes = call.services.esmes
    return BoundEsmes(esmes.is_open, tuple(sorted(esmes.views(), key=lambda each: each.since)))
