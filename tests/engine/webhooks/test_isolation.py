"""Over real sockets: who is dead, slow or endless takes nothing from the others."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest
import trio

from patience import HANG_S
from risala.config.model import WebhooksSection
from risala.engine.rules.webhooks.url import AddressRules
from risala.http.outbound import client as outbound
from risala.http.outbound.client import open_outbound

pytestmark = [pytest.mark.slow, pytest.mark.long]
EVENTS = 100


async def test_the_sound_ones_do_not_notice(open_house, web, monkeypatch):
    # Whoever waits for one of the bad is seen to hang.
    monkeypatch.setattr(outbound, "LIMIT_S", 600.0)
    async with AsyncExitStack() as stack:
        bad = {
            "never": web.never,
            "slow": web.after(10, web.answer()),
            "endless": web.raw(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
                *[b"1\r\nx\r\n"] * 10_000,
                apart_s=0.05,
            ),
            "flood": web.raw(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
                b"8000\r\n" + b"x" * 0x8000 + b"\r\n",
                again=True,
            ),
            "hangs up": web.raw(b""),
        }
        servers = [await stack.enter_async_context(web.receiver(each)) for each in bad.values()]
        sound = [await stack.enter_async_context(web.receiver()) for _ in range(4)]
        settings = WebhooksSection(allow_insecure=True)
        client = await stack.enter_async_context(
            open_outbound(AddressRules(allow_insecure=True), settings.attempts_max)
        )
        house = await stack.enter_async_context(open_house(client, webhooks=settings, inline=False))
        for server in (*servers, *sound):
            await house.endpoint(server.url)
        with trio.fail_after(HANG_S):
            for _ in range(EVENTS // 10):
                await house.happen(10)
            for server in sound:
                await server.wait_requests(EVENTS)
        for server in sound:
            assert len(set(server.events())) == len(server.events()) == EVENTS
            assert server.connections <= 8
