"""The driver passes the suite that every driver must pass, with each way to sign in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import ClassVar

from tests.drivers.hilink.stick_line import PASSWORD, quick, stick_and_driver

from patience import HANG_S
from risala.lab.hilink.simulator import HilinkSimulator
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierGot, DriverConformance

GONE_S = 0.5
"""Longer than the driver's ``poll_s``: it has to notice."""


class StickConformance(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S
    secrets: ClassVar = (PASSWORD, "4711")
    login: ClassVar = "none"
    lists_tokens: ClassVar = False
    stick: HilinkSimulator

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        config = quick(
            login=self.login, password=PASSWORD, pin="4711", lists_tokens=self.lists_tokens
        )
        settings = {"password": PASSWORD, "pin": "4711", "send_timeout_s": 1, "answer_s": 1}
        async with stick_and_driver(config, **settings) as (self.stick, driver):
            yield driver

    async def carrier_got(self) -> Sequence[CarrierGot]:
        return [CarrierGot("", each.recipient, each.text) for each in self.stick.device.sent]

    async def send_to_us(self, sender: str, text: str) -> None:
        self.stick.device.receive(sender, text, kind=1)

    async def mute_carrier(self) -> None:
        self.stick.device.behaviour.stuck = True

    async def cut_link(self) -> None:
        self.stick.reboot(GONE_S)


class TestOpenStick(StickConformance):
    pass


class TestOldPassword(StickConformance):
    login = "base64"


class TestHashedPassword(StickConformance):
    login = "sha256"
    lists_tokens = True


class TestScram(StickConformance):
    login = "scram"


del StickConformance, DriverConformance
