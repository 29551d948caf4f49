"""What an operator sees of the wire: no password, no text, no whole number."""

from __future__ import annotations

import random

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.protocol.pdu import (
    BindTransceiver,
    BindTransceiverResp,
    DeliverSm,
    EnquireLink,
    SubmitSm,
    SubmitSmResp,
)
from risala.drivers.smpp.settings import SmppSettings
from risala.drivers.smpp.wiretap import masked, pdu_text
from risala.lab.smsc.behaviour import SteadyBehaviour
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
from risala.plugins.contract import HealthState
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("+22236123456", "…3456"),
        ("22236123456", "…3456"),
        ("36123456", "…3456"),
        ("1234567", "…4567"),
        ("123456", "123456"),
        ("RISALA", "RISALA"),
        ("", ""),
    ],
)
def test_of_a_number_the_last_four_digits(address, shown):
    assert masked(address) == shown


@pytest.mark.parametrize(
    ("pdu", "line"),
    [
        (
            BindTransceiver(system_id="risala", password="hunter2"),
            "bind_transceiver #7 system_id=risala version=0x34 password=…",
        ),
        (
            BindTransceiverResp(system_id="SMSC", command_status=0x0E),
            "bind_transceiver_resp #7 ESME_RINVPASWD system_id=SMSC",
        ),
        (
            SubmitSm(
                source_addr="RISALA",
                destination_addr="22236123456",
                registered_delivery=1,
                short_message=b"4711 is your code",
            ),
            "submit_sm #7 source_addr=RISALA destination_addr=…3456 registered_delivery=1"
            " (17 octets)",
        ),
        (SubmitSmResp(message_id="1a2b"), "submit_sm_resp #7 ESME_ROK message_id=1a2b"),
        (
            DeliverSm(source_addr="22236123456", esm_class=4, short_message=b"id:1 text:4711"),
            "deliver_sm #7 source_addr=…3456 esm_class=4 (14 octets)",
        ),
        (EnquireLink(), "enquire_link #7"),
    ],
)
def test_a_pdu_in_words(pdu, line):
    assert pdu_text(pdu, 7) == line


@pytest.mark.slow
async def test_over_a_real_link_everything_is_told_and_no_secret():
    context = RecordingContext()
    config = SimulatorConfig(accounts={"risala": "hunter2"})
    simulator = SmscSimulator(config, behaviour=SteadyBehaviour(receipt_after_s=0.0))
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            port = await nursery.start(simulator.run)
            values = {"host": "127.0.0.1", "port": port, "system_id": "risala"}
            settings = SmppSettings(**values, password="hunter2")
            driver = SmppDriver("smsc", settings, rng=random.Random(1))
            await nursery.start(driver.run, context)
            await context.wait_health(HealthState.UP)
            await driver.submit(segment(text="Zq7483920 is your code", recipient="+22236123456"))
            await context.wait_receipts(1)
            nursery.cancel_scope.cancel()
    names = [(sent, line.split()[0]) for sent, line in context.wire]
    for wanted in (
        (True, "bind_transceiver"),
        (False, "bind_transceiver_resp"),
        (True, "submit_sm"),
        (False, "submit_sm_resp"),
        (False, "deliver_sm"),
    ):
        assert wanted in names
    for hidden in ("hunter2", "Zq7483920", "36123456", "text:"):
        assert not any(hidden in line for _, line in context.wire)
