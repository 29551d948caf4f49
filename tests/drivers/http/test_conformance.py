"""The driver passes the suite that every driver must pass, with each preset."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import ClassVar
from unittest.mock import patch

from tests.drivers.http.aggregator_line import SECRET, aggregator_and_driver

from patience import HANG_S
from risala.lab.aggregators import row
from risala.lab.aggregators.row import ACCESS_TOKEN, PASSWORD, SIGNING_SECRET, TOKEN
from risala.lab.aggregators.stand_in import StandIn, callback_request
from risala.lab.aggregators.table import SIGNING
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierCallback, CarrierGot, DriverConformance

AWAY_S = 1.0
"""Longer than the driver's ``look_s``: it has to notice."""


class HttpConformance(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    secrets: ClassVar = (PASSWORD, SECRET, TOKEN, ACCESS_TOKEN, SIGNING_SECRET)
    preset: ClassVar[str]
    receipt_path: ClassVar = "/receipt"
    """Of those that are told with each message where receipts go."""
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
                now_ms + one.validity_s * 1000 if one.validity_s else None,
                flash=one.flash,
            )
            for one in self.stand_in.taken
        ]

    async def send_to_us(self, sender: str, text: str) -> None:
        self.stand_in.send_text(sender, "1234", text)

    async def mute_carrier(self) -> None:
        self.stand_in.mute = True

    async def cut_link(self) -> None:
        self.stand_in.nursery.start_soon(self.stand_in.go_away, AWAY_S)

    def carrier_calls(self) -> Sequence[CarrierCallback]:
        api = self.stand_in.aggregator
        values = {"id": "own-77", "from": "+22236999999", "to": "1234", "text": "Oui, 604719"}
        brought = []
        if api.receipt is not None:
            brought.append((api.receipt, api.receipt.path or self.receipt_path))
        if api.inbound is not None:
            brought.append((api.inbound, api.inbound.path))
        made = [callback_request(one, path, values) for one, path in brought]
        return [CarrierCallback(one.address, one.body, one.headers, one.method) for one in made]

    def prove_call(
        self, call: CarrierCallback, *, age_s: float = 0.0, other: bool = False
    ) -> CarrierCallback:
        if self.preset not in SIGNING:
            raise NotImplementedError
        key = "whsec_" + base64.b64encode(b"of another account").decode() if other else ""
        with (
            patch.object(row, "PASSWORD", key or PASSWORD),
            patch.object(row, "SIGNING_SECRET", key or SIGNING_SECRET),
            patch.object(row, "now_s", lambda: time.time() - age_s),
        ):
            url = f"{self.stand_in.called_at}{call.path}"
            text = call.body.decode(errors="replace")  # it signs texts
            signed = self.stand_in.aggregator.sign(url, text.encode())
        return replace(call, headers={**call.headers, **signed})


class TestAfricasTalking(HttpConformance):
    preset = "africastalking"


class TestTwilio(HttpConformance):
    preset = "twilio"
    unseen: ClassVar = frozenset({"old"})
    """Its signature has no time in it."""


class TestInfobip(HttpConformance):
    preset = "infobip"


class TestOrange(HttpConformance):
    preset = "orange"


class TestKannel(HttpConformance):
    preset = "kannel"
    receipt_path = "/receipt?id={id}&state=%d&to=%p"


class TestRisala(HttpConformance):
    preset = "risala"


class TestVonage(HttpConformance):
    preset = "vonage"


class TestPlivo(HttpConformance):
    preset = "plivo"


class TestTelnyx(HttpConformance):
    preset = "telnyx"


class TestMessagebird(HttpConformance):
    preset = "messagebird"


class TestSinch(HttpConformance):
    preset = "sinch"


class TestClickatell(HttpConformance):
    preset = "clickatell"


class TestTextbee(HttpConformance):
    preset = "textbee"
    unseen: ClassVar = frozenset({"old"})
    """Its signature has no time in it."""


class TestHttpsms(HttpConformance):
    preset = "httpsms"


class TestRutos(HttpConformance):
    preset = "rutos"
    unseen: ClassVar = frozenset({"identity"})
    """It forwards a text without an id."""


class TestMikrotik(HttpConformance):
    preset = "mikrotik"
    unseen: ClassVar = frozenset({"alphabets", "length", "calls"})
    """It sends short texts without accents, and never calls."""


del HttpConformance, DriverConformance
