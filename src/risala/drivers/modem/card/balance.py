"""The SIM's balance by USSD, on a schedule and on request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import trio

from risala.drivers.modem.settings import UssdBalance
from risala.drivers.modem.talk.dialogue import Dialogues, UssdError
from risala.drivers.modem.tpdu.ussd import amount_in, reads_as_answer
from risala.plugins.contract import Accepted, Outcome, Refused, Scope

_FIRST_S: Final = 20.0
"""After a start the network refuses USSD for a moment."""
_AGAIN_S: Final = 600.0
_AGAIN_LEAST_S: Final = 60.0
"""The least time between two queries of the balance, for any reason: some operators count, and
limit, dialled codes."""
_UNREADABLE: Final = (
    "The network's answer about the balance does not read as text, so no amount is taken from it."
)
_DOUBTS: Final = 3
"""Refusals in a row that may mean an empty SIM."""


class Balance:
    """Keeps the network's last text about the SIM's balance, even while the port is reopened."""

    def __init__(self, settings: UssdBalance | None) -> None:
        self._settings = settings
        self.text = ""
        self.amount: float | None = None
        self.is_readable = True
        """Whether the last answer reads as text: only then an amount is taken from it."""
        self._last_fault = ""
        self._doubts = 0
        self._doubted = trio.Event()

    @property
    def is_asked(self) -> bool:
        """Whether the settings have a code to ask the balance by."""
        return self._settings is not None

    @property
    def is_low(self) -> bool:
        low = self._settings.low if self._settings else None
        return low is not None and self.amount is not None and self.amount < low

    @property
    def attention(self) -> str | None:
        """A sentence for the operator if the balance is low; else None."""
        return f"The SIM's balance is low: {self.amount:g}." if self.is_low else None

    async def run(
        self, dialogues: Dialogues, changed: Callable[[], None], trace: Callable[[str], None]
    ) -> None:
        """Query the balance again and again, until cancelled.

        Args:
            changed: called when a new balance is known.

        Raises:
            LinkError: the modem does not answer.
        """
        if self._settings is None:
            return
        await trio.sleep(_FIRST_S)
        while True:
            self._doubts, self._doubted = 0, trio.Event()
            wait_s = self._settings.every_s
            try:
                await self.ask(dialogues)
                changed()
                if not self.is_readable:
                    trace(_UNREADABLE)
            except UssdError as fault:
                wait_s = _AGAIN_S
                if str(fault) != self._last_fault:
                    self._last_fault = str(fault)
                    trace(f"The SIM's balance is not known: {fault}")
            await trio.sleep(_AGAIN_LEAST_S)
            with trio.move_on_after(wait_s - _AGAIN_LEAST_S):
                await self._doubted.wait()

    def learn(self, outcome: Outcome) -> None:
        """Note how a submit ended. An empty prepaid SIM is refused with unspecific errors: after
        some refusals in a row the balance is queried."""
        match outcome:
            case Refused(Scope.CARRIER | Scope.NOW):
                self._doubts += 1
            case Accepted():
                self._doubts = 0
        if self._doubts >= _DOUBTS:
            self._doubted.set()

    async def ask(self, dialogues: Dialogues) -> None:
        """Ask now; :attr:`text` and :attr:`amount` are new when this returns.

        Raises:
            UssdError: the network does not answer, or the settings have no code.
        """
        if self._settings is None:
            raise UssdError("Set [carriers.modem.ussd_balance]: its code and its pattern.")
        self.text = await dialogues.dial(self._settings.code)
        self.is_readable = reads_as_answer(self.text)
        self.amount = amount_in(self.text, self._settings.pattern) if self.is_readable else None
