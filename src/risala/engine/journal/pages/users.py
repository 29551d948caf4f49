"""Pages of users, in the order of their addresses."""

from __future__ import annotations

import sqlite3

from risala.engine.journal.pages.by_time import Walk, page_by_time
from risala.engine.journal.people.users import USERS
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.model.people import User
from risala.engine.model.people_records.users import UserFilter, UsersFound
from risala.engine.model.records.paging import Place, Steps


def _hit(wanted: UserFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted user."""
    conditions: list[str] = []
    given: list[object] = []
    if wanted.operators is not None:
        conditions.append("operator = ?")
        given.append(wanted.operators)
    if wanted.search is not None:
        names = spellings(wanted.search)
        ways = ["email LIKE ? ESCAPE '\\'", *["name LIKE ? ESCAPE '\\'"] * len(names)]
        given += [part(wanted.search), *map(part, names)]
        conditions.append(f"({' OR '.join(ways)})")
    return " AND ".join(conditions) or "1", tuple(given)


def page(
    conn: sqlite3.Connection, wanted: UserFilter, *, after: str, before: str | None, limit: int
) -> UsersFound:
    """Users after an address, or with ``before`` those right before one."""
    hit, given = _hit(wanted)
    way = Walk("users", "1", (), hit, given, ("email",))
    if before is not None:
        # A page goes down: "older" means lesser addresses.
        back = page_by_time(conn, USERS, way, Steps(limit, before=(before,)), _place_of)
        return UsersFound(back.found[::-1], _address(back.newer), _address(back.older))
    on = page_by_time(conn, USERS, way, Steps(limit, after=(after,)), _place_of)
    return UsersFound(on.found[::-1], _address(on.newer), _address(on.older) if after else None)


def _place_of(user: User) -> Place:
    return (user.email,)


def _address(place: Place | None) -> str | None:
    return None if place is None else str(place[0])


def organizations(conn: sqlite3.Connection, user_id: str) -> int:
    """The number of organizations of which a user is a member."""
    statement = "SELECT count(*) FROM members WHERE user_id = ?"
    return int(value_of(conn, statement, (user_id,)))
