"""Finds plugins, keeps a broken one from hurting the others, and builds what they bring.

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
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final

import structlog

from risala.config.model import CarrierSection
from risala.config.outward import MailSection
from risala.config.secrets import resolve_secrets as resolve_secrets_from_environ
from risala.plugins.brought import Brought, UnfitPluginError, brought_by
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.mail import Mailer, MailerFactory
from risala.plugins.payment import PaymentMethod, PaymentMethodFactory, PaymentOffer
from risala.plugins.tables import (
    PluginConfigError,
    SecretResolver,
    secret_fields,
    table_fault,
    validated,
)

# Named by text and not imported: this room may not see the drivers' room.
BUILTINS: Final = (
    "risala.drivers.smpp.plugin",
    "risala.drivers.modem.plugin",
    "risala.drivers.loopback",
    "risala.drivers.testmode",
    "risala.drivers.mail.plugin",
    "risala.drivers.payments.plugin",
)
ENTRY_POINTS: Final = "risala"


_log = structlog.get_logger()


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
    mailers: tuple[str, ...]
    payment_methods: tuple[str, ...]
    disabled: bool
    fault: str | None


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    source: str
    bring: Callable[[], object]
    """Imports the plugin's module, and gives what holds its hooks."""


class PluginManager:
    """All plugins that were found, and what they bring."""

    def __init__(self) -> None:
        self._infos: list[PluginInfo] = []
        self._faults: list[PluginFault] = []
        self._drivers: dict[str, DriverFactory] = {}
        self._mailers: dict[str, MailerFactory] = {}
        self._payment_methods: dict[str, PaymentMethodFactory] = {}
        self._owners: dict[tuple[str, str], str] = {}
        """The name of the plugin that brought a thing, by the thing's kind and name."""

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
    def mailers(self) -> Mapping[str, MailerFactory]:
        """Every usable mailer by the word for ``mail.mailer``."""
        return MappingProxyType(self._mailers)

    @property
    def payment_methods(self) -> Mapping[str, PaymentMethodFactory]:
        """Every usable payment method by its name."""
        return MappingProxyType(self._payment_methods)

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
        key = f"carriers.{carrier.name}"
        factory = self._drivers.get(carrier.driver)
        if factory is None:
            raise PluginConfigError(
                [table_fault(f"{key}.driver", self._unknown("driver", carrier.driver))]
            )
        where = f"{key}.{factory.name}"
        settings = validated(factory.settings, carrier.settings, where, resolve_secrets)
        try:
            driver: object = factory.build(carrier.name, settings)
        except Exception as error:
            text = f"the driver {factory.name} cannot be built: {error}"
            raise PluginConfigError([table_fault(key, text)]) from error
        if not isinstance(driver, Driver):
            owner = self._owners["driver", factory.name]
            text = f"the plugin {owner} built something that is no driver"
            raise PluginConfigError([table_fault(key, text)])
        return driver

    def secrets_of(self, driver: str) -> frozenset[str]:
        """The keys of a driver's table whose values are secrets, by what its settings declare them
        to be: ``password``, ``tls.key``."""
        factory = self._drivers.get(driver)
        return frozenset() if factory is None else frozenset(secret_fields(factory.settings))

    def build_mailer(self, section: MailSection) -> Mailer | None:
        """The mailer that ``mail.mailer`` names; nothing is opened yet.

        None: what it needs is not set, so that no mail is sent.

        Raises:
            PluginConfigError: there is none of that name, or it refused the table.
        """
        factory = self._mailers.get(section.mailer)
        if factory is None:
            raise PluginConfigError(
                [table_fault("mail.mailer", self._unknown("mailer", section.mailer))]
            )
        if getattr(section, factory.needs, None) is None:
            return None
        try:
            mailer: object = factory.build(section)
        except Exception as error:
            text = f"the mailer {factory.name} cannot be built: {error}"
            raise PluginConfigError([table_fault("mail", text)]) from error
        if not isinstance(mailer, Mailer):
            owner = self._owners["mailer", factory.name]
            text = f"the plugin {owner} built something that is no mailer"
            raise PluginConfigError([table_fault("mail", text)])
        return mailer

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
        factory = self._payment_methods.get(name)
        if factory is None:
            raise PluginConfigError([table_fault(key, self._unknown("payment method", name))])
        settings = validated(factory.settings, table, key, resolve_secrets)
        try:
            method: object = factory.build(settings)
        except Exception as error:
            text = f"the payment method {name} cannot be built: {error}"
            raise PluginConfigError([table_fault(key, text)]) from error
        owner = self._owners["payment method", name]
        if not isinstance(method, PaymentMethod):
            text = f"the plugin {owner} built something that is no payment method"
            raise PluginConfigError([table_fault(key, text)])
        if reason := _wrong_offer(method.offer):
            raise PluginConfigError([table_fault(key, f"the plugin {owner} offers {reason}")])
        return method

    def _unknown(self, kind: str, name: str) -> str:
        known = ", ".join(sorted(each for of, each in self._owners if of == kind)) or "none"
        text = f'there is no {kind} "{name}"; known: {known}'
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
        brought = Brought()
        if not disabled:
            try:
                self._refuse_same_name(candidate)
                found = brought_by(candidate.bring())
                self._refuse_taken(found)
                brought = found
            except UnfitPluginError as unfit:
                fault = str(unfit)
            except (Exception, SystemExit) as error:  # noqa: BLE001 -- its fault, not ours
                fault = f"{type(error).__name__}: {error}"
                _log.error("plugin_failed", plugin=candidate.name, exc_info=error)
        self._drivers.update({one.name: one for one in brought.drivers})
        self._mailers.update({one.name: one for one in brought.mailers})
        self._payment_methods.update({one.name: one for one in brought.payment_methods})
        self._owners.update(dict.fromkeys(brought.named(), candidate.name))
        if fault is not None:
            self._faults.append(PluginFault(candidate.name, fault))
        self._infos.append(
            PluginInfo(
                candidate.name,
                candidate.source,
                drivers=tuple(one.name for one in brought.drivers),
                mailers=tuple(one.name for one in brought.mailers),
                payment_methods=tuple(one.name for one in brought.payment_methods),
                disabled=disabled,
                fault=fault,
            )
        )

    def _refuse_same_name(self, candidate: _Candidate) -> None:
        for info in self._infos:
            if info.name == candidate.name and not info.disabled:
                raise UnfitPluginError(f"another plugin has this name: {info.source}")

    def _refuse_taken(self, brought: Brought) -> None:
        for kind, name in brought.named():
            if owner := self._owners.get((kind, name)):
                raise UnfitPluginError(
                    f'its {kind} "{name}" is registered by the plugin {owner} already; '
                    "disable one of the two"
                )


def _built_in(module: str) -> _Candidate:
    name = module.removeprefix("risala.drivers.").removesuffix(".plugin")
    return _Candidate(name, "built in", partial(importlib.import_module, module))


def _installed(entry: importlib.metadata.EntryPoint) -> _Candidate:
    source = f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "package"
    return _Candidate(entry.name, source, entry.load)


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


def _wrong_offer(offer: object) -> str:
    """What is wrong with a payment method's offer; empty where nothing is."""
    if not isinstance(offer, PaymentOffer):
        return f"a {type(offer).__name__} instead of a PaymentOffer"
    if not all("en" in texts for texts in (offer.title, *(one.label for one in offer.asks_first))):
        return "a text without its English"
    top = offer.amount_max
    if offer.amount_min < 1 or (top is not None and top < offer.amount_min):
        return "amounts that nobody can pay"
    return ""
