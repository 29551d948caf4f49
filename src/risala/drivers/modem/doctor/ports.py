"""Finds the modems among the serial ports: each port is asked AT, and no PIN is ever typed.

The ports of one stick may all answer; they show the same IMEI.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.modem.doctor.bench import OpenPort, Tap
from risala.drivers.modem.port import serial
from risala.drivers.modem.port.host import MODEM_MANAGER, Host, Process
from risala.drivers.modem.port.serial import PortError, PortFault, PortSeen
from risala.drivers.modem.ready.identity import identify_modem
from risala.drivers.modem.ready.start import talk_plainly
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.talk.link import AtLink, LinkError

_AT_ONCE: Final = 16
_ASK_S: Final = 1.5
_ASKED: Final = 2
"""The first AT after a rest may be lost."""
_PORT_S: Final = 15.0
_CLOSE_S: Final = 5.0
_HILINK_URL: Final = "http://192.168.8.1"


@dataclass(frozen=True, slots=True)
class Candidate:
    port: str
    """The port's path; under ``/dev/serial/by-id`` if it has one there, which survives a replug."""
    device: str
    description: str = ""
    answers: bool = False
    modem: str = ""
    imei: str = ""
    text: str = ""
    """Why it was not asked, or did not answer."""
    busy: bool = False
    """The port is held open by another program."""
    served: bool = False
    """The program that has it open is the Risala service, as it should be."""


def candidates(host: Host, seen: Callable[[], Iterable[PortSeen]] | None = None) -> list[Candidate]:
    """Every serial port once."""
    texts = {port.device: port.description for port in (seen or serial.ports_seen)()}
    named = [
        Candidate(name, device, texts.get(device, "")) for name, device in host.names().items()
    ]
    devices = {each.device for each in named}
    rest = [
        Candidate(device, device, description)
        for device, description in texts.items()
        if os.path.realpath(device) not in devices
    ]
    return named + rest


def without_port(host: Host) -> list[Candidate]:
    """The HiLink sticks, at the address that each has until somebody gives it another one."""
    return [
        Candidate(
            _HILINK_URL,
            f"USB {each}",
            "HiLink stick",
            text=f'It has no port: driver = "hilink". More: risala modem probe {_HILINK_URL}',
        )
        for each in host.hilink_sticks()
    ]


async def ask_all(
    ports: list[Candidate],
    baud: int,
    open_port: OpenPort = serial.open_port,
    *,
    holders: Callable[[str], list[Process]],
) -> list[Candidate]:
    """The candidates with the answer of each; many are asked at once, each for a limited time.

    Args:
        holders: gives the processes that have a port open.
    """
    answers: dict[str, Candidate] = {}
    limit = trio.CapacityLimiter(_AT_ONCE)

    async def one(candidate: Candidate) -> None:
        async with limit:
            answer = await _ask(candidate, baud, open_port)
            if answer.busy:
                answer = _held(answer, holders(candidate.port))
            answers[candidate.port] = answer

    async with trio.open_nursery() as nursery:
        for candidate in ports:
            nursery.start_soon(one, candidate)
    return [answers[candidate.port] for candidate in ports]


async def _ask(candidate: Candidate, baud: int, open_port: OpenPort) -> Candidate:
    text = "It does not open in time."
    with trio.move_on_after(_PORT_S):
        try:
            stream = await open_port(candidate.port, baud)
        except PortError as fault:
            return replace(candidate, text=str(fault), busy=fault.fault is PortFault.BUSY)
        text = "It answers too slowly."
        tap = Tap(stream)
        link = AtLink(tap)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            try:
                return await _identified(candidate, link, tap)
            except LinkError:
                return replace(candidate, text="It does not answer AT.")
            finally:
                with trio.move_on_after(_CLOSE_S, shield=True):
                    await stream.aclose()
                nursery.cancel_scope.cancel()
    return replace(candidate, text=text)


async def _identified(candidate: Candidate, link: AtLink, tap: Tap) -> Candidate:
    for ask in range(1, _ASKED + 1):
        try:
            await link.ask("AT", _ASK_S)
            break
        except LinkError:
            # A silent device may be no modem, so nothing else is sent to it. But one that echoes
            # may be a modem in the middle of entering a message's text, which ESC ends.
            if ask == _ASKED and (b"AT" not in tap.heard or not await link.resync()):
                raise
            link.engine.forget()
    asker = Asker(link)
    await talk_plainly(asker)
    identity = await identify_modem(asker)
    return replace(candidate, answers=True, modem=identity.name, imei=identity.imei)


def _held(candidate: Candidate, holders: list[Process]) -> Candidate:
    if not holders:
        return candidate
    names = ", ".join(each.title for each in holders)
    if all(each.is_service for each in holders):
        return replace(candidate, text=f"In use by {names}, as it should be.", served=True)
    if any(each.name == MODEM_MANAGER for each in holders):
        return replace(candidate, text=f'In use by {names}: driver = "modemmanager" uses it there.')
    return replace(candidate, text=f"In use by {names}; stop it to look closer.")
