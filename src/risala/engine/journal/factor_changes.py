"""Changes of second factors, a unit of work each: their owner, and the owners of each organization
that they work for, are told by mail."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.engine.journal.people import factors, identities, mails, members, users, web_sessions
from risala.engine.model.errors import Conflict
from risala.engine.model.people import User
from risala.engine.model.people_records.factors import Factor, FactorKind
from risala.engine.model.people_records.mails import MailKind, NewMail

TOLD_MAX: Final = 200
"""Other people who are told of one change: each is a mail."""


def add(
    conn: sqlite3.Connection, new: Factor, codes: Sequence[bytes], session_id: str, now_ms: int
) -> Factor:
    """Store a factor. With the first one come recovery codes, and all other sessions of the user
    end: from then on each session has shown a factor.

    Args:
        codes: the hashes of recovery codes, in case it is the first factor.

    Raises:
        NotFound: the user is gone.
        Conflict: it is here already, or the user has too many.
    """
    user = users.user(conn, new.user_id)
    is_first = not factors.has_any(conn, user.id)
    added = factors.add(conn, new)
    if is_first:
        factors.put_codes(conn, user.id, codes)
        web_sessions.end(conn, user.id, but=session_id)
    _tell(conn, user, MailKind.FACTOR_ADDED, now_ms, new.kind)
    return added


def remove(
    conn: sqlite3.Connection, user_id: str, factor_id: str, now_ms: int, *, keep_one: bool
) -> Factor:
    """Delete a factor; with the last one the recovery codes go.

    Raises:
        NotFound: the user has no such factor.
        Conflict: it is the last one, and one is to be kept.
    """
    found, user = factors.factor(conn, user_id, factor_id), users.user(conn, user_id)
    if keep_one and len(factors.of_user(conn, user_id)) == 1:
        raise Conflict("Operators need a second factor here. Set up another one first.")
    factors.remove(conn, factor_id)
    if not factors.has_any(conn, user_id):
        factors.forget_all(conn, user_id)
    _tell(conn, user, MailKind.FACTOR_REMOVED, now_ms, found.kind)
    return found


def renew_codes(
    conn: sqlite3.Connection, user_id: str, codes: Sequence[bytes], now_ms: int
) -> None:
    """Store other recovery codes in place of the present ones.

    Raises:
        Conflict: the user has no factor.
    """
    user = users.user(conn, user_id)
    if not factors.has_any(conn, user_id):
        raise Conflict("Recovery codes belong to a factor. Set up a factor first.")
    factors.put_codes(conn, user_id, codes)
    _tell(conn, user, MailKind.RECOVERY_CODES_MADE, now_ms)


def reset(conn: sqlite3.Connection, user_id: str, now_ms: int) -> int:
    """Delete all factors of a user and what they have at identity providers, and end their
    sessions; returns how many there were.

    Raises:
        NotFound: the user is gone.
    """
    user = users.user(conn, user_id)
    count = factors.forget_all(conn, user_id) + identities.forget(conn, user_id)
    if count:
        web_sessions.end(conn, user_id)
        _tell(conn, user, MailKind.FACTORS_RESET, now_ms)
    return count


def tell_code_used(conn: sqlite3.Connection, user: User, now_ms: int) -> None:
    """A recovery code let somebody in: its owner may not have been that."""
    _owe(conn, user, user, MailKind.RECOVERY_CODE_USED, now_ms, None)


def _tell(
    conn: sqlite3.Connection,
    user: User,
    kind: MailKind,
    now_ms: int,
    factor: FactorKind | None = None,
) -> None:
    for each in (user, *_others(conn, user)):
        _owe(conn, each, user, kind, now_ms, factor)


def _others(conn: sqlite3.Connection, user: User) -> list[User]:
    """Owners of the user's organizations; and of an operator, all operators."""
    found = {
        owner
        for place in members.of_user(conn, user.id)
        for owner in members.owners(conn, place.organization_id)
    }
    if user.operator:
        found |= {each.id for each in users.operators(conn)}
    return [users.user(conn, each) for each in sorted(found - {user.id})[:TOLD_MAX]]


def _owe(
    conn: sqlite3.Connection,
    reader: User,
    user: User,
    kind: MailKind,
    now_ms: int,
    factor: FactorKind | None,
) -> None:
    details = {
        "who": user.email,
        "at": now_ms,
        "factor": "" if factor is None else factor.value,
    }
    mails.owe(conn, NewMail(kind, reader.email, reader.language, details), now_ms)
