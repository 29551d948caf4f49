"""Money: append-only entries, each with the balance after it, written with what it pays for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import value_of, write_values
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.ids import key_ms
from risala.engine.model.money import money
from risala.engine.model.numbers import ENTRY_KINDS
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.ledger import LedgerEntry
from risala.engine.model.times import iso

TOP_UP: Final = ENTRY_KINDS.number("topup")

_ROWS: Final = Rows(
    LedgerEntry,
    {
        "organization_id": "(SELECT id FROM organizations WHERE no = organization)",
        "reference": "coalesce(reference, (SELECT id FROM message WHERE key = message))",
        "at": "coalesce(at, message >> 15)",
        "messages": "CASE kind WHEN 0 THEN coalesce(messages, 1) END",
    },
    kind=ENTRY_KINDS.word,
)
_ENTRY: Final = f"SELECT {_ROWS.columns} FROM entry"  # noqa: S608 -- a constant
_REFUND: Final = (
    "INSERT INTO entry (organization, kind, amount, balance_after, message, at)"
    " SELECT no, 1, ?, balance, ?, ? FROM organizations WHERE id = ?"
    " RETURNING seq, balance_after"
)
_CHARGE_ROWS: Final = (
    "INSERT INTO entry (seq, organization, kind, amount, balance_after, message, messages, at)"
    " SELECT column1, column2, 0, column3, column4, column5, nullif(column6, 1),"
    " nullif(column7, 0) FROM ({values})"
)


def is_charged(conn: sqlite3.Connection, key: int) -> bool:
    """Whether a message was charged for when it was accepted."""
    return value_of(conn, "SELECT charge FROM message WHERE key = ?", (key,)) is not None


def refund(
    conn: sqlite3.Connection, organization_id: str, amount: int, key: int, at: int
) -> Entered | None:
    """Refund a message's price, once; None: it was refunded before."""
    done = conn.execute("SELECT 1 FROM entry WHERE message = ? AND kind = 1", (key,)).fetchone()
    if done is not None:
        return None
    conn.execute(
        "UPDATE organizations SET balance = balance + ? WHERE id = ?", (amount, organization_id)
    )
    seq, balance = conn.execute(_REFUND, (amount, key, at, organization_id)).fetchone()
    return Entered(organization_id, seq, balance)


class Charge(NamedTuple):
    """The charge of one request, for one organization."""

    seq: int
    organization: int
    amount: int
    balance_after: int
    message: int
    """The key of the first message that it pays for."""
    messages: int
    at: int


def next_seq(conn: sqlite3.Connection) -> int:
    """The number of the next entry: a charge gives it to the messages that it pays for."""
    (last,) = conn.execute("SELECT max(seq) FROM entry").fetchone()
    return (last or 0) + 1


def charge(conn: sqlite3.Connection, charges: Iterable[Charge]) -> None:
    """Enter charges; the caller, which knows all balances, writes those."""
    write_values(
        conn,
        _CHARGE_ROWS,
        [
            (
                *(one.seq, one.organization, -one.amount, one.balance_after, one.message),
                *(one.messages, 0 if key_ms(one.message) == one.at else one.at),
            )
            for one in charges
        ],
    )


def top_up(
    conn: sqlite3.Connection,
    organization_id: str,
    amount: int,
    reference: str,
    at: int,
    *,
    note: str | None = None,
) -> LedgerEntry:
    """Credit an organization, once for each reference, in any case.

    Raises:
        NotFound: no such organization.
        Conflict: the reference was credited already, here or to another.
    """
    balance = _balance(conn, organization_id)
    where = f"reference = ? COLLATE NOCASE AND entry.kind = {TOP_UP}"
    for first in _ROWS.find(table(conn, "entry"), where, (reference,)):
        raise Conflict(credited(first))
    values = ("topup", amount, balance + amount, reference, None, note, at)
    return _enter_by_hand(conn, LedgerEntry(0, organization_id, *values))


def credited(first: LedgerEntry) -> str:
    """The error for an operator that a reference was already credited."""
    return (
        f"The reference {first.reference} was already credited: {money(first.amount)} to "
        f"{first.organization_id}, at {iso(first.at)}."
    )


def entry(conn: sqlite3.Connection, seq: int) -> LedgerEntry:
    """One entry.

    Raises:
        NotFound: the number is unknown.
    """
    row = conn.execute(f"{_ENTRY} WHERE seq = ?", (seq,)).fetchone()
    if row is None:
        raise NotFound("There is no such entry.")
    return _ROWS.of(row)


def of_numbers(conn: sqlite3.Connection, seqs: Sequence[int]) -> list[LedgerEntry]:
    """The entries of these numbers, in their order."""
    if not seqs:
        return []
    holes = ", ".join("?" for _ in seqs)
    rows = conn.execute(f"{_ENTRY} WHERE seq IN ({holes})", tuple(seqs))
    entries = {each.seq: each for each in map(_ROWS.of, rows)}
    return [entries[seq] for seq in seqs]


def adjust(
    conn: sqlite3.Connection,
    organization_id: str,
    amount: int,
    reference: str,
    at: int,
    *,
    note: str | None = None,
) -> LedgerEntry:
    """Correct a balance by a signed amount.

    Raises:
        NotFound: no such organization.
        Conflict: the balance would become negative.
    """
    balance = _balance(conn, organization_id)
    after = balance + amount
    if after < 0:
        text = f"The balance is {money(balance)}, and this adjustment would make it negative."
        raise Conflict(text)
    values = ("adjustment", amount, after, reference, None, note, at)
    return _enter_by_hand(conn, LedgerEntry(0, organization_id, *values))


def _balance(conn: sqlite3.Connection, organization_id: str) -> int:
    for row in table(conn, "organizations").rows_where(
        "id = ?", (organization_id,), select="balance"
    ):
        return int(row["balance"])
    raise NotFound(f"There is no organization {organization_id}.")


def _enter_by_hand(conn: sqlite3.Connection, new: LedgerEntry) -> LedgerEntry:
    """Write an entry, and the balance after it; returns its number."""
    after = {"balance": new.balance_after}
    writable(conn, "organizations").update(new.organization_id, after)
    organization = table(conn, "organizations").get(new.organization_id)
    inserted = writable(conn, "entry").insert(
        {
            "organization": organization["no"],
            "kind": ENTRY_KINDS.number(new.kind),
            "amount": new.amount,
            "balance_after": new.balance_after,
            "reference": new.reference,
            "note": new.note,
            "at": new.at,
        }
    )
    assert inserted.last_rowid is not None
    return replace(new, seq=inserted.last_rowid)
