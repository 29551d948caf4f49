"""What passes between the engine and a carrier: one frozen value for each thing that travels."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Final, Literal
from zlib import crc32

from risala.dataclass import dataclass

WHOLE: Final = 0
"""The number of a segment that is all of a message of several segments, for a carrier that takes
whole texts."""
ReferenceBits = Literal[8, 16]
"""Width of a concatenation reference: 8 is understood everywhere, 16 repeats less often."""


class Alphabet(StrEnum):
    """How the text of a message is carried (3GPP TS 23.038); the wire's ``data_coding`` follows."""

    GSM7 = "gsm7"
    """GSM 03.38 default alphabet with its extension table: 7 bits a character."""
    UCS2 = "ucs2"
    """UTF-16 big-endian code units: 16 bits each, two for a character beyond the basic plane."""


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Which part of which message this is."""

    reference: int
    """The message's number, equal in each of its parts: 0 to 255, or 65535 when ``bits`` is 16."""
    total: int
    number: int
    """1 for the first part."""
    bits: ReferenceBits


@dataclass(frozen=True, slots=True)
class Segment:
    """One short message TPDU to submit: a whole message, or one part of a concatenated one.

    ``message_id`` with ``number`` and ``attempt`` names this submit for ever: a late answer that
    a driver brings to :meth:`DriverContext.late_outcome` is matched by it.
    """

    message_id: str
    """Ours (``sms_…``), the same in all parts of a message and in each attempt."""
    number: int
    """1 for the first part; 0: all of a message of several segments, for a carrier that takes whole
    texts (:attr:`Capabilities.takes_whole`)."""
    total: int
    """How many parts the message is cut into; 1 for a short one and for a whole text."""
    attempt: int
    """1 for the message's first attempt."""
    sender: str
    """Whom the phone is to show: up to eleven letters and digits, or a number."""
    recipient: str
    """``+`` and digits (E.164)."""
    alphabet: Alphabet
    """What the text was cut for: each part fits one message in it. Of a whole text: what its
    segments were counted in."""
    text: str = field(repr=False)
    """The part's own text, without header; the whole text where ``number`` is 0."""
    reference: int
    """0 to 65535, the same in every part of one message (3GPP TS 23.040 §9.2.3.24)."""
    expires_at_ms: int
    """UTC epoch milliseconds after which the carrier need not try any more."""
    urgent: bool = False
    """True for one-time codes."""
    reference_bits: ReferenceBits = 8
    """The widest reference that every part of the message has room for; 8 bits always fit."""
    within: Concatenation | None = None
    """The part that the whole message is of a longer one, which its customer cut by themselves and
    sends part by part; None: it is no such part."""
    half_before: str = field(default="", repr=False)
    """The second half of the character that such a part (``within``) begins with, where its cut
    falls inside one: a low surrogate (UCS-2)."""
    half_behind: str = field(default="", repr=False)
    """The first half of the character that it ends with: a high surrogate, or ESC (GSM 7-bit)."""
    message_class: int | None = None
    """0: a flash message, which the phone shows at once and does not keep (3GPP TS 23.038 §4);
    None: an ordinary one. Others than None reach only a driver with :attr:`Capabilities.flash`.
    Since contract 1.1."""

    @property
    def units(self) -> str:
        """What the user data is made of: the text, with the halves of characters that the part
        begins and ends with. Another than :attr:`text` only where a customer cut a character."""
        return self.half_before + self.text + self.half_behind

    @property
    def place(self) -> Concatenation | None:
        """What the header says by which the phone joins parts; None: it has no header."""
        if self.within is not None:
            return self.within
        if self.total == 1:
            return None
        return Concatenation(self.reference, self.total, self.number, self.reference_bits)

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


def octet_reference(reference: int) -> int:
    """1 to 255, for carriers that keep only the low octet of a submit's reference.

    Never 0, which many carriers write where they mean none.
    """
    return reference & 0xFF or 0xFF


def names_submit(receipt_reference: int, reference: int) -> bool:
    """Whether the reference of a receipt may be that of a submit, whole or as one octet."""
    return receipt_reference in (reference, octet_reference(reference))


@dataclass(frozen=True, slots=True)
class Inbound:
    """A mobile-originated message, whole (the driver joins its parts)."""

    sender: str
    """The author: a number with its ``+``, or a name."""
    recipient: str | None
    """The number of ours that it was sent to; None where the carrier does not tell."""
    text: str = field(repr=False)
    """All of it."""
    received_at_ms: int
    """UTC epoch milliseconds: when the carrier got it, where it tells that; else when we did."""
    carrier_ids: tuple[str, ...] = ()
    """The carrier's identities of the parts, so that one delivered twice is stored once."""
    service_centre: str | None = None
    """The service centre that it came by, as ``+…``, where the driver knows it: the network tells
    that, and no sender."""
    sent_at_ms: int | None = None
    """UTC epoch milliseconds: the text's own time, which the network wrote on it; None where the
    carrier tells none. It may be days before ``received_at_ms``."""
    label: str | None = None
    """How the carrier labelled the text and how it was read, where these differ: as
    ``labelled ucs2, read as gsm7``; others are not kept. None: it was read as labelled."""

    @property
    def believed_sent_ms(self) -> int | None:
        """``sent_at_ms``; None if no network could have meant it: before 2000, or later than a day
        after the text came (networks write local times without their zone)."""
        sent_ms = self.sent_at_ms
        if sent_ms is None or not _FIRST_MS <= sent_ms <= self.received_at_ms + SENT_AHEAD_MS:
            return None
        return sent_ms


SENT_AHEAD_MS: Final = 86_400_000
_FIRST_MS: Final = 946_684_800_000
"""The beginning of 2000: clocks that were never set tell earlier times."""
