"""Nothing that a message says stands in what the driver tells, whatever goes wrong."""

import logging
import random
import traceback
from contextlib import asynccontextmanager

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.protocol.codec import encode
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, SubmitSm
from risala.drivers.smpp.protocol.receipt import parse_receipt
from risala.drivers.smpp.protocol.submit import SubmitOptions, decode_message, submit_sm
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.behaviour import Mishap, Reaction, SteadyBehaviour
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
from risala.plugins.contract import HealthState, Inbound, Outcome, Segment
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext
from risala.sms.assembly import Assembler
from risala.sms.message import Concatenation
from risala.sms.segment import cut

SECRET = "Zq7483920"
"""In every message; nobody may tell it."""


def assert_untold(*things: object) -> None:
    for one in things:
        for told in (repr(one), str(one)):
            assert SECRET not in told, told
            assert SECRET.lower() not in told.lower(), told


@asynccontextmanager
async def line(*reactions: Reaction, **changes):
    class Scripted(SteadyBehaviour):
        def on_submit(self, system_id, request, now_s):
            return waiting.pop(0) if waiting else super().on_submit(system_id, request, now_s)

    waiting, context = list(reactions), RecordingContext()
    behaviour = Scripted(receipt_after_s=0.0)
    simulator = SmscSimulator(SimulatorConfig(), behaviour=behaviour)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(simulator.run)
            values = {"host": "127.0.0.1", "port": port, "system_id": "risala", **changes}
            driver = SmppDriver("smsc", SmppSettings(**values), rng=random.Random(1))
            await nursery.start(driver.run, context)
            await context.wait_health(HealthState.UP)
            yield driver, context, simulator
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize(
    "changes",
    [
        {"text": f"{SECRET} €", "alphabet": "ucs2"},
        {"text": f"{SECRET} \u03a9" * 9},
        {"text": f"{SECRET}\ud800"},
        {"text": SECRET * 40},
        {"sender": f"{SECRET}\0"},
        {"sender": f"{SECRET}\u0639"},
    ],
    ids=["euro", "greek", "surrogate", "long", "nul", "arabic sender"],
)
@pytest.mark.parametrize("default_alphabet", ["gsm7", "latin1"])
async def test_what_cannot_be_encoded_is_not_told(changes, default_alphabet, caplog):
    caplog.set_level(logging.DEBUG)
    async with line(default_alphabet=default_alphabet) as (driver, context, _):
        outcome = await driver.submit(segment(**changes))
        assert_untold(outcome, context.traces, context.healths, caplog.text)


@pytest.mark.parametrize(
    "reaction",
    [
        Reaction(0x08),
        Reaction(0x0B),
        Reaction(0x58),
        Reaction(0x4FF),
        *(Reaction(mishap=kind) for kind in Mishap if kind not in (Mishap.NEVER, Mishap.DEAF)),
    ],
)
async def test_what_goes_wrong_on_the_way_does_not_tell_the_text(reaction, caplog):
    caplog.set_level(logging.DEBUG)
    async with line(reaction, response_timeout_s=0.5) as (driver, context, _):
        outcome: Outcome = await driver.submit(segment(SECRET))
        assert_untold(outcome, context.traces, context.healths, caplog.text)


@pytest.mark.parametrize(
    "written",
    [
        f"id:1 stat:DELIVRD err:000 {SECRET}",
        f"id:1 stat:DELIVRD {SECRET} err:000",
        f"id:1 {SECRET} stat:DELIVRD err:000",
        f"id:1 stat:DELIVRD err:000 msg={SECRET}",
        f"id:1 stat:DELIVRD err:000 text:{SECRET}",
        f"id:1 stat:DELIVRD err:000 Text:stat:x {SECRET}",
        f"id:\"1\" stat:'DELIVRD' err:\t000\n{SECRET}",
    ],
)
def test_a_receipt_is_its_words_and_not_what_stands_between_them(written):
    receipt = parse_receipt(DeliverSm(esm_class=4, short_message=written.encode()))
    assert_untold(receipt)
    assert receipt.carrier_id == "1"
    assert receipt.raw.startswith(("stat:DELIVRD", "DELIVRD"))
    assert "err:000" in receipt.raw


def test_what_a_peer_makes_long_is_cut():
    tlvs = (Tlv(0x001E, b"7" * 60_000), Tlv(0x0423, b"7" * 60_000))
    receipt = parse_receipt(DeliverSm(esm_class=4, tlvs=tlvs))
    assert len(repr(receipt)) < 2000


async def test_messages_from_phones_are_not_told(caplog):
    caplog.set_level(logging.DEBUG)
    ends = {"source_addr": "36123456", "source_addr_ton": 1, "destination_addr": "1234"}
    header = bytes((5, 0, 3, 9, 2, 1))
    async with line(parts_timeout_s=0.01) as (_, context, simulator):
        simulator.deliver(
            DeliverSm(**ends, short_message=SECRET.encode()),
            DeliverSm(**ends, esm_class=0x40, short_message=header + SECRET.encode()),
            DeliverSm(**ends, esm_class=4, short_message=SECRET.encode()),
            DataSm(**ends, tlvs=(Tlv(0x0424, SECRET.encode()),)),
        )
        await context.wait_until(lambda told: len(told.inbounds) == 3 and len(told.traces) >= 3)
        assert any("incomplete" in text for text in context.traces)
        assert_untold(context.traces, context.healths, context.inbounds, caplog.text)


def test_nothing_that_holds_a_text_shows_it():
    """A log of an exception may show whatever was at hand."""
    one: Segment = segment(SECRET)
    pdu: SubmitSm = submit_sm(one, SubmitOptions(), 0)
    place = Concatenation(1, 2, 1, 8)
    assembler = Assembler()
    assembler.add(SECRET, place, "x")
    whole = assembler.add(SECRET, Concatenation(1, 2, 2, 8), "x")
    assert_untold(
        one,
        pdu,
        decode_message(pdu),
        whole,
        whole.parts,
        cut(SECRET),
        Inbound("+22236123456", "1234", SECRET, 0),
        DataSm(tlvs=(Tlv(0x0424, SECRET.encode()),)),
    )


@pytest.mark.parametrize(
    "fields",
    [{"short_message": SECRET.encode() * 40}, {"destination_addr": f"{SECRET}\u0639"}],
)
def test_a_pdu_that_does_not_fit_raises_without_its_values(fields):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - any, by whatever name
        encode(SubmitSm(**fields), 1)
    assert_untold("".join(traceback.format_exception(caught.value, chain=True)))
