"""Approvals: what one operator asked for, and another one confirms or refuses."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment, Money


class ApprovalState(StrEnum):
    """The state of a request."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class StoredApproval:
    """A request as it is stored."""

    id: str
    kind: str
    """The operation that was asked for."""
    arguments: Mapping[str, Any]
    """The arguments as they were asked; JSON."""
    amount: int | None
    """Minor units that counted against the limit; None: it always needs two."""
    organization_id: str | None
    seen: Mapping[str, Any]
    """What it would change, as it was when it was asked."""
    asked_by: str
    asked_key: str
    """The operator who asked, whatever their address is now."""
    asked_at: int
    expires_at: int
    state: ApprovalState
    decided_by: str | None = None
    decided_at: int | None = None
    why: str | None = None
    """Why it was refused, or confirmed by its asker alone."""

    def state_at(self, now_ms: int) -> ApprovalState:
        """The state of the request now: one that nobody decided in time is expired."""
        if self.state is ApprovalState.PENDING and now_ms >= self.expires_at:
            return ApprovalState.EXPIRED
        return self.state


@dataclass(frozen=True, slots=True)
class Approval:
    """A request, as operators see it."""

    id: Annotated[str, UNAUDITED]
    operation: Annotated[str, AUDITED]
    """What was asked for."""
    arguments: Annotated[Mapping[str, str], UNAUDITED]
    """The arguments as they were asked, as texts."""
    amount: Annotated[Money | None, AUDITED]
    """What counted against the limit; null: it always needs two."""
    organization_id: Annotated[str | None, UNAUDITED]
    organization_name: Annotated[str | None, UNAUDITED]
    state: Annotated[ApprovalState, AUDITED]
    asked_by: Annotated[str, AUDITED]
    asked_at: Annotated[Moment, UNAUDITED]
    expires_at: Annotated[Moment, UNAUDITED]
    decided_by: Annotated[str | None, AUDITED]
    decided_at: Annotated[Moment | None, UNAUDITED]
    why: Annotated[str | None, AUDITED]
    """Why it was refused, or confirmed by its asker alone."""
    may_confirm: Annotated[bool, UNAUDITED]
    """Whether the reader may confirm it: their role may do it, and somebody else asked."""
    may_refuse: Annotated[bool, UNAUDITED]
    """Whether the reader may refuse it; who asked may withdraw it."""


@dataclass(frozen=True, slots=True)
class Approvals:
    """Requests that wait, the oldest first; then those that were decided, the newest first."""

    approvals: tuple[Approval, ...]


LIST: Final = Ask("approval.list", Approvals)
CONFIRM: Final = Ask("approval.confirm", Approval)
REFUSE: Final = Ask("approval.refuse", Approval)
