"""What is left in the kernel when a link ends, over real sockets with a carrier that reads late."""

import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.link import Link, LinkLimits
from risala.drivers.smpp.protocol.codec import PduReader, encode
from risala.drivers.smpp.protocol.pdu import BindTransceiver, Pdu, SubmitSm, Unbind, response_to
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession

SUBMITS = 4000
"""Of 240 octets: more than the carrier's side has room for."""
LIMITS = LinkLimits(response_timeout_s=HANG_S, enquire_link_s=math.inf, window_max=SUBMITS)


class Deaf:
    """Handles nothing: the carrier of these tests asks nothing."""

    def on_request(self, link: Link, request: Pdu) -> None: ...
    def on_late(self, link: Link, token: object, response: Pdu) -> None: ...
    def on_trouble(self, link: Link, text: str) -> None: ...


class Carrier:
    """Answers the bind, and reads the rest when the test says so."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._listener.settimeout(HANG_S)
        self.port: int = self._listener.getsockname()[1]

    def bind(self) -> None:
        self.sock, _ = self._listener.accept()
        self.sock.settimeout(HANG_S)
        self._reader = PduReader()
        (request,) = self._reader.feed(self.sock.recv(4096))
        self.sock.sendall(encode(response_to(request), request.sequence_number))

    def answer(self, kind: type[Pdu]) -> None:
        """Read until a request of this kind, and answer it."""
        for pdu in self._pdus():
            if isinstance(pdu, kind):
                self.sock.sendall(encode(response_to(pdu), pdu.sequence_number))
                return

    def rest(self) -> tuple[int, bool]:
        """So many requests still come; and whether the connection was reset after them."""
        count = 0
        try:
            for _ in self._pdus():
                count += 1
        except ConnectionResetError:
            return count, True
        return count, False

    def _pdus(self) -> Iterator[Pdu]:
        while octets := self.sock.recv(65536):
            yield from self._reader.feed(octets)

    def close(self) -> None:
        self.sock.close()
        self._listener.close()


@pytest.fixture
def carrier() -> Iterator[Carrier]:
    carrier = Carrier()
    yield carrier
    carrier.close()


async def link_to(port: int, nursery: trio.Nursery) -> Link:
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    link = Link(stream, SmppSession(SmppRole.ESME), Deaf(), LIMITS)
    nursery.start_soon(link.run)
    await link.request_beyond_window(BindTransceiver())
    return link


async def post_many(link: Link) -> None:
    """More than the carrier's side takes; the rest waits in this side's kernel."""
    for n in range(SUBMITS):
        slot = link.post(SubmitSm(short_message=b"x" * 190), lambda _: None, n)
    with trio.fail_after(HANG_S):
        while not slot.has_left:  # noqa: ASYNC110 -- the kernel tells nobody
            await trio.sleep(0.001)


async def test_what_the_carrier_did_not_take_does_not_leave_after_the_links_end(carrier):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, carrier.bind)
        link = await link_to(carrier.port, nursery)
        await post_many(link)
        link.end("the lease is another machine's")
    count, was_reset = carrier.rest()
    assert was_reset
    assert count < SUBMITS


def test_nor_after_the_process_was_killed(carrier):
    code = "import sys, trio, test_unsent; trio.run(test_unsent.post_and_wait, int(sys.argv[1]))"
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(carrier.port)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        stdout=subprocess.PIPE,
    )
    try:
        carrier.bind()
        assert child.stdout is not None
        assert child.stdout.readline() == b"written\n"
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=HANG_S)
    count, was_reset = carrier.rest()
    assert was_reset
    assert count < SUBMITS


async def post_and_wait(port: int) -> None:
    """What the killed process does."""
    async with trio.open_nursery() as nursery:
        await post_many(await link_to(port, nursery))
        print("written", flush=True)
        await trio.sleep_forever()


async def test_an_orderly_end_is_no_reset(carrier):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, carrier.bind)
        link = await link_to(carrier.port, nursery)
        nursery.start_soon(trio.to_thread.run_sync, carrier.answer, Unbind)
        await link.unbind()
    assert carrier.rest() == (0, False)
