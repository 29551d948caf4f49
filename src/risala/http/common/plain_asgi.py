"""Plain paths (:mod:`risala.http.common.plain`) on any server that speaks ASGI."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import trio

from risala.http.common.plain import PlainPath, PlainRoutes, StreamedAnswer
from risala.http.common.request import new_request_id

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope


async def answer_by_asgi(
    routes: PlainRoutes,
    path: PlainPath,
    scope: HTTPScope,
    receive: ASGIReceiveCallable,
    send: ASGISendCallable,
) -> None:
    """Answer one request; if its client goes away, its handler is cancelled."""
    request_id, fields = new_request_id(), fields_of(scope["headers"])
    async with trio.open_nursery() as nursery:
        body = _ReceivedBody(_length(fields), receive, nursery)
        method = scope["method"].encode()
        answer = await routes.answer(path, method, request_id, fields, scope.get("client"), body)
        if isinstance(answer, StreamedAnswer):
            await _send_stream(answer, request_id, send, bodiless=method == b"HEAD")
            nursery.cancel_scope.cancel()
            return
        lines = answer.lines(request_id).splitlines()
        pairs = [(name, value) for name, _, value in (line.partition(b": ") for line in lines)]
        await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
        # The body is handed over for HEAD too: the server leaves it out.
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})
        nursery.cancel_scope.cancel()


async def _send_stream(
    answer: StreamedAnswer, request_id: str, send: ASGISendCallable, *, bodiless: bool
) -> None:
    async def send_part(part: bytes) -> None:
        await send({"type": "http.response.body", "body": part, "more_body": True})

    try:
        header = answer.header(request_id)
        await send({"type": "http.response.start", "status": answer.status, "headers": header})
        if not bodiless:
            await answer.write(send_part)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        answer.end()


def fields_of(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, list[bytes]]:
    fields: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        fields.setdefault(name, []).append(value)
    return fields


def _length(fields: dict[bytes, list[bytes]]) -> int | None:
    """The body's length from the head, which the server has checked; None if it has none."""
    lengths = fields.get(b"content-length")
    return None if lengths is None or b"transfer-encoding" in fields else int(lengths[0])


class _ReceivedBody:
    def __init__(
        self, length: int | None, receive: ASGIReceiveCallable, nursery: trio.Nursery
    ) -> None:
        self.length = length
        self.complete = False
        self._receive = receive
        self._nursery = nursery

    async def next_part(self) -> bytes:
        part = b""
        while not part and not self.complete:
            message = await self._receive()
            if message["type"] != "http.request":
                self._nursery.cancel_scope.cancel()
                await trio.lowlevel.checkpoint()
                raise AssertionError("who has been cancelled gets no further than this")
            part = message["body"]
            if not message["more_body"]:
                self.complete = True
                self._nursery.start_soon(self._watch)
        return part

    async def _watch(self) -> None:
        """Wait, after the body, until the server reports that the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._nursery.cancel_scope.cancel()
