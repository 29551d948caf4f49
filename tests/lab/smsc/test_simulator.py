"""The simulator as a tool of its own: what it tells, what it limits, who else can talk to it."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.protocol.codec import PduReader, encode
from risala.drivers.smpp.protocol.pdu import (
    BindReceiver,
    BindTransceiver,
    BindTransceiverResp,
    BindTransmitter,
    DataSm,
    DeliverSm,
    DeliverSmResp,
    EnquireLink,
    EnquireLinkResp,
    Pdu,
    QuerySm,
    SubmitSm,
    Unbind,
    UnbindResp,
)
from risala.drivers.smpp.protocol.receipt import parse_receipt
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.lab.smsc.simulator import (
    BindRefused,
    Bound,
    Listening,
    MessageReceived,
    ReceiptSent,
    SimulatorConfig,
    SimulatorEvent,
    SmscSimulator,
    Submitted,
    Trouble,
    Unbound,
    run_simulator,
)
from risala.sms.receipt import ReceiptState

_SUBMIT = SubmitSm(
    source_addr_ton=5,
    source_addr="RISALA",
    dest_addr_ton=1,
    dest_addr_npi=1,
    destination_addr="22236123456",
    registered_delivery=1,
    short_message=b"Bonjour",
)


class Esme:
    """A bare client: PDUs out, PDUs in."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._reader = PduReader()
        self._read: list[Pdu] = []
        self._sequence = 0

    async def send(self, *requests: Pdu) -> None:
        octets = b""
        for request in requests:
            self._sequence += 1
            octets += encode(request, self._sequence)
        await self.stream.send_all(octets)

    async def read(self) -> Pdu | None:
        while not self._read:
            octets = await self.stream.receive_some()
            if not octets:
                return None
            self._read += self._reader.feed(bytes(octets))
        return self._read.pop(0)

    async def ask(self, request: Pdu) -> Pdu | None:
        await self.send(request)
        return await self.read()


class Bench:
    def __init__(self, config: SimulatorConfig) -> None:
        self.events: list[SimulatorEvent] = []
        self.simulator = SmscSimulator(config, on_event=self.events.append, now_ms=lambda: 10**12)
        self.port = 0
        self.streams = AsyncExitStack()

    async def connect(self) -> Esme:
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        return Esme(await self.streams.enter_async_context(stream))

    async def bind(self, kind: type[Pdu] = BindTransceiver, system_id: str = "esme") -> Esme:
        esme = await self.connect()
        response = await esme.ask(kind(system_id, "secret"))
        assert response is not None
        assert response.command_status == 0
        return esme

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]


@asynccontextmanager
async def bench(**config) -> AsyncIterator[Bench]:
    it = Bench(SimulatorConfig(**{"receipt_after_s": 0.01, **config}))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            it.port = await nursery.start(it.simulator.run)
            async with it.streams:
                yield it
            nursery.cancel_scope.cancel()


async def test_it_tells_what_happens():
    async with bench() as it:
        esme = await it.bind()
        response = await esme.ask(_SUBMIT)
        assert response.message_id
        receipt_pdu = await esme.read()
        assert isinstance(receipt_pdu, DeliverSm)
        receipt = parse_receipt(receipt_pdu)
        assert receipt.carrier_id == response.message_id
        await esme.stream.send_all(encode(DeliverSmResp(), receipt_pdu.sequence_number))
        assert isinstance(await esme.ask(Unbind()), UnbindResp)
        assert await esme.read() is None
        await trio.testing.wait_all_tasks_blocked()
        kinds = [Listening, Bound, Submitted, MessageReceived, ReceiptSent, Unbound]
        assert [type(event) for event in it.events] == kinds
        assert it.of(Bound) == [Bound("esme", "transceiver")]
        (submitted,) = it.of(Submitted)
        assert (submitted.text, submitted.message_id) == ("Bonjour", response.message_id)
        (received,) = it.of(MessageReceived)
        assert received.message.at_ms == 10**12
        sent = ReceiptSent("esme", response.message_id, ReceiptState.DELIVERED, 0)
        assert it.of(ReceiptSent) == [sent]
        assert it.of(Unbound) == [Unbound("esme", "unbound")]


