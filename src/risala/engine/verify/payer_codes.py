"""Codes to the numbers of payers: the service's own verification, paid for by an organization of
the operator."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.engine.actors.actor import Ref
from risala.engine.journal.repositories.verifications import VerificationRepository
from risala.engine.model.clock import Clock
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import (
    Forbidden,
    InsufficientBalance,
    Invalid,
    NotFound,
    SpendCapReached,
    Unavailable,
)
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode, SessionState
from risala.engine.payments.sources import CodeStatus
from risala.engine.verify.sessions import Judge, Open, SessionsMessage

_KEY: Final = "payments"
"""In place of a key: no key was used."""
_NOT_NOW: Final = "The code cannot be sent now. Try again later."
_OURS: Final = (NotFound, Forbidden, InsufficientBalance, SpendCapReached, Invalid)
"""Errors that concern the operator, and that a payer cannot fix."""


class CodesFailed(Unavailable):
    """The operator's organization sends no code: it is unknown, suspended or has no money."""


@dataclass(frozen=True, slots=True)
class VerifiedPayers:
    """Sends and checks the codes; see :class:`risala.engine.payments.sources.PayerCodes`."""

    organization_id: str | None
    """The organization that pays for them; None: no codes are sent."""
    sessions: Ref[SessionsMessage]
    stored: VerificationRepository
    clock: Clock

    @property
    def are_sent(self) -> bool:
        return self.organization_id is not None

    async def send(self, number: str, language: str) -> str:
        if self.organization_id is None:
            raise CodesFailed(_NOT_NOW)
        principal = Principal(self.organization_id, _KEY, KeyType.SECRET, Mode.LIVE)
        try:
            session_id: str = await self.sessions.ask(
                Open(principal, SendCode(to=number, locale=language))
            )
        except _OURS as error:
            raise CodesFailed(_NOT_NOW) from error
        return session_id

    async def judge(self, session_id: str, code: str) -> bool:
        found = self.stored.find(session_id)
        if found is None:
            return False
        whose = Principal(found.organization_id, _KEY, KeyType.SECRET, Mode(found.mode))
        approved: bool = await self.sessions.ask(Judge(whose, session_id, code))
        return approved

    def status(self, session_id: str) -> CodeStatus:
        found = self.stored.find(session_id)
        state = None if found is None else found.status_at(self.clock.now_ms())
        if state is SessionState.PENDING:
            return CodeStatus.PENDING
        return CodeStatus.APPROVED if state is SessionState.APPROVED else CodeStatus.OVER
