"""The order of guesses: at one session one after the other, at different ones in parallel."""

from __future__ import annotations

from collections import deque

import trio

from risala.engine.model.errors import Overloaded


class Turn:
    """A place in a session's line."""

    __slots__ = ("called", "session_id")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.called = trio.Event()
        """Set once it is the first in its line."""


class Turns:
    """The lines of all sessions with guesses, in the order in which they came.

    Args:
        line_max: guesses in one session's line; further ones are refused.
    """

    def __init__(self, line_max: int) -> None:
        self._line_max = line_max
        self._lines: dict[str, deque[Turn]] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def join(self, session_id: str) -> Turn:
        """Take the last place in a session's line. The caller must :meth:`leave` in any case.

        Raises:
            Overloaded: the line is full.
        """
        line = self._lines.setdefault(session_id, deque())
        if len(line) >= self._line_max:
            raise Overloaded(
                "Too many checks of this code are already waiting. Try again in a moment."
            )
        turn = Turn(session_id)
        line.append(turn)
        if len(line) == 1:
            turn.called.set()
        return turn

    def leave(self, turn: Turn) -> None:
        """Leave the line, judged or not: the next one's turn comes."""
        line = self._lines[turn.session_id]
        line.remove(turn)
        if not line:
            del self._lines[turn.session_id]
        else:
            line[0].called.set()
