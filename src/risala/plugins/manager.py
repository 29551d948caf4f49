"""Finds plugins, keeps a broken one from hurting the others, and builds drivers.

Plugins come from three places, in this order: built in, installed packages (entry points of the
group ``risala``), Python files in a folder. The built-in ones are plugins like any other and may
be disabled, so that another one takes their driver's name.

What is wrong with a plugin never raises here: it is a :class:`PluginFault` with its name, and
nothing of that plugin is used. What is wrong with a carrier's table raises
:class:`PluginConfigError` with every fault at once.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, Protocol

import pluggy
import structlog
from pydantic import BaseModel, ValidationError

from risala.config.faults import ConfigError, Fault
from risala.config.model import CarrierSection
from risala.config.secrets import resolve_secrets as resolve_secrets_from_environ
from risala.plugins import hookspecs
from risala.plugins.contract import Driver, DriverFactory

# By name, because this room may not see that one.
BUILTINS: Final = (
    "risala.drivers.smpp.plugin",
    "risala.drivers.modem.plugin",
    "risala.drivers.loopback",
)
ENTRY_POINTS: Final = "risala"

_DRIVER_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")  # as in [[carriers]]
_ENV: Final = "_env"

_log = structlog.get_logger()


class PluginConfigError(ConfigError):
    """A carrier cannot be built from its table; ``faults`` has each one with its key path."""


@dataclass(frozen=True, slots=True)
class PluginFault:
    """Why a plugin is not used."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """A plugin that was found, for ``risala plugins``."""

    name: str
    source: str
    """``built in``, ``package NAME VERSION`` or the file's path."""
    drivers: tuple[str, ...]
    disabled: bool
    fault: str | None


class SecretResolver(Protocol):
    """As :func:`risala.config.secrets.resolve_secrets`."""

    def __call__(self, table: Mapping[str, Any], *, where: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    source: str
    bring: Callable[[], object]
    """Imports it."""


class _Unfit(Exception):
    """What we ourselves found wrong with a plugin; ``str()`` is the reason."""


class PluginManager:
    def __init__(self) -> None:
        self._infos: list[PluginInfo] = []
        self._faults: list[PluginFault] = []
        self._drivers: dict[str, DriverFactory] = {}
        self._owners: dict[str, str] = {}
        """Driver's name to plugin's name."""

    def load(
        self,
        builtins: Sequence[str] = BUILTINS,
        *,
        folder: Path | None = None,
        disabled: Collection[str] = (),
        installed: Iterable[importlib.metadata.EntryPoint] | None = None,
    ) -> None:
        """Import and register all plugins, once, at start-up. Never raises for a plugin's sake.

        ``installed`` is the entry points of our group among the installed packages unless given.
        """
        if installed is None:
            installed = importlib.metadata.entry_points(group=ENTRY_POINTS)
        for candidate in [
            *map(_built_in, builtins),
            *map(_installed, installed),
            *self._files(folder),
        ]:
            self._load_one(candidate, candidate.name in disabled)
        for name in sorted(set(disabled) - {info.name for info in self._infos}):
            self._faults.append(PluginFault(name, "is disabled, but there is no such plugin"))

    @property
    def drivers(self) -> Mapping[str, DriverFactory]:
        """Every usable driver by the word that configuration names it by."""
        return MappingProxyType(self._drivers)

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        return tuple(self._faults)

    def plugins(self) -> tuple[PluginInfo, ...]:
        """Everything that was found, usable or not, in the order of loading."""
        return tuple(self._infos)

    def build_driver(
        self,
        carrier: CarrierSection,
        resolve_secrets: SecretResolver = resolve_secrets_from_environ,
    ) -> Driver:
        """Validate a carrier's own table and build its driver; nothing is opened yet.

        Raises:
            PluginConfigError: no such driver, faults in the table, or the driver refused it.
        """
        key = f"carriers.{carrier.name}"
        factory = self._drivers.get(carrier.driver)
        if factory is None:
            raise PluginConfigError([_fault(f"{key}.driver", self._unknown(carrier.driver))])
        settings = _validated(factory, carrier.settings, f"{key}.{factory.name}", resolve_secrets)
        try:
            driver: object = factory.build(carrier.name, settings)
        except Exception as error:
            text = f"the driver {factory.name} cannot be built: {error}"
            raise PluginConfigError([_fault(key, text)]) from error
        if not isinstance(driver, Driver):
            text = f"the plugin {self._owners[factory.name]} built something that is no driver"
            raise PluginConfigError([_fault(key, text)])
        return driver

    def _unknown(self, driver: str) -> str:
        known = ", ".join(sorted(self._drivers)) or "none"
        text = f'there is no driver "{driver}"; known: {known}'
        if self._faults:
            names = ", ".join(f"{fault.name} ({fault.reason})" for fault in self._faults)
            text += f"; plugins that are not used: {names}"
        off = ", ".join(info.name for info in self._infos if info.disabled)
        return f"{text}; disabled: {off}" if off else text

    def _files(self, folder: Path | None) -> Iterator[_Candidate]:
        if folder is None:
            return
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix == ".py")
        except OSError as error:
            self._faults.append(PluginFault(str(folder), f"cannot be read: {error.strerror}"))
            return
        for path in paths:
            if not path.name.startswith("_"):
                yield _Candidate(path.stem, str(path), partial(_import_file, path))

    def _load_one(self, candidate: _Candidate, disabled: bool) -> None:
        fault = None
        factories: list[DriverFactory] = []
        if not disabled:
            try:
                self._refuse_same_name(candidate)
                factories = _registered(candidate.bring())
                self._refuse_taken(factories)
            except _Unfit as unfit:
                fault, factories = str(unfit), []
            except (Exception, SystemExit) as error:  # noqa: BLE001 -- its fault, not ours
                fault = f"{type(error).__name__}: {error}"
                _log.error("plugin_failed", plugin=candidate.name, exc_info=error)
        for factory in factories:
            self._drivers[factory.name] = factory
            self._owners[factory.name] = candidate.name
        if fault is not None:
            self._faults.append(PluginFault(candidate.name, fault))
        names = tuple(factory.name for factory in factories)
        self._infos.append(PluginInfo(candidate.name, candidate.source, names, disabled, fault))

    def _refuse_same_name(self, candidate: _Candidate) -> None:
        for info in self._infos:
            if info.name == candidate.name and not info.disabled:
                raise _Unfit(f"another plugin has this name: {info.source}")

    def _refuse_taken(self, factories: Iterable[DriverFactory]) -> None:
        for factory in factories:
            if owner := self._owners.get(factory.name):
                raise _Unfit(
                    f'its driver "{factory.name}" is registered by the plugin {owner} already; '
                    "disable one of the two"
                )


