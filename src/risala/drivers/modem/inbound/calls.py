"""Calls that come in: who calls is reported, and the call is hung up before it is answered, so that
nobody pays (3GPP TS 27.007 §6.20 and §7.11, V.250 §6.3.6).

A call rings every few seconds, each time with ``RING`` (or ``+CRING: VOICE``) and, where the
network tells it, ``+CLIP`` with the caller. It is one call until it is quiet again.
"""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.modem.at.engine import Urc
from risala.drivers.modem.at.fields import number, values
from risala.drivers.modem.inbound.intake import durably
from risala.drivers.modem.talk.asking import Asker
from risala.plugins.contract import DriverContext

_QUEUE_MAX: Final = 16
"""Lines about calls that wait; a ring that finds no room is followed by others."""
CALLER_S: Final = 2.0
"""How long after the first ring the line with the caller may come: with the second at the latest
some networks tell it, but by then most callers have given up."""
QUIET_S: Final = 7.0
"""A call is over when it did not ring for so long: networks ring every three to six seconds."""
_HANG_UP: Final = ("AT+CHUP", "ATH")
"""Some modems know one of them only."""
_OVER: Final = "NO CARRIER"
_RINGS: Final = ("RING", "+CRING")
_CLIP: Final = "+CLIP"
_INTERNATIONAL: Final = "145"
"""The type of a number with its country's code (27.007 §10.1.1, TS 24.008 §10.5.4.7)."""
_VALIDITY: Final = 5
"""The place of the CLI validity in +CLIP; 0 or nothing: the number is there."""


class ModemCalls:
    """Hangs up the calls of one modem, as long as its port stays open."""

    def __init__(self, context: DriverContext, asker: Asker) -> None:
        self._context = context
        self._asker = asker
        self._put, self._take = trio.open_memory_channel[Urc](_QUEUE_MAX)

    def on_urc(self, urc: Urc) -> bool:
        """Take an unsolicited result code; False if it is about no call. Never waits."""
        if urc.name not in (*_RINGS, _CLIP) and not urc.text.startswith(_OVER):
            return False
        try:
            self._put.send_nowait(urc)
        except trio.WouldBlock:
            self._context.trace("Too many lines about calls came at once; later ones count.")
        return True

    async def run(self) -> None:
        """Serve as long as the modem answers; raises LinkError when it does not."""
        urc: Urc | None = None
        while True:
            urc = urc or await self._take.receive()
            urc = None if urc.text.startswith(_OVER) else await self._call(urc)

    async def _call(self, urc: Urc) -> Urc | None:
        """One call, from its first line to its end; returns the first line of the next one, if that
        ended it."""
        caller = caller_of(urc)
        with trio.move_on_after(CALLER_S):
            while caller is None and not urc.text.startswith(_OVER):
                urc = await self._take.receive()
                caller = caller_of(urc)
        is_over = urc.text.startswith(_OVER)
        if not is_over:
            await self._hang_up()
        await self._report(caller or "")
        return None if is_over else await self._until_quiet(caller or "")

    async def _until_quiet(self, caller: str) -> Urc | None:
        """Wait until a call that was hung up rings no more, and hang it up again while it does."""
        while True:
            urc: Urc | None = None
            with trio.move_on_after(QUIET_S):
                urc = await self._take.receive()
            if urc is None or urc.text.startswith(_OVER):
                return None
            who = caller_of(urc)
            if who and caller and who != caller:
                return urc
            if who and not caller:  # the network told it late
                await self._report(who)
                caller = who
            if urc.name in _RINGS:
                await self._hang_up()

    async def _hang_up(self) -> None:
        for command in _HANG_UP:
            if await self._asker.ok(command):
                return
        self._context.trace("The modem does not hang up a call; it rings until its caller does.")

    async def _report(self, caller: str) -> None:
        if caller:
            self._context.trace(f"A call from …{caller[-4:]} was hung up.")
        else:
            self._context.trace("A call from a number that is withheld was hung up.")
        await durably(lambda: self._context.call(caller or None))


def caller_of(urc: Urc) -> str | None:
    """The caller in a line: with ``+`` where the network says that it is international; empty: the
    number is withheld. None: the line tells no caller."""
    if urc.name != _CLIP:
        return None
    fields = [*values(urc.text), "", "", "", "", "", ""]
    caller, kind, validity = fields[0], fields[1], fields[_VALIDITY]
    if number(validity) not in (None, 0):
        return ""
    if kind == _INTERNATIONAL and caller and not caller.startswith("+"):
        return f"+{caller}"
    return caller
