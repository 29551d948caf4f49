"""What silent connections of one address come to, before and now.

*Before* is today's server without the guard. The figures stand in a table of
docs/reference/found.md.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.link import NoAnswerError, NotSentError
from risala.smpp_server.server import SmppListener, SmppServer
from smpp_peers.house import Customer, Premises

SILENT, CUSTOMERS = 400, 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("era", "kept_out"), [pytest.param("before", 5, marks=pytest.mark.long), ("now", 0)]
)
async def test_customers_that_silent_connections_keep_out(monkeypatch, era, kept_out):
    """As many as there may be sessions, each silent for as long as a bind may take."""
    if era == "before":
        monkeypatch.setattr(SmppServer, "_has_room", lambda server, _: len(server._open) < SILENT)
    premises, stop = Premises(sessions_max=SILENT, bind_timeout_s=300), trio.Event()
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery, AsyncExitStack() as silent:
            (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
            port = listener.socket.getsockname()[1]
            server = SmppServer(premises.house, lambda _: None)
            await nursery.start(server.run, [SmppListener(listener, None)], stop)
            for _ in range(SILENT):
                await silent.enter_async_context(await trio.open_tcp_stream("127.0.0.1", port))
            bound = [await binds(port) for _ in range(CUSTOMERS)]
            stop.set()
    assert bound.count(False) == kept_out


async def binds(port: int) -> bool:
    customer = Customer(await trio.open_tcp_stream("127.0.0.1", port))
    is_bound = False
    async with trio.open_nursery() as nursery:

        async def bind() -> None:
            nonlocal is_bound
            with suppress(NoAnswerError, NotSentError):
                is_bound = (await customer.bind()).command_status == 0
            customer.link.end("the test is over")

        nursery.start_soon(bind)
        await customer.link.run()
        nursery.cancel_scope.cancel()
    return is_bound
