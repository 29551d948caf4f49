"""Payments as rows. Each function is part of a unit of work, and units run one after the other: of
two that would credit the same money, the second sees the first one's result."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.accounts import ledger
from risala.engine.journal.payments import references, texts
from risala.engine.journal.people import mails
from risala.engine.journal.store.account_part import AccountPart
from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.money import money
from risala.engine.model.people_records.mails import MailKind
from risala.engine.model.records.fields import Moment, Money
from risala.engine.model.records.paying.ledger import LedgerEntry
from risala.engine.model.records.paying.payments import (
    AskedField,
    PaymentChange,
    PaymentCredit,
    PaymentState,
    StoredPayment,
)
from risala.engine.model.records.record import to_json

_TABLE: Final = "payments"
_OPEN: Final = "state IN ('begun', 'waiting')"
_CLAIMED: Final = _OPEN + " AND by_operator = 1 AND claimed_at IS NOT NULL"
"""The term of the partial index, word for word: the planner recognises it by that."""


def _asks(text: str) -> tuple[AskedField, ...]:
    return tuple(AskedField(**each) for each in json.loads(text))


_ROWS: Final = Rows(
    StoredPayment,
    state=PaymentState,
    by_operator=bool,
    instructions=json.loads,
    asks=_asks,
    entered=json.loads,
    why=json.loads,
)
PAYMENTS: Final = _ROWS
CLAIMED: Final = _CLAIMED
"""For pages, which read them in their own order."""
_PACKED: Final = ("instructions", "entered", "why")


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values in the table's form."""
    row = dict(values)
    if "asks" in row:
        row["asks"] = json.dumps([asdict(each) for each in row["asks"]], ensure_ascii=False)
    for name in _PACKED:
        if name in row:
            row[name] = json.dumps(dict(row[name]), ensure_ascii=False)
    return row


def add(conn: sqlite3.Connection, new: StoredPayment, open_max: int) -> StoredPayment:
    """Store a payment.

    Raises:
        NotFound: no such organization.
        Conflict: too many of the organization's are under way.
    """
    # Counted at any age: a just expired one may still be confirmed.
    waiting = "organization_id = ? AND " + _OPEN + " AND (expires_at IS NULL OR expires_at > ?)"
    given = (new.organization_id, new.begun_at)
    under_way = table(conn, _TABLE).count_where(waiting, given)
    if under_way >= open_max:
        raise Conflict(
            f"An organization can have at most {open_max} open payments at once. Finish one first."
        )
    values = {each: getattr(new, each) for each in StoredPayment.__dataclass_fields__}
    writable(conn, _TABLE).insert(_row(values))
    return new


def payment(conn: sqlite3.Connection, payment_id: str) -> StoredPayment:
    """One payment.

    Raises:
        NotFound: the id is unknown.
    """
    found = _ROWS.find(table(conn, _TABLE), "id = ?", (payment_id,))
    if not found:
        raise NotFound("There is no such payment.")
    return found[0]


def page(
    conn: sqlite3.Connection,
    count: int,
    *,
    organization_id: str | None = None,
    before: str | None = None,
    is_open: bool = False,
) -> list[StoredPayment]:
    """The newest first.

    Args:
        organization_id: None: of all.
        before: the id of a payment: only older ones.
        is_open: only those that are neither confirmed nor refused, expired or not.
    """
    terms, given = ["id < :before"], {"before": before or "pay_~"}  # above every digit of an id
    if organization_id is not None:
        terms.append("organization_id = :organization_id")
        given["organization_id"] = organization_id
    if is_open:
        terms.append(_OPEN)
    where = " AND ".join(terms)
    return _ROWS.find(table(conn, _TABLE), where, given, order_by="id DESC", limit=count)


def begun(
    conn: sqlite3.Connection, count: int, after: str = "", broken: BrokenRow | None = None
) -> list[StoredPayment]:
    """Payments without an answer of their method yet, the oldest first."""
    where, found = f"id > ? AND state = 'begun' AND {_OPEN}", table(conn, _TABLE)
    return _ROWS.find(found, where, (after,), order_by="id", limit=count, broken=broken)


def count_claimed(conn: sqlite3.Connection, count_max: int) -> int:
    """Payments that are reported as paid and wait for an operator, counted up to a limit."""
    return len([*table(conn, _TABLE).rows_where(_CLAIMED, select="1", limit=count_max)])


def matching(conn: sqlite3.Connection, method: str, key: str) -> list[StoredPayment]:
    """The open payments of a method with a reference."""
    where = f"reference_key = ? AND method = ? AND {_OPEN}"
    return _ROWS.find(table(conn, _TABLE), where, (key, method), order_by="id")


def of_payer(conn: sqlite3.Connection, method: str, number: str) -> list[StoredPayment]:
    """The open payments of a method whose customer has proved that a number is theirs."""
    where = f"payer_number = ? AND method = ? AND payer_checked_at IS NOT NULL AND {_OPEN}"
    return _ROWS.find(table(conn, _TABLE), where, (number, method), order_by="id")


def to_poll(
    conn: sqlite3.Connection, at: int, count: int, broken: BrokenRow | None = None
) -> list[StoredPayment]:
    """Payments whose provider must be asked now, the longest waiting first."""
    where, found = "poll_at IS NOT NULL AND poll_at <= ?", table(conn, _TABLE)
    return _ROWS.find(found, where, (at,), order_by="poll_at", limit=count, broken=broken)


