"""What a carrier brings is stored before it is answered, and never holds the reader up."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from risala.drivers.smpp.copies import AGAIN_S, COPIES_MAX, CROSSING_S
from risala.drivers.smpp.inbox import SmppInbox
from risala.drivers.smpp.link import Link, LinkLimits
from risala.drivers.smpp.protocol.codec import PduReader
from risala.drivers.smpp.protocol.pdu import (
    AlertNotification,
    BindTransceiver,
    BindTransceiverResp,
    DeliverSm,
    Pdu,
)
from risala.drivers.smpp.protocol.receipt import IdForm
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession
from risala.drivers.smpp.protocol.submit import DefaultAlphabet
from risala.drivers.smpp.protocol.tlv import MS_AVAILABILITY_STATUS, Tlv
from risala.plugins.contract import Accepted
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.evident import InboundCoding
from risala.sms.receipt import Receipt, ReceiptState

_RECEIPT = DeliverSm(esm_class=4, short_message=b"id:1 stat:DELIVRD", sequence_number=9)
_TEXT = DeliverSm(source_addr="36123456", short_message=b"Bonjour", sequence_number=9)


class _Nobody:
    def on_request(self, link: Link, request: Pdu) -> None: ...
    def on_late(self, link: Link, token: object, response: Pdu) -> None: ...
    def on_trouble(self, link: Link, text: str) -> None: ...


class Box:
    """An inbox at a bound link, whose answers pile up to be read."""

    def __init__(self, *, notes: dict[str, str] | None = None, **more) -> None:
        ours, self.wire = memory_stream_pair()
        session = SmppSession(SmppRole.ESME)
        session.send(BindTransceiver())
        session._response(BindTransceiverResp(sequence_number=1))
        self.link = Link(ours, session, _Nobody(), LinkLimits(10, math.inf, 10))
        self.heard: list[int] = []
        self.context = RecordingContext()
        self.context.notes.update(notes or {})
        self.inbox = SmppInbox(
            self.context,
            id_form=IdForm.SAME,
            default_alphabet=DefaultAlphabet.GSM7,
            now_ms=lambda: round(trio.current_time() * 1000),
            **{"parts_timeout_s": 60, **more},
        )

    async def hear(self) -> None:
        reader = PduReader()
        async for octets in self.wire:
            self.heard += [pdu.command_status for pdu in reader.feed(bytes(octets))]

    async def statuses(self) -> list[int]:
        """Of the answers since the last call."""
        await wait_all_tasks_blocked()
        heard, self.heard = self.heard, []
        return heard


@asynccontextmanager
async def opened(**more) -> AsyncIterator[Box]:
    box = Box(**more)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.link.run)
        nursery.start_soon(box.inbox.run)
        nursery.start_soon(box.hear)
        try:
            yield box
        finally:
            box.link.end("the test is over")  # its tasks are shielded
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("request_pdu", [_RECEIPT, _TEXT], ids=["receipt", "message"])
async def test_the_answer_waits_for_the_disk(request_pdu):
    async with opened() as box:
        box.context.gate = gate = trio.Event()
        box.inbox.deliver(box.link, request_pdu)
        assert await box.statuses() == []
        gate.set()
        assert await box.statuses() == [0]
        assert len(box.context.receipts) + len(box.context.inbounds) == 1


@pytest.mark.parametrize("request_pdu", [_RECEIPT, _TEXT], ids=["receipt", "message"])
async def test_what_was_not_stored_shall_come_again(request_pdu):
    async with opened() as box:
        box.context.refusals = 1
        box.inbox.deliver(box.link, request_pdu)
        assert await box.statuses() == [0x64]


@pytest.mark.parametrize("request_pdu", [_RECEIPT, _TEXT], ids=["receipt", "message"])
async def test_a_full_queue_answers_at_once(request_pdu):
    async with opened() as box:
        box.context.gate = gate = trio.Event()
        for _ in range(1040):
            box.inbox.deliver(box.link, request_pdu)
        refused = await box.statuses()
        assert refused == [0x64] * 40
        gate.set()
        assert len(await box.statuses()) == 1000


async def test_a_receipt_that_names_nothing_is_taken_off_the_carriers_hands():
    async with opened() as box:
        box.inbox.deliver(box.link, DeliverSm(esm_class=4, short_message=b"stat:DELIVRD"))
        assert await box.statuses() == [0]
        assert box.context.receipts == []
        assert len(box.context.traces) == 1


async def test_a_receipt_is_used_as_the_carriers_habits_want_it():
    def without_reference(receipt: Receipt) -> Receipt:
        assert receipt.reference == 7
        return replace(receipt, reference=None)

    async with opened(look_at=without_reference) as box:
        box.inbox.deliver(box.link, replace(_RECEIPT, tlvs=(Tlv(0x0204, b"\0\7"),)))
        (receipt,) = await box.context.wait_receipts(1)
        assert receipt.reference is None


async def test_an_alert_needs_no_answer_and_is_told_in_the_trace():
    alert = AlertNotification(source_addr_ton=1, source_addr="22236123456")
    async with opened() as box:
        box.inbox.deliver(box.link, alert)
        assert await box.statuses() == []
        assert box.context.traces == ["alert_notification: +22236123456 can be reached again."]
        assert box.context.reachables == ["+22236123456"]


@pytest.mark.parametrize("status", [0, 1, 2])
async def test_only_a_phone_that_can_be_reached_is_told_of_as_such(status):
    tlvs = (Tlv(MS_AVAILABILITY_STATUS, bytes([status])),)
    async with opened() as box:
        box.inbox.deliver(box.link, AlertNotification(source_addr="36123456", tlvs=tlvs))
        box.inbox.deliver(box.link, AlertNotification())  # of nobody
        await wait_all_tasks_blocked()
        assert box.context.reachables == (["36123456"] if status == 0 else [])


async def test_alerts_without_end_leave_room_for_messages():
    async with opened() as box:
        for number in range(5000):
            box.inbox.deliver(box.link, AlertNotification(source_addr=f"{number}"))
        box.inbox.deliver(box.link, _TEXT)
        assert await box.statuses() == [0]
        assert [one.text for one in box.context.inbounds] == ["Bonjour"]
        assert 0 < len(box.context.reachables) <= 101


async def test_a_late_answer_is_passed_on():
    async with opened() as box:
        one = segment()
        box.inbox.late(one, Accepted("7"))
        await wait_all_tasks_blocked()
        assert box.context.late == [(one, Accepted("7"))]


async def test_receipts_are_stored_many_at_once():
    async with opened() as box:
        box.context.gate = trio.Event()
        for _ in range(20):
            box.inbox.deliver(box.link, _RECEIPT)
        await wait_all_tasks_blocked()
        assert box.context.held == 20
        box.context.gate.set()
        await box.context.wait_receipts(20)
        assert box.context.receipts[0].state is ReceiptState.DELIVERED


WRITTEN_MS = 1_794_562_800_000


@pytest.mark.parametrize(
    ("told", "sent_ms"),
    [
        ("261113114000008+", WRITTEN_MS),
        ("261113094000000+", WRITTEN_MS),
        ("261113044000020-", WRITTEN_MS),
        ("261113151000022+", WRITTEN_MS),
        ("261113114000708+", WRITTEN_MS + 700),
        ("261113214000048+", WRITTEN_MS),
        ("261230234500000+", WRITTEN_MS + 47 * 86_400_000 + 14 * 3_600_000 + 5 * 60_000),
        # Nothing, a time from now on, days that no year has, what is no time at all.
        *(("", None), ("000000010000000R", None), ("260230114000000+", None)),
        *(("261313114000000+", None), ("2611131140", None), ("0000000000000000", None)),
        *(("26-11-13 11:40:0", None), ("261113114000099+", None)),
    ],
)
async def test_the_own_time_of_a_text_is_kept_where_the_carrier_tells_it(told, sent_ms):
    async with opened() as box:
        box.inbox.deliver(box.link, replace(_TEXT, schedule_delivery_time=told))
        for number in (1, 2):
            one = replace(part(number), schedule_delivery_time=told)
            box.inbox.deliver(box.link, one)
        await box.context.wait_until(lambda it: len(it.inbounds) == 2)
        assert [each.sent_at_ms for each in box.context.inbounds] == [sent_ms, sent_ms]


# -- messages in parts -------------------------------------------------------------------------


def part(number: int, total: int = 2, text: bytes = b"x", *, by_sar: bool = False) -> DeliverSm:
    ends = {"source_addr": "36123456", "destination_addr": "1234", "sequence_number": number}
    if by_sar:
        tags = (Tlv(0x020C, b"\1\2"), Tlv(0x020E, bytes([total])), Tlv(0x020F, bytes([number])))
        return DeliverSm(**ends, short_message=text, tlvs=tags)
    header = bytes((5, 0, 3, 9, total, number))
    return DeliverSm(**ends, esm_class=0x40, short_message=header + text)


@pytest.mark.parametrize("by_sar", [False, True], ids=["udh", "sar"])
async def test_each_part_is_answered_once_it_is_on_disk(by_sar, autojump_clock):
    async with opened() as box:
        for number, text in ((3, b"c"), (1, b"a")):
            box.context.gate = gate = trio.Event()
            box.inbox.deliver(box.link, part(number, 3, text, by_sar=by_sar))
            assert await box.statuses() == []
            gate.set()
            assert await box.statuses() == [0]
        assert len(box.context.notes) == 2
        box.inbox.deliver(box.link, part(2, 3, b"b", by_sar=by_sar))
        assert await box.statuses() == [0]
        assert [message.text for message in box.context.inbounds] == ["abc"]
        assert [key.partition("/")[0] for key in box.context.notes] == ["whole"]


@pytest.mark.parametrize(
    ("changes", "coding", "text", "label"),
    [
        ({"data_coding": 8}, "auto", b"STOP", "labelled ucs2, read as ascii"),
        ({"data_coding": 0}, "auto", "Prénom".encode(), "labelled gsm7, read as utf8"),
        ({"esm_class": 0x40}, "auto", b"Bonjour Aicha", "labelled header, read as gsm7"),
        ({}, "latin1", "é".encode("latin-1"), "labelled gsm7, read as latin1 by inbound_coding"),
        ({"data_coding": 8}, "declared", b"STOP", None),
        ({"data_coding": 8}, "auto", "Été".encode("utf-16-be"), None),
    ],
)
async def test_a_message_says_how_it_was_labelled(changes, coding, text, label):
    """If it was read as something else; its receipt says the same."""
    async with opened(coding=InboundCoding(coding)) as box:
        box.inbox.deliver(box.link, replace(_TEXT, short_message=text, **changes))
        assert await box.statuses() == [0]
        (message,) = box.context.inbounds
        assert message.label == label


async def test_a_receipt_says_how_it_was_labelled():
    async with opened() as box:
        for changes in ({}, {"data_coding": 8}, {"data_coding": 3}):
            box.inbox.deliver(box.link, replace(_RECEIPT, **changes))
            assert await box.statuses() == [0]
        told = [(each.raw, each.label) for each in box.context.receipts]
        wrong = ("DELIVRD", "labelled ucs2, read as ascii")
        assert told == [("DELIVRD", None), wrong, ("DELIVRD", None)]


async def test_parts_keep_how_they_were_labelled(autojump_clock):
    """Over a restart too: their notes have it."""
    async with opened() as box:
        box.inbox.deliver(box.link, replace(part(1, 2, b"STOP it"), data_coding=8))
        assert await box.statuses() == [0]
        notes = box.context.notes
    async with opened(notes=notes) as box:
        box.inbox.deliver(box.link, replace(part(2, 2, b" now!!"), data_coding=8))
        assert await box.statuses() == [0]
        (message,) = box.context.inbounds
        assert (message.text, message.label) == ("STOP it now!!", "labelled ucs2, read as ascii")


async def test_parts_that_come_at_one_moment_make_one_message(autojump_clock):
    async with opened() as box:
        for number, text in ((3, b"c"), (1, b"a"), (2, b"b")):
            box.inbox.deliver(box.link, part(number, 3, text))
        assert await box.statuses() == [0, 0, 0]
        assert [message.text for message in box.context.inbounds] == ["abc"]


@pytest.mark.parametrize("refused", [1, 2])
async def test_a_part_that_was_not_noted_shall_come_again(refused, autojump_clock):
    """Alone, or as the one that makes its message whole."""
    async with opened() as box:
        for number, text in ((1, b"a"), (2, b"b")):
            box.context.note_refusals = int(number == refused)
            box.inbox.deliver(box.link, part(number, 2, text))
            assert await box.statuses() == [0x64 if number == refused else 0]
        box.inbox.deliver(box.link, part(refused, 2, b"ab"[refused - 1 : refused]))
        assert await box.statuses() == [0]
        assert [message.text for message in box.context.inbounds] == ["ab"]


async def test_a_whole_that_was_not_stored_is_stored_later(autojump_clock):
    async with opened() as box:
        box.inbox.deliver(box.link, part(1, 2, b"a"))
        assert await box.statuses() == [0]
        box.context.refusals = 2
        box.inbox.deliver(box.link, part(2, 2, b"b"))
        assert await box.statuses() == [0]
        assert box.context.inbounds == []
        await trio.sleep(9)
        assert box.context.inbounds == []
        await trio.sleep(2)
        assert [message.text for message in box.context.inbounds] == ["ab"]


async def test_what_never_becomes_whole_is_stored_as_it_is(autojump_clock):
    async with opened() as box:
        box.inbox.deliver(box.link, part(2, 3, b"b"))
        assert await box.statuses() == [0]
        box.context.refusals = 1
        await trio.sleep(61)
        assert box.context.inbounds == []
        await trio.sleep(5)
        assert [message.text for message in box.context.inbounds] == ["[…]b[…]"]
        assert box.context.notes == {}
        assert any("incomplete" in line for line in box.context.traces)


async def test_a_part_that_came_again_is_joined_to_no_later_message(autojump_clock):
    """One that has the same reference by chance: phones have 256 of them."""
    async with opened(parts_timeout_s=3600) as box:
        for number, text in ((1, b"a"), (2, b"b"), (1, b"a")):
            box.inbox.deliver(box.link, part(number, 2, text))
            await wait_all_tasks_blocked()
        await trio.sleep(601)
        for number, text in ((2, b"d"), (1, b"c")):
            box.inbox.deliver(box.link, part(number, 2, text))
            await wait_all_tasks_blocked()
        assert [message.text for message in box.context.inbounds] == ["ab", "cd"]
        assert not any("incomplete" in line for line in box.context.traces)


async def test_parts_that_come_twice_make_one_message(autojump_clock):
    async with opened() as box:
        for number in (1, 1, 2, 2, 1):
            box.inbox.deliver(box.link, part(number, 2, b"ab"[number - 1 : number]))
            await wait_all_tasks_blocked()
        await trio.sleep(100)
        assert await box.statuses() == [0] * 5
        assert [message.text for message in box.context.inbounds] == ["ab"]
        assert [key.partition("/")[0] for key in box.context.notes] == ["whole"]


async def test_a_reference_that_is_used_anew_mixes_no_two_messages(autojump_clock):
    """The first one's other part never came, and it is an hour till it is given up on."""
    async with opened() as box:
        for number, text in ((1, b"first"), (1, b"se"), (2, b"cond")):
            box.inbox.deliver(box.link, part(number, 2, text))
            assert await box.statuses() == [0]
        texts = sorted(message.text for message in box.context.inbounds)
        assert texts == ["first[…]", "second"]


