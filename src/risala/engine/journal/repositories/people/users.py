"""Users, their change of address, and their end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.audit.audited import audited
from risala.engine.journal.carriers import gates, overrides
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.pages import users as lists
from risala.engine.journal.people import email_changes, ended_users, members, users, web_sessions
from risala.engine.journal.repositories.store import Store, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict
from risala.engine.model.people import EmailChange, SessionKind, User
from risala.engine.model.people_records.users import UserFields


@dataclass(frozen=True, slots=True)
class UserRepository:
    """Who has an account. All reads are by an index, on the loop's thread; a list looks at a
    bounded part of the table.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    user = read(users.user)
    by_email = read(users.by_email)
    page = read(lists.page)
    count_organizations = read(lists.organizations)
    owned_alone = read(members.owned_alone)
    email_change = read(email_changes.of_user)
    pending_email_change = read(email_changes.pending)

    # -- commands

    async def add(self, new: User, *, by: AuditEntry) -> User:
        """Store a user.

        Raises:
            Conflict: another user has the address.
        """
        return await self._store.commit(partial(users.add, new=new), by)

    async def change(
        self, user_id: str, values: UserFields, now_ms: int, *, by: AuditEntry
    ) -> User:
        """Change fields of a user who stays signed in."""
        unit = partial(users.change, user_id=user_id, values=values, now_ms=now_ms)
        return await self._store.commit(unit, by)

    async def change_by_operator(
        self, user_id: str, values: UserFields, now_ms: int, *, by: AuditEntry
    ) -> tuple[User, int]:
        """Change fields of a user, and sign out who gets another address or is no operator any
        more; how many sessions that ended.

        Raises:
            Conflict: another user has the address.
        """

        def unit(conn: sqlite3.Connection) -> tuple[User, int]:
            old = users.user(conn, user_id)
            new = users.change(conn, user_id, values, now_ms)
            ended = 0
            if new.email != old.email:
                email_changes.end(conn, user_id)
                ended = web_sessions.end(conn, user_id)
            elif old.operator and not new.operator:
                ended = web_sessions.end(conn, user_id, kind=SessionKind.OPERATOR)
            return new, ended

        return await self._store.commit(unit, by)

    async def begin_email_change(
        self, new: EmailChange, now_ms: int, *, by: AuditEntry
    ) -> EmailChange:
        """Store a change of address in place of the one begun before, and owe both codes."""
        return await self._store.commit(partial(email_changes.begin, new=new, now_ms=now_ms), by)

    async def confirm_email_change(
        self,
        user_id: str,
        judge: Callable[[EmailChange], EmailChange],
        now_ms: int,
        *,
        by: AuditEntry,
    ) -> tuple[User, EmailChange | None]:
        """Count what was typed; with the second right code the user has the new address, and no
        change is left.

        Args:
            judge: what the codes come to.
            by: leaves its line with the change of the address alone.

        Raises:
            Conflict: the codes are over, or another user has the address.
        """
        unit = partial(
            email_changes.confirm,
            user_id=user_id,
            judge=judge,
            now_ms=now_ms,
            audited=partial(audited, by),
        )
        answer = await self._store.commit(unit)
        if isinstance(answer, Conflict):
            raise answer
        return answer

    async def delete(self, user_id: str, *, by: AuditEntry) -> None:
        """Delete a user: name and address, and everything that lets them sign in.

        Raises:
            NotFound: the id is unknown.
            Conflict: an organization would be left without an owner.
        """

        def unit(conn: sqlite3.Connection) -> None:
            user = users.user(conn, user_id)
            if members.owned_alone(conn, user_id):
                raise Conflict("An organization needs an owner. Make somebody else an owner first.")
            ended_users.forget(conn, user)
            opt_outs.forget_user(conn, user.email)
            overrides.forget_user(conn, user.email)
            gates.forget_user(conn, user.email)

        await self._store.commit(unit, by)
