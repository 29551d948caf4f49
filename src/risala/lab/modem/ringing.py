"""Calls that come in: ``RING`` and ``+CLIP`` until somebody hangs up (V.250 §6.3.4, 3GPP TS 27.007
§7.11). Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from risala.lab.modem.at.replies import Rows
from risala.lab.modem.at.syntax import NumberSettings
from risala.lab.modem.world import events as e
from risala.lab.modem.world.config import ModemConfig

EVERY_S: Final = 5.0
"""Between two rings."""
RINGS_MAX: Final = 6
"""Then the caller gives up."""
_INTERNATIONAL: Final = 145
_UNKNOWN: Final = 129
_NOBODY: Final = '"",128,,,,2'
"""No number, because the caller or a network holds it back."""


class RingingPower(Protocol):
    def own_after(self, wait_s: float, action: Callable[[], None]) -> None:
        """Call ``action`` later, unless the modem restarts before."""


class RingingModem(Protocol):
    """What a call needs of a modem."""

    config: ModemConfig
    settings: NumberSettings
    tell: Callable[[e.ModemEvent], None]

    @property
    def power(self) -> RingingPower: ...

    def unsolicited(self, line: str) -> None:
        """Output an unsolicited line."""


class Ringing:
    """The call that a modem has now, if it has one."""

    def __init__(self) -> None:
        self._call = 0
        """Counts calls; what was planned for an earlier one does nothing."""
        self._caller: str | None = None

    def ring(self, modem: RingingModem, caller: str) -> None:
        """Let somebody call.

        Args:
            caller: the number; empty: it is withheld.
        """
        self._call += 1
        self._caller = caller
        modem.tell(e.CallCame(caller))
        self._say(modem, self._call, RINGS_MAX)

    def _say(self, modem: RingingModem, call: int, rings: int) -> None:
        if self._caller is None or call != self._call:
            return
        if not rings:
            self._caller = None
            modem.unsolicited("NO CARRIER")
            return
        modem.unsolicited("RING")
        if modem.settings["+CLIP"][0]:
            modem.unsolicited(f"+CLIP: {_line_of(modem, self._caller)}")
        modem.power.own_after(EVERY_S, partial(self._say, modem, call, rings - 1))

    def hang_up(self, modem: RingingModem) -> Rows:
        """ATH, +CHUP: the call is over; nothing, if there is none."""
        if self._caller is not None:
            modem.tell(e.CallEnded(self._caller))
            self._caller = None
        return ()


def _line_of(modem: RingingModem, caller: str) -> str:
    if not caller or not modem.config.shows_callers:
        return _NOBODY
    return f'"{caller}",{_INTERNATIONAL if caller.startswith("+") else _UNKNOWN}'
