"""The engine's ways to the world beside carriers, built from the settings."""

from __future__ import annotations

from contextlib import AsyncExitStack

from risala.config.model import Settings
from risala.drivers.mail.smtp import SmtpMailer
from risala.engine.outside import Outside
from risala.engine.webhooks.endpoints import rules_of
from risala.http.outbound.client import open_outbound


async def open_outside(outer: AsyncExitStack, settings: Settings) -> Outside:
    """A client for webhooks, and for mail where a server is set; they end with ``outer``."""
    webhooks = settings.webhooks
    client = open_outbound(rules_of(webhooks), webhooks.attempts_max)
    mailer = SmtpMailer(settings.mail) if settings.mail.host is not None else None
    return Outside(await outer.enter_async_context(client), mailer)
