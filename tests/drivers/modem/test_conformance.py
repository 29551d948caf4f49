"""The modem driver passes the suite that we ship to plugin authors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import memory_stream_pair

from patience import HANG_S
from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.settings import ModemSettings
from risala.drivers.modem.tpdu.tpfields import relative_minutes
from risala.plugins.contract import Driver
from risala.plugins.testing.conformance import CarrierGot, DriverConformance
from risala.sms.message import Concatenation


def place_of(part: Concatenation | None) -> dict[str, int]:
    """What a header says of a part."""
    if part is None:
        return {}
    return {"number": part.number, "total": part.total, "reference": part.reference}


class TestModem(DriverConformance):
    patience_s = leave_s = HANG_S
    whole_s = 5 * HANG_S

    @pytest.fixture(autouse=True)
    def _with_modem(self, new_modem, deliver_pdu):
        self.new_modem = new_modem
        self.deliver_pdu = deliver_pdu

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Driver]:
        self.modem = self.new_modem()
        async with trio.open_nursery() as nursery:

            async def open_port(port: str, baud: int) -> trio.abc.Stream:
                ours, theirs = memory_stream_pair()
                nursery.start_soon(self.modem.run, theirs)
                return ours

            yield ModemDriver(
                "sim-1",
                ModemSettings(port="/dev/fake", send_timeout_s=5),
                open_port=open_port,
                is_there=lambda _: True,
            )
            nursery.cancel_scope.cancel()

    async def carrier_got(self) -> list[CarrierGot]:
        return [
            CarrierGot(
                sender="",  # its own number, whatever is asked
                recipient=one.destination.readable,
                text=one.user_data.text,
                expires_at_ms=self.now_ms() + relative_minutes(one.validity) * 60_000,
                **place_of(one.user_data.concatenation),
                flash=one.user_data.coding.message_class == 0,
            )
            for one in self.modem.submits
        ]

    async def send_to_us(self, sender: str, text: str) -> None:
        await self.modem.receive_sms(self.deliver_pdu(text, sender))

    async def mute_carrier(self) -> None:
        self.modem.cmgs = lambda _: None

    async def cut_link(self) -> None:
        await self.modem.hang_up()
