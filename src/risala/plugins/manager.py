"""Finds plugins, protects them from each other's faults, and builds what they bring.

Plugins come from three places, in this order: built in, installed packages (entry points of the
group ``risala``), Python files in a folder. The built-in ones are plugins like any other and may
be disabled, so that another one takes their driver's name.

A plugin's fault never raises here: it is a :class:`PluginFault` with its name, and nothing of that
plugin is used. Faults in a carrier's table raise :class:`PluginConfigError`, all at once.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, TypeVar

import structlog

from risala import __version__
from risala.config.hooks import PolicyTable, SinkTable
from risala.config.model import CarrierSection
from risala.config.outward import MailSection
from risala.config.secrets import resolve_secrets as resolve_secrets_from_environ
from risala.config.secrets import write_fault
from risala.plugins.account_cache import AccountCache
from risala.plugins.channel import ChannelFactory, ChannelTools
from risala.plugins.channel_driver import driver_of
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.contributions import Contributions, UnfitPluginError, contributions_of
from risala.plugins.face import GatewayFace
from risala.plugins.kinds import (
    CHANNELS,
    CONSOLE_PAGES,
    DRIVERS,
    EVENT_SINKS,
    FACES,
    KINDS,
    MAILERS,
    MESSAGE_POLICIES,
    PAYMENT_METHODS,
    AnyFactory,
    Factory,
    PluginKind,
)
from risala.plugins.loading import TookTooLong, Wait, joined, within
from risala.plugins.mail import Mailer
from risala.plugins.page import ConsolePage, OpenPage
from risala.plugins.payment import PaymentMethod
from risala.plugins.policy import MessagePolicy
from risala.plugins.sink import EventSink
from risala.plugins.tables import (
    PluginConfigError,
    SecretResolver,
    secret_fields,
    table_fault,
    validated,
)
from risala.plugins.version import CONTRACT, Made, made_for

# Named by text and not imported: this room may not see the drivers' room.
BUILTINS: Final = (
    "risala.drivers.smpp.plugin",
    "risala.drivers.modem.plugin",
    "risala.drivers.modem.manager.plugin",
    "risala.drivers.http.plugin",
    "risala.drivers.phone.plugin",
    "risala.drivers.hilink.plugin",
    "risala.drivers.loopback",
    "risala.drivers.testmode",
    "risala.drivers.mail.plugin",
    "risala.drivers.channels.plugin",
    "risala.drivers.payments.plugin",
    "risala.drivers.sinks.plugin",
    "risala.drivers.policies.plugin",
    "risala.drivers.faces.plugin",
)
ENTRY_POINTS: Final = "risala"


_log = structlog.get_logger()

Built = TypeVar("Built")


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
    disabled: bool
    fault: str | None
    """Why it is set aside; None: it is in use."""
    brings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What it brings, by the key of each kind: names, each with one line about it. Every kind is
    there."""
    version: str | None = None
    """The plugin's version; None: it does not say."""
    contract: str | None = None
    """The contract that it is made for; None: it does not say."""
    warnings: tuple[str, ...] = ()
    """Sentences on parts of the plugin that will stop working."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all that it brings, in the order of the kinds."""
        return tuple(name for names in self.brings.values() for name in names)

    @property
    def state(self) -> str:
        """``loaded``, ``disabled`` or ``set aside``."""
        if self.disabled:
            return "disabled"
        return "loaded" if self.fault is None else "set aside"


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    source: str
    bring: Callable[[], object]
    """Imports the plugin's module, and returns the object with its hooks."""
    version: str | None = None
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class _Opened:
    """A plugin that was imported and asked."""

    made: Made
    version: str | None
    brought: Contributions
    fault: str | None = None


_NOTHING: Final = _Opened(Made(), None, Contributions())
NO_SUCH_PLUGIN: Final = "is disabled, but there is no such plugin"
LOAD_S: Final = 10.0
"""As ``plugins.load_s``: what a plugin needs is a tenth of a second."""


