"""The part that a reverse verification has in its session: it has no code, and no message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from risala.engine.features.reverse.records import MEMBER, NAME, ReverseRequest, ReverseSession
from risala.engine.features.reverse.rules import mark_of, name_in_text
from risala.engine.features.reverse.stored import ReverseRepository
from risala.engine.model.errors import VerifyRefused
from risala.engine.model.records.verify.sessions import Method
from risala.engine.rules.verification import VerificationRow
from risala.engine.verify.session_features import (
    NOTHING,
    CodeCheck,
    Opening,
    SessionSources,
)

NO_CODE: Final = (
    "This verification has no code: its user sends a text or calls. Wait for the event"
    " verify.approved, or ask POST /api/verify/get."
)


class ReverseSessions:
    """A :class:`risala.engine.verify.session_features.SessionFeature`."""

    def __init__(self, sources: SessionSources) -> None:
        self._ring = sources.ring
        self._names = sources.repositories.organizations
        self._stored = sources.repositories.part(ReverseRepository)

    async def open(self, opening: Opening) -> Opening:
        request: ReverseRequest = opening.command.beside[MEMBER]
        is_text = request.method is Method.INBOUND_SMS
        new = ReverseSession(
            verification_id=opening.id,
            organization_id=opening.organization_id,
            mode=opening.mode.value,
            created_at=opening.now_ms,
            method=request.method,
            send_to=request.line.number,
            carrier=request.line.carrier,
            name=name_in_text(self._names.name(opening.organization_id)),
            locale=opening.command.locale,
            token=request.token,
            word=mark_of(self._ring(), opening.id) if is_text else None,
            number=opening.command.to if request.has_number else None,
        )
        return replace(
            opening,
            is_fixed=True,  # nothing leaves
            features=(*opening.features, NAME),
            stores=(*opening.stores, self._stored.beginning(new, request.has_number)),
        )

    def code(self, session: VerificationRow) -> str | None:
        return None

    def words(self, session: VerificationRow) -> Mapping[str, str]:
        return NOTHING

    def judge(self, session: VerificationRow, check: CodeCheck) -> bool | None:
        raise VerifyRefused("NO_CODE", NO_CODE)

    def details(self, session: VerificationRow) -> Mapping[str, Any]:
        there = self._stored.find(session.id)
        return NOTHING if there is None else {"method": there.method.value}
