"""Pairs of binds, several links, outbind, addresses, versions: over real TCP."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.channel import BindKind, BindRefusedError, Channel
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.protocol.codec import PduReader, encode
from risala.drivers.smpp.protocol.pdu import (
    Bind,
    BindReceiver,
    BindTransceiver,
    BindTransceiverResp,
    BindTransmitter,
    DeliverSm,
    DeliverSmResp,
    EnquireLink,
    GenericNack,
    Outbind,
    Pdu,
    SubmitSm,
    SubmitSmResp,
    response_to,
)
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.behaviour import SteadyBehaviour
from risala.lab.smsc.simulator import Bound, SimulatorConfig, SmscSimulator
from risala.plugins.contract import (
    Accepted,
    CommandRefusedError,
    Health,
    HealthState,
    Unsent,
)
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext


def settings(**changes) -> SmppSettings:
    values = {
        "host": "127.0.0.1",
        "system_id": "risala",
        "password": "secret",
        "reconnect_first_s": 0.01,
        "reconnect_max_s": 0.05,
        "bind_refused_wait_s": 0.02,
    }
    return SmppSettings(**{**values, **changes})


class Refusing(SteadyBehaviour):
    """Answers binds by this status."""

    def __init__(self, command_status: int) -> None:
        super().__init__(receipt_after_s=0.01)
        self.command_status = command_status

    def on_bind(self, request: Bind) -> int:
        return self.command_status


class Place:
    driver: SmppDriver

    def __init__(self, behaviour: SteadyBehaviour | None = None) -> None:
        self.context = RecordingContext()
        self.events: list[object] = []
        self.simulator = SmscSimulator(
            SimulatorConfig(receipt_after_s=0.01, receipt_retry_s=0.01),
            behaviour=behaviour,
            on_event=self.events.append,
        )

    @property
    def binds(self) -> list[str]:
        return [event.bind for event in self.events if isinstance(event, Bound)]


@asynccontextmanager
async def place(behaviour: SteadyBehaviour | None = None, **changes) -> AsyncIterator[Place]:
    it = Place(behaviour)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(it.simulator.run)
            it.driver = SmppDriver("smsc", settings(port=port, **changes), rng=random.Random(1))
            await nursery.start(it.driver.run, it.context)
            yield it
            nursery.cancel_scope.cancel()


def test_links_that_were_refused_together_do_not_knock_together():
    """And none sooner than the carrier's patience wants it."""
    rng = random.Random(1)
    one = settings(bind_refused_wait_s=300)
    channel = Channel(*(BindKind.TRANSCEIVER, one, None), on_change=print, trace=print, rng=rng)
    waits = [channel._refused(BindRefusedError(0x0E))[1] for _ in range(20)]
    assert len({round(wait_s) for wait_s in waits}) > 10
    assert all(300 <= wait_s <= 375 for wait_s in waits)


async def test_an_operator_need_not_wait_for_the_next_bind():
    refused = Refusing(0x0E)
    async with place(refused, bind_refused_wait_s=300) as it:
        health = await it.context.wait_health(HealthState.SICK)
        assert 300 <= health.details["again_s"] <= 375
        assert [one.name for one in it.driver.commands] == ["bind"]
        refused.command_status = 0
        assert await it.driver.command("bind", ())
        await it.context.wait_health(HealthState.UP)
        with pytest.raises(CommandRefusedError, match="bound"):
            await it.driver.command("bind", ())


async def _old(stream: trio.SocketStream, *, is_nack: bool) -> None:
    """A carrier that knows ``bind_transmitter`` and ``bind_receiver`` alone."""
    peer = Peer(stream)
    while (request := await peer.read()) is not None:
        answer = response_to(request)
        if isinstance(request, BindTransceiver):
            answer = GenericNack() if is_nack else response_to(request, 0x03)
        await peer.send(answer, request.sequence_number)