class PluginManager:
    """All plugins that were found, and what they bring.

    Args:
        wait: waits for a plugin that is being loaded, at most so many seconds.
        logs: False for a command that tells the faults itself.
    """

    def __init__(self, wait: Wait = joined, *, logs: bool = True) -> None:
        self._wait = wait
        self._logs = logs
        self._infos: list[PluginInfo] = []
        self._faults: list[PluginFault] = []
        self._factories: dict[str, dict[str, AnyFactory]] = {kind.key: {} for kind in KINDS}
        """What can be used, by the key of its kind and by name."""
        self._owners: dict[tuple[str, str], str] = {}
        """The name of the plugin that brought a thing, by its kind's key and its name."""
        self._accounts = AccountCache()
        self._mailer: Mailer | None = None

    def load(
        self,
        builtins: Sequence[str] = BUILTINS,
        *,
        folder: Path | None = None,
        disabled: Collection[str] = (),
        installed: Iterable[importlib.metadata.EntryPoint] | None = None,
        load_s: float = LOAD_S,
    ) -> None:
        """Import and register all plugins, once, at start-up. Never raises because of a plugin.

        Args:
            installed: the entry points of our group among the installed packages unless given.
            load_s: so long one that is not built in may take.
        """
        if installed is None:
            installed = importlib.metadata.entry_points(group=ENTRY_POINTS)
        for candidate in [
            *map(_built_in, builtins),
            *map(_installed, installed),
            *self._files(folder),
        ]:
            self._load_one(candidate, candidate.name in disabled, load_s)
        for name in sorted(set(disabled) - {info.name for info in self._infos}):
            self._faults.append(PluginFault(name, NO_SUCH_PLUGIN))

    def of(self, kind: PluginKind[Factory]) -> Mapping[str, Factory]:
        """Everything of a kind that can be used, by the word that configuration names it by."""
        factories = self._factories[kind.key]
        return MappingProxyType(
            {name: one for name, one in factories.items() if isinstance(one, kind.factory)}
        )

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """Why plugins are not used, in the order of loading."""
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
        if carrier.is_channel:
            return self._build_channel(carrier, resolve_secrets)
        key = f"carriers.{carrier.name}"
        factory = self.named(DRIVERS, carrier.driver, f"{key}.driver")
        where = f"{key}.{factory.name}"
        settings = validated(factory.settings, carrier.settings, where, resolve_secrets)
        build = partial(self._accounts.build, factory, carrier.name, settings)
        return self.built(DRIVERS, factory.name, key, build)

    def _build_channel(self, carrier: CarrierSection, resolve_secrets: SecretResolver) -> Driver:
        """As :meth:`build_driver`, of a channel: what sends by it."""
        key = f"channels.{carrier.name}"
        factory = self.named(CHANNELS, carrier.driver, f"{key}.channel")
        where = f"{key}.{factory.name}"
        settings = validated(factory.settings, carrier.settings, where, resolve_secrets)
        tools = ChannelTools(lambda: self._mailer)
        build = partial(factory.build, carrier.name, settings, tools)
        return driver_of(self.built(CHANNELS, factory.name, key, build))

    def secrets_of(self, driver: str) -> frozenset[str]:
        """The keys of a driver's table whose values are secrets, by what its settings declare them
        to be: ``password``, ``tls.key``."""
        factory: DriverFactory | ChannelFactory | None = self.of(DRIVERS).get(driver)
        factory = factory or self.of(CHANNELS).get(driver)
        return frozenset() if factory is None else frozenset(secret_fields(factory.settings))

    def build_mailer(self, section: MailSection) -> Mailer | None:
        """The mailer that ``mail.mailer`` names; nothing is opened yet.

        None: what it needs is not set, so that no mail is sent.

        Raises:
            PluginConfigError: no such mailer, or it refused the table.
        """
        factory = self.named(MAILERS, section.mailer, "mail.mailer")
        if getattr(section, factory.needs, None) is None:
            return None
        build = partial(factory.build, section)
        self._mailer = self.built(MAILERS, factory.name, "mail", build)
        return self._mailer

    def build_payment_method(
        self,
        name: str,
        table: Mapping[str, Any],
        resolve_secrets: SecretResolver = resolve_secrets_from_environ,
    ) -> PaymentMethod:
        """Validate the table of a payment method and build it; nothing is opened yet.

        Raises:
            PluginConfigError: no such method, faults in the table, or the method refused it.
        """
        key = f"payments.{name}"
        factory = self.named(PAYMENT_METHODS, name, key)
        settings = validated(factory.settings, table, key, resolve_secrets)
        build = partial(factory.build, settings)
        return self.built(PAYMENT_METHODS, name, key, build)

    def build_sink(
        self,
        name: str,
        table: SinkTable,
        resolve_secrets: SecretResolver = resolve_secrets_from_environ,
    ) -> EventSink:
        """Validate the table of an event sink and build it; nothing is opened yet.

        Raises:
            PluginConfigError: no such sink, faults in the table, or the sink refused it.
        """
        key = f"sinks.{name}"
        factory = self.named(EVENT_SINKS, table.sink, f"{key}.sink")
        where = f"{key}.{factory.name}"
        settings = validated(factory.settings, table.settings, where, resolve_secrets)
        return self.built(EVENT_SINKS, factory.name, key, partial(factory.build, name, settings))

    def build_policy(
        self,
        name: str,
        table: PolicyTable,
        resolve_secrets: SecretResolver = resolve_secrets_from_environ,
    ) -> MessagePolicy:
        """Validate the table of a message policy and build it; nothing is opened yet.

        Raises:
            PluginConfigError: no such policy, faults in the table, or the policy refused it.
        """
        key = f"policies.{name}"
        factory = self.named(MESSAGE_POLICIES, table.policy, f"{key}.policy")
        where = f"{key}.{factory.name}"
        settings = validated(factory.settings, table.settings, where, resolve_secrets)
        build = partial(factory.build, name, settings)
        return self.built(MESSAGE_POLICIES, factory.name, key, build)

    def build_face(
        self,
        name: str,
        table: Mapping[str, Any],
        resolve_secrets: SecretResolver = resolve_secrets_from_environ,
    ) -> GatewayFace:
        """Validate the table of a face and build it; nothing is opened yet.

        Raises:
            PluginConfigError: no such face, faults in the table, or the face refused it.
        """
        key = f"compat.{name}"
        factory = self.named(FACES, name, key)
        settings = validated(factory.settings, table, key, resolve_secrets)
        return self.built(FACES, name, key, partial(factory.build, settings))

    def build_pages(self) -> dict[str, OpenPage]:
        """Every page of the console that can be built; the faults say why others cannot."""
        pages: dict[str, OpenPage] = {}
        for name, factory in self.of(CONSOLE_PAGES).items():
            if not factory.title.get("en"):
                self._set_aside(name, "has no English title")
                continue
            try:
                page: object = factory.build()
            except (Exception, SystemExit) as error:  # noqa: BLE001 -- its fault, not ours
                self._set_aside(name, f"cannot be built: {type(error).__name__}: {error}")
                continue
            if isinstance(page, ConsolePage):
                pages[name] = OpenPage(factory.title, page)
            else:
                self._set_aside(name, "is no page")
        return pages

    def _set_aside(self, page: str, reason: str) -> None:
        owner = self._owners[CONSOLE_PAGES.key, page]
        fault = PluginFault(owner, f"its console page {page} {reason}")
        self._faults.append(fault)
        _log.error("plugin_page_failed", plugin=owner, page=page, reason=fault.reason)

    def named(self, kind: PluginKind[Factory], name: str, key: str) -> Factory:
        """The factory of a kind that has a name.

        Args:
            key: where the configuration names it.

        Raises:
            PluginConfigError: the name is unknown; it lists the known ones, and unused plugins.
        """
        factory = self.of(kind).get(name)
        if factory is None:
            raise PluginConfigError([table_fault(key, self._unknown(kind, name))])
        return factory

    def built(
        self, kind: PluginKind[Any], name: str, key: str, build: Callable[[], Built]
    ) -> Built:
        """What a factory builds, if it has the kind's shape.

        Args:
            key: the table that it is built from.

        Raises:
            PluginConfigError: it cannot be built, or is something else.
        """
        try:
            thing: Built = build()
        except Exception as error:
            text = f"the {kind.name} {name} cannot be built: {error}"
            raise PluginConfigError([table_fault(key, text)]) from error
        owner = self._owners[kind.key, name]
        if not isinstance(thing, kind.built):
            text = f"the plugin {owner} built something that is no {kind.name}"
            raise PluginConfigError([table_fault(key, text)])
        if reason := kind.wrong(thing):
            raise PluginConfigError([table_fault(key, f"the plugin {owner} {reason}")])
        return thing

    def _unknown(self, kind: PluginKind[Any], name: str) -> str:
        known = ", ".join(sorted(self._factories[kind.key])) or "none"
        text = f'there is no {kind.name} "{name}"; known: {known}'
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
        compiled = folder / "__pycache__"  # Python runs what lies there in a plugin's place
        for place in (folder, compiled) if compiled.exists() else (folder,):
            if fault := write_fault(place):
                self._faults.append(PluginFault(str(folder), fault))
                return
        for path in paths:
            if path.name.startswith("_"):
                continue
            if fault := write_fault(path):
                self._faults.append(PluginFault(path.stem, fault))
                continue
            yield _Candidate(path.stem, str(path), partial(_import_file, path))

    def _load_one(self, candidate: _Candidate, disabled: bool, load_s: float) -> None:
        opened = _NOTHING if disabled else self._opened(candidate, load_s)
        brought = opened.brought
        for key, factories in brought.by_kind.items():
            self._factories[key].update({one.name: one for one in factories})
        self._owners.update(dict.fromkeys(brought.named(), candidate.name))
        if opened.fault is not None:
            self._faults.append(PluginFault(candidate.name, opened.fault))
        for warning in opened.made.warnings if self._logs else ():
            _log.warning("plugin_deprecated", plugin=candidate.name, text=warning)
        self._infos.append(
            PluginInfo(
                candidate.name,
                candidate.source,
                disabled,
                opened.fault,
                {
                    kind.key: {one.name: one.summary for one in brought.by_kind.get(kind.key, ())}
                    for kind in KINDS
                },
                candidate.version or opened.version,
                opened.made.contract,
                opened.made.warnings,
            )
        )

    def _opened(self, candidate: _Candidate, load_s: float) -> _Opened:
        """An imported plugin with what it brings, or the reason why that failed."""
        try:
            self._refuse_same_name(candidate)
            if candidate.is_ours:
                opened = _open(candidate)
            else:
                if self._logs:
                    _log.info("plugin_loading", plugin=candidate.name, source=candidate.source)
                opened = within(load_s, candidate.name, partial(_open, candidate), self._wait)
            if opened.fault is None:
                self._refuse_duplicate(opened.brought)
        except (UnfitPluginError, TookTooLong) as unfit:
            return replace(_NOTHING, fault=str(unfit))
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- its fault, not ours
            if self._logs:
                _log.error("plugin_failed", plugin=candidate.name, exc_info=error)
            return replace(_NOTHING, fault=f"{type(error).__name__}: {error}")
        return opened

    def _refuse_same_name(self, candidate: _Candidate) -> None:
        for info in self._infos:
            if info.name == candidate.name and not info.disabled:
                raise UnfitPluginError(f"another plugin has this name: {info.source}")

    def _refuse_duplicate(self, brought: Contributions) -> None:
        names = {kind.key: kind.name for kind in KINDS}
        for key, name in brought.named():
            if owner := self._owners.get((key, name)):
                raise UnfitPluginError(
                    f'its {names[key]} "{name}" is registered by the plugin {owner} already; '
                    "disable one of the two"
                )


def _built_in(module: str) -> _Candidate:
    name = module.removeprefix("risala.drivers.").removesuffix(".plugin")
    bring = partial(importlib.import_module, module)
    return _Candidate(name, "built in", bring, __version__, is_ours=True)


def _installed(entry: importlib.metadata.EntryPoint) -> _Candidate:
    source = f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "package"
    version = entry.dist.version if entry.dist else None
    return _Candidate(entry.name, source, entry.load, version)


def _open(candidate: _Candidate) -> _Opened:
    """Import a plugin, and ask it what it brings.

    Raises:
        UnfitPluginError: a hook is misspelt, or it brings something that cannot be used.
    """
    plugin = candidate.bring()
    if candidate.is_ours:
        return _Opened(Made(str(CONTRACT)), candidate.version, contributions_of(plugin))
    made, version = made_for(plugin), getattr(plugin, "__version__", None)
    own_version = version if isinstance(version, str) else None
    if made.fault:
        return _Opened(made, own_version, Contributions(), made.fault)
    return _Opened(made, own_version, contributions_of(plugin))


def _import_file(path: Path) -> ModuleType:
    name = f"risala_plugin_{path.stem}"  # a prefix, so that a plugin json.py hides no module
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
