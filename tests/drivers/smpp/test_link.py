"""One link over a stream in memory: deadlines by a mock clock, the peer scripted octet by octet."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from risala.drivers.smpp.link import (
    FAREWELL_S,
    Link,
    LinkError,
    LinkLimits,
    NoAnswerError,
    NotSentError,
)
from risala.drivers.smpp.protocol.codec import PduReader, encode
from risala.drivers.smpp.protocol.pdu import (
    BindTransceiver,
    DeliverSm,
    EnquireLink,
    EnquireLinkResp,
    Pdu,
    SubmitSm,
    SubmitSmResp,
    Unbind,
    UnbindResp,
    response_to,
)
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession

_LIMITS = LinkLimits(response_timeout_s=10, enquire_link_s=math.inf, window_max=2)


class Handler:
    def __init__(self) -> None:
        self.requests: list[Pdu] = []
        self.late: list[tuple[object, Pdu]] = []
        self.troubles: list[str] = []

    def on_request(self, link: Link, request: Pdu) -> None:
        self.requests.append(request)

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        self.late.append((token, response))

    def on_trouble(self, link: Link, text: str) -> None:
        self.troubles.append(text)


class Peer:
    """The SMSC's end of the wire, by hand."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._reader = PduReader()
        self._read: list[Pdu] = []

    async def read(self) -> Pdu:
        while not self._read:
            self._read += self._reader.feed(bytes(await self.stream.receive_some()))
        return self._read.pop(0)

    async def answer(self, request: Pdu, response: Pdu | None = None) -> None:
        await self.stream.send_all(
            encode(response or response_to(request), request.sequence_number)
        )


class Wire:
    def __init__(self, limits: LinkLimits) -> None:
        ours, theirs = memory_stream_pair()
        self.handler = Handler()
        self.peer = Peer(theirs)
        self.link = Link(ours, SmppSession(SmppRole.ESME), self.handler, limits)
        self.results: dict[str, Pdu | LinkError] = {}

    async def submit(self, name: str) -> None:
        try:
            self.results[name] = await self.link.request(SubmitSm(), name)
        except LinkError as fault:
            self.results[name] = fault


@asynccontextmanager
async def bound(limits: LinkLimits = _LIMITS) -> AsyncIterator[Wire]:
    wire = Wire(limits)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wire.link.run)
        try:
            nursery.start_soon(wire.link.request_beyond_window, BindTransceiver())
            await wire.peer.answer(await wire.peer.read())
            await wait_all_tasks_blocked()
            assert wire.link.session.state.is_bound
            yield wire
        finally:
            wire.link.end("the test is over")  # its tasks are shielded


async def test_answers_out_of_order(autojump_clock):
    async with bound() as wire, trio.open_nursery() as nursery:
        nursery.start_soon(wire.submit, "a")
        first = await wire.peer.read()
        nursery.start_soon(wire.submit, "b")
        second = await wire.peer.read()
        await wire.peer.answer(second, SubmitSmResp("2"))
        await wire.peer.answer(first, SubmitSmResp("1"))
        await wait_all_tasks_blocked()
        assert [wire.results[name].message_id for name in "ab"] == ["1", "2"]


async def test_the_window_holds_the_third_back(autojump_clock):
    async with bound() as wire, trio.open_nursery() as nursery:
        for name in "abc":
            nursery.start_soon(wire.submit, name)
        requests = [await wire.peer.read(), await wire.peer.read()]
        with trio.move_on_after(5) as early:
            await wire.peer.read()
        assert early.cancelled_caught
        await wire.peer.answer(requests[0], SubmitSmResp("1"))
        await wire.peer.answer(await wire.peer.read(), SubmitSmResp("3"))
        await wire.peer.answer(requests[1], SubmitSmResp("2"))


async def test_writes_of_one_moment_are_one_write(autojump_clock):
    limits = LinkLimits(10, math.inf, window_max=50)
    async with bound(limits) as wire, trio.open_nursery() as nursery:
        for n in range(50):
            nursery.start_soon(wire.submit, str(n))
        octets = await wire.peer.stream.receive_some()
        assert len(PduReader().feed(bytes(octets))) == 50
        wire.link.end("enough")


async def test_no_answer_in_time_is_no_answer_and_a_late_one_is_told(autojump_clock):
    async with bound() as wire:
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wire.submit, "a")
            request = await wire.peer.read()
        assert trio.current_time() - began == pytest.approx(10)
        assert isinstance(wire.results["a"], NoAnswerError)
        await wire.peer.answer(request, SubmitSmResp("late"))
        await wait_all_tasks_blocked()
        assert wire.handler.late == [("a", SubmitSmResp("late", sequence_number=2))]
        assert wire.link.reason is None


