"""HTTP/1 of one connection: Hypercorn's, without the ways in that strangers found.

What differs from :class:`hypercorn.protocol.h11.H11Protocol`:

* No WebSocket and no HTTP/2, which we do not serve and whose code does not stand junk.
* An answer whose length is known leaves in one write; any other is sent on as it comes.
* A request that is over never waits for its own body, and nobody is told of a disconnect: the
  connection's scope is cancelled, and all that belongs to it ends
  (:mod:`risala.http.server.guard`).
* An answer that is ready before its request has come in whole never spoils the connection: the
  rest is read first, when it is small, else the answer says that the connection ends.
* ``100 Continue`` is sent when the handler wants the body, not before it has judged the head.
* Errors that are answered below Quart have the API's shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, RawData, Updated
from hypercorn.events import Event as HypercornEvent
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
from hypercorn.typing import ConnectionState, H11SendableEvent

from risala.engine.model.clock import SystemClock
from risala.engine.model.ids import IdSource
from risala.http.common.origins import cors_headers
from risala.http.common.problems import CODES, Problem, plain
from risala.http.common.seams import ASK_FOR_BODY
from risala.http.common.targets import origin_form
from risala.http.server.face import Face, FaceConfig

Headers = list[tuple[bytes, bytes]]


_HELD_BYTES_MAX: Final = 64 * 1024
"""More than this of one answer is not held back to be joined."""
_REST_BYTES_MAX: Final = 64 * 1024
"""Of a body that nobody wants any more: a whole one of nearly every request. To read it costs less
than a new connection; to read more would be a gift to whoever wastes our time."""
_BODY_AT_FAULT: Final = frozenset({408, 413})
"""Answers to a body that is too slow or too long: no more of it is waited for."""
_DROPPED: Final = frozenset({b"upgrade", b"http2-settings"})
_CLOSE: Final = (b"connection", b"close")
_begins: Final = re.compile(rb"[A-Z]{1,20} (/[!-~]*) HTTP/").match
_find_origin: Final = re.compile(rb"\norigin:[ \t]*([!-~]+)[ \t]*\r?\n", re.IGNORECASE).search
_IDS: Final = IdSource(SystemClock())


def refusal(
    problem: Problem, face: Face, path: str | None, origin: str | None
) -> tuple[Headers, bytes]:
    """The headers and the body of an answer that is made below Quart, and ends the connection.

    ``path`` and ``origin`` are the request's; ``path`` is None where it is not known.
    """
    face.tally.answers[problem.status] += 1
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
    more = [*problem.headers.items(), *cors_headers(face.open_paths, path, origin)]
    return headers + [(name.lower().encode(), value.encode()) for name, value in more], body


class Stream(HTTPStream):
    """One request and its answer."""

    delivering = False
    """Whether a part of the body waits for the handler to take it."""
    length: int | None = None
    """Of the body, in bytes, where the head said it."""
    _received = 0
    _drop_bytes_max = 0
    _dropped: trio.Event | None = None
    """Set when what was to be dropped has ended, or is too much; None: nothing is dropped."""

    async def handle(self, event: Event) -> None:
        if isinstance(event, StreamClosed):
            # Hypercorn would queue `http.disconnect`, and wait when the queue is full. A handler
            # that is done needs no such word, and one that is not is cancelled.
            self.closed = True
            return
        if isinstance(event, Body):
            self._received += len(event.data)
        if self._dropped is not None:
            if isinstance(event, EndBody) or self._received > self._drop_bytes_max:
                self._dropped.set()
            return
        self.delivering = True
        await super().handle(event)
        self.delivering = False

    async def drop_rest(self, within_s: float) -> None:
        """Take the rest of the body off the line; until it ends, is too long, or takes too long."""
        self._drop_bytes_max = self._received + _REST_BYTES_MAX
        if self.length is not None and self.length > self._drop_bytes_max:
            return
        self._dropped = trio.Event()
        with trio.move_on_after(within_s):
            await self._dropped.wait()

    async def _send_error_response(self, status_code: int) -> None:
        if hasattr(self, "response"):
            return  # the handler was cancelled in the midst of sending another head
        path, origin = self.asked
        headers, body = refusal(plain(status_code), _face(self.config), path, origin)
        await self.send(Response(self.stream_id, headers, status_code))
        if self.scope["method"] != "HEAD":
            await self.send(Body(self.stream_id, body))
        await self.send(EndBody(self.stream_id))
        self.state = ASGIHTTPState.CLOSED

    @property
    def asked(self) -> tuple[str, str | None]:
        """The path, and the origin of the page that asks for it."""
        return self.scope["path"], _value(self.scope["headers"], b"origin")


class GuardedProtocol(H11Protocol):
    """HTTP/1 and nothing else; by-passes Hypercorn's ``ProtocolWrapper``, which speaks HTTP/2."""

    connection: h11.Connection  # type: ignore[mutable-override]
    stream: Stream | None  # type: ignore[mutable-override]
    _held = b""
    """What of the answer has not been sent yet."""
    _joining = False
    """Whether there is reason to wait for more of it."""
    _head = b""
    """What has come of a request whose head is not whole yet: for the answer, if it is no HTTP."""

    @property
    def unread(self) -> bool:
        """Whether bytes of the client's are, or may be, still to come that nobody will read."""
        return self.connection.their_state in (h11.SEND_BODY, h11.ERROR) or bool(
            self.connection.trailing_data[0]
        )

    async def handle(self, event: HypercornEvent) -> None:
        if isinstance(event, RawData) and self.connection.their_state is h11.IDLE:
            # No copy where a head comes in one piece, as nearly all do.
            self._head = self._head + event.data if self._head else event.data
        await super().handle(event)

    async def stream_send(self, event: Event) -> None:
        if isinstance(event, Response) and event.status_code >= 200:
            whole = self.connection.their_state is not h11.SEND_BODY or (
                await self._take_rest(event.status_code)
            )
            # Told beforehand that we are about to close, the client sends no other request on it.
            if (not whole or self.context.terminated.is_set()) and _CLOSE not in event.headers:
                event = Response(event.stream_id, [*event.headers, _CLOSE], event.status_code)
        await super().stream_send(event)

    async def _take_rest(self, status: int) -> bool:
        """Read what is still to come of a request that is answered; whether that was all of it."""
        # Who waits for leave to send the body will, told the answer, not send it: or will.
        waits = self.connection.they_are_waiting_for_100_continue
        if self.stream is not None and not waits and status not in _BODY_AT_FAULT:
            await self.stream.drop_rest(_face(self.config).patience.rest_s)
        return self.connection.their_state is not h11.SEND_BODY

    async def _handle_events(self) -> None:
        """Hypercorn's loop, without WebSocket and HTTP/2, and without its `100 Continue`."""
        while True:
            try:
                event = self.connection.next_event()
            except h11.RemoteProtocolError as error:
                if self.connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                    await self._send_error_response(error.error_status_hint)
                await self.send(Closed())
                break
            if isinstance(event, h11.Request):
                await self.send(Updated(idle=False))
                await self._create_stream(event)
            elif event is h11.PAUSED:
                await self.can_read.clear()
                await self.can_read.wait()
                self._skip_empty_lines()
            elif isinstance(event, h11.Data) and self.stream is not None:
                await self.stream.handle(Body(STREAM_ID, event.data))
            elif isinstance(event, h11.EndOfMessage) and self.stream is not None:
                await self.stream.handle(EndBody(STREAM_ID))
            else:  # NEED_DATA, ConnectionClosed, or the rest of what was refused
                break

    def _skip_empty_lines(self) -> None:
        """Drop those before a request that was read ahead (RFC 9112 §2.2)."""
        ahead = self.connection.trailing_data[0]
        if self.connection.their_state is h11.IDLE and ahead.startswith((b"\r", b"\n")):
            self.connection = h11.Connection(
                h11.SERVER, max_incomplete_event_size=self.config.h11_max_incomplete_size
            )
            if ahead := ahead.lstrip(b"\r\n"):
                self.connection.receive_data(ahead)

    async def _create_stream(self, request: h11.Request) -> None:
        self._head = b""
        headers = [pair for pair in request.headers if pair[0] not in _DROPPED]
        try:
            target, host = origin_form(request.target)
        except ValueError:
            target, host = b"", None
        if problem := _fault(request, target):
            path = target.partition(b"?")[0].decode("latin-1")
            head = request.method == b"HEAD"
            await self._refuse(problem, path, _value(headers, b"origin"), head=head)
            return
        if host is not None:
            headers = [(name, host if name == b"host" else value) for name, value in headers]
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
        if (length := _value(headers, b"content-length")) is not None:
            self.stream.length = int(length)
        state = self.connection_state
        if self.connection.they_are_waiting_for_100_continue:
            state = ConnectionState({**state, ASK_FOR_BODY: self._ask_for_body})
        await self.stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=headers,
                http_version=request.http_version.decode(),
                method=request.method.decode("ascii").upper(),
                raw_path=target,
                state=state,
            )
        )
        self.keep_alive_requests += 1
        await self.context.mark_request()

    async def _ask_for_body(self) -> None:
        if self.connection.they_are_waiting_for_100_continue:
            await self._send_h11_event(h11.InformationalResponse(status_code=100, headers=[]))

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
        path, origin = _guess(self._head) if self.stream is None else self.stream.asked
        await self._refuse(problem, path, origin, head=head)

    async def _refuse(
        self, problem: Problem, path: str | None, origin: str | None, *, head: bool
    ) -> None:
        headers, body = refusal(problem, _face(self.config), path, origin)
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


