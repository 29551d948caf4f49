"""The driver passes the suite that every driver must pass."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

from acme_stand_in import KEY, SECRET, Acme
from line import acme_and_driver

from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierGot, DriverConformance

AWAY_S = 0.5
"""Longer than the driver's ``look_s``: it has to notice."""


class TestAcme(DriverConformance):
    patience_s = leave_s = 30.0  # a busy machine takes its time
    secrets: ClassVar = (KEY, SECRET)
    acme: Acme

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        async with acme_and_driver(answer_s=5) as (self.acme, driver):
            yield driver

    async def carrier_got(self) -> Sequence[CarrierGot]:
        return self.acme.understood()

    async def send_to_us(self, sender: str, text: str) -> None:
        told = {"type": "inbound", "id": "in-1", "from": sender, "to": "1234", "text": text}
        self.acme.nursery.start_soon(self.acme.call_back, told)

    async def mute_carrier(self) -> None:
        self.acme.mute = True

    async def cut_link(self) -> None:
        self.acme.nursery.start_soon(self.acme.go_away, AWAY_S)
