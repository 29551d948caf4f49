"""The service: builds everything, nests it, waits for a signal, takes it down inside-out."""

from __future__ import annotations

import faulthandler
import gc
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
import trio

from risala.app.connections import open_outside
from risala.app.faces import open_faces
from risala.app.guard import LeaseGone, LeaseGuard
from risala.app.listening import ServiceAddresses, listen
from risala.app.logs import configure_logs, set_level, warn_of_old_names
from risala.app.outlets import unharmed
from risala.app.reload import FileSource, reload_when_asked
from risala.app.stop import Stop
from risala.app.tracebacks import guard_last_words
from risala.app.undumped import forbid_dumps
from risala.app.upgrading import Show, unshown, upgrade_while_answering
from risala.config.faults import ConfigError, Fault
from risala.config.model import CarrierSection, Settings
from risala.engine.actors.supervisor import SupervisionFailed
from risala.engine.journal.store.lock import DataLock
from risala.engine.journal.store.opening import storage_sentence
from risala.engine.model.errors import (
    DataDirectoryBusy,
    NotTheSender,
    StoppedEarly,
    StorageFailed,
    StorageUnusable,
)
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import required
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import DATABASE, system_seams
from risala.engine.wiring.gateway import open_gateway
from risala.http.common.failed_keys import AnswerTally
from risala.http.server.sockets import ListenError
from risala.plugins.contract import Driver
from risala.plugins.manager import PluginManager
from risala.sms.currencies import counting_in
from risala.sms.numbering.plan import NumberingPlan

if TYPE_CHECKING:
    from risala.app.demo import Demo

__all__ = ["open_gateway", "run_service"]

log = structlog.get_logger(__name__)

LOCK_PATIENCE_S: Final = 5.0
"""Seconds that a start waits for the lock: a command that holds it is soon done, another service
is not."""
LOCK_AGAIN_S: Final = 0.1
GC_THRESHOLDS: Final = (100_000, 50, 1000)
SWITCH_S: Final = 0.0005
"""The journal's thread asks for the interpreter after every statement: with Python's 5 ms it waits
most of its time for a busy loop (batches one at a time: a third faster)."""
TEST_CARRIER: Final = CarrierSection(
    name="test", driver="test", prefixes=(), rate_per_s=1000, window_max=100
)

_EXPECTED: Final = (
    StorageUnusable,
    StorageFailed,
    ListenError,
    ConfigError,
    SupervisionFailed,
    LeaseGone,
    NotTheSender,
    StoppedEarly,
)


def run_service(
    settings: Settings,
    *,
    demo: bool = False,
    load: Callable[[], Settings] | None = None,
    show: Show = unshown,
    file: Path | None = None,
) -> int:
    """Run until SIGINT or SIGTERM; the exit status. Expected faults are one sentence on stderr.

    ``load`` reads the settings again, for SIGHUP; ``file`` is where they were read from. ``show``
    shows the progress of an upgrade.
    """
    with unharmed():
        return _run(settings, demo=demo, load=load, show=show, file=file)


def _run(
    settings: Settings,
    *,
    demo: bool,
    load: Callable[[], Settings] | None,
    show: Show,
    file: Path | None,
) -> int:
    configure_logs(settings.log, quiet=demo, plan=settings.plan)
    warn_of_old_names(settings)
    guard_last_words()
    forbid_dumps()
    _allow_open_files()
    faulthandler.enable()
    # What the imports left behind is looked for once, so that what follows gets its memory.
    gc.collect()
    # Most objects of a request live shortly and are in no cycle: fewer collections make the service
    # a fifth faster.
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()
    sys.setswitchinterval(SWITCH_S)
    try:
        with counting_in(settings.service.currency):
            trio.run(
                partial(_serve, settings, demo=demo, load=load, show=show, file=file),
                strict_exception_groups=True,
            )
    except BaseExceptionGroup as group:
        expected, rest = group.split(_EXPECTED)
        if expected is None or rest is not None:
            raise
        return _refuse(_leaf(expected), settings)
    except _EXPECTED as error:
        return _refuse(error, settings)
    return 0


