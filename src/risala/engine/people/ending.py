"""Deletes a user: name and address, and everything that lets them sign in."""

from __future__ import annotations

from risala.engine.model.audit import AuditEntry
from risala.engine.model.people import AccessEnded
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sources import PeopleSources


class Ending:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._have = sources
        self._sessions = sessions

    def owned_alone(self, user_id: str) -> list[str]:
        """The ids of organizations that would be left without an owner."""
        return self._have.users.owned_alone(user_id)

    async def delete(self, user_id: str, by: AuditEntry) -> None:
        """Delete a user; all their sessions end at once.

        Raises:
            NotFound: no user has this id.
            Conflict: an organization would be left without an owner.
        """
        try:
            await self._have.users.delete(by, user_id)
        finally:
            self._sessions.forget(user_id)
        self._sessions.tell_ended(AccessEnded(user_id))
