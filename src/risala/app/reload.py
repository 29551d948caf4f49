"""The source of a running service's settings when they are read again, and SIGHUP, which starts
that.

The engine knows which settings apply at once (:mod:`risala.engine.rules.changes`); outside
it are the log's level, and the certificate of https, which is read again from its files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog

from risala.app.connections import refuse_shared
from risala.config.model import CarrierSection, Settings
from risala.engine.actors.alarm import Bell
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.errors import EngineError
from risala.engine.model.records.carriers.rereading import APPLY, PREVIEW
from risala.plugins.contract import Driver
from risala.plugins.manager import PluginManager
from risala.plugins.payment import PaymentMethod

log = structlog.get_logger(__name__)


class FileSource:
    """The file, the environment and the command line, as they are at each reading.

    See :class:`risala.engine.delivery.rereading.SettingsSource`.

    Args:
        methods: the payment methods that run, which only a restart changes.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        plugins: PluginManager,
        methods: Mapping[str, PaymentMethod],
        take_over: Callable[[Settings], None],
    ) -> None:
        self._load = load
        self._plugins = plugins
        self._methods = methods
        self._take_over = take_over

    def load(self) -> Settings:
        settings = self._load()
        refuse_shared(settings, self._methods)
        return settings

    def build(self, carrier: CarrierSection) -> Driver:
        return self._plugins.build_driver(carrier)

    def secrets_of(self, driver: str) -> frozenset[str]:
        return self._plugins.secrets_of(driver)

    def take_over(self, settings: Settings) -> None:
        self._take_over(settings)


async def reload_when_asked(bell: Bell, gateway: Gateway) -> None:
    """Read the settings again and apply them each time the bell rings, until cancelled."""
    while True:
        await bell.wait()
        try:
            await _reload(gateway)
        except EngineError as error:  # the disk, or a change at the same moment
            log.error("settings.refused", faults=[str(error)], text="Not all was changed.")


async def _reload(gateway: Gateway) -> None:
    seen = (await gateway.ask(PREVIEW, {})).value
    if seen.faults:
        faults = [each.text for each in seen.faults]
        log.error("settings.refused", faults=faults, text="Nothing was changed.")
        return
    await gateway.ask(APPLY, {"hash": seen.hash})
