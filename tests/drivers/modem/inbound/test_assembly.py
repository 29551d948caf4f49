"""Joining parts: in any order, twice, without an end; on disk, so that no crash costs one."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from risala.drivers.modem.inbound.assembly import (
    ASSEMBLIES_MAX,
    PARTS_MAX,
    ReceivedPdu,
    TpduAssembler,
    digest_of,
    text_of,
)
from risala.drivers.modem.inbound.parts import ModemParts, notes_of
from risala.drivers.modem.tpdu.pdu import (
    Deliver,
    Direction,
    TpAddress,
    UserData,
    from_hex,
    to_hex,
)
from risala.plugins.contract import NOTE_TEXT_CHARACTERS_MAX, NotStoredError
from risala.plugins.testing.context import RecordingContext
from risala.sms.message import Alphabet
from risala.sms.segment import user_data_header

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
DAY_MS = 86_400_000


def deliver(text, number, total, reference=5, sender="+22236999999"):
    header = user_data_header(reference, total, number)
    data = UserData.of_text(text, Alphabet.GSM7, header=header)
    return Deliver(TpAddress.of_number(sender), data, NOW)


def part(text, number, total, reference=5, sender="+22236999999", digest=None):
    return ReceivedPdu(
        deliver(text, number, total, reference, sender), digest or f"{text}-{number}-{reference}"
    )


def texts(assembler):
    return [whole.message.text for whole in assembler.outgoing]


@settings(deadline=None)
@given(st.permutations(range(4)), st.integers(0, 2))
def test_parts_in_any_order_and_twice(order, again):
    assembler = TpduAssembler()
    for at, index in enumerate(order):
        assembler.add(part("abcd"[index], index + 1, 4, digest=str(index)), NOW_MS)
        if at == again:
            assembler.add(part("abcd"[index], index + 1, 4, digest=f"again {index}"), NOW_MS)
    (whole,) = assembler.outgoing
    assert whole.message.text == "abcd"
    repeated = order[again]
    ids = tuple(f"again {n}" if n == repeated else str(n) for n in range(4))
    assert whole.message.carrier_ids == ids
    assert sorted(whole.digests) == sorted((*ids, str(repeated)))


def test_two_senders_with_one_reference():
    assembler = TpduAssembler()
    assembler.add(part("a", 1, 2), NOW_MS)
    assembler.add(part("b", 1, 2, sender="+22236000000"), NOW_MS)
    assert texts(assembler) == []
    assembler.add(part("c", 2, 2), NOW_MS)
    assert texts(assembler) == ["ac"]


def test_one_reference_again_while_the_first_waits():
    assembler = TpduAssembler()
    for one in (part("a", 1, 2), part("b", 1, 2), part("c", 2, 2)):
        assembler.add(one, NOW_MS)
    assert texts(assembler) == ["a[…]", "bc"]


def test_what_is_overdue_goes_as_it_is():
    assembler = TpduAssembler()
    assembler.add(part("b", 2, 3), NOW_MS)
    assembler.end_overdue(NOW_MS, NOW_MS)
    assert texts(assembler) == []
    assembler.end_overdue(NOW_MS + 1, NOW_MS + 1)
    assert texts(assembler) == ["[…]b[…]"]
    assert assembler.outgoing[0].missing == 2


@pytest.mark.parametrize(("messages", "each"), [(ASSEMBLIES_MAX + 1, 1), (21, 100)])
def test_memory_is_bounded(messages, each):
    assembler = TpduAssembler()
    for reference in range(messages):
        for number in range(1, each + 1):
            sender = f"+222{reference:08}"
            assembler.add(part("x", number, 200, 5, sender), NOW_MS + reference)
    assembler.end_crowd(NOW_MS)
    assert len(assembler.outgoing) == 1
    assert assembler.outgoing[0].message.sender == "+22200000000"
    assert min(ASSEMBLIES_MAX, PARTS_MAX // each) * each == (messages - 1) * each


# -- octets ------------------------------------------------------------------------------------

MMS_PDUS = (
    "00440B912232960971F1000462118021300000200B05040B8423F00003A702011A0603BEAF848C829831363034"
    "363634008D9089",
    "00440B912232960971F1000462118021300000210B05040B8423F00003A70202687474703A2F2F6D6D732E6578"
    "616D706C652F7800",
)
"""A notice of an MMS as a network cut it; what it says of its sender cannot be read."""
MMS_TOLD = "A picture message (MMS) came from +22236990171; it cannot be read here."


def octets_part(octets, number, total, reference=5):
    data = UserData(data=octets, dcs=4, header=user_data_header(reference, total, number))
    tpdu = Deliver(TpAddress.of_number("+22236999999"), data, NOW)
    return ReceivedPdu(tpdu, digest_of(to_hex(tpdu)[0]))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_notice_of_an_mms_is_told_as_such(order):
    assembler = TpduAssembler()
    for index in order:
        _, tpdu = from_hex(MMS_PDUS[index], Direction.TO_PHONE)
        assembler.add(ReceivedPdu(tpdu, digest_of(MMS_PDUS[index])), NOW_MS)
    assert texts(assembler) == [MMS_TOLD]


def test_the_notice_of_an_mms_is_told_by_its_first_part():
    assembler = TpduAssembler()
    _, tpdu = from_hex(MMS_PDUS[0], Direction.TO_PHONE)
    assembler.add(ReceivedPdu(tpdu, "1"), NOW_MS)
    assembler.end_overdue(NOW_MS + 1, NOW_MS)
    assert texts(assembler) == [MMS_TOLD]


def test_two_notices_with_one_reference_are_two():
    assembler = TpduAssembler()
    _, first = from_hex(MMS_PDUS[0], Direction.TO_PHONE)
    _, other = from_hex(MMS_PDUS[0].replace("31363034", "31363035"), Direction.TO_PHONE)
    _, second = from_hex(MMS_PDUS[1], Direction.TO_PHONE)
    for digest, tpdu in enumerate((first, other, second)):
        assembler.add(ReceivedPdu(tpdu, str(digest)), NOW_MS)
    assert texts(assembler) == [MMS_TOLD] * 2


def test_a_notice_of_one_part_and_octets_to_the_same_port():
    header = bytes.fromhex("0605040B8423F0")
    notice, sender = bytes.fromhex("010603BEAF848C82983100"), TpAddress.of_number("1234")

    def told(octets):
        return text_of(Deliver(sender, UserData(data=octets, dcs=4, header=header), NOW))

    assert told(notice) == "A picture message (MMS) came from 1234; it cannot be read here."
    assert told(notice[:-6]) == notice[:-6].hex()


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        ("Prénom: Aïcha, à demain à 10 h".encode(), "Prénom: Aïcha, à demain à 10 h"),
        (b"\x00\x01\xff\xfe" * 4 + b"http://example.com", None),
        (b"http://example.com/" + b"\x00\x01\xff\xfe" * 4, None),
    ],
)
def test_octets_are_joined_before_they_are_read(octets, text):
    for at in range(1, len(octets)):
        assembler = TpduAssembler()
        for number, piece in enumerate((octets[:at], octets[at:]), 1):
            assembler.add(octets_part(piece, number, 2), NOW_MS)
        assert texts(assembler) == [text or octets.hex()]


# -- on disk -----------------------------------------------------------------------------------


class Desk:
    """Parts over notes, and what reads them after a crash."""

    def __init__(self) -> None:
        self.context = RecordingContext()
        self.parts = ModemParts(self.context)

    async def keep(self, tpdu, at_ms=NOW_MS):
        pdu, octets = to_hex(tpdu)
        await self.parts.keep(ReceivedPdu(tpdu, digest_of(pdu)), pdu, octets, at_ms)
        return digest_of(pdu)

    def crash(self):
        self.parts = ModemParts(self.context)


async def test_a_part_is_there_after_a_crash_and_goes_with_its_message():
    desk = Desk()
    first = await desk.keep(deliver("a" * 150, 1, 2))
    desk.crash()
    assert desk.parts.knows(first)
    await desk.keep(deliver("b" * 150, 2, 2))
    desk.crash()
    whole = desk.parts.outgoing
    assert whole.message.text == "a" * 150 + "b" * 150
    await desk.context.inbound(whole.message, forget=notes_of(whole))
    desk.parts.is_safe(whole)
    assert desk.parts.outgoing is None
    assert desk.context.recall("part/") == {}
    desk.crash()
    assert desk.parts.outgoing is None
    assert desk.parts.knows(first)


async def test_the_wait_for_parts_does_not_begin_anew():
    desk = Desk()
    await desk.keep(deliver("a", 1, 2), NOW_MS)
    desk.crash()
    desk.parts.end_waiting(NOW_MS + 1, NOW_MS + 1)
    assert desk.parts.outgoing.message.text == "a[…]"


async def test_what_is_not_written_down_is_not_kept():
    desk = Desk()
    desk.context.note_refusals = 1
    with pytest.raises(NotStoredError):
        await desk.keep(deliver("a", 1, 2))
    digest = await desk.keep(deliver("b", 2, 2))
    assert desk.parts.outgoing is None
    assert desk.parts.knows(digest)


async def test_names_of_parts_are_forgotten_after_days_and_when_there_are_many():
    desk = Desk()
    old = await desk.keep(deliver("old", 1, 2))
    young = await desk.keep(deliver("young", 1, 2, 6), NOW_MS + 9 * DAY_MS)
    assert not desk.parts.knows(old)
    for number in range(2000):
        await desk.keep(deliver(str(number), 1, 2, 7), NOW_MS + 9 * DAY_MS)
    assert not desk.parts.knows(young)
    assert len(desk.context.recall("seen/")) == 2000
    assert all(len(text) <= NOTE_TEXT_CHARACTERS_MAX for text in desk.context.notes.values())