def _built_in(module: str) -> _Candidate:
    name = module.removeprefix("risala.drivers.").removesuffix(".plugin")
    return _Candidate(name, "built in", partial(importlib.import_module, module))


def _installed(entry: importlib.metadata.EntryPoint) -> _Candidate:
    source = f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "package"
    return _Candidate(entry.name, source, entry.load)


def _import_file(path: Path) -> ModuleType:
    name = f"risala_plugin_{path.stem}"  # so that a plugin json.py hides nothing
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look a class's module up here
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _registered(plugin: object) -> list[DriverFactory]:
    """Call one plugin's hooks, and see that all of it is sound.

    Each plugin has a pluggy manager of its own: in a common one a hook that raises ends the call
    for the plugins after it, and a misspelt hook is nobody's.
    """
    hooks = pluggy.PluginManager("risala")
    hooks.add_hookspecs(hookspecs)
    try:
        hooks.register(plugin)
        hooks.check_pending()
    except pluggy.PluginValidationError as error:
        reason = " ".join(str(error).partition(" in plugin ")[0].split())
        raise _Unfit(f"{reason}; see docs/reference/plugin-hooks.md") from error
    if not hooks.get_hookcallers(plugin):
        raise _Unfit("it has no function marked with @hookimpl")
    factories: list[DriverFactory] = []
    hooks.hook.risala_register_drivers(register=factories.append)
    for number, factory in enumerate(factories):
        _check(factory)
        if factory.name in {other.name for other in factories[:number]}:
            raise _Unfit(f'it registers the driver "{factory.name}" twice')
    return factories


def _check(factory: object) -> None:
    if not isinstance(factory, DriverFactory):
        raise _Unfit(f"it registered a {type(factory).__name__} instead of a DriverFactory")
    if not _DRIVER_NAME.fullmatch(factory.name) or factory.name in CarrierSection.model_fields:
        raise _Unfit(f'"{factory.name}" cannot be the name of a driver')


def _validated(
    factory: DriverFactory, table: Mapping[str, Any], where: str, resolve: SecretResolver
) -> BaseModel:
    """The driver's settings; secrets that are missing and fields that are wrong at once."""
    faults: list[Fault] = []
    try:
        table = resolve(table, where=where)
    except ConfigError as error:
        faults += error.faults
        table = _without_env(table)
    named = {fault.key.removesuffix(_ENV) for fault in faults}
    try:
        settings = factory.settings.model_validate(table)
    except ValidationError as error:
        for found in error.errors(include_url=False, include_input=False):
            key = ".".join([where, *map(str, found["loc"])])
            if key not in named:  # a secret's own fault says more than that its field is empty
                text = found["msg"].removeprefix("Value error, ")
                faults.append(_fault(key, text[:1].lower() + text[1:]))
    else:
        if not faults:
            return settings
    # The cause is dropped: pydantic's error holds the values, and one may be a secret.
    raise PluginConfigError(faults) from None


def _without_env(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table with its unresolved secrets as empty texts."""
    return {
        key.removesuffix(_ENV): ""
        if key.endswith(_ENV)
        else _without_env(value)
        if isinstance(value, Mapping)
        else value
        for key, value in table.items()
    }


def _fault(key: str, text: str) -> Fault:
    return Fault(key, text, "settings of the carrier")
