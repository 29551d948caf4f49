"""Forms with a file: read part by part, the file's bytes passed on as they come.

The fields of a form, and the mark that shows that a page of ours sent it, stand before its file.
The file is stored only where that mark is right; of any other form, only what stands before the
file is read. Memory holds one chunk of a file, whatever its size.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

import trio
from quart.wrappers import Request
from werkzeug.exceptions import RequestEntityTooLarge, RequestTimeout
from werkzeug.sansio.multipart import (
    Data,
    Epilogue,
    Event,
    Field,
    File,
    MultipartDecoder,
    NeedData,
)

from risala.engine.features.tables.records import FILE_BYTES_MAX
from risala.engine.model.errors import Refusal
from risala.http.common.problems import Problem
from risala.http.web.forms import FIELDS_MAX, SentFile, SentForm, line_ends

MULTIPART: Final = "multipart/form-data"
FORM_BYTES_MAX: Final = 2_000_000
"""Bytes of all fields besides the file: 100,000 pasted numbers have some 1.3 million."""
BODY_BYTES_MAX: Final = FILE_BYTES_MAX + FORM_BYTES_MAX
"""Bytes of such a request. The file's own limit is that of the store, which says so in a
sentence."""
_CHUNK_BYTES: Final = 64 * 1024
"""Bytes that are decoded at once: some 0.1 ms."""
_HEADS_BYTES_MAX: Final = 16 * 1024
"""Bytes between two chunks that belong to no part: the heads of parts, and the end of a chunk that
may be the begin of a boundary."""
UPLOAD_MAX_S: Final = 1800
"""The longest time for a file: 20 MB over a line of 11 kB a second."""
BOUNDARY_MAX: Final = 70
"""Characters of a boundary (RFC 2046, 5.1.1)."""

Store = Callable[[AsyncIterator[bytes], str], Awaitable[str]]
"""Stores a file of this name; returns its upload's id."""
IsOurs = Callable[[SentForm], bool]
"""Whether the fields that have been read show that a page of ours sent the form."""


def is_multipart(request: Request) -> bool:
    return request.mimetype == MULTIPART


async def read_multipart(
    request: Request, *, is_ours: IsOurs, store: Store, patience_s: float
) -> SentForm:
    """A form that may carry a file.

    Where it is not ours, the form has only what stands before the file, and nothing is stored.

    Args:
        patience_s: how long the next bytes may take to arrive.

    Raises:
        Problem: it is malformed, or has too many fields.
        RequestEntityTooLarge: its fields, or all of it, are too large.
        RequestTimeout: it came too slowly.
    """
    boundary = request.mimetype_params.get("boundary", "")
    if not 0 < len(boundary) <= BOUNDARY_MAX or not boundary.isascii():
        raise Problem(400, "This is no form of ours.")
    form = _MultipartForm(request, boundary.encode(), patience_s)
    with trio.move_on_after(UPLOAD_MAX_S):
        try:
            return await form.read(is_ours, store)
        except ValueError:  # the decoder's, and that of a text that is not UTF-8
            raise Problem(400, "This is no form of ours.") from None
    raise RequestTimeout


class _MultipartForm:
    """One form on its way in."""

    def __init__(self, request: Request, boundary: bytes, patience_s: float) -> None:
        self._body = aiter(request.body)
        self._patience_s = patience_s
        self._decoder = MultipartDecoder(
            boundary, _CHUNK_BYTES + _HEADS_BYTES_MAX, max_parts=FIELDS_MAX
        )
        self._pending = memoryview(b"")
        """What has come and was not decoded yet."""
        self._received = self._kept = 0
        self._fields: dict[str, list[str]] = {}

    async def read(self, is_ours: IsOurs, store: Store) -> SentForm:
        file: SentFile | None = None
        refusal: Refusal | None = None
        while not isinstance(event := await self._next(), Epilogue):
            if isinstance(event, File) and event.filename:
                if not is_ours(self._form()):
                    break
                # A form of ours has one file; the bytes of any other are dropped.
                if file is None and refusal is None:
                    async with aclosing(self._data()) as chunks:
                        try:
                            upload_id = await store(chunks, event.filename)
                            file = SentFile(upload_id, event.filename)
                        except Refusal as error:
                            refusal = error
            elif isinstance(event, Field):
                await self._read_field(event.name or "")
        return self._form(file, refusal)

    def _form(self, file: SentFile | None = None, refusal: Refusal | None = None) -> SentForm:
        fields = {name: tuple(values) for name, values in self._fields.items()}
        return SentForm(fields, file, refusal)

    async def _read_field(self, name: str) -> None:
        parts = []
        async with aclosing(self._data()) as chunks:
            async for chunk in chunks:
                self._kept += len(chunk)
                if self._kept > FORM_BYTES_MAX:
                    raise RequestEntityTooLarge
                parts.append(chunk)
        text = line_ends(b"".join(parts).decode())
        self._fields.setdefault(name, []).append(text)

    async def _data(self) -> AsyncGenerator[bytes]:
        """The bytes of the part whose head was read last."""
        more = True
        while more:
            event = await self._next()
            if not isinstance(event, Data):
                raise ValueError("a part without its end")
            more = event.more_data
            if event.data:
                yield event.data

    async def _next(self) -> Event:
        while isinstance(event := self._decoder.next_event(), NeedData):
            await self._feed()
        return event

    async def _feed(self) -> None:
        """Decode the next bytes, or the end of the body."""
        if not self._pending:
            with trio.move_on_after(self._patience_s) as patience:
                await self._receive()
            if patience.cancelled_caught:
                raise RequestTimeout
        chunk, self._pending = self._pending[:_CHUNK_BYTES], self._pending[_CHUNK_BYTES:]
        # Nothing more: a form that is not whole is a ``ValueError`` of the decoder.
        self._decoder.receive_data(bytes(chunk) or None)
        await trio.lowlevel.checkpoint()

    async def _receive(self) -> None:
        received = await anext(self._body, b"")
        self._received += len(received)
        if self._received > BODY_BYTES_MAX:
            raise RequestEntityTooLarge
        self._pending = memoryview(received)
