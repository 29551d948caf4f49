"""The answers of an SMSC that misbehaves."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from risala.drivers.smpp.link import Link, NotSentError
from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.pdu import GenericNack, Pdu, Unbind
from risala.drivers.smpp.protocol.session import SEQUENCE_MAX
from risala.lab.smsc.behaviour import Mishap
from risala.lab.smsc.wire import Wire

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
