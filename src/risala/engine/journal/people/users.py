"""Users: people with a proved e-mail address, or entered by the operator."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from risala.engine.journal.people import sign_in_failures
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.callers import OperatorRole
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import features, required
from risala.engine.model.people import Language, User
from risala.engine.model.people_records import UserFields, UserFilter, UsersFound
from risala.engine.model.records.asks import Place, Steps
from risala.engine.model.records.people.users import versioned
from risala.engine.model.records.record import audit_image

_TABLE: Final = "users"
USERS: Final = Rows(
    User,
    language=Language,
    operator=bool,
    operator_role=lambda word: None if word is None else OperatorRole(word),
)
OPERATORS_MAX: Final = 100
"""Operators who are notified: each is a mail."""
NO_ADMINISTRATOR: Final = (
    "The operators need an administrator. Make another operator an administrator first."
)


def find(conn: sqlite3.Connection, user_id: str) -> User | None:
    rows = USERS.find(table(conn, _TABLE), "id = ?", (user_id,))
    return rows[0] if rows else None


def image(conn: sqlite3.Connection, user_id: str) -> Seen | None:
    """What the audit trail shows of a user."""
    user = find(conn, user_id)
    return None if user is None else Seen(None, audit_image(versioned(user)))


def user(conn: sqlite3.Connection, user_id: str) -> User:
    """One user.

    Raises:
        NotFound: the id is unknown.
    """
    stored = find(conn, user_id)
    if stored is None:
        raise NotFound(f"There is no user {user_id}.")
    return stored


def by_email(conn: sqlite3.Connection, email: str) -> User | None:
    """The user with this address, in its one form."""
    rows = USERS.find(table(conn, _TABLE), "email = ?", (email,))
    return rows[0] if rows else None


def has_factor(conn: sqlite3.Connection, user_id: str) -> bool:
    """Whether a user must show a second factor. Nobody signs in where no feature can say."""
    return bool(required(Duty.FACTOR)(conn, user_id))


def operators_have_factor(conn: sqlite3.Connection) -> bool:
    """Whether any operator has a second factor."""
    return bool(required(Duty.FACTOR)(conn, None))


def story(conn: sqlite3.Connection, user_id: str) -> dict[str, Any]:
    """What features show of a user, by the names of ``UserStory``."""
    return {
        name: shown()(conn, user_id)
        for feature in features()
        for name, shown in feature.of_user.items()
    }


def operators(conn: sqlite3.Connection) -> list[User]:
    """Users of the operator's pages."""
    stored = table(conn, _TABLE)
    return USERS.find(stored, "operator = 1", order_by="email", limit=OPERATORS_MAX)


def refuse_without_administrator(conn: sqlite3.Connection) -> None:
    """Refuse a change that leaves operators without an administrator among them.

    Raises:
        Conflict: nobody could change the others' roles in the console any more.
    """
    stored = table(conn, _TABLE)
    administrators = ("operator = 1 AND operator_role = ?", (OperatorRole.ADMINISTRATOR.value,))
    if stored.count_where("operator = 1") and not stored.count_where(*administrators):
        raise Conflict(NO_ADMINISTRATOR)


def operators_and(conn: sqlite3.Connection, also: str | None) -> list[tuple[str, Language]]:
    """The addresses of mails for operators, each with its language.

    Args:
        also: the address in the settings, in addition to theirs.
    """
    addresses = [(user.email, user.language) for user in operators(conn)]
    also = (also or "").lower()
    if also and also not in {email.lower() for email, _ in addresses}:
        known = by_email(conn, also)
        addresses.append((also, Language.FRENCH if known is None else known.language))
    return addresses


def add(conn: sqlite3.Connection, new: User) -> User:
    """Store a user.

    Raises:
        Conflict: another user has the address.
    """
    if by_email(conn, new.email) is not None:
        raise Conflict(f"There is already a user {new.email}.")
    writable(conn, _TABLE).insert(
        {
            "id": new.id,
            "email": new.email,
            "name": new.name,
            "language": new.language.value,
            "operator": new.operator,
            "operator_role": None if new.operator_role is None else new.operator_role.value,
            "created_at": new.created_at,
            "updated_at": new.updated_at,
            "seen_at": new.seen_at,
        }
    )
    return new


def change(conn: sqlite3.Connection, user_id: str, values: UserFields, now_ms: int) -> User:
    """Set fields of a user.

    Raises:
        NotFound: the id is unknown.
        Conflict: another user has the address.
    """
    old = user(conn, user_id)
    if "email" in values:
        holder = by_email(conn, values["email"])
        if holder is not None and holder.id != user_id:
            raise Conflict(f"There is already a user {holder.email}.")
        sign_in_failures.move(conn, old.email, values["email"])
    writable(conn, _TABLE).update(user_id, {**values, "updated_at": now_ms})
    return user(conn, user_id)


def seen(conn: sqlite3.Connection, user_id: str, now_ms: int) -> None:
    """Store that they signed in."""
    writable(conn, _TABLE).update(user_id, {"seen_at": now_ms})


# -- pages of them, in the order of their addresses


def _hit(filters: UserFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted user."""
    conditions: list[str] = []
    values: list[object] = []
    if filters.operators is not None:
        conditions.append("operator = ?")
        values.append(filters.operators)
    if filters.search is not None:
        names = spellings(filters.search)
        ways = ["email LIKE ? ESCAPE '\\'", *["name LIKE ? ESCAPE '\\'"] * len(names)]
        values += [part(filters.search), *map(part, names)]
        conditions.append(f"({' OR '.join(ways)})")
    return " AND ".join(conditions) or "1", tuple(values)


def page(
    conn: sqlite3.Connection, filters: UserFilter, *, after: str, before: str | None, limit: int
) -> UsersFound:
    """Users after an address, or with ``before`` those right before one."""
    hit, values = _hit(filters)
    way = Walk("users", "1", (), hit, values, ("email",))
    if before is not None:
        # A page goes down: "older" means lesser addresses.
        back = page_by_time(conn, USERS, way, Steps(limit, before=(before,)), _place_of)
        return UsersFound(back.items[::-1], _address(back.newer), _address(back.older))
    on = page_by_time(conn, USERS, way, Steps(limit, after=(after,)), _place_of)
    return UsersFound(on.items[::-1], _address(on.newer), _address(on.older) if after else None)


def _place_of(user: User) -> Place:
    return (user.email,)


def _address(place: Place | None) -> str | None:
    return None if place is None else str(place[0])


def count_organizations(conn: sqlite3.Connection, user_id: str) -> int:
    """The number of organizations of which a user is a member."""
    statement = "SELECT count(*) FROM members WHERE user_id = ?"
    return int(value_of(conn, statement, (user_id,)))