async def test_a_flood_of_parts_is_bounded(autojump_clock, monkeypatch):
    monkeypatch.setattr("risala.drivers.smpp.parts.NOTES_HELD_MAX", 10)
    async with opened() as box:
        for number in range(40):
            sender = replace(part(1, 2, b"x"), source_addr=f"{36000000 + number}")
            box.inbox.deliver(box.link, sender)
            assert await box.statuses() == [0]
        assert len(box.context.notes) == 10
        assert len(box.context.inbounds) == 30


async def test_only_so_many_wholes_are_remembered(autojump_clock, monkeypatch):
    monkeypatch.setattr("risala.drivers.smpp.parts.WHOLES_MAX", 3)
    async with opened() as box:
        for number in range(8):
            for which in (1, 2):
                one = replace(part(which, 2, b"x"), source_addr=f"{36000000 + number}")
                box.inbox.deliver(box.link, one)
                await wait_all_tasks_blocked()
        assert len(box.context.inbounds) == 8
        assert len(box.context.notes) <= 4
        await trio.sleep(700)
        for which in (1, 2):
            box.inbox.deliver(box.link, part(which, 2, b"y"))
            await wait_all_tasks_blocked()
        assert len(box.context.notes) == 1


async def test_odd_parts_fit_their_notes(autojump_clock):
    """Half a pair at a part's end, a text of 64 KiB, an address that goes on and on."""
    async with opened() as box:
        long_octets = "\u00e9".encode("utf-16-be") * 20_000
        halves = ("😀" * 3).encode("utf-16-be")
        odd = {"data_coding": 8, "source_addr": "x" * 5000}
        for number, octets in ((1, halves[:-2]), (2, halves[-2:] + long_octets)):
            tags = (*part(number, 2, by_sar=True).tlvs, Tlv(0x0424, octets))
            pdu = replace(part(number, 2, b"", by_sar=True), **odd, tlvs=tags)
            box.inbox.deliver(box.link, pdu)
            assert await box.statuses() == [0]
        (message,) = box.context.inbounds
        assert message.text == "😀" * 3 + "é" * 20_000
        assert message.sender == "x" * 64


