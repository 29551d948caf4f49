"""The driver passes the suite that every driver must pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierGot, DriverConformance

from line import carrier_and_driver

from acme_stand_in import KEY, SECRET, AcmeStandIn

AWAY_S = 0.5
"""Longer than the driver's ``look_s``: it has to notice."""


class TestAcme(DriverConformance):
    patience_s = leave_s = 30.0  # a busy machine takes its time
    secrets: ClassVar = (KEY, SECRET)
    carrier: AcmeStandIn

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        async with carrier_and_driver(answer_s=5) as (self.carrier, driver):
            yield driver

    async def carrier_got(self) -> Sequence[CarrierGot]:
        return self.carrier.understood()

    async def send_to_us(self, sender: str, text: str) -> None:
        told = {"type": "inbound", "id": "in-1", "from": sender, "to": "1234", "text": text}
        self.carrier.nursery.start_soon(self.carrier.call_back, told)

    async def mute_carrier(self) -> None:
        self.carrier.mute = True

    async def cut_link(self) -> None:
        self.carrier.nursery.start_soon(self.carrier.go_away, AWAY_S)
