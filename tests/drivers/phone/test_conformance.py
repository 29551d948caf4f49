"""The phone driver passes the suite that we ship to plugin authors."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from typing import ClassVar

import trio
from pydantic import SecretStr

from patience import HANG_S
from phone_calls import API_URL, DirectNetwork
from risala.drivers.phone.calls import PhoneKeys
from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.settings import PhoneSettings
from risala.lab.phone.events import PhoneHappening, PhoneRefused, StreamChanged, TextSent
from risala.lab.phone.phone import PhoneConfig
from risala.lab.phone.simulator import PhoneSimulator
from risala.plugins.contract import Driver, HealthState
from risala.plugins.testing.called import CarrierCallback
from risala.plugins.testing.conformance import CarrierGot, DriverConformance

TOKEN = "private0token0of0the0phone"

GRACE_S = 3.0
"""In which a phone connects, however busy the machine is; a cut lasts as long."""


class TestPhone(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    secrets: ClassVar = (TOKEN,)
    phone: PhoneSimulator
    network: DirectNetwork
    driver: PhoneDriver

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        settings = PhoneSettings(
            token=SecretStr(TOKEN), per_minute=60, per_day_max=None, fetch_s=HANG_S, sent_s=1
        )
        self.driver = driver = PhoneDriver("phone", settings, grace_s=GRACE_S)
        self.network = DirectNetwork(driver)
        config = PhoneConfig(
            API_URL,
            TOKEN,
            sent_after_s=0,
            delivered_after_s=0,
            reconnect_s=0.01,
            retry_s=0.01,
            pull_s=0.02,
        )
        self.phone = PhoneSimulator(config, network=self.network, on_event=self.hear)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.phone.run)
            yield driver
            nursery.cancel_scope.cancel()

    def hear(self, event: PhoneHappening) -> None:
        if isinstance(event, PhoneRefused) and event.status == 401:
            self.phone.restart()  # as its owner does, where the service has forgotten it

    async def carrier_got(self) -> list[CarrierGot]:
        return [
            CarrierGot(
                sender="",  # its own number, whatever is asked
                recipient=sent.recipient,
                text=sent.text,
                expires_at_ms=sent.valid_until_ms,
            )
            for sent in self.phone.events
            if isinstance(sent, TextSent)
        ]

    async def send_to_us(self, sender: str, text: str) -> None:
        await self.phone.wait_ready()
        self.phone.receive(sender, text)

    async def mute_carrier(self) -> None:
        self.phone.behaviour.is_mute = True

    async def cut_link(self) -> None:
        self.network.down()
        await self.phone.wait(StreamChanged, lambda it: not it.is_open)
        link, line = self.driver._link, self.driver._line
        while link.health(line).state is HealthState.UP:
            await link.wait_change()
        self.network.is_up = True

    def carrier_calls(self) -> list[CarrierCallback]:
        payload = {"messageId": "in1", "sender": "+22244556677", "message": "Yes", "simNumber": 1}
        event = {"id": "event-1", "event": "sms:received", "deviceId": "x", "payload": payload}
        return [CarrierCallback("/inbound", json.dumps(event).encode())]

    def stream_calls(self) -> list[CarrierCallback]:
        return [CarrierCallback("/mobile/v1/events", method="GET")]

    async def tell_streams(self) -> None:
        self.driver._link.events.tell("MessageEnqueued")

    def prove_call(
        self, call: CarrierCallback, *, age_s: float = 0.0, other: bool = False
    ) -> CarrierCallback:
        if call.path.startswith("/mobile/"):
            token = "another0token" if other else self.phone.account["token"]
            return replace(call, headers={**call.headers, "authorization": f"Bearer {token}"})
        private_token = "another0token0than0that" if other else TOKEN
        key = PhoneKeys(private_token).phone(self.phone.account["id"])
        stamp = str(round(time.time() - age_s))
        signature = hmac.new(key.encode(), call.body + stamp.encode(), sha256).hexdigest()
        signed = {"x-timestamp": stamp, "x-signature": signature}
        return replace(call, headers={**call.headers, **signed})