@pytest.mark.parametrize("is_nack", [True, False])
async def test_a_carrier_without_transceiver_is_told_by_name_with_what_to_set(is_nack):
    context = RecordingContext()
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            listen = partial(trio.serve_tcp, partial(_old, is_nack=is_nack), 0, host="127.0.0.1")
            (listener,) = await nursery.start(listen)
            port = listener.socket.getsockname()[1]
            driver = SmppDriver("smsc", settings(port=port), rng=random.Random(1))
            await nursery.start(driver.run, context)
            health = await context.wait_health(HealthState.SICK)
            assert health.text == (
                "The carrier does not know bind_transceiver. "
                'Set bind = "transmitter_receiver" in this carrier\'s settings.'
            )
            told = RecordingContext()
            pair = settings(port=port, bind="transmitter_receiver")
            await nursery.start(SmppDriver("smsc", pair, rng=random.Random(1)).run, told)
            await told.wait_until(lambda it: it.healths[-1].text == "Bound.")
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("command_status", "said"),
    [(0x0D, "is on its list"), (0x05, "closes it in time"), (0x08, "technical fault")],
)
async def test_a_refused_bind_that_may_pass_is_tried_again_by_the_ordinary_back_off(
    command_status, said
):
    """A carrier that starts again says ESME_RBINDFAIL; five minutes for that would be too long."""
    refused = Refusing(command_status)
    async with place(refused, bind_refused_wait_s=300) as it:
        await it.context.wait_until(lambda told: said in told.healths[-1].text)
        health = it.context.healths[-1]
        assert health.state is HealthState.DOWN
        assert health.details["again_s"] < 1
        refused.command_status = 0
        await it.context.wait_health(HealthState.UP)


async def test_attempts_that_take_long_do_not_begin_the_back_off_anew(autojump_clock):
    """Only a link that was bound for a while does."""
    context = RecordingContext()
    again: list[float] = []
    slow = settings(reconnect_first_s=1, reconnect_max_s=60)
    channel = Channel(
        *(BindKind.TRANSCEIVER, slow, None),
        on_change=lambda one: again.append(one.health.details["again_s"]),
        trace=context.trace,
        rng=random.Random(1),
    )

    async def connect_once() -> tuple[Health, None]:
        await trio.sleep(30)
        return Health(HealthState.DOWN, "No bind."), None

    channel._connect_once = connect_once
    async with trio.open_nursery() as nursery:
        nursery.start_soon(channel.run)
        await context.wait_until(lambda told: len(told.traces) == 8)
        nursery.cancel_scope.cancel()
    assert again[-1] >= 30


async def test_a_pair_sends_on_one_link_and_receives_on_the_other():
    async with place(bind="transmitter_receiver") as it:
        await it.context.wait_until(lambda told: told.healths[-1].text == "Bound.")
        assert sorted(it.binds) == ["receiver", "transmitter"]
        outcome = await it.driver.submit(segment())
        assert isinstance(outcome, Accepted)
        (receipt,) = await it.context.wait_receipts(1)
        assert receipt.carrier_id == outcome.carrier_id
        assert it.context.healths[-1].details["links"] == 2


class NoReceivers(SteadyBehaviour):
    def __init__(self) -> None:
        super().__init__(receipt_after_s=0.01)
        self.refused = 0x0D

    def on_bind(self, request: Bind) -> int:
        return self.refused if isinstance(request, BindReceiver) else 0


async def test_without_its_receiver_a_pair_sends_and_says_what_is_missing():
    behaviour = NoReceivers()
    async with place(behaviour, bind="transmitter_receiver") as it:
        await it.context.wait_until(lambda told: "not to receive" in told.healths[-1].text)
        assert it.context.healths[-1].state is HealthState.UP
        assert isinstance(await it.driver.submit(segment()), Accepted)
        behaviour.refused = 0
        await it.context.wait_receipts(1)
        await it.context.wait_until(lambda told: told.healths[-1].text == "Bound.")


class NoTransmitters(SteadyBehaviour):
    def on_bind(self, request: Bind) -> int:
        return 0x05 if isinstance(request, BindTransmitter) else 0


async def test_without_its_transmitter_a_pair_is_down():
    async with place(NoTransmitters(), bind="transmitter_receiver") as it:
        await it.context.wait_until(lambda told: "not to send" in told.healths[-1].text)
        assert it.context.healths[-1].state is HealthState.DOWN
        assert isinstance(await it.driver.submit(segment()), Unsent)


