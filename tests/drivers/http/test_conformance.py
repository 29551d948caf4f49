"""The driver passes the suite that every driver must pass, with each preset."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

from tests.drivers.http.aggregator_line import SECRET, aggregator_and_driver

from patience import HANG_S
from risala.lab.aggregators.stand_in import StandIn
from risala.lab.aggregators.table import PASSWORD
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierGot, DriverConformance

AWAY_S = 1.0
"""Longer than the driver's ``look_s``: it has to notice."""


class HttpConformance(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    secrets: ClassVar = (PASSWORD, SECRET)
    preset: ClassVar[str]
    stand_in: StandIn

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        async with aggregator_and_driver(self.preset, answer_s=1) as (self.stand_in, driver, _):
            yield driver

    async def carrier_got(self) -> Sequence[CarrierGot]:
        now_ms = self.now_ms()
        return [
            CarrierGot(
                one.sender,
                one.to,
                one.text,
                now_ms + int(one.validity) * 1000 if one.validity else None,
            )
            for one in self.stand_in.taken
        ]

    async def send_to_us(self, sender: str, text: str) -> None:
        self.stand_in.send_text(sender, "1234", text)

    async def mute_carrier(self) -> None:
        self.stand_in.mute = True

    async def cut_link(self) -> None:
        self.stand_in.nursery.start_soon(self.stand_in.go_away, AWAY_S)


class TestAfricasTalking(HttpConformance):
    preset = "africastalking"


class TestTwilio(HttpConformance):
    preset = "twilio"


del HttpConformance, DriverConformance
