"""The client's end of the control socket."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpcore2
import httpx2

from risala.cli.refused import Refused
from risala.http.sockets import CONTROL_NAME, unix_address

_TIMEOUT_S: Final = 60.0
"""For one operation; an audit of a large file is the longest."""


class NotListening(Exception):
    """Nobody listens (yet, or any more): ENOENT or ECONNREFUSED."""


class RemoteGateway:
    """The gateway of the service that runs, by its control socket."""

    def __init__(self, client: httpx2.AsyncClient, address: str) -> None:
        self._client = client
        self._address = address

    async def perform(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """As :meth:`risala.engine.gateway.Gateway.perform`.

        Raises:
            Refused: the engine's sentence.
        """
        request = {"operation": name, "arguments": arguments}
        try:
            response = await self._client.post("/perform", json=request)
        except httpx2.TimeoutException:
            raise Refused(f"The service did not answer within {_TIMEOUT_S:.0f} seconds.") from None
        except httpx2.TransportError:
            raise Refused(
                "The service went away before it answered; whether it was done is not known."
            ) from None
        payload = response.json()
        if response.status_code != 200:
            raise Refused(str(payload["message"]))
        result: dict[str, Any] = payload["result"]
        return result

    async def tail(self, what: str) -> AsyncGenerator[dict[str, Any]]:
        """What happens from now on: ``life`` or ``events``, until the service stops.

        Raises:
            Refused: the service went away.
        """
        # One layer below httpx2, whose iterators do not close each other when they are left early.
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), _TIMEOUT_S)
        try:
            async with (
                httpcore2.AsyncConnectionPool(uds=self._address) as pool,
                pool.stream(
                    "GET", f"http://control/tail/{what}", extensions={"timeout": timeouts}
                ) as response,
                aclosing(response.aiter_stream()) as chunks,
            ):
                if response.status != 200:
                    raise Refused("The service that runs is older and cannot be followed.")
                begun = b""
                async for chunk in chunks:
                    *lines, begun = (begun + chunk).split(b"\n")
                    for line in lines:
                        yield json.loads(line)
        except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError):
            raise Refused("The service went away.") from None


@asynccontextmanager
async def connect(data_dir: Path) -> AsyncIterator[RemoteGateway]:
    """The gateway of the service that holds ``data_dir``.

    Raises:
        NotListening: try again, it may be starting or stopping.
    """
    path = data_dir / CONTROL_NAME
    with unix_address(path) as address:
        # trust_env: a proxy or a netrc has no say in a socket on this machine.
        transport = httpx2.AsyncHTTPTransport(uds=address)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://control", trust_env=False, timeout=_TIMEOUT_S
        ) as client:
            try:
                await client.get("/healthz")
            except httpx2.TransportError as error:
                raise NotListening(str(error)) from error
            yield RemoteGateway(client, address)
