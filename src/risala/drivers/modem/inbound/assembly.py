"""Long messages from their received TPDUs, each identified by a digest of its PDU. Pure.

:mod:`risala.sms.assembly` joins the parts; this module adds the data of modems.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.drivers.modem.tpdu.coding import CharacterSet
from risala.drivers.modem.tpdu.pdu import Deliver, TpAddress
from risala.plugins.contract import Inbound
from risala.sms import assembly
from risala.sms.assembly import MISSING
from risala.sms.evident import (
    MMS_PORT,
    InboundCoding,
    TextForm,
    TextLabel,
    judge_octets,
    mms_notice,
)
from risala.sms.likely import reads_as_text
from risala.sms.message import Concatenation
from risala.sms.segment import join

ASSEMBLIES_MAX: Final = 256
PARTS_MAX: Final = 2000
"""Parts of all incomplete messages together; each is a note, of which a carrier has 10,000."""


@dataclass(frozen=True, slots=True)
class ReceivedPdu:
    """A received message as it came."""

    deliver: Deliver
    digest: str
    """Identifies this PDU, so that the engine stores a repeated one once."""
    service_centre: str | None = None
    """The message's service centre; None: not reported by the modem."""
    label: str | None = None
    """How its text was labelled, if that was not believed."""


@dataclass(frozen=True, slots=True)
class JoinedMessage:
    message: Inbound
    digests: tuple[str, ...] = ()
    """The digests of all its parts, including repeated ones."""
    missing: int = 0
    """Parts that never came."""
    why: str = ""
    """Why the message is handed over although parts are missing; empty if complete."""


def digest_of(pdu: str) -> str:
    return hashlib.sha256(pdu.upper().encode()).hexdigest()[:20]


def readable_of(centre: TpAddress | None) -> str | None:
    """A service centre as people write it."""
    return None if centre is None else centre.readable or None


def place_of(deliver: Deliver) -> Concatenation | None:
    """The part number of a TPDU; None for a whole message."""
    place = deliver.user_data.concatenation
    return None if place is None or place.total == 1 else place


class TpduAssembler:
    """Joins messages of several parts. A message that is done waits in :attr:`outgoing` until the
    engine has stored it.

    Args:
        coding: how texts are read.
    """

    def __init__(self, coding: InboundCoding = InboundCoding.AUTO) -> None:
        self._coding = coding
        # The inner assembler need not recognise parts that are repeated after their message was
        # complete: the notes of their digests do (ModemParts.knows).
        self._assembler = assembly.Assembler(finished_max=0)
        self._spare: dict[assembly.Key, list[str]] = {}
        """Digests of parts that came twice as different PDUs, by their message."""
        self.outgoing: deque[JoinedMessage] = deque()
        self._parts = 0

    def add(self, part: ReceivedPdu, now_ms: int) -> None:
        """Take a part of a long message; if that completes a message, it is then in
        :attr:`outgoing`.

        Raises:
            ValueError: it is no part, but a whole message.
        """
        place = place_of(part.deliver)
        if place is None:
            raise ValueError("this is no part")
        sender, text = part.deliver.originator.text, _as_it_came(part.deliver)
        key: assembly.Key = (place.reference, place.bits, place.total, sender)
        displaced = self._assembler.displaced(key, place.number, text)
        if displaced is not None:
            # Some phones use the same reference for every message: another one has begun.
            self._finish(displaced, now_ms, "another message began")
        there = self._assembler.held(key, place.number)
        if there is None:
            self._parts += 1
        elif there.token.digest != part.digest:
            self._spare.setdefault(key, []).append(there.token.digest)
        whole = self._assembler.add(text, place, sender, token=part, now_s=now_ms / 1000)
        if whole is not None:
            self._finish(whole, now_ms)

    def end_overdue(self, before_ms: int, now_ms: int) -> None:
        """Move incomplete messages that began before ``before_ms`` to :attr:`outgoing` as they
        are."""
        for whole in self._assembler.take_begun(before_ms / 1000):
            self._finish(whole, now_ms, "they did not come")

    def end_crowd(self, now_ms: int) -> None:
        """Move incomplete messages to :attr:`outgoing`, oldest first, until at most
        :data:`ASSEMBLIES_MAX` messages and :data:`PARTS_MAX` parts wait."""
        while len(self._assembler) > ASSEMBLIES_MAX or self._parts > PARTS_MAX:
            whole = self._assembler.take_first_begun()
            self._finish(whole, now_ms, "too many messages wait for parts")

    def _finish(self, whole: assembly.Whole, now_ms: int, why: str = "") -> None:
        self._parts -= len(whole.parts)
        spare = self._spare.pop(whole.key, [])
        self.outgoing.append(_handed_over(whole, spare, now_ms, why, self._coding))