async def test_several_links_share_the_work_and_receipts_come_on_any():
    async with place(links=3, window_max=30) as it:
        await it.context.wait_until(lambda told: told.healths[-1].text == "Bound.")
        assert it.binds == ["transceiver"] * 3
        outcomes: list[object] = []

        async def submit(number: int) -> None:
            outcomes.append(await it.driver.submit(segment(message_id=str(number))))

        async with trio.open_nursery() as nursery:
            for number in range(30):
                nursery.start_soon(submit, number)
            await trio.testing.wait_all_tasks_blocked()
            busy = [channel.link.session.outstanding for channel in it.driver._channels]
        assert len({outcome.carrier_id for outcome in outcomes}) == 30
        assert max(busy) - min(busy) <= 10
        await it.context.wait_receipts(30)


async def test_one_of_several_links_may_be_lost():
    async with place(links=2) as it:
        await it.context.wait_until(lambda told: told.healths[-1].text == "Bound.")
        next(iter(it.simulator._links)).end("dropped")
        await it.context.wait_until(lambda told: "1 links of 2" in told.healths[-1].text)
        assert it.context.healths[-1].state is HealthState.UP
        assert isinstance(await it.driver.submit(segment()), Accepted)
        await it.context.wait_until(lambda told: told.healths[-1].text == "Bound.")


async def test_it_connects_from_the_address_that_it_is_told():
    seen: list[str] = []
    bound = trio.Event()

    async def carrier(stream: trio.SocketStream) -> None:
        seen.append(stream.socket.getpeername()[0])
        bound.set()
        await trio.sleep_forever()

    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            serve = partial(trio.serve_tcp, carrier, 0, host="127.0.0.1")
            (listener,) = await nursery.start(serve)
            port = listener.socket.getsockname()[1]
            driver = SmppDriver("smsc", settings(port=port, source_address="127.0.0.2"))
            await nursery.start(driver.run, RecordingContext())
            await bound.wait()
            nursery.cancel_scope.cancel()
    assert seen == ["127.0.0.2"]


# -- a carrier by hand -------------------------------------------------------------------------


class Peer:
    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._reader = PduReader()
        self._read: list[Pdu] = []

    async def read(self) -> Pdu | None:
        while not self._read:
            octets = await self.stream.receive_some()
            if not octets:
                return None
            self._read += self._reader.feed(bytes(octets))
        return self._read.pop(0)

    async def send(self, pdu: Pdu, sequence_number: int) -> None:
        await self.stream.send_all(encode(pdu, sequence_number))


async def test_a_peer_of_version_5_is_tolerated():
    """Its version, its congestion_state, its new statuses, its requests that 3.4 lacks."""
    done = trio.Event()
    nacks: list[Pdu | None] = []

    async def carrier(stream: trio.SocketStream) -> None:
        peer = Peer(stream)
        bind = await peer.read()
        assert bind.interface_version == 0x50
        version = (Tlv(0x0210, b"\x50"), Tlv(0x0428, b"\x00"))
        await peer.send(BindTransceiverResp("SMSC5", tlvs=version), bind.sequence_number)
        for status in (0, 0x100):
            submit = await peer.read()
            answer = SubmitSmResp("7", command_status=status, tlvs=(Tlv(0x0428, b"\x5a"),))
            await peer.send(answer, submit.sequence_number)
        await stream.send_all(b"\0\0\0\x10\0\0\x01\x11\0\0\0\0\0\0\0\x09")  # broadcast_sm
        nacks.append(await peer.read())
        done.set()
        await trio.sleep_forever()

    context = RecordingContext()
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            serve = partial(trio.serve_tcp, carrier, 0, host="127.0.0.1")
            (listener,) = await nursery.start(serve)
            port = listener.socket.getsockname()[1]
            driver = SmppDriver("smsc", settings(port=port, interface_version=0x50))
            await nursery.start(driver.run, context)
            await context.wait_health(HealthState.UP)
            assert isinstance(await driver.submit(segment()), Accepted)
            refused = await driver.submit(segment())
            assert refused.raw == "ESME_RSERTYPUNAUTH"
            await done.wait()
            nursery.cancel_scope.cancel()
    assert nacks[0].command_status == 0x03
    assert any("0x50" in line for line in context.traces)


