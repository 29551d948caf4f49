"""Changes of a user's e-mail address: a code to the old one and one to the new one confirm it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Final

from risala.engine.journal.people import mails, users, web_sessions
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.errors import Conflict
from risala.engine.model.people import EmailChange, User
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.rules.people.lifetimes import ATTEMPTS_MAX

_TABLE: Final = "email_changes"
_CHANGES: Final = Rows(EmailChange, old_confirmed=bool, new_confirmed=bool)


def of_user(conn: sqlite3.Connection, user_id: str) -> EmailChange | None:
    """A user's latest change, even if it has expired."""
    found = _CHANGES.find(table(conn, _TABLE), "user_id = ?", (user_id,))
    return found[0] if found else None


def pending(conn: sqlite3.Connection, user_id: str, now_ms: int) -> EmailChange | None:
    """The change of a user that waits for codes."""
    found = of_user(conn, user_id)
    if found is None or now_ms >= found.expires_at or found.attempts >= ATTEMPTS_MAX:
        return None
    return found


def begin(conn: sqlite3.Connection, new: EmailChange, now_ms: int) -> EmailChange:
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


def confirm(
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
    found, user = pending(conn, user_id, now_ms), users.user(conn, user_id)
    if found is None:
        return Conflict("These codes are no longer valid. Request the change again.")
    found = judge(found)
    if not (found.old_confirmed and found.new_confirmed):
        values = {
            "old_confirmed": found.old_confirmed,
            "new_confirmed": found.new_confirmed,
            "attempts": found.attempts,
        }
        writable(conn, _TABLE).update(user_id, values)
        return user, found
    end(conn, user_id)
    holder = users.by_email(conn, found.email)
    if holder is not None and holder.id != user_id:
        return Conflict("There is already an account with this address.")
    change = partial(users.change, user_id=user_id, values={"email": found.email}, now_ms=now_ms)
    changed = audited(change)(conn)
    web_sessions.make_stale(conn, user_id)
    details = {"email": found.email}
    told = NewMail(MailKind.ADDRESS_CHANGED, user.email, user.language, details)
    mails.owe(conn, told, now_ms)
    return changed, None


def end(conn: sqlite3.Connection, user_id: str) -> None:
    """A change was done, or is no longer wanted."""
    writable(conn, _TABLE).delete_where("user_id = ?", (user_id,))
