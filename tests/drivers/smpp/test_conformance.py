"""The SMPP driver passes the suite that we ship to plugin authors."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import ClassVar

import trio
from pydantic import SecretStr

from patience import HANG_S
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.protocol.inbound import inbound_pdus
from risala.drivers.smpp.protocol.pdu import DataSm, SubmitSm
from risala.drivers.smpp.protocol.times import parse_time
from risala.drivers.smpp.settings import SmppSettings
from risala.lab.smsc.behaviour import Mishap, Reaction, SteadyBehaviour
from risala.lab.smsc.events import SimulatorEvent, Submitted
from risala.lab.smsc.simulator import SimulatorConfig, SmscSimulator
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierGot, DriverConformance
from risala.sms.message import Concatenation


class Watched(SteadyBehaviour):
    """Takes everything; once told to, it answers nothing."""

    def __init__(self) -> None:
        super().__init__(receipt_after_s=0.01)
        self.is_mute = False

    def on_submit(self, system_id: str, request: SubmitSm | DataSm, now_s: float) -> Reaction:
        if self.is_mute:
            return Reaction(mishap=Mishap.NEVER, is_taken=False)
        return super().on_submit(system_id, request, now_s)


def place_of(part: Concatenation | None) -> tuple[int, ...]:
    """Number, total and reference of a part; nothing where it is none."""
    return (part.number, part.total, part.reference) if part else ()


class TestSmpp(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    secrets: ClassVar = ("pa55word",)
    simulator: SmscSimulator
    smsc: Watched
    taken: list[Submitted]
    query = True

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        self.smsc, self.taken = Watched(), []
        self.simulator = SmscSimulator(
            SimulatorConfig(receipt_retry_s=0.01),
            behaviour=self.smsc,
            on_event=self.hear,
        )
        async with trio.open_nursery() as nursery:
            port = await nursery.start(self.simulator.run)
            settings = SmppSettings(
                host="127.0.0.1",
                port=port,
                system_id="risala",
                password=SecretStr(self.secrets[0]),
                response_timeout_s=1,
                reconnect_first_s=0.01,
                query=self.query,
            )
            yield SmppDriver("smsc", settings)
            nursery.cancel_scope.cancel()

    def hear(self, event: SimulatorEvent) -> None:
        if isinstance(event, Submitted):
            self.taken.append(event)

    async def carrier_got(self) -> list[CarrierGot]:
        now_ms = time.time_ns() // 1_000_000
        return [
            CarrierGot(
                one.sender,
                one.recipient,
                one.text,
                parse_time(one.validity_period, now_ms),
                *place_of(one.concatenation),
                flash=one.flash,
            )
            for one in self.taken
        ]

    async def send_to_us(self, sender: str, text: str) -> None:
        assert self.simulator.deliver(*inbound_pdus(text, sender, "1234", 1))

    async def mute_carrier(self) -> None:
        self.smsc.is_mute = True

    async def cut_link(self) -> None:
        self.simulator.drop_links()


class TestSmppThatIsNotAsked(TestSmpp):
    query = False
