"""The end of a user: name and address leave, and whatever lets them in."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.carriers import gates, overrides
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.people import ended_users, members, users
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict
from risala.engine.model.people import AccessEnded
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sources import PeopleSources


class Ending:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._have = sources
        self._sessions = sessions

    def owned_alone(self, user_id: str) -> list[str]:
        """Organizations that would be left without an owner, by their ids."""
        return _owned_alone(self._have.reader, user_id)

    async def delete(self, user_id: str, by: Signature) -> None:
        """Forget a user; whatever they are signed in to ends at once.

        Raises:
            NotFound: there is none of this id.
            Conflict: an organization would be left without an owner.
        """

        def unit(conn: sqlite3.Connection) -> None:
            user = users.user(conn, user_id)
            if _owned_alone(conn, user_id):
                raise Conflict("An organization needs an owner: make somebody else one first.")
            ended_users.forget(conn, user)
            opt_outs.forget_user(conn, user.email)
            overrides.forget_user(conn, user.email)
            gates.forget_user(conn, user.email)

        try:
            await self._have.recorder.journal.commit(signed(by, unit))
        finally:
            self._sessions.forget(user_id)
        self._sessions.tell_ended(AccessEnded(user_id))


def _owned_alone(conn: sqlite3.Connection, user_id: str) -> list[str]:
    mine = [each for each in members.of_user(conn, user_id) if each.role is Role.OWNER]
    return [
        each.organization_id
        for each in mine
        if members.owners(conn, each.organization_id) == [user_id]
    ]