async def test_each_deadline_is_its_own(autojump_clock):
    async with bound() as wire:
        ends: dict[str, float] = {}

        async def submit(name: str) -> None:
            await wire.submit(name)
            ends[name] = trio.current_time()

        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(submit, "a")
            await trio.sleep(4)
            nursery.start_soon(submit, "b")
        assert ends == {"a": pytest.approx(began + 10), "b": pytest.approx(began + 14)}


async def test_a_cancelled_request_still_hears_late(autojump_clock):
    async with bound() as wire:
        with trio.move_on_after(1):
            await wire.link.request(SubmitSm(), "a")
        request = await wire.peer.read()
        await wire.peer.answer(request, SubmitSmResp("1"))
        await wait_all_tasks_blocked()
        assert [token for token, _ in wire.handler.late] == ["a"]
        async with trio.open_nursery() as nursery:  # and its window slot is free again
            nursery.start_soon(wire.submit, "b")
            nursery.start_soon(wire.submit, "c")
            for _ in "bc":
                await wire.peer.answer(await wire.peer.read(), SubmitSmResp("2"))


async def test_a_link_that_breaks_tells_what_left_from_what_did_not(autojump_clock):
    limits = LinkLimits(10, math.inf, window_max=10)
    async with bound(limits) as wire, trio.open_nursery() as nursery:
        nursery.start_soon(wire.submit, "left")
        await wire.peer.read()
        nursery.start_soon(wire.submit, "waits")
        await trio.lowlevel.checkpoint()
        wire.link.end("broken")  # before the writer had its turn
        await wire.submit("after")
        await wait_all_tasks_blocked()
        assert isinstance(wire.results["left"], NoAnswerError)
        assert isinstance(wire.results["after"], NotSentError)


async def test_what_no_writer_took_did_not_leave(autojump_clock):
    wire = Wire(_LIMITS)
    settled: list[object] = []
    wire.link.post(BindTransceiver(), settled.append)
    wire.link.end("broken before it ran")
    assert [type(result) for result in settled] == [NotSentError]
    await wire.link.run()


async def test_the_peers_end_is_the_links_end(autojump_clock):
    async with bound() as wire, trio.open_nursery() as nursery:
        nursery.start_soon(wire.submit, "a")
        await wire.peer.read()
        await wire.peer.stream.aclose()
        await wire.link.wait_ended()
        await wait_all_tasks_blocked()
        assert wire.link.reason == "the peer closed the connection"
        assert isinstance(wire.results["a"], NoAnswerError)


async def test_a_deaf_peer_is_found_out_by_enquire_link(autojump_clock):
    async with bound(LinkLimits(10, 30, 10)) as wire:
        began = trio.current_time()
        await wire.link.wait_ended()
        assert trio.current_time() - began == pytest.approx(40)
        assert wire.link.reason == "enquire_link: no answer within 10 s"


async def test_a_slow_peer_is_not_taken_for_deaf(autojump_clock):
    async with bound(LinkLimits(10, 30, 10)) as wire, trio.open_nursery() as nursery:
        nursery.start_soon(wire.submit, "a")
        request = await wire.peer.read()
        await trio.sleep(35)  # it is asked whether it lives, and answers the submit, much too late
        await wire.peer.answer(request, SubmitSmResp("1"))
        await trio.sleep(10)
        assert wire.link.reason is None
        await wire.link.wait_ended()  # and then never again


async def test_a_living_peer_is_kept(autojump_clock):
    async with bound(LinkLimits(10, 30, 10)) as wire:
        for _ in range(3):
            request = await wire.peer.read()
            assert isinstance(request, EnquireLink)
            await wire.peer.answer(request)
        assert wire.link.reason is None


async def test_a_peer_that_takes_no_octets_is_given_up(autojump_clock):
    class Stuck(trio.abc.Stream):
        async def send_all(self, data: bytes) -> None:
            await trio.sleep_forever()

        async def receive_some(self, max_bytes: int | None = None) -> bytes:
            await trio.sleep_forever()

        async def wait_send_all_might_not_block(self) -> None: ...

        async def aclose(self) -> None:
            await trio.lowlevel.checkpoint()

    link = Link(Stuck(), SmppSession(SmppRole.ESME), Handler(), LinkLimits(5, math.inf, 1))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        with pytest.raises(NoAnswerError):
            await link.request(BindTransceiver())
        await link.wait_ended()
    assert link.reason is not None


async def test_enquire_link_and_unbind_of_the_peer_are_answered(autojump_clock):
    async with bound() as wire:
        await wire.peer.stream.send_all(encode(EnquireLink(), 8) + encode(Unbind(), 9))
        assert await wire.peer.read() == EnquireLinkResp(sequence_number=8)
        assert await wire.peer.read() == UnbindResp(sequence_number=9)
        await wire.link.wait_ended()
        assert wire.link.reason == "unbound"
        assert wire.handler.requests == []


