"""The driver passes the suite that every driver must pass."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import ClassVar

from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import (
    CarrierCallback,
    CarrierGot,
    DriverAddress,
    DriverConformance,
)

from risala_acme.api import sign

from acme_stand_in import KEY, SECRET, AcmeStandIn, carrier_and_driver

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

    async def called_at(self, address: DriverAddress) -> None:
        self.carrier.called_at = await address.listen()

    async def carrier_got(self) -> Sequence[CarrierGot]:
        return self.carrier.understood()

    async def send_to_us(self, sender: str, text: str) -> None:
        told = {"id": "in-1", "from": sender, "to": "1234", "text": text}
        self.carrier.nursery.start_soon(self.carrier.call, "/inbound", told)

    async def mute_carrier(self) -> None:
        self.carrier.mute = True

    async def cut_link(self) -> None:
        self.carrier.nursery.start_soon(self.carrier.go_away, AWAY_S)

    def carrier_calls(self) -> Sequence[CarrierCallback]:
        receipt = {"id": "acme-1", "state": "delivered"}
        text = {"id": "in-2", "from": "+22236000000", "to": "1234", "text": "Hello"}
        return [
            CarrierCallback("/receipt", json.dumps(receipt).encode()),
            CarrierCallback("/inbound", json.dumps(text).encode()),
        ]

    def prove_call(
        self, call: CarrierCallback, *, age_s: float = 0.0, other: bool = False
    ) -> CarrierCallback:
        secret = b"another account's" if other else SECRET.encode()
        signature = sign(secret, int(time.time() - age_s), call.body)
        return replace(call, headers={**call.headers, "acme-signature": signature})
