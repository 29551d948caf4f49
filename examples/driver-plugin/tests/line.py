from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from risala_acme.driver import AcmeDriver
from risala_acme.settings import AcmeSettings

from acme_stand_in import KEY, SECRET, AcmeStandIn


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@asynccontextmanager
async def carrier_and_driver(
    **settings: object,
) -> AsyncIterator[tuple[AcmeStandIn, AcmeDriver]]:
    """A carrier that is there, and a driver for it that is not running."""
    async with trio.open_nursery() as nursery:
        carrier = AcmeStandIn(nursery)
        await carrier.start()
        port = free_port()  # only now: the carrier's own may not be it
        carrier.callback_url = f"http://127.0.0.1:{port}/"
        given = {
            "url": carrier.url,
            "api_key": KEY,
            "callback_url": carrier.callback_url,
            "callback_secret": SECRET,
            "callback_port": port,
            "look_s": 0.05,
            **settings,
        }
        async with carrier.http:
            settings = AcmeSettings.model_validate(given)
            yield carrier, AcmeDriver("acme", settings)
        nursery.cancel_scope.cancel()
