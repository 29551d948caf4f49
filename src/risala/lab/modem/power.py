"""Whether a simulated modem is available: starts, hangs, ports that vanish. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from risala.lab.modem.quirks import Until
from risala.lab.modem.world import events as e
from risala.lab.modem.world.network import Timetable
from risala.lab.modem.world.profiles import Profile

_RELEASE: Final = {
    Until.ESCAPE: re.compile(rb"\x1b"),
    Until.RESET: re.compile(rb"AT\s*Z", re.IGNORECASE),
    Until.RESTART: re.compile(rb"AT\+CFUN=1,1", re.IGNORECASE),
}
_LEAVE_S: Final = 0.5
"""Seconds from the command that restarts a stick until it leaves the bus."""
_TAIL_OCTETS: Final = 32
"""Octets kept during a hang: the command that ends it may come in pieces."""


class Powered(Protocol):
    """The rest of the modem, which Power starts and stops."""

    timetable: Timetable
    tell: Callable[[e.ModemEvent], None]

    @property
    def profile(self) -> Profile: ...

    def forget(self) -> None:
        """Forget all that a start takes away."""

    def started(self) -> None:
        """The modem has started and listens now."""

    def interrupt(self) -> None:
        """A hang is over: forget the input and running commands."""

    def lose_port(self) -> None:
        """Drop the octets that were not read yet."""

    def unsolicited(self, line: str) -> None:
        """Output an unsolicited line."""

    def say_fact(self, line: str) -> None:
        """Output a line of the profile, with the current values in it."""


class Power:
    def __init__(self, modem: Powered) -> None:
        self._modem = modem
        self.is_present = True
        """The modem's port is there."""
        self.is_listening = False
        """The modem has started, and is not switched off."""
        self._hang: Until | None = None
        self._heard = b""
        self._epoch = 0
        """Counts starts, so that actions planned before a start do not happen after it."""

    @property
    def is_awake(self) -> bool:
        """Whether the modem hears and speaks: it has started, does not hang, and its port is
        there."""
        return self.is_present and self._hang is None

    def own_after(self, wait_s: float, action: Callable[[], None]) -> None:
        """Call ``action`` later, unless the modem restarts before."""
        epoch = self._epoch
        self._modem.timetable.after(wait_s, lambda: action() if epoch == self._epoch else None)

    # -- start and end -----------------------------------------------------------------------------

    def restart(self, reason: str) -> None:
        """Restart, as after AT+CFUN=1,1 or a power cut."""
        gone_s = self._modem.profile.restart_gone_s
        if gone_s is None:
            self.boot(reason)
        else:
            self.is_listening = False
            self.own_after(_LEAVE_S, partial(self.vanish, gone_s, reason))

    def boot(self, reason: str) -> None:
        modem = self._modem
        self._epoch += 1
        self._hang, self.is_listening = None, False
        modem.forget()
        modem.tell(e.ModemStarted(reason))
        for after_s, line in modem.profile.boot:
            self.own_after(after_s, partial(modem.say_fact, line))
        self.own_after(modem.profile.boot_s, self._booted)

    def _booted(self) -> None:
        self.is_listening = True
        self._modem.started()

    def off(self) -> None:
        """Switch off: output the last line, then receive nothing until :meth:`restart`."""
        modem = self._modem
        if modem.profile.goodbye:
            modem.unsolicited(modem.profile.goodbye)
        self._epoch += 1
        self.is_listening = False

    # -- hanging -----------------------------------------------------------------------------------

    def hang(self, for_s: float | None = None, until: Until = Until.NOTHING) -> None:
        """No input or output until the time is over, ``until`` is typed, or :meth:`wake`."""
        self._hang, self._heard = until, b""
        if for_s is not None:
            self.own_after(for_s, self.wake)

    def wake(self) -> None:
        """End a hang. The input during the hang is lost."""
        if self._hang is not None:
            self._hang = None
            self._modem.interrupt()

    def hear_hung(self, octets: bytes) -> None:
        """Take octets while the modem hangs: they are lost, but may end the hang."""
        pattern = _RELEASE.get(self._hang or Until.NOTHING)
        if pattern is None:
            return
        heard = self._heard + octets
        self._heard = heard[-_TAIL_OCTETS:]
        if pattern.search(heard):
            was = self._hang
            self.wake()
            if was is Until.RESTART:
                self.restart("+CFUN=1,1")

    # -- the port ----------------------------------------------------------------------------------

    def vanish(self, for_s: float | None = None, reason: str = "plugged in") -> None:
        """Take the port away, for ``for_s`` seconds or until :meth:`come_back`."""
        if not self.is_present:
            return
        self._epoch += 1
        self.is_present, self.is_listening, self._hang = False, False, None
        self._modem.lose_port()
        self._modem.tell(e.PortGone(for_s))
        if for_s is not None:
            self.own_after(for_s, partial(self.come_back, reason))

    def come_back(self, reason: str = "plugged in") -> None:
        if not self.is_present:
            self.is_present = True
            self.boot(reason)
