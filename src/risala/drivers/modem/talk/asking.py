"""Optional questions to a modem: a refusal, or even silence, is an acceptable answer."""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.modem.at.engine import Answer, Row
from risala.drivers.modem.talk.link import ANSWER_S, AtLink, NoAnswerError

_SILENCES_MAX: Final = 2
"""A command without an answer so many times in a row is not asked again for :data:`_SILENT_S`:
after a single silence the modem may just have hung by chance."""
_SILENT_S: Final = 3600.0
"""The pause for such a command; then it is asked again, since a bad cable may have lost it."""


class Asker:
    """Any command may be ``ERROR`` on some modem, and a few hang at some: degrade, don't stop.

    One for each opening of the port: its memory of unanswered commands ends with the port.
    """

    def __init__(self, link: AtLink) -> None:
        self.link = link
        self._silences: dict[str, tuple[int, float]] = {}
        """By command: its silences in a row, and the time of the last one."""

    async def try_(
        self, text: str, timeout_s: float = ANSWER_S, *, by_operator: bool = False
    ) -> Answer | None:
        """The answer to a command; None if the modem does not answer it, but answers others.

        Args:
            by_operator: the operator has asked for this command.

        Raises:
            NoAnswerError: it answers nothing.
            PortLostError: the line was hung up.
        """
        silences, at_s = self._silences.get(text, (0, 0.0))
        if silences >= _SILENCES_MAX and trio.current_time() - at_s < _SILENT_S:
            return None
        # The question and the mending of a silence are one turn of the link: a command of another
        # task in between would be refused, because the link is out of step.
        async with self.link.turn():
            await self.fall_in_step()
            try:
                answer = await self.link.ask(text, timeout_s, by_operator=by_operator)
            except NoAnswerError:
                if not await self.link.resync():
                    raise
                self._silences[text] = (silences + 1, trio.current_time())
                return None
            self._silences.pop(text, None)
            return answer

    async def fall_in_step(self) -> None:
        """Synchronise the link after a command that was given up or cancelled.

        Call it within a turn of the link.

        Raises:
            NoAnswerError: the modem answers nothing.
            PortLostError: the line was hung up.
        """
        if not self.link.engine.in_sync and not await self.link.resync():
            raise NoAnswerError("the modem does not answer")

    async def ok(self, text: str, timeout_s: float = ANSWER_S) -> bool:
        """True if it takes the command."""
        answer = await self.try_(text, timeout_s)
        return answer is not None and answer.result.ok

    async def rows(self, text: str, timeout_s: float = ANSWER_S) -> tuple[Row, ...]:
        """The rows of the answer; empty if it is refused."""
        answer = await self.try_(text, timeout_s)
        return answer.rows if answer is not None and answer.result.ok else ()