async def test_run_simulator_is_all_that_a_command_needs():
    events: list[SimulatorEvent] = []
    async with trio.open_nursery() as nursery:
        run = partial(run_simulator, SimulatorConfig(), on_event=events.append)
        port = await nursery.start(run)
        nursery.cancel_scope.cancel()
    assert events == [Listening("127.0.0.1", port)]


async def test_a_transmitter_and_a_receiver_share_an_account():
    async with bench() as it:
        transmitter = await it.bind(BindTransmitter)
        receiver = await it.bind(BindReceiver)
        await transmitter.ask(_SUBMIT)
        assert isinstance(await receiver.read(), DeliverSm)
        refused = await receiver.ask(_SUBMIT)
        assert refused.command_status == 0x04


async def test_receipts_go_to_their_own_account_and_wait_for_it():
    async with bench(receipt_after_s=0.0) as it:
        first = await it.bind(system_id="one")
        await it.bind(system_id="two")
        transmitter = await it.bind(BindTransmitter, system_id="three")
        await transmitter.ask(_SUBMIT)
        await first.ask(_SUBMIT)
        assert isinstance(await first.read(), DeliverSm)
        assert it.simulator.receipts_waiting == 2
        late = await it.bind(BindReceiver, system_id="three")
        assert isinstance(await late.read(), DeliverSm)


async def test_no_receipt_where_none_was_asked():
    async with bench(receipt_after_s=0.0) as it:
        esme = await it.bind()
        await esme.ask(SubmitSm(destination_addr="22236123456", short_message=b"x"))
        await trio.testing.wait_all_tasks_blocked()
        assert it.simulator.receipts_waiting == 0
        assert isinstance(await esme.ask(EnquireLink()), EnquireLinkResp)


@pytest.mark.parametrize(
    ("system_id", "password", "command_status"),
    [("esme", "secret", 0), ("esme", "wrong", 0x0E), ("who", "secret", 0x0F)],
)
async def test_accounts(system_id, password, command_status):
    async with bench(accounts={"esme": "secret"}) as it:
        esme = await it.connect()
        response = await esme.ask(BindTransceiver(system_id, password))
        assert isinstance(response, BindTransceiverResp)
        assert response.command_status == command_status
        refused = it.of(BindRefused)
        assert bool(refused) == bool(command_status)
        if command_status:  # the connection stays, as the standard has it
            await esme.ask(BindTransceiver("esme", "secret"))
            assert it.of(Bound)


async def test_enquiries_before_the_bind_are_answered():
    async with bench() as it:
        esme = await it.connect()
        assert isinstance(await esme.ask(EnquireLink()), EnquireLinkResp)


async def test_data_sm_is_a_message_like_any_other():
    async with bench(receipt_after_s=600.0) as it:
        esme = await it.bind()
        data = DataSm(destination_addr="22236123456", tlvs=(Tlv(0x0424, b"Bonjour"),))
        response = await esme.ask(data)
        assert response.message_id
        assert it.of(MessageReceived)[0].message.text == "Bonjour"
        state = await esme.ask(QuerySm(message_id=response.message_id))
        assert state.message_state == 1


async def test_a_full_store_says_queue_full_and_nothing_is_taken():
    async with bench(store_max=1, receipt_after_s=60.0) as it:
        esme = await it.bind()
        assert (await esme.ask(_SUBMIT)).command_status == 0
        assert (await esme.ask(_SUBMIT)).command_status == 0x14
        assert len(it.of(MessageReceived)) == 1


async def test_too_many_delayed_answers_say_queue_full(autojump_clock):
    ours, theirs = trio.testing.memory_stream_pair()
    config = SimulatorConfig(answer_after_s=3.0, unanswered_max=1)
    simulator = SmscSimulator(config)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(simulator.timetable.run)
        nursery.start_soon(simulator.serve_stream, theirs)
        esme = Esme(ours)
        await esme.ask(BindTransceiver())
        await esme.send(_SUBMIT, _SUBMIT)
        assert [(await esme.read()).command_status for _ in "ab"] == [0x14, 0]
        assert (await esme.ask(_SUBMIT)).command_status == 0
        nursery.cancel_scope.cancel()


async def test_too_many_connections_are_turned_away():
    async with bench(connections_max=1) as it:
        await it.bind()
        assert await (await it.connect()).read() is None
        assert it.of(Trouble)


