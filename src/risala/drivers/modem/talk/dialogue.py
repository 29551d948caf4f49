"""A dialogue by USSD with the SIM's network (27.007 §7.15): one code, one answer, and choices.

The network's answer can take half a minute. Messages may leave between a question and its answer. A
question, however, waits while a message is being sent, until that has its reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import trio

from risala.drivers.modem.at.engine import Urc
from risala.drivers.modem.at.errors import trouble_of
from risala.drivers.modem.talk.asking import Asker
from risala.drivers.modem.tpdu.ussd import END_SESSION, MORE_WANTED, read_reading, requests
from risala.sms.evident import InboundCoding

ANSWER_S: Final = 40.0
"""How long the network's answer is waited for: networks take up to half a minute."""
_COMMAND_S: Final = 30.0
"""How long the command's OK is waited for: on some modems it comes only with the network's
answer."""
_REFUSALS: Final = {
    # by <m> of +CUSD (27.007 §7.15)
    2: "The network ended it without an answer.",
    3: "Another program on the modem answered it.",
    4: "The network does not support it.",
    5: "The network did not answer in time.",
}


class UssdError(Exception):
    """The network did not answer a code; ``str()`` is the reason, a sentence."""


class Dialogues:
    """The USSD dialogues of one modem, as long as its port stays open: one at a time.

    Args:
        on_unasked: called with a text of the network that answers no question of ours.
        trace: called with what was declared and what was believed, if these differ.
        coding: how answers are read.
    """

    def __init__(
        self,
        asker: Asker,
        on_unasked: Callable[[str], None],
        trace: Callable[[str], None],
        coding: InboundCoding = InboundCoding.AUTO,
    ) -> None:
        self._asker = asker
        self._on_unasked = on_unasked
        self._trace = trace
        self._coding = coding
        self._turn = trio.Lock()
        self._answer: tuple[int, str] | None = None
        self._arrived: trio.Event | None = None
        self._is_open = False
        """The network may still wait for a choice of ours, so the dialogue must be ended first."""
        self._closed = False

    def on_urc(self, urc: Urc) -> None:
        read = read_reading(urc.text, self._coding)
        if read is None:
            return
        status, reading = read
        if not reading.is_as_declared:
            self._trace(
                f"The network's answer is not as declared: {reading.declared}, read as "
                f"{reading.believed}."
            )
        answer = (status, reading.text)
        if self._arrived is None:
            self._on_unasked(answer[1])
            return
        self._answer = answer
        self._arrived.set()

    def close(self) -> None:
        """The port closes: notify a waiting task that no answer will come."""
        self._closed = True
        if self._arrived is not None:
            self._arrived.set()

    async def dial(self, code: str, choices: Sequence[str] = ()) -> str:
        """The network's last text after a code and choices from its menus.

        Raises:
            UssdError: the network did not answer, or a given choice was not requested.
            LinkError: the modem does not answer.
        """
        async with self._turn:
            await self._end()
            # Set before the first question: if this call is cancelled, the next one ends the open
            # dialogue.
            self._is_open = True
            status, text = await self._say(code)
            for choice in choices:
                if status != MORE_WANTED:
                    raise UssdError(f"The network did not ask for a choice. It said: {text}")
                status, text = await self._say(choice)
            await self._end(is_needed=status == MORE_WANTED)
            return text

    async def _say(self, code: str) -> tuple[int, str]:
        # The event is there before the question: on some modems the answer comes before the OK.
        self._answer, self._arrived = None, trio.Event()
        try:
            await self._request(code)
            with trio.move_on_after(ANSWER_S):
                await self._arrived.wait()
        finally:
            self._arrived = None
        status, text = self._answered()
        if not text or status in (4, 5):
            raise UssdError(_REFUSALS.get(status, "The network's answer is empty."))
        return status, text

    def _answered(self) -> tuple[int, str]:
        if self._closed:
            raise UssdError("The modem's port closed before the answer came.")
        if self._answer is None:
            raise UssdError("The network did not answer in time.")
        return self._answer

    async def _request(self, code: str) -> None:
        reason = "The modem does not answer it."
        for command in requests(code):
            answer = await self._asker.try_(command, _COMMAND_S)
            if answer is not None and answer.result.ok:
                return
            if answer is not None:
                reason = trouble_of(answer.result).text
            if self._arrived is not None and self._arrived.is_set():
                return
        raise UssdError(f"The modem does not take the code. {reason}")

    async def _end(self, *, is_needed: bool = True) -> None:
        if self._is_open and is_needed:
            await self._asker.ok(END_SESSION)
        self._is_open = False
