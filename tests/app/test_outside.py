"""Alerts can be sent somewhere, or the service says at its start why they cannot."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from risala.app.connections import open_outside
from risala.app.listening import ServiceAddresses
from risala.config.faults import ConfigError
from risala.config.model import AlertsSection, Settings, WebhooksSection
from risala.http.common.failed_keys import AnswerTally
from risala.http.server.server import BoundAddress
from risala.http.server.sockets import listen_tcp
from risala.plugins.manager import PluginManager

SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


async def opened(tmp_path: Path, webhooks: WebhooksSection | None = None, **alerts):
    settings = Settings(
        alerts=AlertsSection.model_validate(alerts), webhooks=webhooks or WebhooksSection()
    )
    plugins = PluginManager()
    plugins.load()
    api = BoundAddress(listen_tcp("127.0.0.1", 0))
    try:
        async with AsyncExitStack() as outer:
            addresses = ServiceAddresses(api, None, None)
            tally = AnswerTally()
            return await open_outside(outer, settings, plugins, addresses, tally.counts)
    finally:
        api.sock.close()


async def test_without_an_address_nothing_is_needed(tmp_path):
    assert (await opened(tmp_path)).call_secret == ""


async def test_an_address_needs_a_secret(tmp_path, monkeypatch):
    url = "https://ops.example.com/risala"
    with pytest.raises(ConfigError, match=r"webhook_secret_env.*must be set"):
        await opened(tmp_path, webhook_url=[url])
    monkeypatch.setenv("ALERTS_SECRET", "whsec_short")
    with pytest.raises(ConfigError, match="ALERTS_SECRET must hold"):
        await opened(tmp_path, webhook_url=[url], webhook_secret_env="ALERTS_SECRET")
    monkeypatch.setenv("ALERTS_SECRET", SECRET)
    found = await opened(tmp_path, webhook_url=[url], webhook_secret_env="ALERTS_SECRET")
    assert found.call_secret == SECRET
    assert SECRET not in repr(found)


async def test_an_address_that_no_call_may_go_to_is_refused_at_the_start(tmp_path, monkeypatch):
    monkeypatch.setenv("ALERTS_SECRET", SECRET)
    given = {"webhook_url": ["https://10.0.0.5/x"], "webhook_secret_env": "ALERTS_SECRET"}
    with pytest.raises(
        ConfigError, match=r"alerts.webhook_url: .* 10.0.0.5, because it is private"
    ):
        await opened(tmp_path, **given)
    open_network = WebhooksSection(allow_networks=("10.0.0.0/24",))
    assert (await opened(tmp_path, open_network, **given)).call_secret == SECRET
