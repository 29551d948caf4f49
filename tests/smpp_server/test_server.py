"""The server over real TCP: addresses, TLS, who may stay, and its stop."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.protocol.pdu import BindTransceiver
from risala.drivers.smpp.server_tls import server_context
from risala.engine.model.errors import EngineError, Forbidden, Unauthorized
from risala.smpp_server.server import SmppListener, SmppServer
from risala.smpp_server.session_registry import SmppAccount
from smpp_peers.house import PASSWORD, Customer, Premises, submit

CERTIFICATES = Path(__file__).parents[1] / "drivers/smpp/tls"


class Running:
    """A server that runs, and how it is stopped."""

    def __init__(self, premises: Premises) -> None:
        self.premises = premises
        self.stop = trio.Event()
        self.stopped = trio.Event()
        self.falls: EngineError | None = None
        """Why nobody may be bound any more."""
        self.ports: list[int] = []

    def standing(self, account: SmppAccount) -> None:
        if self.falls is not None:
            raise self.falls

    async def run(self, *, tls: bool, task_status: trio.TaskStatus[None]) -> None:
        listeners = []
        context = partial(server_context, CERTIFICATES / "server.pem") if tls else None
        for each in await trio.open_tcp_listeners(0, host="127.0.0.1"):
            listeners.append(SmppListener(each, context))
            self.ports.append(each.socket.getsockname()[1])
        await SmppServer(self.premises.house, self.standing).run(listeners, self.stop, task_status)
        self.stopped.set()

    @asynccontextmanager
    async def customer(self, *, tls: bool = False) -> AsyncIterator[Customer]:
        stream: trio.abc.Stream = await trio.open_tcp_stream("127.0.0.1", self.ports[0])
        if tls:
            context = ssl.create_default_context(cafile=CERTIFICATES / "ca.pem")
            context.check_hostname = False
            stream = trio.SSLStream(stream, context, https_compatible=True)
        customer = Customer(stream)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(customer.link.run)
            try:
                yield customer
            finally:
                customer.link.end("the test is over")


@asynccontextmanager
async def running(*, tls: bool = False, **settings: object) -> AsyncIterator[Running]:
    server = Running(Premises(**settings))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(partial(server.run, tls=tls))
            try:
                yield server
            finally:
                server.stop.set()


async def test_customers_bind_and_submit():
    async with running() as server, server.customer() as customer:
        assert (await customer.bind()).command_status == 0
        assert (await customer.ask(submit())).message_id == "sms_1"


async def test_customers_bind_over_tls_and_no_other_way():
    async with running(tls=True) as server:
        async with server.customer(tls=True) as customer:
            assert (await customer.bind()).command_status == 0
            (session,) = server.premises.roster
            assert session.view().is_tls
        async with server.customer() as plain:
            plain.link.post(BindTransceiver("shop", PASSWORD), lambda _: None)
            await plain.link.wait_ended()


async def test_a_connection_beyond_the_limit_is_closed():
    async with running(sessions_max=1) as server, server.customer() as first:
        await first.bind()
        async with server.customer() as second:
            await second.link.wait_ended()
        assert (await first.ask(submit())).command_status == 0
    assert len(server.premises.roster) == 0


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
async def test_silent_connections_of_one_address_keep_nobody_out(tls):
    """500 of them, each for as long as a bind may take, were all the sessions that there may be."""
    limits = {"sessions_max": 20, "bind_timeout_s": 300}
    async with (
        running(tls=tls, **limits) as server,
        server.customer(tls=tls) as bound,
        AsyncExitStack() as silent,
    ):
        await bound.bind()
        streams = [
            await silent.enter_async_context(
                await trio.open_tcp_stream("127.0.0.1", server.ports[0])
            )
            for _ in range(100)
        ]
        for each in streams[:90]:  # the oldest went; those that are left are ten
            assert await each.receive_some(1) == b""
        async with server.customer(tls=tls) as other:
            assert (await other.bind()).command_status == 0
            assert (await other.ask(submit())).command_status == 0
        assert (await bound.ask(submit())).command_status == 0


async def test_a_full_server_ends_who_has_not_bound():
    limits = {"sessions_max": 3, "unbound_per_address_max": 100, "bind_timeout_s": 300}
    async with running(**limits) as server, server.customer() as first:
        await first.bind()
        async with (
            server.customer() as silent,
            server.customer() as late,
            server.customer() as second,
        ):
            await silent.link.wait_ended()
            assert (await second.bind()).command_status == 0
            assert (await late.bind()).command_status == 0
            async with server.customer() as beyond:
                await beyond.link.wait_ended()
        assert (await first.ask(submit())).command_status == 0


@pytest.mark.slow
@pytest.mark.parametrize("falls", [Unauthorized("Revoked."), Forbidden("Suspended.")])
async def test_who_may_not_be_bound_any_more_is_unbound(falls):
    async with running() as server, server.customer() as customer:
        await customer.bind()
        server.falls = falls
        await customer.link.wait_ended()
        assert customer.link.reason == "unbound"
    revoked = isinstance(falls, Unauthorized)
    assert server.premises.outbox.forgotten == (["crd_shop"] if revoked else [])


async def test_a_stop_answers_the_window_refuses_binds_and_ends():
    async with running() as server:
        server.premises.engine.open = trio.Event()
        statuses: list[int] = []
        async with server.customer() as customer, server.customer() as unbound:
            await customer.bind()
            customer.link.post(submit(), lambda answer: statuses.append(answer.command_status))
            await server.premises.engine.wait_asked()
            server.stop.set()
            await unbound.link.wait_ended()
            assert statuses == []
            server.premises.engine.open.set()
            await customer.link.wait_ended()
            assert statuses == [0]
        await server.stopped.wait()


async def test_a_stop_does_not_wait_for_whoever_never_answers():
    async with running(graceful_stop_s=0.1) as server:
        server.premises.engine.open = trio.Event()  # never set: nothing reaches the disk
        async with server.customer() as customer:
            await customer.bind()
            customer.link.post(submit(), lambda _: None)
            await server.premises.engine.wait_asked()
            server.stop.set()
            await server.stopped.wait()
