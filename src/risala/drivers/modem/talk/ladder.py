"""Recovery of a modem that does not answer: one step after the other, each of them reported.

Escape and resync → soft reset → restart → reset of the USB device → open the port again → wait for
the device. Huawei sticks hang every few minutes under load on weak hubs; most come back at one of
the first three.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import Final

import trio

from risala.drivers.modem.talk.link import AtLink

_STEADY_S: Final = 60.0
"""Seconds after which a modem that serves counts as healthy: recovery begins at the lowest rung
again."""
_RESET_S: Final = 2.0
_RESTART_S: Final = 45.0
"""Sticks take 10 to 30 s until they answer again; most leave the bus meanwhile."""
_RESTART_FIRST_S: Final = 5.0

ResetUsb = Callable[[Callable[[str], None]], Awaitable[bool]]
"""Resets the USB device; True if it was done. See
:class:`~risala.drivers.modem.port.usb.UsbReset`."""


class Rung(IntEnum):
    RESYNC = 0
    RESET = 1
    RESTART = 2
    USB_RESET = 3
    REOPEN = 4


_WORDS: Final = {
    Rung.RESYNC: "escape and resync",
    Rung.RESET: "soft reset (ATZ)",
    Rung.RESTART: "restart of the modem (AT+CFUN=1,1)",
    Rung.USB_RESET: "reset of the USB device",
    Rung.REOPEN: "reopening the port",
}


class Ladder:
    """Keeps the place in the recovery. A step that helped only for a short time does not count."""

    def __init__(self) -> None:
        self._next = Rung.RESYNC

    def served(self, for_s: float) -> None:
        """Take note that the modem has served for so long since the last step."""
        if for_s >= _STEADY_S:
            self._next = Rung.RESYNC

    def step(self) -> Rung:
        """The step to try now; the next call returns the next higher one."""
        rung = self._next
        self._next = Rung((rung + 1) % len(Rung))
        return rung


async def climb(
    link: AtLink, ladder: Ladder, trace: Callable[[str], None], reset_usb: ResetUsb
) -> bool:
    """Recover a silent modem; False if the port must be opened again.

    Raises:
        PortLostError: the line was hung up meanwhile, as restarts mostly do.
    """
    while True:
        rung = ladder.step()
        if rung is Rung.USB_RESET:
            if await reset_usb(trace):
                # The kernel makes a new device after the reset: our open port leads nowhere now,
                # whether or not it was hung up.
                trace(f"Recovery: {_WORDS[rung]}, and reopening the port.")
                return False
            continue
        trace(f"Recovery: {_WORDS[rung]}.")
        if rung is Rung.REOPEN:
            return False
        done = await _RUNGS[rung](link)
        if done:
            trace("The modem answers again.")
            return True


async def _reset(link: AtLink) -> bool:
    await link.poke(b"\rATZ\r")
    await trio.sleep(_RESET_S)
    return await link.resync()


async def _restart(link: AtLink) -> bool:
    await link.poke(b"\rAT+CFUN=1,1\r")
    # A modem still answers for a short time before it restarts: that would look like a success.
    await trio.sleep(_RESTART_FIRST_S)
    with trio.move_on_after(_RESTART_S):
        for _ in range(round(_RESTART_S)):
            if await link.resync():
                return True
    return False


_RUNGS: Final = {Rung.RESYNC: AtLink.resync, Rung.RESET: _reset, Rung.RESTART: _restart}
