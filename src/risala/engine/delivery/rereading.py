"""Reads the settings again while the service runs: first a preview, then the change.

A file with a fault changes nothing. Only what was previewed is applied: if the settings have
changed since, it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Protocol

import structlog
import trio

from risala.config.faults import ConfigError, Fault
from risala.config.model import CarrierSection, Settings
from risala.dataclass import dataclass
from risala.engine.delivery.carrier_registry import CarrierRegistry
from risala.engine.model.errors import Conflict
from risala.engine.model.money import decimals_in_words
from risala.engine.model.records.carriers.rereading import Effect, SettingFault, SettingsPreview
from risala.engine.rules.changes import differences, fingerprint, merged, settings_changes
from risala.plugins.contract import Driver
from risala.sms.currencies import decimals_of

log = structlog.get_logger(__name__)

KEY_BYTES: Final = 32
_ITS_OWN: Final = "is the name of the built-in carrier for test keys; choose another name"


class SettingsSource(Protocol):
    """Reads the settings, and applies those that hold outside the engine."""

    def load(self) -> Settings:
        """Read them again.

        Raises:
            ConfigError: they cannot be used; it names every fault.
        """

    def build(self, carrier: CarrierSection) -> Driver:
        """A driver of a carrier; nothing is opened yet.

        Raises:
            ConfigError: its table has faults, or the driver does not exist.
        """

    def secrets_of(self, driver: str) -> frozenset[str]:
        """The secret keys in such a driver's own table: their values are never shown."""

    def take_over(self, settings: Settings) -> None:
        """Apply at once what changes outside the engine: the log, certificates."""


@dataclass(frozen=True, slots=True)
class PreparedSettings:
    """Settings that may be applied."""

    preview: SettingsPreview
    settings: Settings
    drivers: Mapping[str, Driver]
    """Drivers of the carriers that start or restart."""
    turn: int


class Rereading:
    """The reading of settings in one running service.

    Args:
        in_force: the settings of the start, with the carriers that run.
        obeying: what applies prices, limits and the figures of alerts from then on; more may come.
        key: for :func:`fingerprint`.
    """

    def __init__(
        self,
        source: SettingsSource,
        in_force: Settings,
        lineup: CarrierRegistry,
        obeying: Sequence[Callable[[Settings], None]],
        key: bytes,
    ) -> None:
        self._source = source
        self._in_force = in_force
        self._lineup = lineup
        self._obeying = obeying
        self._key = key
        self._turn = 0
        """How often settings were applied."""
        self._lock = trio.Lock()

    def preview(self) -> SettingsPreview:
        """What would change now."""
        try:
            return self._read().preview
        except ConfigError as error:
            faults = (SettingFault(each.key, str(each), each.source) for each in error.faults)
            return SettingsPreview(faults=tuple(faults))

    def _read(self) -> PreparedSettings:
        """
        Raises:
            ConfigError: the settings cannot be used; it names every fault.
        """
        settings = self._source.load()
        own = {each.name for each in self._lineup.sections if not each.serves_numbers}
        faults = [
            Fault(f"carriers[{number}].name", _ITS_OWN, "carriers")
            for number, each in enumerate(settings.carriers)
            if each.name in own
        ]
        faults += self._currency_faults(settings)
        before = [each for each in self._lineup.sections if each.name not in own]
        changes = differences(before, settings.carriers, self._is_secret)
        begin = {
            each.carrier for each in changes if each.effect in (Effect.STARTS, Effect.RESTARTS)
        }
        drivers: dict[str, Driver] = {}
        for section in settings.carriers:
            # A disabled or unchanged carrier is checked too: a fault in it counts as well.
            try:
                driver = self._source.build(section)
            except ConfigError as error:
                faults += error.faults
            else:
                if section.name in begin:
                    drivers[section.name] = driver
        if faults:
            raise ConfigError(faults)
        others = settings_changes(self._in_force, settings)
        preview = SettingsPreview(
            fingerprint(settings, self._key), (), changes, others.at_once, others.waiting
        )
        return PreparedSettings(preview, settings, drivers, self._turn)

    def _currency_faults(self, settings: Settings) -> Iterator[Fault]:
        """A currency with other decimals: prices apply at once, and a currency never would."""
        counted, new_currency = self._in_force.service.currency, settings.service.currency
        places, others = decimals_of(counted), decimals_of(new_currency)
        if places != others:
            text = (
                f"must have {decimals_in_words(places)}, as the balances in {counted} have; "
                f"{new_currency} has {decimals_in_words(others)}"
            )
            yield Fault("service.currency", text, "service")

    def _is_secret(self, driver: str, key: str) -> bool:
        return key in self._source.secrets_of(driver)

    def prepare(self, preview_hash: str) -> PreparedSettings:
        """The settings as they are now, ready to apply.

        Args:
            preview_hash: the hash of the preview.

        Raises:
            Conflict: they have faults, or differ from the preview.
        """
        try:
            prepared = self._read()
        except ConfigError as error:
            raise Conflict(f"Nothing was changed. {error}") from error
        if prepared.preview.hash != preview_hash:
            raise Conflict(_OTHERS)
        return prepared

    async def apply(self, prepared: PreparedSettings) -> None:
        """Apply them. Workers of unchanged carriers are not affected.

        Raises:
            Conflict: other settings were applied meanwhile.
        """
        async with self._lock:
            if prepared.turn != self._turn:
                raise Conflict(_OTHERS)
            self._turn += 1
            own = [each for each in self._lineup.sections if not each.serves_numbers]
            self._in_force = merged(self._in_force, prepared.settings)
            self._source.take_over(self._in_force)
            for each in self._obeying:
                each(self._in_force)
            _log(prepared.preview)
            await self._lineup.change([*prepared.settings.carriers, *own], prepared.drivers)


_OTHERS: Final = "The settings have changed since you looked at them. Look again."


def _log(preview: SettingsPreview) -> None:
    for change in preview.settings:
        log.warning("settings.changed", key=change.key, before=change.before, now=change.after)
    for each in preview.carriers:
        log.warning(
            "carrier.settings", carrier=each.carrier, what=each.kind, effect=each.effect.value
        )
        for one in each.fields:
            key = f"carriers[{each.carrier}].{one.field}"
            log.warning("settings.changed", key=key, before=one.before, now=one.after)
    if preview.need_restart:
        log.warning("settings.need_restart", keys=preview.need_restart)
    if not (preview.settings or preview.carriers or preview.need_restart):
        log.warning("settings.unchanged")
