"""One request and its answer: by the table of plain paths, else by the app behind it.

An ASGI app sees only two calls, ``receive`` and ``send``.

* An answer of known length leaves in one write; any other is sent on as it comes.
* An answer that is ready before its whole request has come never spoils the connection: the rest is
  read first if it is small, else the answer says that the connection ends.
* ``100 Continue`` is sent when the handler wants the body, not before it has judged the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast
from urllib.parse import unquote

import structlog
import trio

from risala.http.common.plain import PlainPath, PlainRoutes, StreamedAnswer
from risala.http.common.problems import Problem, plain
from risala.http.common.request import IN_PLACE, new_request_id
from risala.http.server.answer import CLOSE, CONTINUE, Headers, head, whole
from risala.http.server.listener_state import Patience
from risala.http.server.parser import Request

if TYPE_CHECKING:
    from hypercorn.typing import (
        ASGIFramework,
        ASGIReceiveEvent,
        ASGISendEvent,
        ConnectionState,
        HTTPScope,
        LifespanState,
    )

log = structlog.get_logger("risala.http")

_HELD_BYTES_MAX: Final = 64 * 1024
"""Bytes of an answer that are held back to be written at once; with more, they are sent on."""
_REST_BYTES_MAX: Final = 64 * 1024
"""The most bytes to read of an unwanted body, enough for nearly every body. Reading these costs
less than a new connection; reading more would only help an attacker."""
_BODY_AT_FAULT: Final = frozenset({408, 413})
"""Answers to a body that is too slow or too long: the rest of it is not read."""
_BODILESS: Final = frozenset({204, 304})
_CHUNKED: Final = (b"transfer-encoding", b"chunked")
_NO_MORE: Final = (b"", b"0\r\n\r\n")


class ExchangeLine(Protocol):
    """The parts of a connection that an exchange uses. A failure here cancels the connection."""

    app: ASGIFramework
    scheme: str
    routes: PlainRoutes
    state: LifespanState
    patience: Patience
    client: tuple[str, int] | None
    server: tuple[str, int] | None

    @property
    def stopping(self) -> bool:
        """Whether no other request is taken."""

    async def send(self, data: bytes) -> None:
        """Write a part of an answer, all of it."""

    async def read_more(self) -> None:
        """Read on."""

    async def read_body(self, request: Request) -> None:
        """Read more of a body, for which its handler waits; refuses a malformed one."""

    async def refuse(self, request: Request, problem: Problem) -> None:
        """Answer in the app's stead, which ends the connection."""


