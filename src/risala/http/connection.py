"""HTTP/1 of one connection: Hypercorn's, without the ways in that strangers found.

What differs from :class:`hypercorn.protocol.h11.H11Protocol`:

* No WebSocket and no HTTP/2, which we do not serve and whose code does not stand junk.
* An answer whose length is known leaves in one write; any other is sent on as it comes.
* A request that is over never waits for its own body, and nobody is told of a disconnect: the
  connection's scope is cancelled, and all that belongs to it ends (:mod:`risala.http.guard`).
* Errors that are answered below Quart have the API's shape.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

import h11
from hypercorn.events import Closed, RawData
from hypercorn.protocol.events import (
    Body,
    EndBody,
    Event,
    Request,
    Response,
    StreamClosed,
)
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.typing import H11SendableEvent

from risala.engine.clock import SystemClock
from risala.engine.ids import IdSource
from risala.http.problems import CODES, Problem, plain

Headers = list[tuple[bytes, bytes]]

_HELD_BYTES_MAX: Final = 64 * 1024
"""More than this of one answer is not held back to be joined."""
_DROPPED: Final = frozenset({b"upgrade", b"http2-settings"})
_IDS: Final = IdSource(SystemClock())


def refusal(problem: Problem) -> tuple[Headers, bytes]:
    """The headers and the body of an answer that is made below Quart, and ends the connection."""
    request_id = _IDS.new("req")
    body = problem.body(request_id)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id.encode()),
        (b"connection", b"close"),
    ]
    more = [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
    return headers + more, body


class Stream(HTTPStream):
    """One request and its answer."""

    delivering = False
    """Whether a part of the body waits for the handler to take it."""

    async def handle(self, event: Event) -> None:
        if isinstance(event, StreamClosed):
            # Hypercorn would queue `http.disconnect`, and wait when the queue is full. A handler
            # that is done needs no such word, and one that is not is cancelled.
            self.closed = True
            return
        self.delivering = True
        await super().handle(event)
        self.delivering = False

    async def _send_error_response(self, status_code: int) -> None:
        if hasattr(self, "response"):
            return  # the handler was cancelled in the midst of sending another head
        headers, body = refusal(plain(status_code))
        await self.send(Response(self.stream_id, headers, status_code))
        if self.scope["method"] != "HEAD":
            await self.send(Body(self.stream_id, body))
        await self.send(EndBody(self.stream_id))
        self.state = ASGIHTTPState.CLOSED


class GuardedProtocol(H11Protocol):
    """HTTP/1 and nothing else; by-passes Hypercorn's ``ProtocolWrapper``, which speaks HTTP/2."""

    stream: Stream | None  # type: ignore[mutable-override]
    _held = b""
    """What of the answer has not been sent yet."""
    _joining = False
    """Whether there is reason to wait for more of it."""

    @property
    def unread(self) -> bool:
        """Whether bytes of the client's are, or may be, still to come that nobody will read."""
        return self.connection.their_state in (h11.SEND_BODY, h11.ERROR) or bool(
            self.connection.trailing_data[0]
        )

    async def stream_send(self, event: Event) -> None:
        if isinstance(event, Response) and self.context.terminated.is_set():
            # We are about to close: told beforehand, the client does not send another request.
            headers = [*event.headers, (b"connection", b"close")]
            event = Response(event.stream_id, headers, event.status_code)
        await super().stream_send(event)

    async def _check_protocol(self, event: h11.Request) -> None:
        """Nothing: here Hypercorn would change over to HTTP/2."""

    async def _create_stream(self, request: h11.Request) -> None:
        if problem := _fault(request):
            await self._refuse(problem, head=request.method == b"HEAD")
            return
        self.stream = Stream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        await self.stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=[pair for pair in request.headers if pair[0] not in _DROPPED],
                http_version=request.http_version.decode(),
                method=request.method.decode("ascii").upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1
        await self.context.mark_request()

    async def _send_h11_event(self, event: H11SendableEvent) -> None:
        try:
            data = self.connection.send(event)
        except h11.LocalProtocolError:
            if self.connection.their_state is not h11.ERROR:
                raise
            return
        if isinstance(event, h11.Response):
            self._joining = any(name == b"content-length" for name, _ in event.headers)
        elif isinstance(event, h11.EndOfMessage):
            self._joining = False
        self._held += data or b""
        # Without a length it is a stream, whose client waits for each part of it.
        if not self._joining or len(self._held) > _HELD_BYTES_MAX:
            await self._flush()

    async def _flush(self) -> None:
        if self._held:
            data, self._held = self._held, b""
            await self.send(RawData(data))

    async def _send_error_response(self, status_code: int) -> None:
        """Answer what h11 could not read: 400, or 431 for a header too large."""
        head = self.stream is not None and self.stream.scope["method"] == "HEAD"
        problem = plain(status_code if status_code in CODES else 400)
        await self._refuse(problem, head=head)

    async def _refuse(self, problem: Problem, *, head: bool) -> None:
        headers, body = refusal(problem)
        await self._send_h11_event(h11.Response(status_code=problem.status, headers=headers))
        if not head:
            await self._send_h11_event(h11.Data(data=body))
        await self._send_h11_event(h11.EndOfMessage())
        await self.send(Closed())

    async def _maybe_recycle(self) -> None:
        if self.stream is not None and self.stream.delivering:
            # The reader waits to hand over a part of the body that nobody will take any more.
            await self.send(Closed())
        else:
            await super()._maybe_recycle()


def _fault(request: h11.Request) -> Problem | None:
    """Why a request that h11 could read is not one for us."""
    if not request.http_version.startswith(b"1."):
        return plain(400)  # the preface of HTTP/2, above all
    if any(name == b"upgrade" and value.lower() == b"websocket" for name, value in request.headers):
        return Problem(400, "This service does not speak WebSocket.")
    path = unquote_to_bytes(request.target.partition(b"?")[0])
    if not path.startswith(b"/"):
        # The whole URL, as to a proxy, or `*`: what cannot be split would fail within Quart.
        try:
            if not path or not urlsplit(path.decode("utf-8", "replace")):
                return plain(400)
        except ValueError:
            return plain(400)
    return None
