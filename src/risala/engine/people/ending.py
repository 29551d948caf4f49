"""The end of a user: name and address leave, and whatever lets them in."""

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
        """Organizations that would be left without an owner, by their ids."""
        return self._have.users.owned_alone(user_id)

    async def delete(self, user_id: str, by: AuditEntry) -> None:
        """Forget a user; whatever they are signed in to ends at once.

        Raises:
            NotFound: there is none of this id.
            Conflict: an organization would be left without an owner.
        """
        try:
            await self._have.users.delete(user_id, by=by)
        finally:
            self._sessions.forget(user_id)
        self._sessions.tell_ended(AccessEnded(user_id))
