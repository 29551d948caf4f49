"""Changes of users: by an operator, of their address, which two codes confirm, and their end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal import carriers
from risala.engine.journal.people import mails, members, users, web_sessions
from risala.engine.journal.store.audited import audited
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict
from risala.engine.model.features import features
from risala.engine.model.people import EmailChange, SessionKind, User
from risala.engine.model.people_records import MailKind, NewMail, UserFields
from risala.engine.rules.people.lifetimes import ATTEMPTS_MAX


def change_by_operator(
    conn: sqlite3.Connection, user_id: str, values: UserFields, now_ms: int
) -> tuple[User, int]:
    """Change fields of a user, and sign out who gets another address or is no operator any more;
    how many sessions that ended. Another role as an operator counts as one: what their pages
    follow ends, and begins again.

    Raises:
        Conflict: another user has the address, or the operators would be without an administrator.
    """
    old = users.user(conn, user_id)
    new = users.change(conn, user_id, values, now_ms)
    ended = 0
    if new.email != old.email:
        end_email_change(conn, user_id)
        ended = web_sessions.end(conn, user_id)
    elif old.operator and not new.operator:
        ended = web_sessions.end(conn, user_id, kind=SessionKind.OPERATOR)
    elif old.operator_role is not new.operator_role:
        web_sessions.make_stale(conn, user_id)
        ended = 1
    if old.operator_role is not new.operator_role:
        users.refuse_without_administrator(conn)
    return new, ended


def delete(conn: sqlite3.Connection, user_id: str) -> None:
    """Delete a user: name and address, and everything that lets them sign in.

    Raises:
        NotFound: the id is unknown.
        Conflict: an organization would be left without an owner, or the operators without an
            administrator.
    """
    user = users.user(conn, user_id)
    if members.owned_alone(conn, user_id):
        raise Conflict("An organization needs an owner. Make somebody else an owner first.")
    forget(conn, user)
    if user.operator:
        users.refuse_without_administrator(conn)
    conn.execute("UPDATE opt_outs SET who = NULL WHERE who = ?", (user.email,))
    carriers.forget_user(conn, user.email)


# -- a user's end: all rows that identify them. The audit trail has their actions, under the name
# that they had then


_BY_USER: Final = (
    *("members", "web_sessions", "one_time_links", "email_changes", "sign_in_requests"),
)
_BY_ADDRESS: Final = (
    ("invitations", "email"),
    ("invitations", "invited_by"),
    ("sign_in_requests", "email"),
    ("sign_in_failures", "email"),
    ("mails", "recipient"),
)


def forget(conn: sqlite3.Connection, user: User) -> None:
    """Delete a user from every table, including their open invitations."""
    theirs = (name for feature in features() for name in feature.of_users)
    for name in (*_BY_USER, *theirs):
        writable(conn, name).delete_where("user_id = ?", (user.id,))
    for name, column in _BY_ADDRESS:
        writable(conn, name).delete_where(f"{column} = ?", (user.email,))
    writable(conn, "users").delete(user.id)


# -- another address: a code to the old one and one to the new one confirm it


_TABLE: Final = "email_changes"
_CHANGES: Final = Rows(EmailChange, old_confirmed=bool, new_confirmed=bool)


def email_change_of(conn: sqlite3.Connection, user_id: str) -> EmailChange | None:
    """A user's latest change, even if it has expired."""
    rows = _CHANGES.find(table(conn, _TABLE), "user_id = ?", (user_id,))
    return rows[0] if rows else None


def pending_email_change(conn: sqlite3.Connection, user_id: str, now_ms: int) -> EmailChange | None:
    """The change of a user that waits for codes."""
    change = email_change_of(conn, user_id)
    if change is None or now_ms >= change.expires_at or change.attempts >= ATTEMPTS_MAX:
        return None
    return change


