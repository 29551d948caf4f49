"""Hears the carrier's callbacks: a listener for one kind of request, with a bound on everything."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import h11
import trio

BODY_MAX_BYTES: Final = 16_384
HEAD_MAX_BYTES: Final = 8_192
REQUEST_S: Final = 10.0
"""A whole request has this long, and its answer too."""
AT_ONCE: Final = 50
"""Connections that are served at once; others wait."""
SIGNED_FOR_S: Final = 300
"""How old a signature may be: whoever overheard a callback cannot send it for ever."""
_SIGNATURE: Final = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")

Take = Callable[[dict[str, Any]], Awaitable[bool]]


class CallbackListener:
    """Proves who calls, and hands over what was told.

    Args:
        take: keeps what a callback tells; False: it cannot be kept now. The carrier is answered
            200 or 503 by it, and calls again after a 503.
    """

    def __init__(self, secret: bytes, take: Take, now_s: Callable[[], float] = time.time) -> None:
        self._secret = secret
        self._take = take
        self._now_s = now_s
        self._limiter = trio.CapacityLimiter(AT_ONCE)

    async def serve(self, stream: trio.SocketStream) -> None:
        """One connection, one request."""
        async with stream, self._limiter:
            with trio.move_on_after(REQUEST_S), suppress(trio.BrokenResourceError):
                await self._answer(stream)  # a carrier that went away meanwhile calls again

    async def _answer(self, stream: trio.SocketStream) -> None:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_MAX_BYTES)
        try:
            request, body = await read_request(connection, stream)
            status = await self._judge(request, body)
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint
        if connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            head = [("content-length", "0"), ("connection", "close")]
            octets = connection.send(h11.Response(status_code=status, headers=head)) or b""
            await stream.send_all(octets + (connection.send(h11.EndOfMessage()) or b""))

    async def _judge(self, request: h11.Request, body: bytes | None) -> int:
        """The status to answer with."""
        if request.method != b"POST":
            return 405
        if body is None:
            return 413
        headers = dict(request.headers)
        if not self._is_theirs(headers.get(b"acme-signature", b""), body):
            return 401
        try:
            told = json.loads(body)
        except ValueError:
            return 400
        if not isinstance(told, dict):
            return 400
        return 200 if await self._take(told) else 503

    def _is_theirs(self, signature: bytes, body: bytes) -> bool:
        found = _SIGNATURE.fullmatch(signature.decode("latin-1"))
        if found is None or abs(self._now_s() - int(found[1])) > SIGNED_FOR_S:
            return False
        return hmac.compare_digest(sign(self._secret, int(found[1]), body), found[2])


def sign(secret: bytes, at_s: int, body: bytes) -> str:
    """The signature of a body at a time."""
    return hmac.new(secret, b"%d.%b" % (at_s, body), hashlib.sha256).hexdigest()


async def read_request(
    connection: h11.Connection, stream: trio.SocketStream
) -> tuple[h11.Request, bytes | None]:
    """A request and its body; None: it is too long, and was not read.

    Raises:
        h11.RemoteProtocolError: this is no HTTP.
    """
    request: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(BODY_MAX_BYTES))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > BODY_MAX_BYTES:
                assert request is not None
                return request, None
        elif isinstance(event, h11.EndOfMessage):
            assert request is not None
            return request, body
        else:
            raise h11.RemoteProtocolError("the connection ended")
