"""The changes of a verification session: exactly the specification's table 3.1. Pure.

The table below is the machine; the diagram in ``docs/reference/verification-states.md`` is drawn
from it by :func:`diagram`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.events import EventType
from risala.engine.model.states import SessionState


class Trigger(StrEnum):
    """What may happen to a verification session."""

    CODE_MATCHED = "the code matches"
    CODE_WRONG = "a wrong code, attempts remain"
    LAST_CODE_WRONG = "a wrong code, the last attempt"
    TIME_OVER = "the expiry period passes"
    DELIVERY_FAILED = "the SMS cannot be sent"
    WITHDRAWN = "explicit cancel"


@dataclass(frozen=True, slots=True)
class Move:
    """The state that a trigger leads to, and the event about it."""

    to: SessionState
    event: EventType | None = None
    reason: str | None = None


TABLE: Final[dict[tuple[SessionState, Trigger], Move]] = {
    (SessionState.PENDING, Trigger.CODE_MATCHED): Move(
        SessionState.APPROVED, EventType.VERIFY_APPROVED
    ),
    (SessionState.PENDING, Trigger.CODE_WRONG): Move(SessionState.PENDING),
    (SessionState.PENDING, Trigger.LAST_CODE_WRONG): Move(
        SessionState.CANCELED, EventType.VERIFY_FAILED, "max_attempts"
    ),
    (SessionState.PENDING, Trigger.TIME_OVER): Move(
        SessionState.EXPIRED, EventType.VERIFY_FAILED, "expired"
    ),
    (SessionState.PENDING, Trigger.DELIVERY_FAILED): Move(
        SessionState.CANCELED, EventType.VERIFY_FAILED, "delivery_failed"
    ),
    (SessionState.PENDING, Trigger.WITHDRAWN): Move(
        SessionState.CANCELED, EventType.VERIFY_FAILED, "canceled"
    ),
}
"""The moves by state and trigger. A missing pair changes nothing: a session that is not pending
never moves again."""


@dataclass(frozen=True, slots=True)
class VerificationSession:
    """What a decision needs of a session."""

    state: SessionState
    attempts: int
    attempts_max: int
    expires_at: int
    """UTC epoch milliseconds; from this moment on the session is over."""


@dataclass(frozen=True, slots=True)
class VerificationRow:
    """A session as it is stored."""

    id: str
    organization_id: str
    mode: str
    recipient: str
    status: SessionState
    reason: str | None
    attempts: int
    attempts_max: int
    code_length: int
    message_id: str
    """Empty: no SMS left."""
    expires_at: int
    created_at: int
    updated_at: int
    features: str | None = None
    """The features that have a part in the session, with spaces between; None: none has."""

    @property
    def feature_names(self) -> list[str]:
        return self.features.split() if self.features else []

    @property
    def is_fixed(self) -> bool:
        """Whether its number had a fixed code when it was opened, so that no SMS left."""
        return not self.message_id

    @property
    def session(self) -> VerificationSession:
        return VerificationSession(self.status, self.attempts, self.attempts_max, self.expires_at)

    def status_at(self, now_ms: int) -> SessionState:
        """The status to show: never pending after its time, even before that is written."""
        over = self.status is SessionState.PENDING and now_ms >= self.expires_at
        return SessionState.EXPIRED if over else self.status


@dataclass(frozen=True, slots=True)
class CodeVerdict:
    """The result of a check."""

    approved: bool
    trigger: Trigger | None
    """The check's effect on the session; None: nothing."""


def judge(session: VerificationSession, *, matches: bool, now_ms: int) -> CodeVerdict:
    """Judge one guess. A session that is over denies every guess."""
    if session.state is not SessionState.PENDING:
        return CodeVerdict(False, None)
    if now_ms >= session.expires_at:
        return CodeVerdict(False, Trigger.TIME_OVER)
    if matches:
        return CodeVerdict(True, Trigger.CODE_MATCHED)
    last = session.attempts + 1 >= session.attempts_max
    return CodeVerdict(False, Trigger.LAST_CODE_WRONG if last else Trigger.CODE_WRONG)


def diagram() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> pending: POST /api/verify/send (verify.sent)"]
    for (state, trigger), move in TABLE.items():
        effect = f" ({move.event}{': ' + move.reason if move.reason else ''})" if move.event else ""
        lines.append(f"    {state} --> {move.to}: {trigger}{effect}")
    lines += [f"    {state} --> [*]" for state in SessionState if state is not SessionState.PENDING]
    return "\n".join(lines)
