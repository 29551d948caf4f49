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
)
from risala.drivers.modem.inbound.parts import ModemParts, notes_of
from risala.drivers.modem.tpdu.pdu import Deliver, TpAddress, UserData, to_hex
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
