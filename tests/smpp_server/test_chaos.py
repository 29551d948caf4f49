"""The link cut at each octet, in each direction: nothing acknowledged is lost, nothing doubled."""

from typing import Any

import pytest
import trio
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.pdu import BindTransceiver
from risala.engine.model.following import OwnEvent
from smpp_peers.house import PASSWORD, Customer, Premises, event, submit

TEXTS = [f"message {n}" for n in range(4)]
OCTETS = len(encode(BindTransceiver("shop", PASSWORD))) + sum(
    len(encode(submit(text))) for text in TEXTS
)
ANSWERED = 24 + 4 * 22
"""More octets than the answers to the bind and to the submits have."""


class CutWire(trio.abc.Stream):
    """Carries so many octets of what is sent, then breaks."""

    def __init__(self, stream: trio.abc.Stream, octets: int) -> None:
        self._stream = stream
        self._left = octets

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if len(data) > self._left:
            await self._stream.send_all(data[: self._left])
            await self._stream.aclose()
            raise trio.BrokenResourceError
        self._left -= len(data)
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stream.receive_some(max_bytes)

    async def aclose(self) -> None:
        await self._stream.aclose()


async def talk(premises: Premises, *, to_us: int = 10**9, to_them: int = 10**9) -> dict[str, str]:
    """Bind and submit all texts over a wire that carries so many octets; what was answered."""
    ours, theirs = memory_stream_pair()
    answered: dict[str, str] = {}
    async with premises.serving(CutWire(ours, to_them)), trio.open_nursery() as nursery:
        customer = Customer(CutWire(theirs, to_us))
        nursery.start_soon(customer.link.run)
        customer.link.post(BindTransceiver("shop", PASSWORD), lambda _: None)
        await wait_all_tasks_blocked()
        for text in TEXTS:
            if customer.link.session.state.is_bound and customer.link.reason is None:

                def settle(result: object, text: str = text) -> None:
                    if getattr(result, "command_status", 1) == 0:
                        answered[text] = result.message_id

                customer.link.post(submit(text), settle)
                await wait_all_tasks_blocked()
        customer.link.end("the test is over")
    return answered


def places(*span: int) -> list[Any]:
    """Where a link is cut; `make test` cuts it at every fifth of them."""
    return [
        each if number % 5 == 0 else pytest.param(each, marks=pytest.mark.long)
        for number, each in enumerate(range(*span))
    ]


@pytest.mark.parametrize("cut", places(0, OCTETS + 1, 3))
async def test_the_way_to_us_is_cut(open_premises, cut):
    premises = open_premises()
    check(premises, await talk(premises, to_us=cut))


@pytest.mark.parametrize("cut", places(0, ANSWERED + 1, 2))
async def test_the_way_back_is_cut(open_premises, cut):
    premises = open_premises()
    check(premises, await talk(premises, to_them=cut))


def check(premises: Premises, answered: dict[str, str]) -> None:
    taken = [command.body for command in premises.engine.taken]
    assert taken == TEXTS[: len(taken)], "each once, and in order"
    for text, message_id in answered.items():
        assert message_id == f"sms_{taken.index(text) + 1}"


@pytest.mark.parametrize("cut", places(0, 700, 7))
async def test_no_receipt_is_lost_wherever_the_link_is_cut(open_premises, cut):
    premises = open_premises()
    got: list[str] = []

    async def hear(octets: int, *happens: OwnEvent) -> None:
        ours, theirs = memory_stream_pair()
        async with premises.serving(CutWire(ours, octets)), trio.open_nursery() as nursery:
            customer = Customer(theirs)
            nursery.start_soon(customer.link.run)
            customer.link.post(BindTransceiver("shop", PASSWORD), lambda _: None)
            await wait_all_tasks_blocked()
            premises.outbox.tell(*happens)
            await wait_all_tasks_blocked()
            got.extend(str(pdu.short_message[3:8], "ascii") for pdu in customer.delivered)
            customer.link.end("the test is over")

    await hear(10**9)  # from its first bind on a credential is owed what happens
    await hear(cut, *map(event, range(1, 5)))
    await hear(10**9)
    assert list(dict.fromkeys(got)) == [f"sms_{n}" for n in range(1, 5)]
    assert premises.outbox.kept["crd_shop"] == 4
