"""What the simulator answers about messages: query, cancel, replace, many destinations, faults."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio
from trio.testing import memory_stream_pair

from risala.drivers.smpp.protocol.codec import PduReader, encode
from risala.drivers.smpp.protocol.destinations import Destination, DistributionList, Unsuccessful
from risala.drivers.smpp.protocol.pdu import (
    BindTransceiver,
    BindTransceiverResp,
    CancelSm,
    CancelSmResp,
    DataSm,
    DeliverSm,
    DeliverSmResp,
    Pdu,
    QuerySm,
    QuerySmResp,
    ReplaceSm,
    ReplaceSmResp,
    SubmitMulti,
    SubmitMultiResp,
    SubmitSm,
    SubmitSmResp,
)
from risala.drivers.smpp.protocol.receipt import parse_receipt
from risala.drivers.smpp.protocol.times import absolute_time, parse_time, relative_time
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.lab.smsc.behaviour import Reaction, SteadyBehaviour
from risala.lab.smsc.simulator import (
    Changed,
    MessageReceived,
    SimulatorConfig,
    SimulatorEvent,
    SmscSimulator,
)
from risala.sms.receipt import ReceiptState

_NOW_MS = 1_800_000_000_000
_ENDS = {
    "source_addr_ton": 5,
    "source_addr": "RISALA",
    "dest_addr_ton": 1,
    "dest_addr_npi": 1,
    "destination_addr": "22236123456",
}
_FROM = {"source_addr_ton": 5, "source_addr": "RISALA"}
_SUBMIT = SubmitSm(**_ENDS, registered_delivery=1, short_message=b"Bonjour")


class Bench:
    """A simulator on a clock that jumps, and one bound client."""

    def __init__(self, config: SimulatorConfig, behaviour: SteadyBehaviour | None) -> None:
        self.events: list[SimulatorEvent] = []
        self.receipts: list[tuple[str, str]] = []
        """Recipient and state, in order."""
        self.began_s = trio.current_time()
        self.simulator = SmscSimulator(
            config, behaviour=behaviour, on_event=self.events.append, now_ms=self.now_ms
        )
        self.ours, self.theirs = memory_stream_pair()
        self._sequence = 0
        self._put, self._take = trio.open_memory_channel[Pdu](100)

    def now_ms(self) -> int:
        return _NOW_MS + round((trio.current_time() - self.began_s) * 1000)

    async def read(self) -> None:
        reader = PduReader()
        async for octets in self.ours:
            for pdu in reader.feed(bytes(octets)):
                if isinstance(pdu, DeliverSm):
                    receipt = parse_receipt(pdu)
                    self.receipts.append((receipt.recipient, receipt.state.value))
                    await self.ours.send_all(encode(DeliverSmResp(), pdu.sequence_number))
                else:
                    await self._put.send(pdu)

    async def ask(self, request: Pdu) -> Pdu:
        self._sequence += 1
        await self.ours.send_all(encode(request, self._sequence))
        return await self._take.receive()

    def texts(self) -> list[str]:
        """What phones have."""
        return [one.message.text for one in self.events if isinstance(one, MessageReceived)]


@asynccontextmanager
async def bench(behaviour: SteadyBehaviour | None = None, **config) -> AsyncIterator[Bench]:
    usual = {"receipt_after_s": 1.0, "enquire_link_s": 1000.0}
    it = Bench(SimulatorConfig(**{**usual, **config}), behaviour)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(it.simulator.timetable.run)
        nursery.start_soon(it.simulator.serve_stream, it.theirs)
        nursery.start_soon(it.read)
        assert isinstance(await it.ask(BindTransceiver("esme")), BindTransceiverResp)
        yield it
        nursery.cancel_scope.cancel()


# -- query_sm ----------------------------------------------------------------------------------


async def test_a_query_tells_the_state_and_when_it_came_to_it(autojump_clock):
    async with bench() as it:
        message_id = (await it.ask(_SUBMIT)).message_id
        query = QuerySm(message_id=message_id, **_FROM)
        assert await it.ask(query) == QuerySmResp(
            message_id=message_id, message_state=1, sequence_number=3
        )
        await trio.sleep(2)
        done = await it.ask(query)
        assert (done.message_state, done.final_date) == (2, absolute_time(_NOW_MS + 1000))


async def test_a_query_is_for_who_sent_it_alone(autojump_clock):
    async with bench() as it:
        message_id = (await it.ask(_SUBMIT)).message_id
        for wrong in ({}, {**_FROM, "source_addr": "OTHER"}, {**_FROM, "source_addr_ton": 1}):
            answer = await it.ask(QuerySm(message_id=message_id, **wrong))
            assert (answer.command_status, answer.message_state) == (0x0C, 0)
        assert (await it.ask(QuerySm(message_id="no", **_FROM))).command_status == 0x0C


async def test_a_message_without_receipts_has_a_state_all_the_same(autojump_clock):
    async with bench() as it:
        silent = replace(_SUBMIT, registered_delivery=0)
        message_id = (await it.ask(silent)).message_id
        await trio.sleep(2)
        answer = await it.ask(QuerySm(message_id=message_id, **_FROM))
        assert answer.message_state == 2
        assert it.receipts == []


async def test_only_so_many_states_are_kept(autojump_clock):
    async with bench(messages_max=2) as it:
        ids = [(await it.ask(_SUBMIT)).message_id for _ in "abc"]
        answers = [await it.ask(QuerySm(message_id=one, **_FROM)) for one in ids]
        assert [answer.command_status for answer in answers] == [0x0C, 0, 0]


@pytest.mark.parametrize(
    ("registered_delivery", "state", "comes"),
    [
        (2, "UNDELIVERABLE", True),
        (2, "DELIVERED", False),
        (3, "DELIVERED", True),
        (3, "EXPIRED", False),
    ],
)
async def test_receipts_of_one_kind_only(registered_delivery, state, comes, autojump_clock):
    async with bench(receipt_state=ReceiptState(state)) as it:
        await it.ask(replace(_SUBMIT, registered_delivery=registered_delivery))
        await trio.sleep(2)
        assert bool(it.receipts) is comes


# -- cancel_sm, replace_sm, scheduled and expiring messages --------------------------------------


async def test_what_waits_can_be_cancelled_once(autojump_clock):
    async with bench(hold_s=60) as it:
        message_id = (await it.ask(_SUBMIT)).message_id
        cancel = CancelSm(message_id=message_id, **_FROM)
        assert (await it.ask(replace(cancel, source_addr="OTHER"))).command_status == 0x0C
        answer = await it.ask(cancel)
        assert (type(answer), answer.command_status) == (CancelSmResp, 0)
        assert (await it.ask(cancel)).command_status == 0x11
        await trio.sleep(100)
        assert it.texts() == []
        assert it.receipts == [("+22236123456", "DELETED")]
        assert Changed("esme", message_id, "canceled", "Bonjour") in it.events
        answer = await it.ask(QuerySm(message_id=message_id, **_FROM))
        assert answer.message_state == 4


async def test_all_that_waits_between_two_can_be_cancelled(autojump_clock):
    async with bench(hold_s=60) as it:
        other = replace(_SUBMIT, destination_addr="22246123456")
        for submit in (_SUBMIT, other, _SUBMIT):
            await it.ask(submit)
        assert (await it.ask(CancelSm(**_ENDS))).command_status == 0
        assert (await it.ask(CancelSm(**_ENDS))).command_status == 0x11
        await trio.sleep(100)
        assert len(it.texts()) == 1
        assert it.receipts[-1] == ("+22246123456", "DELIVERED")


async def test_what_a_phone_has_is_neither_cancelled_nor_replaced(autojump_clock):
    async with bench() as it:
        message_id = (await it.ask(_SUBMIT)).message_id
        assert (await it.ask(CancelSm(message_id=message_id, **_FROM))).command_status == 0x11
        changed = ReplaceSm(message_id=message_id, **_FROM, short_message=b"x")
        assert (await it.ask(changed)).command_status == 0x13
        assert it.texts() == ["Bonjour"]


async def test_what_waits_can_be_replaced(autojump_clock):
    async with bench(hold_s=60) as it:
        message_id = (await it.ask(_SUBMIT)).message_id
        await trio.sleep(30)
        change = ReplaceSm(
            message_id=message_id, **_FROM, registered_delivery=1, short_message=b"Salut"
        )
        assert (await it.ask(replace(change, message_id="no"))).command_status == 0x0C
        assert (await it.ask(replace(change, validity_period="soon"))).command_status == 0x62
        answer = await it.ask(change)
        assert (type(answer), answer.command_status) == (ReplaceSmResp, 0)
        await trio.sleep(100)
        assert it.texts() == ["Salut"]
        assert it.receipts == [("+22236123456", "DELIVERED")]


async def test_a_data_sm_is_not_replaced(autojump_clock):
    async with bench(hold_s=60) as it:
        data = DataSm(**_ENDS, tlvs=(Tlv(0x0424, b"Bonjour"),))
        message_id = (await it.ask(data)).message_id
        change = ReplaceSm(message_id=message_id, **_FROM, short_message=b"Salut")
        assert (await it.ask(change)).command_status == 0x13


async def test_replace_if_present_takes_the_place_of_what_waits(autojump_clock):
    async with bench(hold_s=60) as it:
        await it.ask(_SUBMIT)
        await it.ask(replace(_SUBMIT, service_type="WAP"))
        await it.ask(replace(_SUBMIT, replace_if_present_flag=1, short_message=b"Salut"))
        await trio.sleep(100)
        assert it.texts() == ["Bonjour", "Salut"]
        assert sorted(state for _, state in it.receipts) == ["DELETED", "DELIVERED", "DELIVERED"]


@pytest.mark.parametrize("write", [absolute_time, lambda ms: relative_time(ms - _NOW_MS)])
async def test_a_scheduled_message_waits_for_its_time(write, autojump_clock):
    async with bench() as it:
        await it.ask(replace(_SUBMIT, schedule_delivery_time=write(_NOW_MS + 60_000)))
        await trio.sleep(59)
        assert it.texts() == []
        await trio.sleep(3)
        assert it.texts() == ["Bonjour"]
        assert it.receipts == [("+22236123456", "DELIVERED")]


async def test_what_waits_longer_than_it_is_valid_expires(autojump_clock):
    async with bench(hold_s=60) as it:
        await it.ask(replace(_SUBMIT, validity_period=relative_time(20_000)))
        await trio.sleep(100)
        assert it.texts() == []
        assert it.receipts == [("+22236123456", "EXPIRED")]
        assert it.simulator.receipts_waiting == 0


# -- submit_multi ------------------------------------------------------------------------------


class BarredNumber(SteadyBehaviour):
    def on_submit(self, system_id, request, now_s):
        if request.destination_addr.endswith("0"):
            return Reaction(0x0B if self.barred is None else self.barred.pop())
        return super().on_submit(system_id, request, now_s)

    barred = None


def _multi(*to: str | DistributionList) -> SubmitMulti:
    dests = tuple(Destination(1, 1, one) if isinstance(one, str) else one for one in to)
    return SubmitMulti(
        **_FROM, dest_addresses=dests, registered_delivery=1, short_message=b"Bonjour"
    )


async def test_submit_multi_is_a_message_to_each(autojump_clock):
    async with bench(BarredNumber(receipt_after_s=1)) as it:
        answer = await it.ask(_multi("22236000001", "22236000000", "22236000002"))
        assert isinstance(answer, SubmitMultiResp)
        assert answer.command_status == 0
        assert answer.unsuccess_sme == (Unsuccessful(1, 1, "22236000000", 0x0B),)
        assert it.texts() == ["Bonjour"] * 2
        waiting = await it.ask(QuerySm(message_id=answer.message_id, **_FROM))
        assert waiting.message_state == 1
        await trio.sleep(2)
        assert it.receipts == [("+22236000001", "DELIVERED"), ("+22236000002", "DELIVERED")]


async def test_submit_multi_to_a_list(autojump_clock):
    lists = {"shops": ("+22236000001", "+22236000002")}
    async with bench(distribution_lists=lists) as it:
        answer = await it.ask(_multi(DistributionList("shops"), "22236000003"))
        assert (answer.command_status, answer.unsuccess_sme) == (0, ())
        assert len(it.texts()) == 3
        assert (await it.ask(_multi(DistributionList("friends")))).command_status == 0x34
        assert len(it.texts()) == 3


@pytest.mark.parametrize(("barred", "status"), [([0x0B, 0x0B], 0x0B), ([0x0B, 0x08], 0x45)])
async def test_submit_multi_that_reaches_nobody_is_refused(barred, status, autojump_clock):
    behaviour = BarredNumber()
    behaviour.barred = list(barred)
    async with bench(behaviour) as it:
        answer = await it.ask(_multi("22236000000", "22236000010"))
        assert (answer.command_status, len(answer.unsuccess_sme)) == (status, 2)


async def test_submit_multi_to_nobody(autojump_clock):
    async with bench() as it:
        assert (await it.ask(_multi())).command_status == 0x33


# -- faults ------------------------------------------------------------------------------------

_LATER = absolute_time(_NOW_MS + 60_000)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"destination_addr": ""}, 0x0B),
        ({"destination_addr": "2" * 21}, 0x0B),
        ({"destination_addr": "22236-12"}, 0x0B),
        ({"source_addr": "x" * 12}, 0x0A),
        ({"source_addr": "2" * 21, "source_addr_ton": 1}, 0x0A),
        ({"service_type": "TOOLONG"}, 0x15),
        ({"priority_flag": 4}, 0x06),
        ({"registered_delivery": 0x20}, 0x07),
        ({"replace_if_present_flag": 2}, 0x54),
        ({"schedule_delivery_time": "tomorrow"}, 0x61),
        ({"validity_period": "000000000000000R"}, 0x62),
        ({"validity_period": _LATER[:-3] + "49+"}, 0x62),
        ({"validity_period": absolute_time(_NOW_MS - 1000)}, 0x62),
        ({"short_message": b"x" * 161}, 0x01),
        ({"short_message": b"\0x" * 71, "data_coding": 8}, 0x01),
        ({"short_message": b"\x05\0\3\1\2\1" + b"x" * 154, "esm_class": 0x40}, 0x01),
        ({"short_message": b"\xffx", "esm_class": 0x40}, 0x43),
        ({"tlvs": (Tlv(0x0424, b"x"),)}, 0xC1),
        ({"tlvs": (Tlv(0x0204, b"x"),)}, 0xC2),
        ({"tlvs": (Tlv(0x020C, b"\0\1"),)}, 0xC3),
        ({"trailing": b"\0\1\0"}, 0xC0),
    ],
)
async def test_a_faulty_submit_is_refused_by_its_fault(changes, status, autojump_clock):
    async with bench() as it:
        answer = await it.ask(replace(_SUBMIT, **changes))
        assert isinstance(answer, SubmitSmResp)
        assert (answer.command_status, answer.message_id) == (status, "")
        assert it.texts() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"short_message": b"x" * 160},
        {"short_message": b"\x05\0\3\1\2\1" + b"x" * 153, "esm_class": 0x40},
        {"short_message": b"", "tlvs": (Tlv(0x0424, b"x" * 1000),)},
        {"validity_period": _LATER, "schedule_delivery_time": "000000000001000R"},
        {"tlvs": (Tlv(0x1400, b"anything"),)},
    ],
)
async def test_what_just_fits_is_taken(changes, autojump_clock):
    async with bench() as it:
        assert (await it.ask(replace(_SUBMIT, **changes))).command_status == 0


async def test_a_data_sm_without_a_payload_is_refused(autojump_clock):
    async with bench() as it:
        assert (await it.ask(DataSm(**_ENDS))).command_status == 0xC3


@pytest.mark.parametrize(
    ("text", "moment_ms"),
    [
        ("270115080000000+", _NOW_MS),
        ("270115080000504+", _NOW_MS + 500 - 3_600_000),
        ("270115080000008-", _NOW_MS + 2 * 3_600_000),
        ("991231235959000+", 4_102_444_799_000),
        ("010203040506000R", _NOW_MS + (((365 + 60 + 3) * 24 + 4) * 60 + 5) * 60_000 + 6000),
    ],
)
def test_times_are_read(text, moment_ms):
    assert parse_time(text, _NOW_MS) == moment_ms


@pytest.mark.parametrize("text", ["", "270115080000000", "271315080000000+", "27011508000000++"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_time(text, _NOW_MS)
