"""Which serial ports of this machine are modems: each is asked AT, and no PIN is ever typed.

The ports of one stick may all answer; they show the same IMEI.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import trio

from risala.drivers.modem import serial
from risala.drivers.modem.asking import Asker
from risala.drivers.modem.bench import OpenPort
from risala.drivers.modem.host import Host
from risala.drivers.modem.identity import identify_modem
from risala.drivers.modem.link import AtLink, LinkError
from risala.drivers.modem.serial import PortError, PortSeen
from risala.drivers.modem.start import talk_plainly

_AT_ONCE: Final = 16
_ASK_S: Final = 1.5
_ASKED: Final = 2
"""The first AT after a rest may be lost."""
_PORT_S: Final = 15.0
_CLOSE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Candidate:
    port: str
    """Its name under ``/dev/serial/by-id`` where it has one: that survives a replug."""
    device: str
    description: str = ""
    answers: bool = False
    modem: str = ""
    imei: str = ""
    text: str = ""
    """Why it was not asked, or did not answer."""


def candidates(host: Host, seen: Callable[[], Iterable[PortSeen]] | None = None) -> list[Candidate]:
    """Every serial port once."""
    told = {port.device: port.description for port in (seen or serial.ports_seen)()}
    named = [Candidate(name, device, told.get(device, "")) for name, device in host.names().items()]
    devices = {each.device for each in named}
    rest = [
        Candidate(device, device, description)
        for device, description in told.items()
        if os.path.realpath(device) not in devices
    ]
    return named + rest


async def ask_all(
    found: list[Candidate], baud: int, open_port: OpenPort = serial.open_port
) -> list[Candidate]:
    """Each with its answer; many at once, each for a bounded time."""
    answers: dict[str, Candidate] = {}
    limit = trio.CapacityLimiter(_AT_ONCE)

    async def one(candidate: Candidate) -> None:
        async with limit:
            answers[candidate.port] = await _ask(candidate, baud, open_port)

    async with trio.open_nursery() as nursery:
        for candidate in found:
            nursery.start_soon(one, candidate)
    return [answers[candidate.port] for candidate in found]


async def _ask(candidate: Candidate, baud: int, open_port: OpenPort) -> Candidate:
    text = "It does not open in time."
    with trio.move_on_after(_PORT_S):
        try:
            stream = await open_port(candidate.port, baud)
        except PortError as fault:
            return _said(candidate, str(fault))
        text = "It answers too slowly."
        link = AtLink(stream)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            try:
                return await _identified(candidate, link)
            except LinkError:
                return _said(candidate, "It does not answer AT.")
            finally:
                with trio.move_on_after(_CLOSE_S, shield=True):
                    await stream.aclose()
                nursery.cancel_scope.cancel()
    return _said(candidate, text)


async def _identified(candidate: Candidate, link: AtLink) -> Candidate:
    for ask in range(1, _ASKED + 1):
        try:
            await link.ask("AT", _ASK_S)
            break
        except LinkError:
            # Nothing else is said to what may be no modem at all.
            if ask == _ASKED:
                raise
            link.engine.forget()
    asker = Asker(link)
    await talk_plainly(asker)
    identity = await identify_modem(asker)
    return Candidate(
        candidate.port,
        candidate.device,
        candidate.description,
        answers=True,
        modem=identity.name,
        imei=identity.imei,
    )


def _said(candidate: Candidate, text: str) -> Candidate:
    return Candidate(candidate.port, candidate.device, candidate.description, text=text)
