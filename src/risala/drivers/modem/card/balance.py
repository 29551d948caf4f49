"""The SIM's balance by USSD, on a schedule and on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from risala.drivers.modem.settings import UssdBalance
from risala.drivers.modem.talk.dialogue import Dialogues, UssdError
from risala.drivers.modem.tpdu.ussd import amount_in
from risala.plugins.contract import Accepted, Outcome, Refused, Scope

_FIRST_S: Final = 20.0
"""After a start the network refuses USSD for a moment."""
_AGAIN_S: Final = 600.0
_AGAIN_LEAST_S: Final = 60.0
"""However much is in doubt: some operators count what is dialled."""
_DOUBTS: Final = 3
"""Refusals in a row that may mean an empty SIM."""


class Balance:
    """The last answer outlives the port that it came through."""

    def __init__(self, settings: UssdBalance | None) -> None:
        self._settings = settings
        self.text = ""
        self.amount: float | None = None
        self._told = ""
        self._doubts = 0
        self._doubted = trio.Event()

    @property
    def is_asked(self) -> bool:
        """The settings say how."""
        return self._settings is not None

    @property
    def is_low(self) -> bool:
        low = self._settings.low if self._settings else None
        return low is not None and self.amount is not None and self.amount < low

    @property
    def attention(self) -> str | None:
        """A sentence where it is low."""
        return f"The SIM's balance is low: {self.amount:g}." if self.is_low else None

    async def run(
        self, dialogues: Dialogues, changed: Callable[[], None], trace: Callable[[str], None]
    ) -> None:
        """Ask for life; raises LinkError when the modem answers nothing."""
        if self._settings is None:
            return
        await trio.sleep(_FIRST_S)
        while True:
            self._doubts, self._doubted = 0, trio.Event()
            wait_s = self._settings.every_s
            try:
                await self.ask(dialogues)
                changed()
            except UssdError as fault:
                wait_s = _AGAIN_S
                if str(fault) != self._told:
                    self._told = str(fault)
                    trace(f"The SIM's balance is not told: {fault}")
            await trio.sleep(_AGAIN_LEAST_S)
            with trio.move_on_after(wait_s - _AGAIN_LEAST_S):
                await self._doubted.wait()

    def learn(self, outcome: Outcome) -> None:
        """An empty prepaid SIM gives errors that do not say so: some in a row, and it is asked."""
        match outcome:
            case Refused(Scope.CARRIER | Scope.NOW):
                self._doubts += 1
            case Accepted():
                self._doubts = 0
        if self._doubts >= _DOUBTS:
            self._doubted.set()

    async def ask(self, dialogues: Dialogues) -> None:
        """:attr:`text` and :attr:`amount` are new when this returns.

        Raises:
            UssdError: the network does not tell, or the settings have no code.
        """
        if self._settings is None:
            raise UssdError("Set [carriers.modem.ussd_balance]: its code and its pattern.")
        self.text = await dialogues.dial(self._settings.code)
        self.amount = amount_in(self.text, self._settings.pattern)
