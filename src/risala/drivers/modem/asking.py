"""Asking a modem for what it need not know: its refusal, or even its silence, is an answer."""

from __future__ import annotations

from risala.drivers.modem.at import Answer, Row
from risala.drivers.modem.link import ANSWER_S, AtLink, NoAnswerError


class Asker:
    """Any command may be ``ERROR`` on some modem, and a few hang at some: degrade, don't stop.

    Args:
        deaf: commands that this modem did not answer, which are not asked again.
    """

    def __init__(self, link: AtLink, deaf: set[str]) -> None:
        self.link = link
        self._deaf = deaf

    async def try_(self, text: str, timeout_s: float = ANSWER_S) -> Answer | None:
        """The answer; None where the modem is silent to this, but answers to something else.

        Raises:
            NoAnswerError: it answers to nothing.
            PortLostError: the line was hung up.
        """
        if text in self._deaf:
            return None
        try:
            return await self.link.ask(text, timeout_s)
        except NoAnswerError:
            if not await self.link.resync():
                raise
            self._deaf.add(text)
            return None

    async def ok(self, text: str, timeout_s: float = ANSWER_S) -> bool:
        """True where it takes the command."""
        answer = await self.try_(text, timeout_s)
        return answer is not None and answer.result.ok

    async def rows(self, text: str, timeout_s: float = ANSWER_S) -> tuple[Row, ...]:
        """The rows of the answer; none where it is refused."""
        answer = await self.try_(text, timeout_s)
        return answer.rows if answer is not None and answer.result.ok else ()
