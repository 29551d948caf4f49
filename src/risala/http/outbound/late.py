"""The client that calls webhooks, from the first call on.

Without an endpoint there are no calls, and its libraries and the machine's certificates are eight
megabytes. They are loaded in a thread, beside everything else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.engine.rules.webhooks.types import FetchedAnswer, WebhookCall
from risala.engine.rules.webhooks.url import AddressRules

if TYPE_CHECKING:
    import ssl

    from risala.http.outbound.client import OutboundClient


class LateOutbound:
    """Makes calls; see :func:`open_late_outbound`."""

    def __init__(self, rules: AddressRules, calls_max: int) -> None:
        self._rules = rules
        self._calls_max = calls_max
        self._client: OutboundClient | None = None
        self._opening = trio.Lock()

    async def post(self, call: WebhookCall) -> ReceiverAnswer | ReceiverFault:
        """Make one call. The result is an answer or a fault, never an exception."""
        client = self._client or await self._open()
        return await client.post(call)

    async def fetch(self, call: WebhookCall) -> FetchedAnswer | ReceiverFault:
        """Make one call, and read its answer. The result is an answer or a fault, never an
        exception."""
        client = self._client or await self._open()
        return await client.fetch(call)

    async def _open(self) -> OutboundClient:
        async with self._opening:
            if self._client is None:
                context = await trio.to_thread.run_sync(_load)
                from risala.http.outbound.client import OutboundClient

                self._client = OutboundClient(self._rules, self._calls_max, context=context)
            return self._client

    async def aclose(self) -> None:
        """Close every connection."""
        if self._client is not None:
            await self._client.aclose()


@asynccontextmanager
async def open_late_outbound(rules: AddressRules, calls_max: int) -> AsyncIterator[LateOutbound]:
    """As :func:`risala.http.outbound.client.open_outbound`, loaded with the first call.

    Args:
        rules: which addresses may be called.
        calls_max: the most calls at once.
    """
    client = LateOutbound(rules, calls_max)
    try:
        yield client
    finally:
        with trio.move_on_after(1, shield=True):
            await client.aclose()


def _load() -> ssl.SSLContext:
    """Import what a client needs, and read the machine's certificates."""
    from risala.http.outbound import client

    return client.default_context()
