"""Top-ups entered by an operator: credited once for each reference."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts import ledger
from risala.engine.journal.payments import references, texts
from risala.engine.model.records.paying.ledger import LedgerEntry
from risala.engine.rules.paying.references import comparable

BY_HAND: Final = "topup"
"""The settler of a bank's text whose reference was entered by hand."""


def top_up(
    conn: sqlite3.Connection,
    organization_id: str,
    amount: int,
    reference: str,
    at: int,
    *,
    note: str | None,
) -> LedgerEntry:
    """Credit an organization; banks' texts with this reference no longer wait.

    Raises:
        NotFound: no such organization.
        Conflict: the reference was credited already.
    """
    references.refuse_credited(conn, references.BY_HAND, reference)
    entry = ledger.top_up(conn, organization_id, amount, reference, at, note=note)
    references.enter(conn, references.BY_HAND, reference, entry.seq)
    key = comparable(reference)
    if key is not None:
        texts.settle(conn, key, None, None, BY_HAND, at)
    return entry
