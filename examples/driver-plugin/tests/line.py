from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from acme_stand_in import KEY, SECRET, Acme
from risala_acme.driver import AcmeDriver
from risala_acme.settings import AcmeSettings


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@asynccontextmanager
async def acme_and_driver(**settings: object) -> AsyncIterator[tuple[Acme, AcmeDriver]]:
    """A carrier that is there, and a driver for it that is not running."""
    port = free_port()
    async with trio.open_nursery() as nursery:
        acme = Acme(nursery, callback_url=f"http://127.0.0.1:{port}/")
        await acme.start()
        given = {
            "url": acme.url,
            "api_key": KEY,
            "callback_url": acme.callback_url,
            "callback_secret": SECRET,
            "callback_port": port,
            "look_s": 0.05,
            **settings,
        }
        async with acme.http:
            yield acme, AcmeDriver("acme", AcmeSettings.model_validate(given))
        nursery.cancel_scope.cancel()
