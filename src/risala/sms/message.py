"""What passes between the engine and a carrier: one frozen value for each thing that travels."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal
from zlib import crc32

ReferenceBits = Literal[8, 16]
"""Width of a concatenation reference: 8 is understood everywhere, 16 repeats less often."""


class Alphabet(StrEnum):
    """How the text of a message is carried (3GPP TS 23.038); the wire's ``data_coding`` follows."""

    GSM7 = "gsm7"
    """GSM 03.38 default alphabet with its extension table: 7 bits a character."""
    UCS2 = "ucs2"
    """UTF-16 big-endian code units: 16 bits each, two for a character beyond the basic plane."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One short message TPDU to submit: a whole message, or one part of a concatenated one.

    ``message_id`` with ``number`` and ``attempt`` names this submit for ever: a late answer that
    a driver brings to :meth:`DriverContext.late_outcome` is matched by it.
    """

    message_id: str
    number: int
    """1 for the first part."""
    total: int
    attempt: int
    """1 for the message's first attempt."""
    sender: str
    recipient: str
    """``+222XXXXXXXX``."""
    alphabet: Alphabet
    text: str = field(repr=False)
    """This part's own text, without header."""
    reference: int
    """0 to 65535, the same in every part of one message (3GPP TS 23.040 §9.2.3.24)."""
    expires_at_ms: int
    """UTC epoch milliseconds after which the carrier need not try any more."""
    urgent: bool = False
    """True for one-time codes."""
    reference_bits: ReferenceBits = 8
    """The widest reference that every part of the message has room for; 8 bits always fit."""

    @property
    def submit_reference(self) -> int:
        """A number to give the carrier with this submit: see :func:`submit_reference`."""
        return submit_reference(self.message_id, self.number, self.attempt)


def submit_reference(message_id: str, number: int, attempt: int) -> int:
    """1 to 65535, by which a receipt may name a submit whose answer never came.

    It follows from its arguments alone, so that after a restart it is computed anew. Different
    submits may share one: it tells submits apart only among the uncertain ones to one recipient.
    """
    return crc32(f"{message_id}/{number}/{attempt}".encode()) % 0xFFFF + 1


@dataclass(frozen=True, slots=True)
class Inbound:
    """A mobile-originated message, whole (the driver joins its parts)."""

    sender: str
    recipient: str | None
    text: str = field(repr=False)
    received_at_ms: int
    carrier_ids: tuple[str, ...] = ()
    """The carrier's identities of the parts, so that one delivered twice is stored once."""
    service_centre: str | None = None
    """The service centre that it came by, as ``+…``, where the driver knows it: the network tells
    that, and no sender."""