async def test_too_many_accounts_are_refused():
    async with bench(accounts_max=1) as it:
        await it.bind(system_id="one")
        esme = await it.connect()
        assert (await esme.ask(BindTransceiver("two"))).command_status == 0x0D


async def test_who_does_not_bind_is_left():
    async with bench(bind_timeout_s=0.02) as it:
        assert await (await it.connect()).read() is None


async def test_garbage_costs_its_own_connection_only():
    async with bench() as it:
        esme = await it.bind()
        vandal = await it.connect()
        await vandal.stream.send_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        nack = await vandal.read()
        assert nack.command_status == 0x02
        assert await vandal.read() is None
        assert (await esme.ask(_SUBMIT)).command_status == 0
        assert it.of(Trouble)


async def test_delayed_answers_keep_their_times(autojump_clock):
    """No socket here, so that the clock may jump."""
    ours, theirs = trio.testing.memory_stream_pair()
    simulator = SmscSimulator(SimulatorConfig(answer_after_s=3.0, receipt_after_s=4.0))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(simulator.timetable.run)
        nursery.start_soon(simulator.serve_stream, theirs)
        esme = Esme(ours)
        await esme.ask(BindTransceiver())
        began = trio.current_time()
        await esme.ask(_SUBMIT)
        assert trio.current_time() - began == pytest.approx(3.0)
        await esme.read()
        assert trio.current_time() - began == pytest.approx(7.0)
        nursery.cancel_scope.cancel()


# -- clients that we did not write -------------------------------------------------------------

_SMPPLIB = """
import sys, smpplib.client, smpplib.consts, smpplib.gsm
client = smpplib.client.Client("127.0.0.1", int(sys.argv[1]), allow_unknown_opt_params=True)
ids, receipts = [], []
client.set_message_sent_handler(lambda pdu: ids.append(pdu.message_id.decode()))
client.set_message_received_handler(lambda pdu: receipts.append(pdu.receipted_message_id.decode()))
client.connect()
client.bind_transceiver(system_id="esme", password="secret")
for text in sys.argv[2:]:
    parts, encoding, msg_type = smpplib.gsm.make_parts(text)
    for part in parts:
        client.send_message(
            source_addr_ton=5, source_addr_npi=0, source_addr="RISALA", dest_addr_ton=1,
            dest_addr_npi=1, destination_addr="22236123456", short_message=part,
            data_coding=encoding, esm_class=msg_type, registered_delivery=True,
        )
        while len(receipts) < len(ids) or not ids:
            client.read_once()
client.read_once()
while len(receipts) < len(ids):
    client.read_once()
client.unbind()
client.disconnect()
assert sorted(ids) == sorted(receipts), (ids, receipts)
print(len(ids))
"""

_SMPP34 = """
import asyncio, os, sys, smpp34
async def main():
    client = smpp34.Client(host="127.0.0.1", port=int(sys.argv[1]), system_id="esme",
                           password="secret", bind_type="TRX")
    smsc = await client.connect()
    ids, receipts = [], []
    for text in sys.argv[2:]:
        response = await smsc.submit_sm(destination_addr="22236123456", source_addr="RISALA",
            short_message=text.encode("utf-16-be"), data_coding=8, registered_delivery=1)
        assert response.is_success
        ids.append(response.message_id)
        receipts.append((await smsc.next()).short_message.decode())
    assert all(r.startswith("id:" + i) and "stat:DELIVRD" in r for i, r in zip(ids, receipts))
    await smsc.unbind()
    await client.stop()
    print(len(ids), flush=True)
asyncio.run(main())
os._exit(0)
"""
# It leaves at once: the library's threads (Tokio) may still run while the interpreter ends, which
# then aborts now and then.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "texts", "submits"),
    [
        (_SMPPLIB, ["Bonjour", "é" * 200, "سلام " * 30], 6),
        (_SMPP34, ["Bonjour", "سلام"], 2),
    ],
    ids=["smpplib", "smpp34"],
)
async def test_a_client_that_we_did_not_write(program, texts, submits):
    async with bench(accounts={"esme": "secret"}) as it:
        command = [sys.executable, "-c", program, str(it.port), *texts]
        with trio.fail_after(HANG_S):
            done = await trio.run_process(
                command, capture_stdout=True, stderr=subprocess.STDOUT, check=False
            )
        assert done.stdout.decode().strip() == str(submits)
        assert [event.message.text for event in it.of(MessageReceived)] == texts