def _allow_open_files() -> None:
    """Raise our limit of open files as far as allowed, since each connection is one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _refuse(error: BaseException, settings: Settings) -> int:
    if isinstance(error, StoppedEarly):  # in order
        log.info("service.stopped")
        return 0
    if isinstance(error, StorageFailed):
        print(storage_sentence(settings.storage.data_dir / DATABASE, error), file=sys.stderr)
    else:
        print(error, file=sys.stderr)
    return 1


def _leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _serve(
    settings: Settings,
    *,
    demo: bool,
    load: Callable[[], Settings] | None,
    show: Show,
    file: Path | None,
) -> None:
    data_dir = settings.storage.data_dir
    stop = Stop(settings)
    with ExitStack() as held:
        lock = await _lock(data_dir)
        held.callback(lock.release)
        listening = listen(settings, held)
        async with AsyncExitStack() as outer:
            # The signals' nursery is the outermost one: a second signal must be handled while the
            # engine drains.
            signals = await outer.enter_async_context(trio.open_nursery())
            outer.callback(signals.cancel_scope.cancel)
            await signals.start(stop.wait_for_signals)
            guard = await _begin(outer, stop, listening, show)
            if guard is None:
                log.info("service.stopped")
                return
            shown = _demo(data_dir, settings.plan) if demo else None
            carriers = settings.carriers
            if shown is not None:
                carriers = await shown.start_carrier(outer, carriers)
                settings = settings.model_copy(
                    update={"mail": shown.mail, "payments": shown.payments}
                )
            plugins, tally = _load_plugins(settings), AnswerTally()
            drivers = _build_drivers(plugins, carriers)
            outside = await open_outside(outer, settings, plugins, listening, tally.counts)
            outside = replace(outside, settings_file=file)
            if shown is None:
                _refuse_sandbox(outside)
            else:
                outside = shown.joined(outside)
            if load is not None:
                own = {"carriers": carriers, "mail": settings.mail, "payments": settings.payments}
                source = _source(load, plugins, outside, own if demo else None, listening)
                outside = replace(outside, source=source)
            engine = await outer.enter_async_context(
                open_engine(
                    settings,
                    (*carriers, TEST_CARRIER),
                    drivers,
                    system_seams(guard.fence, guard.lost, guard.while_waiting, guard.log_stands),
                    outside=outside,
                )
            )
            async with trio.open_nursery() as nursery:
                nursery.start_soon(reload_when_asked, stop.reload, engine.gateway)
                async with trio.open_nursery() as faces:
                    more = {} if shown is None else shown.control_paths
                    parts = (settings, engine, stop.ordered, listening, tally, outside.faces, more)
                    await open_faces(faces, *parts)
                    if shown is not None:
                        await shown.begin(nursery, engine, listening)
                    elif not stop.ordered.is_set():  # else its sockets are closed by now
                        _say_ready(listening, engine)
                    await stop.ordered.wait()
                    engine.gateway.drain()
                nursery.cancel_scope.cancel()
    log.info("service.stopped")


async def _begin(
    outer: AsyncExitStack, stop: Stop, listening: ServiceAddresses, show: Show
) -> LeaseGuard | None:
    """Migrate the database and hold the lease. None: a stop was ordered meanwhile."""
    await upgrade_while_answering(stop, listening.all, show)
    if stop.ordered.is_set():
        return None
    guard, section = LeaseGuard(), stop.settings.standby
    if section.lease_kind is not None or section.copy_kind is not None:
        guard = await required(Duty.LEASE)(outer, stop, listening.all)
    return None if stop.ordered.is_set() else guard


def _source(
    load: Callable[[], Settings],
    plugins: PluginManager,
    outside: Connections,
    demo: Mapping[str, object] | None,
    listening: ServiceAddresses,
) -> FileSource:
    """The source for reading the settings again.

    Args:
        outside: the parts that run outside the engine.
        demo: the demo's own settings, which override the file.
    """

    def read() -> Settings:
        settings = load()
        return settings if demo is None else settings.model_copy(update=demo)

    def take_over(changed: Settings) -> None:
        set_level(changed.log, quiet=demo is not None)
        warn_of_old_names(changed)
        for certificate in listening.certificates:
            certificate.reload()

    return FileSource(read, plugins, outside.payments, take_over)


async def _lock(data_dir: Path) -> DataLock:
    """The lock of the data directory, after a short wait for a command that holds it."""
    lock = DataLock(data_dir)
    until_s = trio.current_time() + LOCK_PATIENCE_S
    while True:
        try:
            lock.acquire()
        except DataDirectoryBusy:
            if trio.current_time() >= until_s:
                raise
            await trio.sleep(LOCK_AGAIN_S)
        else:
            return lock


def _load_plugins(settings: Settings) -> PluginManager:
    """All plugins; the faults of each are logged, and none stops the others."""
    plugins = PluginManager()
    section = settings.plugins
    plugins.load(folder=section.folder, disabled=section.disabled, load_s=section.load_s)
    for fault in plugins.faults:
        log.error("plugin.broken", plugin=fault.name, reason=fault.reason)
    return plugins


def _build_drivers(
    plugins: PluginManager, carriers: Sequence[CarrierSection]
) -> Mapping[str, Driver]:
    """The drivers of all configured carriers, and of the one that test keys go through."""
    if any(carrier.name == TEST_CARRIER.name for carrier in carriers):
        text = "is the name of the built-in carrier for test keys; choose another name"
        raise ConfigError([Fault("carriers.name", text, "carriers")])
    drivers: dict[str, Driver] = {
        carrier.name: plugins.build_driver(carrier) for carrier in carriers if carrier.enabled
    }
    drivers[TEST_CARRIER.name] = plugins.build_driver(TEST_CARRIER)
    return drivers


def _refuse_sandbox(outside: Connections) -> None:
    """Refuse payment methods by which no money comes."""
    for name, method in outside.payments.items():
        if method.offer.only_in_demo:
            raise ConfigError([Fault(f"payments.{name}", "is for `--demo` alone", "payments")])


def _demo(data_dir: Path, plan: NumberingPlan) -> Demo:
    # Imported here, because rich and the simulator are megabytes that a service without a demo does
    # not need.
    from risala.app.demo import Demo

    return Demo(data_dir, plan)


def _say_ready(listening: ServiceAddresses, engine: Engine) -> None:
    print(f"Risala is running at {listening.api.url}", flush=True)
    if listening.console is not None:
        print(f"The console is at {listening.console.url}/operator/", flush=True)
    for each in listening.smpp:
        secured = " over TLS" if each.tls is not None else ""
        print(f"Customers' SMPP software binds to {each.address}{secured}", flush=True)
    if listening.metrics is not None:
        print(f"Metrics are at {listening.metrics.url}/metrics", flush=True)
    for reason in engine.gateway.readiness().reasons:
        print(f"Not ready to deliver yet: {reason}.", flush=True)
