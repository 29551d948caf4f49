"""Asking a modem for what it need not know: its refusal, or even its silence, is an answer."""

from __future__ import annotations

from collections import Counter
from typing import Final

from risala.drivers.modem.at import Answer, Row
from risala.drivers.modem.link import ANSWER_S, AtLink, NoAnswerError

_SILENCES_MAX: Final = 2
"""A command that met so many silences in a row is not asked again: one may be a hang of its own."""


class Asker:
    """Any command may be ``ERROR`` on some modem, and a few hang at some: degrade, don't stop.

    One for each opening of the port: what a modem would not answer is forgotten with it.
    """

    def __init__(self, link: AtLink) -> None:
        self.link = link
        self._silences: Counter[str] = Counter()

    async def try_(self, text: str, timeout_s: float = ANSWER_S) -> Answer | None:
        """The answer; None where the modem is silent to this, but answers to something else.

        Raises:
            NoAnswerError: it answers to nothing.
            PortLostError: the line was hung up.
        """
        if self._silences[text] >= _SILENCES_MAX:
            return None
        if not self.link.engine.in_sync and not await self.link.resync():
            raise NoAnswerError("the modem does not answer")
        try:
            answer = await self.link.ask(text, timeout_s)
        except NoAnswerError:
            if not await self.link.resync():
                raise
            self._silences[text] += 1
            return None
        del self._silences[text]
        return answer

    async def ok(self, text: str, timeout_s: float = ANSWER_S) -> bool:
        """True where it takes the command."""
        answer = await self.try_(text, timeout_s)
        return answer is not None and answer.result.ok

    async def rows(self, text: str, timeout_s: float = ANSWER_S) -> tuple[Row, ...]:
        """The rows of the answer; none where it is refused."""
        answer = await self.try_(text, timeout_s)
        return answer.rows if answer is not None and answer.result.ok else ()
