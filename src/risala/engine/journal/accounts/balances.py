"""Reads the present balance from the ledger, for billing, which then keeps it in memory."""

from __future__ import annotations

import sqlite3

from risala.engine.model.errors import NotFound
from risala.engine.model.records.accounts import BalanceState


def balance_state(conn: sqlite3.Connection, organization_id: str, day: int) -> BalanceState:
    """The balance of an organization, its entry, and its spending on a day of its own calendar.

    One statement, so that all of it is of one time.

    Raises:
        NotFound: the id is unknown.
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
