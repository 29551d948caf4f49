"""One SMPP link over loopback TCP: PDUs a second at three windows, and what smpplib could do.

The SMSC is a process of its own that answers each ``submit_sm``, on our own session and link; so
both roles are measured, each on its core. A PDU counts once, when one side wrote it and the other
read it: a submit and its answer are two.

The yardstick is smpplib's codec alone, without a network: how many ``submit_sm`` it writes and
reads in a second. No program that uses it can be faster than that on one core.

Run as ``python -m benchmarks.smpp`` for this alone; prints JSON.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from contextlib import ExitStack
from functools import partial

import trio

from benchmarks import codec, processes
from risala.drivers.smpp.link import Link, LinkError, LinkLimits
from risala.drivers.smpp.protocol.pdu import (
    BindTransceiver,
    Pdu,
    SubmitSm,
    SubmitSmResp,
    response_to,
)
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession

WINDOWS = (10, 100, 1000)
_LIMITS = LinkLimits(response_timeout_s=30.0, enquire_link_s=3600.0, window_max=max(WINDOWS))
_SUBMIT = SubmitSm(
    source_addr_ton=5,
    source_addr="RISALA",
    dest_addr_ton=1,
    dest_addr_npi=1,
    destination_addr="22236123456",
    registered_delivery=1,
    short_message=codec.TEXT,
)


class _Nobody:
    def on_request(self, link: Link, request: Pdu) -> None:
        raise AssertionError("nobody asks an ESME here")

    def on_late(self, link: Link, token: object, response: Pdu) -> None: ...
    def on_trouble(self, link: Link, text: str) -> None:
        raise AssertionError(text)


class _Smsc(_Nobody):
    """Answers, and does nothing else."""

    def __init__(self) -> None:
        self._ids = itertools.count()

    def on_request(self, link: Link, request: Pdu) -> None:
        if isinstance(request, SubmitSm):
            link.respond(request, SubmitSmResp(f"{next(self._ids):016x}"))
        else:
            link.respond(request, response_to(request))


async def _serve(port: int) -> None:
    async def one(stream: trio.SocketStream) -> None:
        await Link(stream, SmppSession(SmppRole.SMSC), _Smsc(), _LIMITS).run()

    await trio.serve_tcp(one, port, host="127.0.0.1")


async def _measure(port: int, window: int, seconds: float) -> float:
    """PDUs a second, with so many submits unanswered at each moment."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    link = Link(stream, SmppSession(SmppRole.ESME), _Nobody(), _LIMITS)
    answered = 0
    until = 0.0
    quiet = trio.Event()

    def settle(result: Pdu | LinkError) -> None:
        nonlocal answered
        assert isinstance(result, SubmitSmResp), result
        answered += 1
        if trio.current_time() < until:
            link.post(_SUBMIT, settle)
        elif not link.session.outstanding:
            quiet.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        await link.request_beyond_window(BindTransceiver("bench"))
        started = time.perf_counter()
        until = trio.current_time() + seconds
        for _ in range(window):
            link.post(_SUBMIT, settle)
        await quiet.wait()
        elapsed = time.perf_counter() - started
        await link.unbind()
    return 2 * answered / elapsed


def _smpplib_per_s() -> float:
    write, read = codec.theirs()
    started = time.perf_counter()
    for _ in range(codec.REPEAT):
        write()
        read()
    return codec.REPEAT / (time.perf_counter() - started)


def measured(seconds: float) -> dict[str, float]:
    """PDUs a second by window, and the yardstick."""
    found = {"smpplib's codec alone": _smpplib_per_s()}
    with ExitStack() as stack:
        port = processes.free_port()
        smsc = processes.process("-m", "benchmarks.smpp", "serve", str(port), port=port)
        stack.enter_context(smsc)
        for window in WINDOWS:
            rate = trio.run(partial(_measure, port, window, seconds))
            found[f"link, window {window}"] = rate
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        trio.run(_serve, int(sys.argv[2]))
    else:
        print(json.dumps(measured(float(sys.argv[1]) if sys.argv[1:] else 1.0)))
