"""The driver at carriers that are no simulator (deaf, slow to leave)."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.protocol.codec import PduReader, encode
from risala.drivers.smpp.protocol.pdu import (
    BindTransceiver,
    DeliverSm,
    Pdu,
    SubmitSmResp,
    Unbind,
    response_to,
)
from risala.drivers.smpp.settings import SmppSettings
from risala.plugins.contract import Accepted, HealthState, IdForms, Uncertain, Unsent
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext


def settings(port: int, **changes) -> SmppSettings:
    values = {
        "host": "127.0.0.1",
        "port": port,
        "system_id": "risala",
        "password": "secret",
        "reconnect_first_s": 0.01,
        "reconnect_max_s": 0.05,
    }
    return SmppSettings(**{**values, **changes})


# -- a carrier that is no simulator: by hand ---------------------------------------------------


@asynccontextmanager
async def by_hand(serve, **changes) -> AsyncIterator[tuple[SmppDriver, RecordingContext]]:
    """A driver at a listener whose every connection is served by ``serve(stream)``."""
    context = RecordingContext()
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            listen = partial(trio.serve_tcp, serve, 0, host="127.0.0.1")
            (listener,) = await nursery.start(listen)
            port = listener.socket.getsockname()[1]
            driver = SmppDriver("smsc", settings(port, **changes), rng=random.Random(1))
            await nursery.start(driver.run, context)
            yield driver, context
            nursery.cancel_scope.cancel()


async def _bind(stream: trio.SocketStream) -> None:
    octets = await stream.receive_some()
    assert octets[4:8] == BindTransceiver.command_id.to_bytes(4)
    await stream.send_all(encode(response_to(BindTransceiver()), 1))


@pytest.mark.slow
async def test_a_deaf_carrier_is_left_and_its_submits_are_uncertain():
    async def deaf(stream: trio.SocketStream) -> None:
        await _bind(stream)
        with suppress(trio.BrokenResourceError):  # the reset of a link with open requests
            async for _ in stream:
                pass

    quick = {"enquire_link_s": 0.5, "response_timeout_s": 0.3}
    async with by_hand(deaf, **quick) as (driver, context):
        await context.wait_health(HealthState.UP)
        assert isinstance(await driver.submit(segment()), Uncertain)
        await context.wait_until(lambda it: "enquire_link" in it.healths[-1].text)


async def test_an_inbound_message_in_parts_reaches_the_engine_whole():
    answers: list[Pdu] = []
    done = trio.Event()

    async def carrier(stream: trio.SocketStream) -> None:
        await _bind(stream)
        address = {"source_addr_ton": 1, "source_addr": "22236123456", "destination_addr": "1234"}
        for number, text in ((2, "monde"), (1, "Bonjour ")):
            header = bytes((5, 0, 3, 9, 2, number))
            pdu = DeliverSm(**address, esm_class=0x40, short_message=header + text.encode())
            await stream.send_all(encode(pdu, number))
        reader = PduReader()
        while len(answers) < 2:
            answers.extend(reader.feed(bytes(await stream.receive_some())))
        done.set()
        await trio.sleep_forever()

    async with by_hand(carrier) as (_, context):
        await done.wait()
        # A part is acknowledged when it is stored; the whole is told after that.
        await context.wait_until(lambda it: len(it.inbounds) == 1)
        (message,) = context.inbounds
        assert (message.sender, message.recipient) == ("+22236123456", "1234")
        assert message.text == "Bonjour monde"
        assert sorted(answer.sequence_number for answer in answers) == [1, 2]
        assert {answer.command_status for answer in answers} == {0}


async def test_a_carrier_that_takes_its_leave_is_still_heard_and_is_down_at_once():
    health: list[HealthState] = []

    async def leaving(stream: trio.SocketStream) -> None:
        await _bind(stream)
        await stream.receive_some()  # the submit
        await stream.send_all(encode(Unbind(), 1))
        await context_of[0].wait_health(HealthState.DOWN)
        health.append(context_of[0].healths[-1].state)
        await stream.send_all(encode(SubmitSmResp(message_id="7"), 2))
        async for _ in stream:
            pass

    context_of: list[RecordingContext] = []
    async with by_hand(leaving) as (driver, context):
        context_of.append(context)
        await context.wait_health(HealthState.UP)
        assert await driver.submit(segment()) == Accepted("7", "ESME_ROK")
        assert health == [HealthState.DOWN]
        assert isinstance(await driver.submit(segment()), Unsent)


async def test_a_stop_says_unbind_and_ends_in_time_although_nobody_answers():
    heard = bytearray()

    async def mute(stream: trio.SocketStream) -> None:
        await _bind(stream)
        with suppress(trio.BrokenResourceError):  # the reset of a link with open requests
            async for octets in stream:
                heard.extend(octets)

    context = RecordingContext()
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as outer:
            (listener,) = await outer.start(partial(trio.serve_tcp, mute, 0, host="127.0.0.1"))
            port = listener.socket.getsockname()[1]
            driver = SmppDriver("smsc", settings(port, response_timeout_s=0.2))
            async with trio.open_nursery() as nursery:
                await nursery.start(driver.run, context)
                await context.wait_health(HealthState.UP)
                nursery.cancel_scope.cancel()
            outer.cancel_scope.cancel()
    assert bytes(heard[4:8]) == b"\0\0\0\x06"


async def test_an_id_without_its_nul_is_an_acceptance():
    """Status 0 and the sequence number say that the carrier has it: sent again, it came twice."""

    async def forgetful(stream: trio.SocketStream) -> None:
        await _bind(stream)
        await stream.receive_some()
        answer = encode(SubmitSmResp("0a1b"), 2)[:-1]
        await stream.send_all(len(answer).to_bytes(4) + answer[4:])
        async for _ in stream:
            pass

    async with by_hand(forgetful) as (driver, context):
        await context.wait_health(HealthState.UP)
        assert await driver.submit(segment()) == Accepted("0a1b", "ESME_ROK")
        assert not [line for line in context.traces if "broke the protocol" in line]


def test_the_engine_can_ask_how_an_answer_wrote_an_id():
    driver: object = SmppDriver("smsc", settings(1, message_id_form="resp_hex_receipt_dec"))
    assert isinstance(driver, IdForms)
    assert "00000a1b" in driver.other_ids("2587")
