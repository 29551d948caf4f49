"""The log on a second machine that answers wait for, and the asks for it."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED


@dataclass(frozen=True, slots=True)
class LogState:
    """How the service's log stands."""

    mode: Annotated[str, UNAUDITED]
    """``before_answer``, or ``async``: answers do not wait, by an operator's order."""
    awaited: Annotated[bool, UNAUDITED]
    """PostgreSQL knows that answers wait: a takeover relies on it."""
    generation: Annotated[str | None, UNAUDITED]
    """The present whole copy; None: none stands, and no answer leaves."""
    number: Annotated[int, UNAUDITED]
    """The number of the copy's last piece."""
    pieces_behind: Annotated[int, UNAUDITED]
    """Commits that PostgreSQL has not confirmed."""
    behind_s: Annotated[float, UNAUDITED]
    """Since it had everything."""
    late: Annotated[int, UNAUDITED]
    """How often in a row it did not answer in time."""
    refuses: Annotated[bool, UNAUDITED]
    """New work is refused at once."""
    failing: Annotated[str | None, UNAUDITED]
    """Why it did not take the last piece; None: it did."""
    room_bytes: Annotated[int, UNAUDITED]
    """What the whole copy and its pieces take there."""


SHOW: Final = Ask("standby.log", LogState)
GO_ASYNC: Final = Ask("standby.async", LogState)
GO_BEFORE_ANSWER: Final = Ask("standby.before_answer", LogState)