def _fault(request: h11.Request, target: bytes) -> Problem | None:
    """Why a request that h11 could read is not one for us. ``target`` is empty for none."""
    if not request.http_version.startswith(b"1."):
        return plain(400)  # the preface of HTTP/2, above all
    if not target:
        return plain(400)
    names = {name for name, _ in request.headers}
    if b"transfer-encoding" in names and (
        b"content-length" in names or request.http_version == b"1.0"
    ):
        # Where the body ends is told twice, or to a version that knows no chunks: another server
        # on the way may see other requests in these bytes than we do (RFC 9112 §6.1).
        return plain(400)
    if b"upgrade" in names and (_value(request.headers, b"upgrade") or "").lower() == "websocket":
        return Problem(400, "This service does not speak WebSocket.")
    return None


def _face(config: Config) -> Face:
    assert isinstance(config, FaceConfig), "only risala.http.server.server serves in this process"
    return config.face


def _value(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str | None:
    """The first value of a header."""
    return next((value.decode("latin-1") for name, value in headers if name == wanted), None)


def _guess(head: bytes) -> tuple[str | None, str | None]:
    """Path and origin of a head that is no valid one, where they can be seen in it."""
    line = _begins(head)
    if line is None:
        return None, None
    origin = _find_origin(head)
    path = line[1].partition(b"?")[0].decode("latin-1")
    return path, "*" if origin is None else origin[1].decode("latin-1")
