"""The client's end of the control socket."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpcore2
import httpx2

from risala.cli.reach.quick import TIMED_OUT, TIMEOUT_S, WENT_AWAY, upload_path
from risala.cli.reach.refused import CommandRefused
from risala.http.common.control_path import CONTROL_NAME, unix_address
from risala.sms.currencies import USUAL, counting


class NotListening(Exception):
    """The socket has no listener (yet, or any longer): ENOENT or ECONNREFUSED."""


class RemoteGateway:
    """The gateway of the service that runs, by its control socket."""

    def __init__(self, client: httpx2.AsyncClient, address: str) -> None:
        self._client = client
        self._address = address

    async def perform(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """As :meth:`risala.engine.gateway.gateway.Gateway.perform`.

        Raises:
            CommandRefused: the engine refused; it has the engine's sentence.
        """
        request = {"operation": name, "arguments": arguments}
        result: dict[str, Any] = await self._posted("/perform", "result", json=request)
        return result

    async def upload(self, organization_id: str, name: str, content: bytes) -> str:
        """As :meth:`risala.engine.gateway.gateway.Gateway.receive_upload`. Raises the same as
        :meth:`perform`."""
        path = upload_path(organization_id, name)
        return str(await self._posted(path, "upload", content=content))

    async def _posted(self, path: str, member: str, **body: Any) -> Any:  # noqa: ANN401 -- JSON
        """POST a request, and return a member of its answer."""
        try:
            response = await self._client.post(path, **body)
        except httpx2.TimeoutException:
            raise CommandRefused.unavailable(TIMED_OUT, unknown=True) from None
        except httpx2.TransportError:
            raise CommandRefused.unavailable(WENT_AWAY, unknown=True) from None
        payload = response.json()
        if response.status_code != 200:
            raise CommandRefused.by_api(payload)
        return payload[member]

    async def upgrading(self) -> str | None:
        """The progress of the database migration; None: no migration is running.

        Raises:
            CommandRefused: the service went away.
        """
        try:
            response = await self._client.get("/readyz")
        except httpx2.TimeoutException:
            raise CommandRefused.unavailable(TIMED_OUT, unknown=True) from None
        except httpx2.TransportError:
            raise CommandRefused.unavailable(WENT_AWAY, unknown=True) from None
        # Without a migration the control socket has no such path.
        return str(response.json()["message"]) if response.status_code == 503 else None

    async def tail(
        self, what: str, organization_id: str | None = None, position: str | None = None
    ) -> AsyncGenerator[StreamEvent]:
        """Follow events, until the service stops.

        Args:
            what: ``life``, ``events`` or ``all``.
            position: the last id that was seen; None: from now on.

        Raises:
            CommandRefused: the service refused; it has the service's sentence.
            NotListening: the service went away.
        """
        # Not by httpx2 itself but by the layer below it: httpx2's iterators do not close each other
        # when one is left early.
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), TIMEOUT_S)
        query = "" if organization_id is None else f"?organization={quote(organization_id)}"
        headers = [] if position is None else [("Last-Event-ID", position)]
        try:
            async with (
                httpcore2.AsyncConnectionPool(uds=self._address) as pool,
                pool.stream(
                    "GET",
                    f"http://control/tail/{what}{query}",
                    headers=headers,
                    extensions={"timeout": timeouts},
                ) as response,
                aclosing(response.aiter_stream()) as chunks,
            ):
                if response.status != 200:
                    body = b"".join([chunk async for chunk in chunks])
                    raise _refusal(response.status, body)
                if (b"Content-Type", b"text/event-stream") not in _titled(response.headers):
                    raise CommandRefused(_OLDER)
                begun = b""
                async for chunk in chunks:
                    *blocks, begun = (begun + chunk).split(b"\n\n")
                    for event in map(_stream_event, blocks):
                        if event is not None:
                            yield event
        except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError):
            raise NotListening("The service stopped.") from None


_OLDER: Final = "The running service is an older version, which cannot be followed."


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One server-sent event."""

    kind: str
    data: dict[str, Any]
    id: str | None
    """The position to continue from after it; None: the previous position remains valid."""
    text: str
    """The data as they were sent: of an event the body, byte for byte, that webhooks carry."""


def _stream_event(block: bytes) -> StreamEvent | None:
    """A block of lines in our service's format; None for a comment."""
    fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line)
    if "event" not in fields:
        return None
    text = fields["data"]
    return StreamEvent(fields["event"], json.loads(text), fields.get("id"), text)


def _titled(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name.title(), value.partition(b";")[0]) for name, value in headers]


def _refusal(status: int, body: bytes) -> Exception:
    refused = CommandRefused.by_api(json.loads(body))
    if status == 503:
        return NotListening(refused.message)
    return CommandRefused(_OLDER) if "path" in refused.message else refused


@asynccontextmanager
async def connect(data_dir: Path) -> AsyncIterator[RemoteGateway]:
    """The gateway of the service that holds ``data_dir``.

    Raises:
        NotListening: try again, it may be starting or stopping.
    """
    path = data_dir / CONTROL_NAME
    with unix_address(path) as address:
        # trust_env is off: no proxy and no netrc applies to a socket on this machine. Nor are
        # certificates needed: reading all authorities takes longer than most commands.
        nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # no TLS is spoken, and one must be given
        transport = httpx2.AsyncHTTPTransport(uds=address, verify=nobody)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://control", trust_env=False, timeout=TIMEOUT_S
        ) as client:
            try:
                health = await client.get("/healthz")
            except httpx2.TransportError as error:
                raise NotListening(str(error)) from error
            with counting(health.json().get("decimals", USUAL) if health.is_success else USUAL):
                yield RemoteGateway(client, address)