@pytest.mark.parametrize("waits", [True, False], ids=["once answered", "at once"])
async def test_who_unbinds_and_closes_has_unbound(waits, autojump_clock):
    async with bound() as wire:
        await wire.peer.stream.send_all(encode(Unbind(), 9))
        if waits:
            # Closed before the link's writer goes on: what it has read is all that it knows.
            while not wire.link._last_words:
                await trio.lowlevel.checkpoint()
        await wire.peer.stream.aclose()
        await wire.link.wait_ended()
        assert wire.link.reason == "unbound"


@pytest.mark.parametrize("answers", [True, False])
async def test_the_peers_unbind_is_answered_once_our_requests_are(answers, autojump_clock):
    """What it still answers is heard; what it does not is given a second."""
    async with bound() as wire, trio.open_nursery() as nursery:
        nursery.start_soon(wire.submit, "one")
        submit = await wire.peer.read()
        await wire.peer.stream.send_all(encode(Unbind(), 9))
        await wait_all_tasks_blocked()
        await wire.link.wait_leaving()
        with pytest.raises(NotSentError):
            await wire.link.request(SubmitSm())
        began = trio.current_time()
        if answers:
            await trio.sleep(0.5)
            await wire.peer.answer(submit, SubmitSmResp(message_id="7"))
        assert await wire.peer.read() == UnbindResp(sequence_number=9)
        await wire.link.wait_ended()
        await wait_all_tasks_blocked()
        assert trio.current_time() - began == (0.5 if answers else FAREWELL_S)
        assert isinstance(wire.results["one"], SubmitSmResp if answers else NoAnswerError)


async def test_our_unbind_waits_for_the_answers_that_are_to_come(autojump_clock):
    async with bound() as wire, trio.open_nursery() as nursery:
        nursery.start_soon(wire.submit, "one")
        submit = await wire.peer.read()
        nursery.start_soon(wire.link.unbind)
        await trio.sleep(0.5)
        await wire.peer.answer(submit, SubmitSmResp(message_id="7"))
        await wire.peer.answer(await wire.peer.read(), UnbindResp())
        await wire.link.wait_ended()
        assert isinstance(wire.results["one"], SubmitSmResp)


async def test_requests_reach_the_handler_and_its_answer_the_peer(autojump_clock):
    async with bound() as wire:
        await wire.peer.stream.send_all(encode(DeliverSm(), 8))
        await wait_all_tasks_blocked()
        (request,) = wire.handler.requests
        wire.link.respond(request, response_to(request))
        assert await wire.peer.read() == response_to(request)


async def test_a_peer_out_of_sync_is_nacked_and_left(autojump_clock):
    async with bound() as wire:
        await wire.peer.stream.send_all(b"\x7f" + encode(DeliverSm(), 8)[1:])
        nack = await wire.peer.read()
        assert nack.command_status == 0x02
        assert await wire.peer.stream.receive_some() == b""
        assert wire.link.reason.startswith("out of sync")
        assert wire.handler.troubles


async def test_an_answer_to_nobody_is_told_and_harms_nothing(autojump_clock):
    async with bound() as wire:
        await wire.peer.stream.send_all(encode(SubmitSmResp("x"), 4242))
        await wait_all_tasks_blocked()
        text = "submit_sm_resp with sequence_number 4242 answers nothing"
        assert wire.handler.troubles == [text]
        assert wire.link.reason is None


async def test_unbind_takes_leave(autojump_clock):
    async with bound() as wire, trio.open_nursery() as nursery:
        nursery.start_soon(wire.link.unbind)
        request = await wire.peer.read()
        assert isinstance(request, Unbind)
        await wire.peer.answer(request)
        await wire.link.wait_ended()
        assert wire.link.reason == "unbound"


async def test_a_flood_of_enquiries_stops_being_read_when_no_answer_is_taken(
    autojump_clock, monkeypatch
):
    """A peer that asks and never reads must not fill our memory."""
    monkeypatch.setattr("risala.drivers.smpp.link._UNWRITTEN_MAX", 8 * 1024)
    async with bound() as wire:
        gate = trio.Event()
        send_all = wire.link._stream.send_all

        async def slow(data: bytes) -> None:
            await gate.wait()
            await send_all(data)

        wire.link._stream.send_all = slow
        flood = encode(EnquireLink(), 1) * 256
        for _ in range(16):
            await wire.peer.stream.send_all(flood)
            await wait_all_tasks_blocked()
        assert wire.link._unwritten_octets < 8 * 1024 + 2 * len(flood)
        gate.set()
        answered = 0
        while answered < 16 * 256:
            await wire.peer.read()
            answered += 1