class Evident(NamedTuple):
    """A message with its text as it evidently is."""

    deliver: Deliver
    note: str = ""
    """What was declared and what was believed, if these differ."""
    label: str | None = None
    """The difference in a word, for the message's page; None: no difference."""


def message_of(parts: Iterable[ReceivedPdu], texts: Iterable[str], now_ms: int) -> Inbound:
    """The inbound message that these parts make."""
    ordered = list(parts)
    centres = {part.service_centre for part in ordered}
    return Inbound(
        sender=ordered[0].deliver.originator.readable,
        recipient=None,
        text=join(list(texts)),
        received_at_ms=now_ms,
        carrier_ids=tuple(part.digest for part in ordered),
        # Parts that came by several service centres get none.
        service_centre=centres.pop() if len(centres) == 1 else None,
        sent_at_ms=_sent_ms(ordered),
        label=next((part.label for part in ordered if part.label is not None), None),
    )


def _sent_ms(parts: Iterable[ReceivedPdu]) -> int | None:
    """The own time of the first part that has one: parts of one text were written together."""
    times = [part.deliver.sent_at for part in parts if part.deliver.sent_at is not None]
    return round(min(times).timestamp() * 1000) if times else None


def _handed_over(
    whole: assembly.Whole, spare: Iterable[str], now_ms: int, why: str, coding: InboundCoding
) -> JoinedMessage:
    came: list[ReceivedPdu] = [one.token for one in whole.parts]
    texts = {one.number: one.text for one in whole.parts}
    # Not the joined text of ``whole``, which has one mark for a run of missing parts: here each
    # missing part has its own, so that a reader sees how many are missing.
    every = [texts.get(number, MISSING) for number in range(1, whole.segments + 1)]
    if (all_octets := _joined(came)) is not None:
        if whole.is_complete:
            evident = as_evident(all_octets, coding)
            every = [text_of(evident.deliver)]
            came[0] = replace(came[0], label=evident.label)
        elif 1 in texts and (notice := _notice_of(all_octets)) is not None:
            every = [notice]
    digests = (*(part.digest for part in came), *spare)
    return JoinedMessage(message_of(came, every, now_ms), digests, whole.segments - len(came), why)


def as_evident(deliver: Deliver, coding: InboundCoding) -> Evident:
    """The message with its text as it evidently is."""
    data = deliver.user_data
    declared = _FORMS[data.coding.characters]
    octets = data.data if declared is TextForm.LATIN1 else data.octets
    if data.coding.compressed or not octets:
        return Evident(deliver)
    more = {TextForm.PACKED: data.text} if declared is TextForm.PACKED else None
    is_part = place_of(deliver) is not None
    reading = judge_octets(octets, declared, coding=coding, is_part=is_part, more=more)
    is_text = declared is not TextForm.LATIN1 or reads_as_text(reading.text)
    if not is_text or (declared is TextForm.LATIN1 and reading.is_as_declared):
        return Evident(deliver)
    as_read = replace(deliver, user_data=replace(data, text=reading.text))
    if reading.is_as_declared:
        return Evident(as_read)
    note = f"declared TP-DCS {data.dcs:#04x}, read as {reading.believed}"
    label = TextLabel(declared, reading.believed, coding is not InboundCoding.AUTO)
    return Evident(as_read, note, str(label))


_FORMS: Final = {
    CharacterSet.GSM7: TextForm.PACKED,
    CharacterSet.UCS2: TextForm.UCS2,
    CharacterSet.EIGHT_BIT: TextForm.LATIN1,
}


def _joined(parts: Sequence[ReceivedPdu]) -> Deliver | None:
    """Parts that carry octets, as one message: no part tells alone what they are. None if one
    carries text."""
    delivers = [part.deliver for part in parts]
    if not all(each.user_data.is_octets for each in delivers):
        return None
    first, octets = delivers[0], b"".join(each.user_data.data for each in delivers)
    return replace(first, user_data=replace(first.user_data, text="", data=octets))


def _notice_of(deliver: Deliver) -> str | None:
    """The sentence in place of the notice of an MMS; None if it is none."""
    data = deliver.user_data
    is_push = data.is_octets and data.port == MMS_PORT
    return mms_notice(data.data, deliver.originator.readable) if is_push else None


def text_of(deliver: Deliver) -> str:
    """The text of a received message: a sentence for the notice of an MMS, and hexadecimal for
    other octets that are no text."""
    notice = _notice_of(deliver)
    return _as_it_came(deliver) if notice is None else notice


def _as_it_came(deliver: Deliver) -> str:
    """The text of one part: no two parts that differ have the same."""
    data = deliver.user_data
    if data.text or not data.is_octets:
        return data.text
    text = data.data.decode("latin-1")
    return text if text.isprintable() else data.data.hex()