@pytest.mark.parametrize("other", ["same", "other text", "other phone"])
async def test_what_comes_again_while_the_disk_is_slow_is_stored_once(autojump_clock, other):
    changed = {"other text": {"short_message": b"Salut"}, "other phone": {"source_addr": "2"}}
    again = replace(_TEXT, sequence_number=10, **changed.get(other, {}))
    async with opened() as box:
        box.context.gate = trio.Event()
        box.inbox.deliver(box.link, _TEXT)
        await trio.sleep(5)
        box.inbox.deliver(box.link, again)
        await trio.sleep(1)
        assert await box.statuses() == []
        box.context.gate.set()
        assert await box.statuses() == [0, 0]
        assert len(box.context.inbounds) == (1 if other == "same" else 2)


async def test_a_copy_of_what_is_refused_is_refused_too_and_comes_once_more(autojump_clock):
    async with opened() as box:
        box.context.gate, box.context.refusals = trio.Event(), 1
        for _ in range(20):
            box.inbox.deliver(box.link, _TEXT)
            await trio.sleep(5)
        box.context.gate.set()
        assert await box.statuses() == [0x64] * (1 + COPIES_MAX)
        box.inbox.deliver(box.link, _TEXT)
        assert await box.statuses() == [0]
        assert len(box.context.inbounds) == 1