def next_poll(conn: sqlite3.Connection, besides: Collection[str] = ()) -> int | None:
    """When the next provider must be asked, about other payments than these."""
    found = conn.execute(
        f"SELECT id, poll_at FROM {_TABLE} WHERE poll_at IS NOT NULL ORDER BY poll_at LIMIT ?",  # noqa: S608 -- a constant
        (1 + len(besides),),
    )
    return next((poll_at for each, poll_at in found.fetchall() if each not in besides), None)


def change(conn: sqlite3.Connection, payment_id: str, change: PaymentChange) -> StoredPayment:
    """Change an open payment; a confirmed or refused one stays as it is."""
    return _change(conn, payment_id, change)


def _change(conn: sqlite3.Connection, payment_id: str, values: Mapping[str, Any]) -> StoredPayment:
    if payment(conn, payment_id).is_open:
        writable(conn, _TABLE).update(payment_id, _row(values))
    return payment(conn, payment_id)


def credit(
    conn: sqlite3.Connection, given: PaymentCredit, *, text_id: str | None = None
) -> LedgerEntry:
    """Credit a payment, once: with its ledger entry, if it has one.

    Args:
        text_id: the bank's text, if it is credited by that alone.

    Raises:
        NotFound: the id is unknown.
        Conflict: the reference was already credited, by another payment or by hand; or the payment
            was credited with another reference or amount.
    """
    found, at = payment(conn, given.payment_id), given.at
    if found.entry is not None:
        _refuse_other(found, given)
        return ledger.entry(conn, found.entry)
    references.refuse_credited(conn, given.provider, given.reference)
    reference = f"{given.provider} {given.reference}"
    entry = ledger.top_up(conn, found.organization_id, given.amount, reference, at)
    references.enter(conn, given.provider, given.reference, entry.seq)
    writable(conn, _TABLE).update(
        found.id,
        _row(
            {
                "state": PaymentState.CONFIRMED.value,
                "provider": given.provider,
                "reference": given.reference,
                "reference_key": given.key,
                "paid": given.amount,
                "payer": given.payer,
                "entry": entry.seq,
                "decided_by": given.by,
                "decided_at": at,
                "asks": (),
                "cause": None,
                "why": {},
                "poll_at": None,
            }
        ),
    )
    by = given.by or given.provider
    texts.settle(conn, given.key, found.method, found.id, by, at, text_id=text_id)
    organization_id, told = found.organization_id, {"payment": found.id}
    mails.owe_owners(conn, organization_id, MailKind.PAYMENT_CONFIRMED, told, at)
    return entry


def _refuse_other(found: StoredPayment, given: PaymentCredit) -> None:
    """Accept the same credit again; for another one, raise an error that names the first."""
    credited = (found.provider, found.reference_key, found.paid)
    if (given.provider, given.key, given.amount) != credited:
        raise Conflict(
            f"The payment is already confirmed: {money(found.paid or 0)} {found.currency} with "
            f"the reference {found.reference}. Nothing was credited now. To credit other money, "
            f"make a top-up with its own reference."
        )


def refuse(
    conn: sqlite3.Connection,
    payment_id: str,
    *,
    cause: str,
    why: Mapping[str, str],
    who: str | None,
    at: int,
) -> StoredPayment:
    """Refuse a payment. An already refused one stays as it is.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is credited.
    """
    found = payment(conn, payment_id)
    if found.state is PaymentState.CONFIRMED:
        raise Conflict("The payment is confirmed and credited. Correct it with an adjustment.")
    values = {
        "state": PaymentState.REFUSED.value,
        "cause": cause,
        "why": why,
        "asks": (),
        "decided_by": who,
        "decided_at": at,
        "poll_at": None,
    }
    if who is not None and found.is_open:  # a provider's refusal is shown on the page
        organization_id, told = found.organization_id, {"payment": payment_id}
        mails.owe_owners(conn, organization_id, MailKind.PAYMENT_REFUSED, told, at)
    return _change(conn, payment_id, values)


def decline(
    conn: sqlite3.Connection, payment_id: str, *, cause: str, why: Mapping[str, str], at: int
) -> StoredPayment:
    """Its provider reports that it was not paid. A decided payment stays as it is.

    Raises:
        NotFound: the id is unknown.
    """
    found = payment(conn, payment_id)
    if not found.is_open:
        return found
    return refuse(conn, payment_id, cause=cause, why=why, who=None, at=at)


@dataclass(frozen=True, slots=True)
class _Exported:
    id: str
    method: str
    amount: Money
    currency: str
    state: str
    reference: str | None
    paid: Money | None
    begun_by: str
    begun_at: Moment


_EXPORTED: Final = Rows(_Exported)


def exported(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Payments of an organization, for its owner's file."""
    found = [
        _EXPORTED.of(each)
        for each in conn.execute(
            f"SELECT {_EXPORTED.columns} FROM payments WHERE organization_id = ? AND id > ?"  # noqa: S608 -- constants
            " ORDER BY id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    rows = [to_json(each) for each in found]
    return AccountPart(rows, found[-1].id if len(found) == limit else None)
