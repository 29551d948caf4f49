"""What the ledger says at this moment: for billing, which remembers it from there on."""

from __future__ import annotations

import sqlite3

from risala.engine.model.errors import NotFound
from risala.engine.model.records.accounts import BalanceState


def balance_state(conn: sqlite3.Connection, organization_id: str, day: int) -> BalanceState:
    """The balance of an organization, by which entry, and what it has spent on a day of its own.

    One statement, so that all of it is of one moment.

    Raises:
        NotFound: there is none of this id.
    """
    row = conn.execute(
        "SELECT (SELECT max(seq) FROM entry WHERE organization = o.no), balance,"
        " (SELECT amount FROM spending WHERE organization_id = o.id AND day = ?)"
        " FROM organizations o WHERE id = ?",
        (day, organization_id),
    ).fetchone()
    if row is None:
        raise NotFound(f"There is no organization {organization_id}.")
    seq, balance, spent = row
    return BalanceState(seq or 0, balance, day, spent or 0)