@pytest.mark.parametrize(("slow_s", "then_s", "stored"), [(5, 1, 1), (5, 6, 2), (1, 0, 2)])
async def test_a_copy_that_crosses_a_late_answer_is_stored_once(
    autojump_clock, slow_s, then_s, stored
):
    async with opened() as box:
        box.context.gate = trio.Event()
        box.inbox.deliver(box.link, _TEXT)
        await trio.sleep(slow_s)
        box.context.gate.set()
        assert await box.statuses() == [0]
        await trio.sleep(then_s)
        box.inbox.deliver(box.link, _TEXT)
        assert await box.statuses() == [0]
        assert len(box.context.inbounds) == stored


async def test_copies_that_waited_in_the_socket_are_stored_once(autojump_clock):
    """The last one before the answer was read so late that the next ones were on their way."""
    async with opened() as box:
        box.context.gate = trio.Event()
        box.inbox.deliver(box.link, _TEXT)
        await trio.sleep(AGAIN_S)
        box.inbox.deliver(box.link, _TEXT)
        box.context.gate.set()
        assert await box.statuses() == [0, 0]
        for _ in range(3):
            await trio.sleep(1)
            box.inbox.deliver(box.link, _TEXT)
            assert await box.statuses() == [0]
        assert len(box.context.inbounds) == 1
        await trio.sleep(CROSSING_S)
        box.inbox.deliver(box.link, _TEXT)
        assert await box.statuses() == [0]
        assert len(box.context.inbounds) == 2


async def test_who_writes_the_same_twice_has_written_twice(autojump_clock):
    async with opened() as box:
        box.context.gate = trio.Event()
        box.inbox.deliver(box.link, _TEXT)
        await trio.sleep(1)
        box.inbox.deliver(box.link, _TEXT)
        box.context.gate.set()
        assert await box.statuses() == [0, 0]
        assert len(box.context.inbounds) == 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_the_notice_of_an_mms_is_told_as_such(order):
    pushed = (
        bytes.fromhex(
            "0B05040B8423F00003A702011A0603BEAF848C8298313630343634008D908918802B3232323336313233"
        ),
        bytes.fromhex("0B05040B8423F00003A702023435362F545950453D504C4D4E00")
        + b"\x83http://mms.example/x\0",
    )
    async with opened() as box:
        for index in order:
            request = replace(_TEXT, esm_class=0x40, data_coding=4, short_message=pushed[index])
            box.inbox.deliver(box.link, request)
            assert await box.statuses() == [0]
        (message,) = box.context.inbounds
        assert message.text == (
            "A picture message (MMS) came from +22236123456; it cannot be read here."
        )
        assert message.sender == "36123456"
