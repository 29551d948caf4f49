"""A vendor of a channel on this machine: takes JSON by HTTP, and calls back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import h11
import httpcore2
import trio

READ_BYTES: Final = 65_536
AGAIN_S: Final = (0.1, 1.0, 5.0, 30.0)
"""Waits before a report that was not taken is made again."""
_UNHEARD: Final = (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError)
"""What says that a report was not taken."""
Json = dict[str, Any]


@dataclass
class Vendor:
    """Plays a vendor. Run :meth:`run` in a nursery; :attr:`url` is known then."""

    token: str = "token-of-the-account"  # noqa: S105 -- made up
    mute: bool = False
    """True: it takes requests, and answers nothing."""
    broken: bool = False
    """True: it answers with a fault of its own."""
    people: set[str] | None = None
    """The only numbers that have an account there; None: all have one."""
    codes: list[tuple[str, str]] = field(default_factory=list)
    """Whom it got codes for, and the codes."""
    called_at: str = ""
    """Our service's address for it: what it takes is delivered and reported there at once. Empty:
    whoever plays with it says when."""
    url: str = ""
    _nursery: trio.Nursery | None = field(default=None, repr=False)

    async def run(self, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled."""
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(trio.serve_listeners, self._serve, listeners)
            task_status.started(self.url)

    async def _serve(self, stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError, h11.RemoteProtocolError):
            async with stream:
                await self._exchange(stream)

    async def _exchange(self, stream: trio.SocketStream) -> None:
        conn = h11.Connection(h11.SERVER)
        request, body = await _read(conn, stream)
        if request is None:
            return
        if self.mute:
            await trio.sleep_forever()
        status, answer = self._answered(request, body)
        octets = json.dumps(answer).encode()
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(octets))),
            ("Connection", "close"),
        ]
        for event in (
            h11.Response(status_code=status, headers=headers),
            h11.Data(data=octets),
            h11.EndOfMessage(),
        ):
            await stream.send_all(conn.send(event) or b"")

    def _answered(self, request: h11.Request, body: bytes) -> tuple[int, Json]:
        if self.broken:
            return 500, {}
        fields = {name.lower(): value for name, value in request.headers}
        path = request.target.decode("ascii").partition("?")[0]
        is_known = fields.get(b"authorization") == f"Bearer {self.token}".encode()
        return self.answered(path, json.loads(body or b"{}"), is_known)

    def answered(self, path: str, body: Json, is_known: bool) -> tuple[int, Json]:
        """The status and the JSON for a request.

        Args:
            is_known: whether it had the account's token.
        """
        raise NotImplementedError

    def report(self, body: Json, headers: Mapping[str, str]) -> None:
        """Report something to our service, again and again until it is taken."""
        if self.called_at and self._nursery is not None:
            self._nursery.start_soon(self._reported, self.called_at, body, headers)

    async def _reported(self, url: str, body: Json, headers: Mapping[str, str]) -> None:
        for wait_s in AGAIN_S:
            with suppress(OSError, *_UNHEARD):
                if await call_back(url, body, headers) < 300:
                    return
            await trio.sleep(wait_s)

    def has(self, number: str) -> bool:
        """Whether somebody with this number has an account there."""
        return self.people is None or number in self.people


async def call_back(url: str, body: Json, headers: Mapping[str, str]) -> int:
    """Report something to a service; returns the status of its answer."""
    octets = json.dumps(body).encode()
    fields = {
        "Host": urlsplit(url).netloc,
        "Content-Type": "application/json",
        "Content-Length": str(len(octets)),
        **headers,
    }
    async with httpcore2.AsyncConnectionPool() as pool:
        answer = await pool.request("POST", url, headers=list(fields.items()), content=octets)
        return answer.status


async def _read(
    conn: h11.Connection, stream: trio.SocketStream
) -> tuple[h11.Request | None, bytes]:
    request, body = None, b""
    while True:
        event = conn.next_event()
        if event is h11.NEED_DATA:
            conn.receive_data(await stream.receive_some(READ_BYTES))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        else:  # the end of the message, or of the connection
            return request, body
