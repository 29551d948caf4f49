"""What an operator changes of users, and their end, a unit of work each."""

from __future__ import annotations

import sqlite3

from risala.engine.journal import carriers
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.people import email_changes, ended_users, members, users, web_sessions
from risala.engine.model.errors import Conflict
from risala.engine.model.people import SessionKind, User
from risala.engine.model.people_records.users import UserFields


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
        email_changes.end(conn, user_id)
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
    ended_users.forget(conn, user)
    if user.operator:
        users.refuse_without_administrator(conn)
    opt_outs.forget_user(conn, user.email)
    carriers.forget_user(conn, user.email)