class HttpExchange:
    """Lives as long as its request is answered. To plain paths it is the body on its way in."""

    def __init__(self, connection: ExchangeLine, request: Request) -> None:
        self._connection = connection
        self._request = request
        self._held = b""
        """The part of the answer that has not been sent yet."""
        self._sent = self._ended = self._told_whole = False
        self._bodiless = self._chunked = False
        self._left: int | None = None
        """Missing bytes of the answer's body, if its head has a length."""
        self.keeps = False
        """Whether the connection stays open after this answer."""

    @property
    def length(self) -> int | None:
        return self._request.length

    @property
    def complete(self) -> bool:
        return self._request.complete

    async def run(self) -> None:
        """Have the request answered, by a plain path, by the app, or in its stead."""
        connection = self._connection
        path = connection.routes.find(self._request.target)
        try:
            if path is None:
                await connection.app(self._scope(), self.receive, self.send)
            else:
                await self._answer_plainly(path)
        except Exception:
            log.exception("app.failed")
        if not self._ended:
            self.keeps = False
            if not self._sent:
                await connection.refuse(self._request, plain(500))

    async def _answer_plainly(self, path: PlainPath) -> None:
        connection, request = self._connection, self._request
        request_id = new_request_id()
        answer = await connection.routes.answer(
            path, request.method, request_id, request.fields, connection.client, self
        )
        if isinstance(answer, StreamedAnswer):
            await self._send_stream(answer, request_id)
            return
        if not request.complete:
            await self._take_rest(answer.status)
        self.keeps = request.keep and request.complete and not connection.stopping
        bodiless = request.method == b"HEAD" or answer.status in _BODILESS
        data = whole(answer, request_id, bodiless=bodiless, keeps=self.keeps)
        self._sent = self._ended = True
        await connection.send(data)

    async def _send_stream(self, answer: StreamedAnswer, request_id: str) -> None:
        async def send_part(part: bytes) -> None:
            if part:  # an empty one would end the answer
                await self._go_on(part, more=True)

        try:
            await self._start(answer.status, answer.header(request_id))
            await self._go_on(b"", more=True)  # the header: parts may take their time
            if not self._bodiless:
                await answer.write(send_part)
            await self._go_on(b"", more=False)
        finally:
            answer.end()

    async def next_part(self) -> bytes:
        """The new bytes of the body; empty at its end."""
        request = self._request
        while not request.parts and not request.complete:
            if request.waits:
                request.waits = False
                await self._connection.send(CONTINUE)
            await self._connection.read_body(request)
        part = request.parts[0] if len(request.parts) == 1 else b"".join(request.parts)
        request.parts.clear()
        return part

    async def receive(self) -> ASGIReceiveEvent:
        if self._told_whole:
            # After the body nothing more is received: if the client goes away, this handler is
            # cancelled without a message.
            await trio.sleep_forever()
        body = await self.next_part()
        self._told_whole = self._request.complete
        return {"type": "http.request", "body": body, "more_body": not self._told_whole}

    async def send(self, event: ASGISendEvent) -> None:
        """Take a part of the answer.

        Raises:
            ValueError: the answer cannot be sent: it has more bytes than it said, or a bad header.
        """
        if event["type"] == "http.response.start":
            await self._start(int(event["status"]), list(event["headers"]))
        elif event["type"] == "http.response.body":
            await self._go_on(bytes(event["body"]), more=event["more_body"])
        else:
            raise ValueError("an event that has no place here")

    async def _start(self, status: int, headers: Headers) -> None:
        request = self._request
        if not request.complete:
            await self._take_rest(status)
        lengths = [value for name, value in headers if name == b"content-length"]
        self._bodiless = request.method == b"HEAD" or status in _BODILESS
        if lengths and not self._bodiless:
            self._left = int(lengths[0])
        self._chunked = not lengths and status not in _BODILESS and request.version == "1.1"
        # A client that sees ``connection: close`` sends no further request on this connection.
        self.keeps = request.keep and request.complete and not self._connection.stopping
        if CLOSE in headers:
            self.keeps = False
            headers.remove(CLOSE)
        more = ([_CHUNKED] if self._chunked else []) + ([] if self.keeps else [CLOSE])
        self._held = head(status, headers, *more)

    async def _go_on(self, body: bytes, *, more: bool) -> None:
        if self._ended:
            return
        if not self._bodiless:
            self._held += self._framed(body, more=more)
        if self._left and not more:
            raise ValueError("an answer that is shorter than it said")
        self._ended = not more
        # Without a length it is a stream, whose client waits for each part of it.
        if self._held and (self._ended or self._left is None or len(self._held) > _HELD_BYTES_MAX):
            data, self._held, self._sent = self._held, b"", True
            await self._connection.send(data)
            if more:
                await trio.lowlevel.checkpoint()

    def _framed(self, body: bytes, *, more: bool) -> bytes:
        if self._left is not None:
            self._left -= len(body)
            if self._left < 0:
                raise ValueError("an answer that is longer than it said")
        if not self._chunked:
            return body
        return (b"%x\r\n%s\r\n" % (len(body), body) if body else b"") + _NO_MORE[not more]

    async def _take_rest(self, status: int) -> None:
        """Read the rest of an answered request, up to a limit."""
        request = self._request
        most = request.received + _REST_BYTES_MAX
        # A client that waits for permission to send its body may or may not send it after the
        # answer: do not wait.
        if request.waits or status in _BODY_AT_FAULT:
            return
        if request.length is not None and request.length > most:
            return
        with trio.move_on_after(self._connection.patience.rest_s):
            while not request.complete and request.received <= most and request.fault is None:
                await self._connection.read_more()
                request.parts.clear()

    def _scope(self) -> HTTPScope:
        request, connection = self._request, self._connection
        path, _, query = request.target.partition(b"?")
        return {
            "type": "http",
            "http_version": request.version,
            "asgi": {"spec_version": "2.1", "version": "3.0"},
            "method": request.method.decode("ascii"),
            "scheme": connection.scheme,
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": request.headers,
            "client": connection.client,
            "server": connection.server,
            "state": cast("ConnectionState", {**connection.state, IN_PLACE: True}),
            "extensions": {},
        }