# -- outbind -----------------------------------------------------------------------------------


@asynccontextmanager
async def listening(**changes) -> AsyncIterator[tuple[SmppDriver, RecordingContext, int]]:
    with trio.socket.socket() as free:
        await free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    outbind = {"host": "127.0.0.1", "port": port, "system_id": "SMSC", "password": "theirs"}
    context = RecordingContext()
    driver = SmppDriver("smsc", settings(links=0, port=1, outbind=outbind, **changes))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(driver.run, context)
            await context.wait_until(lambda it: any("Listening" in line for line in it.traces))
            yield driver, context, port
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("bind", "request_kind"),
    [("transceiver", BindTransceiver), ("transmitter_receiver", BindReceiver)],
)
async def test_after_an_outbind_we_bind_on_the_carriers_connection(bind, request_kind):
    async with listening(bind=bind) as (driver, context, port):
        assert "outbind" in context.healths[-1].text
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            peer = Peer(stream)
            await peer.send(Outbind("SMSC", "theirs"), 1)
            request = await peer.read()
            assert isinstance(request, request_kind)
            assert request.password == "secret"
            await peer.send(response_to(request), request.sequence_number)
            receipt = DeliverSm(esm_class=4, short_message=b"id:1 stat:DELIVRD")
            await peer.send(receipt, 2)
            assert isinstance(await peer.read(), DeliverSmResp)
            assert len(context.receipts) == 1
            if bind == "transceiver":
                await context.wait_health(HealthState.UP)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(driver.submit, segment())
                    submit = await peer.read()
                    assert isinstance(submit, SubmitSm)
                    await peer.send(SubmitSmResp("1"), submit.sequence_number)
            else:
                assert isinstance(await driver.submit(segment()), Unsent)
        await context.wait_until(lambda it: it.healths[-1].state is HealthState.DOWN)


@pytest.mark.parametrize(
    "outbind", [Outbind("SMSC", "wrong"), Outbind("other", "theirs")], ids=["password", "name"]
)
async def test_an_outbind_of_somebody_else_gets_no_bind(outbind):
    async with listening() as (_, context, port):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            peer = Peer(stream)
            await peer.send(outbind, 1)
            assert await peer.read() is None
        await context.wait_until(lambda it: any("somebody else" in line for line in it.traces))
        assert "theirs" not in repr((context.traces, context.healths))


async def test_before_an_outbind_only_enquiries_are_answered():
    async with (
        listening() as (_, _, port),
        await trio.open_tcp_stream("127.0.0.1", port) as stream,
    ):
        peer = Peer(stream)
        await peer.send(EnquireLink(), 1)
        assert (await peer.read()).command_id == 0x80000015
        await peer.send(DeliverSm(), 2)
        assert (await peer.read()).command_status == 0x04


async def test_a_refused_bind_after_an_outbind_is_told():
    async with listening() as (_, context, port):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            peer = Peer(stream)
            await peer.send(Outbind("SMSC", "theirs"), 1)
            request = await peer.read()
            await peer.send(response_to(request, 0x0E), request.sequence_number)
            assert await peer.read() is None
        await context.wait_until(lambda it: any("ESME_RINVPASWD" in line for line in it.traces))


async def test_a_port_that_is_taken_is_told_and_tried_again(monkeypatch):
    monkeypatch.setattr("risala.drivers.smpp.outbind._LISTEN_RETRY_S", 0.01)
    taken = (await trio.open_tcp_listeners(0, host="127.0.0.1"))[0]
    port = taken.socket.getsockname()[1]
    outbind = {"host": "127.0.0.1", "port": port, "system_id": "SMSC", "password": "x"}
    context = RecordingContext()
    driver = SmppDriver("smsc", settings(links=0, port=1, outbind=outbind))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(driver.run, context)
            await context.wait_until(lambda it: any("cannot be" in line for line in it.traces))
            await taken.aclose()
            await context.wait_until(lambda it: any("Listening" in line for line in it.traces))
            nursery.cancel_scope.cancel()


def test_no_link_at_all_is_a_fault():
    with pytest.raises(ValueError, match="outbind"):
        settings(port=1, links=0)
