"""The answers of an SMSC that misbehaves."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import trio

from risala.drivers.smpp.link import Link, NotSentError
from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.pdu import GenericNack, Pdu, Unbind
from risala.drivers.smpp.protocol.session import SEQUENCE_MAX
from risala.lab.smsc.behaviour import Mishap

_FAR: Final = 0x40000000
"""Added to a sequence number: far from any number in use, so that the answer answers nothing."""
_GARBAGE: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
"""Octets that are no PDU: the answer of an HTTP proxy in the wrong place."""


def give(link: Link, wire: Wire, request: Pdu, response: Pdu, mishap: Mishap | None) -> None:
    """Answer a submit, or do the mishap instead."""
    if link.reason is not None:
        return
    sequence_number = request.sequence_number
    match mishap:
        case None:
            link.respond(request, response)
        case Mishap.NEVER:
            pass
        case Mishap.TWICE:
            link.respond(request, response)
            link.respond(request, response)
        case Mishap.WRONG_SEQUENCE:
            far = (sequence_number + _FAR) % SEQUENCE_MAX
            link.write_soon(encode(response, far))
        case Mishap.NACK:
            link.respond(request, GenericNack())
        case Mishap.GARBAGE:
            link.write_soon(_GARBAGE)
        case Mishap.HALF:
            octets = encode(response, sequence_number)
            link.write_soon(octets[: len(octets) // 2])
            link.end_when_written("half an answer was sent")
        case Mishap.DROP:
            link.end("dropped in place of an answer")
        case Mishap.UNBIND:
            with suppress(NotSentError):  # an unbind was sent before
                link.post(Unbind(), lambda _: link.end("unbound"))
        case Mishap.DEAF:
            wire.is_deaf = True


# The simulator's end of a connection, with the faults that networks and peers have.


class Wire(trio.abc.Stream):
    """A stream that may fall silent, and may send in small pieces.

    Args:
        piece_octets: the most octets to send at once; None sends all.
        piece_after_s: from one piece to the next.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        *,
        piece_octets: int | None = None,
        piece_after_s: float = 0.0,
    ) -> None:
        self._stream = stream
        self._piece_octets = piece_octets
        self._piece_after_s = piece_after_s
        self.is_deaf = False
        """Read, and send nothing from now on."""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self.is_deaf:
            await trio.lowlevel.checkpoint()
            return
        size = self._piece_octets
        if size is None:
            await self._stream.send_all(data)
            return
        for at in range(0, len(data), size):
            await self._stream.send_all(data[at : at + size])
            await trio.sleep(self._piece_after_s)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()
