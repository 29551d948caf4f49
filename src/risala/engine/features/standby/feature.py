"""A second machine that has a copy, and takes over; the log there that answers wait for."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import UNAUDITED

_REPORT: Final = "features.standby.report:"
FEATURE: Final = Feature(
    name="standby",
    needs=("backup", "alerts"),
    operations=(later("features.standby.operations:OPERATIONS"),),
    begins=later("features.standby.service:begin"),
    tasks=later("features.standby.service:tasks"),
    statistics=later(_REPORT + "statistics"),
    live_metrics=later(_REPORT + "of_copy"),
    system={"standby": later(_REPORT + "facts")},
    measured=later(_REPORT + "measured"),
    doctor=later("features.standby.doctor:examine"),
    duties={
        Duty.HEADS: later("features.standby.service:give_heads"),
        Duty.LEASE: elsewhere("app.fenced:hold_lease"),
    },
    commands={"standby": elsewhere("cli.commands.upkeep.standby.command:standby")},
)


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
