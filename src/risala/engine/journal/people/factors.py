"""Second factors and recovery codes, as rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.people_records.factors import (
    Factor,
    FactorKind,
    FactorProof,
    ProofKind,
)

FACTORS_MAX: Final = 20
"""For one user: several devices, and some that are lost."""

_TABLE: Final = "factors"
_CODES: Final = "recovery_codes"
_FACTORS: Final = Rows(Factor, kind=FactorKind)
_OF_OPERATORS: Final = (
    "SELECT EXISTS (SELECT 1 FROM factors JOIN users ON users.id = factors.user_id"
    " WHERE users.operator = 1)"
)
_USED_APP: Final = (
    "UPDATE factors SET counter = :counter, used_at = :now"
    " WHERE id = :id AND user_id = :user AND kind = 'app' AND counter < :counter"
)
_USED_PASSKEY: Final = (
    "UPDATE factors SET counter = :counter, used_at = :now"
    " WHERE id = :id AND user_id = :user AND kind = 'passkey'"
    " AND (counter < :counter OR (counter = 0 AND :counter = 0))"
)
_USED_CODE: Final = (
    "UPDATE recovery_codes SET used_at = :now"
    " WHERE user_id = :user AND hash = :code AND used_at IS NULL"
)
_USES: Final = {
    ProofKind.APP: _USED_APP,
    ProofKind.PASSKEY: _USED_PASSKEY,
    ProofKind.RECOVERY_CODE: _USED_CODE,
}


def of_user(conn: sqlite3.Connection, user_id: str) -> list[Factor]:
    """A user's factors, the oldest first."""
    found = table(conn, _TABLE)
    return _FACTORS.find(found, "user_id = ?", (user_id,), order_by="created_at, id")


def factor(conn: sqlite3.Connection, user_id: str, factor_id: str) -> Factor:
    """One factor of a user.

    Raises:
        NotFound: the user has no such factor.
    """
    found = _FACTORS.find(table(conn, _TABLE), "user_id = ? AND id = ?", (user_id, factor_id))
    if not found:
        raise NotFound("There is no such factor.")
    return found[0]


def by_credential(conn: sqlite3.Connection, credential: bytes) -> Factor | None:
    """The passkey with this id at its authenticator; None: unknown."""
    where = "credential = ? AND kind = 'passkey'"
    found = _FACTORS.find(table(conn, _TABLE), where, (credential,))
    return found[0] if found else None


def has_any(conn: sqlite3.Connection, user_id: str) -> bool:
    """Whether a user must show a second factor."""
    return bool(table(conn, _TABLE).count_where("user_id = ?", (user_id,)))


def operators_have(conn: sqlite3.Connection) -> bool:
    """Whether any operator has a factor."""
    return bool(value_of(conn, _OF_OPERATORS))


def codes_left(conn: sqlite3.Connection, user_id: str) -> int:
    """How many recovery codes a user has not used."""
    return table(conn, _CODES).count_where("user_id = ? AND used_at IS NULL", (user_id,))


def add(conn: sqlite3.Connection, new: Factor) -> Factor:
    """Store a factor.

    Raises:
        Conflict: it is here already, or the user has too many.
    """
    if len(of_user(conn, new.user_id)) >= FACTORS_MAX:
        raise Conflict(f"A user can have at most {FACTORS_MAX} factors.")
    if new.kind is FactorKind.PASSKEY and by_credential(conn, new.credential) is not None:
        raise Conflict("This passkey is already here.")
    writable(conn, _TABLE).insert(
        {
            "id": new.id,
            "user_id": new.user_id,
            "kind": new.kind.value,
            "name": new.name,
            "site": new.site,
            "credential": new.credential,
            "public_key": new.public_key,
            "seed": new.seed,
            "counter": new.counter,
            "created_at": new.created_at,
            "used_at": new.used_at,
        }
    )
    return new


def remove(conn: sqlite3.Connection, factor_id: str) -> None:
    writable(conn, _TABLE).delete(factor_id)


def forget_all(conn: sqlite3.Connection, user_id: str) -> int:
    """Delete a user's factors and recovery codes; returns how many factors there were."""
    count = len(of_user(conn, user_id))
    for name in (_TABLE, _CODES):
        writable(conn, name).delete_where("user_id = ?", (user_id,))
    return count


def put_codes(conn: sqlite3.Connection, user_id: str, hashes: Sequence[bytes]) -> None:
    """Store a user's recovery codes in place of the earlier ones."""
    stored = writable(conn, _CODES)
    stored.delete_where("user_id = ?", (user_id,))
    stored.insert_all({"user_id": user_id, "hash": each} for each in hashes)


def use(conn: sqlite3.Connection, user_id: str, proof: FactorProof, now_ms: int) -> bool:
    """Accept a proof once; False: it was used before, or its factor is gone.

    One statement compares and writes: the same code, sent twice at once, passes once.
    """
    values = {
        "user": user_id,
        "id": proof.factor_id,
        "counter": proof.counter,
        "code": proof.code,
        "now": now_ms,
    }
    return conn.execute(_USES[proof.kind], values).rowcount == 1
