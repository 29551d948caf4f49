"""The engine's ways to the world beside carriers, built from the settings."""

from __future__ import annotations

from contextlib import AsyncExitStack

from risala.app.listening import ServiceAddresses
from risala.config.model import Settings
from risala.engine.outside import Outside
from risala.engine.webhooks.endpoints import rules_of
from risala.http.outbound.client import open_outbound
from risala.plugins.manager import PluginManager


async def open_outside(
    outer: AsyncExitStack, settings: Settings, plugins: PluginManager, listening: ServiceAddresses
) -> Outside:
    """A client for webhooks, mail where a server is set, and the payment methods that have a table;
    they end with ``outer``.

    Raises:
        PluginConfigError: no plugin brings the mailer or a payment method, or one
            refused its table.
    """
    webhooks = settings.webhooks
    client = open_outbound(rules_of(webhooks), webhooks.attempts_max)
    mailer = plugins.build_mailer(settings.mail)
    methods = {
        name: plugins.build_payment_method(name, table)
        for name, table in settings.payments.methods.items()
    }
    return Outside(
        await outer.enter_async_context(client),
        mailer,
        methods,
        url=listening.api.url,
        console_url=listening.console_url,
    )