def begin_email_change(conn: sqlite3.Connection, new: EmailChange, now_ms: int) -> EmailChange:
    """Store a change in place of the former one, and owe both codes."""
    writable(conn, _TABLE).upsert(
        {
            "user_id": new.user_id,
            "id": new.id,
            "email": new.email,
            "old_confirmed": False,
            "new_confirmed": False,
            "attempts": 0,
            "expires_at": new.expires_at,
        }
    )
    user = users.user(conn, new.user_id)
    for kind, to in (
        (MailKind.OLD_ADDRESS_CODE, user.email),
        (MailKind.NEW_ADDRESS_CODE, new.email),
    ):
        details = {"change": new.id, "user": user.id}
        mails.owe(conn, NewMail(kind, to, user.language, details, new.expires_at), now_ms)
    return new


def confirm_email_change(
    conn: sqlite3.Connection,
    user_id: str,
    judge: Callable[[EmailChange], EmailChange],
    now_ms: int,
    audited: Callable[[Unit[User]], Unit[User]],
) -> tuple[User, EmailChange | None] | Conflict:
    """Count what was typed; with the second right code the user gets the new address, and the
    change is deleted. A refusal is returned, not raised: its attempt counts nevertheless.

    Args:
        judge: the result of the codes.
        audited: writes the line in the audit trail about the change of the address.
    """
    email_change, user = pending_email_change(conn, user_id, now_ms), users.user(conn, user_id)
    if email_change is None:
        return Conflict("These codes are no longer valid. Request the change again.")
    email_change = judge(email_change)
    if not (email_change.old_confirmed and email_change.new_confirmed):
        values = {
            "old_confirmed": email_change.old_confirmed,
            "new_confirmed": email_change.new_confirmed,
            "attempts": email_change.attempts,
        }
        writable(conn, _TABLE).update(user_id, values)
        return user, email_change
    end_email_change(conn, user_id)
    holder = users.by_email(conn, email_change.email)
    if holder is not None and holder.id != user_id:
        return Conflict("There is already an account with this address.")
    change = partial(
        users.change, user_id=user_id, values={"email": email_change.email}, now_ms=now_ms
    )
    changed = audited(change)(conn)
    web_sessions.make_stale(conn, user_id)
    details = {"email": email_change.email}
    mail = NewMail(MailKind.ADDRESS_CHANGED, user.email, user.language, details)
    mails.owe(conn, mail, now_ms)
    return changed, None


def end_email_change(conn: sqlite3.Connection, user_id: str) -> None:
    """A change was done, or is no longer wanted."""
    writable(conn, _TABLE).delete_where("user_id = ?", (user_id,))


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class UserRepository:
    """The users. All reads are by an index, on the loop's thread; a list looks at a
    bounded part of the table.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    user = read(users.user)
    by_email = read(users.by_email)
    has_factor = read(users.has_factor)
    operators_have_factor = read(users.operators_have_factor)
    story = read(users.story)
    page = read(users.page)
    count_organizations = read(users.count_organizations)
    owned_alone = read(members.owned_alone)
    email_change = read(email_change_of)
    pending_email_change = read(pending_email_change)

    # -- commands

    add = audited_command(users.add)
    change = audited_command(users.change)
    change_by_operator = audited_command(change_by_operator)
    begin_email_change = audited_command(begin_email_change)

    async def confirm_email_change(
        self,
        by: AuditEntry,
        user_id: str,
        judge: Callable[[EmailChange], EmailChange],
        now_ms: int,
    ) -> tuple[User, EmailChange | None]:
        """Count what was typed; with the second right code the user has the new address, and no
        change is left.

        Args:
            by: leaves its line with the change of the address alone.
            judge: what the codes come to.

        Raises:
            Conflict: the codes are over, or another user has the address.
        """
        unit = partial(
            confirm_email_change,
            user_id=user_id,
            judge=judge,
            now_ms=now_ms,
            audited=partial(audited, by),
        )
        answer = await self._store.commit(unit)
        if isinstance(answer, Conflict):
            raise answer
        return answer

    delete = audited_command(delete)
