"""The SIM's balance by USSD, on a schedule and on request (27.007 §7.15)."""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.modem.asking import Asker
from risala.drivers.modem.at import Urc
from risala.drivers.modem.settings import UssdBalance
from risala.drivers.modem.ussd import END_SESSION, MORE_WANTED, amount_in, read_answer, requests

_ANSWER_S: Final = 60.0
_FIRST_S: Final = 20.0
"""After a start the network refuses USSD for a moment."""
_AGAIN_S: Final = 600.0


class Balance:
    """The last answer outlives the port that it came through."""

    def __init__(self, settings: UssdBalance | None) -> None:
        self._settings = settings
        self.text = ""
        self.amount: float | None = None
        self._answered = trio.Event()
        self._wants_end = False

    @property
    def is_low(self) -> bool:
        low = self._settings.low if self._settings else None
        return low is not None and self.amount is not None and self.amount < low

    def on_urc(self, urc: Urc) -> None:
        found = read_answer(urc.text)
        if found is None or self._settings is None:
            return
        status, text = found
        self._wants_end = status == MORE_WANTED
        if text:
            self.text, self.amount = text, amount_in(text, self._settings.pattern)
        self._answered.set()

    async def run(self, asker: Asker) -> None:
        """Ask for life; raises LinkError when the modem answers nothing."""
        if self._settings is None:
            return
        await trio.sleep(_FIRST_S)
        while True:
            answered = await self.ask(asker)
            await trio.sleep(self._settings.every_s if answered else _AGAIN_S)

    async def ask(self, asker: Asker) -> bool:
        """True once the network has answered; :attr:`text` and :attr:`amount` are new then."""
        assert self._settings is not None
        self._answered = trio.Event()
        for command in requests(self._settings.code):
            if await asker.ok(command, _ANSWER_S):
                break
        else:
            return False
        with trio.move_on_after(_ANSWER_S):
            await self._answered.wait()
        if self._wants_end or not self._answered.is_set():
            self._wants_end = False
            await asker.ok(END_SESSION)
        return self._answered.is_set()
