"""Payments as rows. Each function that writes is part of a unit of work, and units run one after
the other: of two that would credit the same money, the second sees the first one's result."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.payments.records import (
    WAITING,
    AskedField,
    PaymentChange,
    PaymentCredit,
    PaymentFilter,
    PaymentState,
    StoredPayment,
)
from risala.engine.features.payments.rules import DAY_MS
from risala.engine.features.payments.stored import texts
from risala.engine.journal.accounts import ledger, references
from risala.engine.journal.people import mails
from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.pages import AccountPart, Walk, page_by_time
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict
from risala.engine.model.ids import first_id
from risala.engine.model.money import money
from risala.engine.model.people_records import MailKind
from risala.engine.model.records.asks import CursorPage, Place, Steps
from risala.engine.model.records.fields import Moment, Money
from risala.engine.model.records.ledger import LedgerEntry
from risala.engine.model.records.record import to_json
from risala.engine.model.records.upkeep.service import DECIDING_MAX

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
_COUNTED_MAX: Final = 10_000
"""Payments that are counted at most."""
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
    parameters = (new.organization_id, new.begun_at)
    under_way = table(conn, _TABLE).count_where(waiting, parameters)
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
    return _ROWS.one(table(conn, _TABLE), payment_id, "There is no such payment.")


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
    terms, values = ["id < :before"], {"before": before or "pay_~"}  # above every digit of an id
    if organization_id is not None:
        terms.append("organization_id = :organization_id")
        values["organization_id"] = organization_id
    if is_open:
        terms.append(_OPEN)
    where = " AND ".join(terms)
    return _ROWS.find(table(conn, _TABLE), where, values, order_by="id DESC", limit=count)


def begun(
    conn: sqlite3.Connection, count: int, after: str = "", broken: BrokenRow | None = None
) -> list[StoredPayment]:
    """Payments without an answer of their method yet, the oldest first."""
    where, payments = f"id > ? AND state = 'begun' AND {_OPEN}", table(conn, _TABLE)
    return _ROWS.find(payments, where, (after,), order_by="id", limit=count, broken=broken)


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
    where, payments = "poll_at IS NOT NULL AND poll_at <= ?", table(conn, _TABLE)
    return _ROWS.find(payments, where, (at,), order_by="poll_at", limit=count, broken=broken)


def next_poll(conn: sqlite3.Connection, besides: Collection[str] = ()) -> int | None:
    """When the next provider must be asked, about other payments than these."""
    polls = conn.execute(
        f"SELECT id, poll_at FROM {_TABLE} WHERE poll_at IS NOT NULL ORDER BY poll_at LIMIT ?",  # noqa: S608 -- a constant
        (1 + len(besides),),
    )
    return next((poll_at for each, poll_at in polls.fetchall() if each not in besides), None)


def change(conn: sqlite3.Connection, payment_id: str, change: PaymentChange) -> StoredPayment:
    """Change an open payment; a confirmed or refused one stays as it is."""
    if payment(conn, payment_id).is_open:
        writable(conn, _TABLE).update(payment_id, _row(change))
    return payment(conn, payment_id)


def credit(
    conn: sqlite3.Connection, new: PaymentCredit, *, text_id: str | None = None
) -> LedgerEntry:
    """Credit a payment, once: with its ledger entry, if it has one.

    Args:
        text_id: the bank's text, if it is credited by that alone.

    Raises:
        NotFound: the id is unknown.
        Conflict: the reference was already credited, by another payment or by hand; or the payment
            was credited with another reference or amount.
    """
    stored, at = payment(conn, new.payment_id), new.at
    if stored.entry is not None:
        _refuse_other(stored, new)
        return ledger.entry(conn, stored.entry)
    organization_id, whose = stored.organization_id, (new.provider, new.reference)
    entry = references.credit(conn, organization_id, new.amount, *whose, at)
    writable(conn, _TABLE).update(
        stored.id,
        _row(
            {
                "state": PaymentState.CONFIRMED.value,
                "provider": new.provider,
                "reference": new.reference,
                "reference_key": new.key,
                "paid": new.amount,
                "payer": new.payer,
                "entry": entry.seq,
                "decided_by": new.by,
                "decided_at": at,
                "asks": (),
                "cause": None,
                "why": {},
                "poll_at": None,
            }
        ),
    )
    by = new.by or new.provider
    texts.settle(conn, new.key, stored.method, stored.id, by, at, text_id=text_id)
    details = {"payment": stored.id}
    mails.owe_owners(conn, organization_id, MailKind.PAYMENT_CONFIRMED, details, at)
    return entry


def _refuse_other(stored: StoredPayment, new: PaymentCredit) -> None:
    """Accept the same credit again; for another one, raise an error that names the first."""
    credited = (stored.provider, stored.reference_key, stored.paid)
    if (new.provider, new.key, new.amount) != credited:
        raise Conflict(
            f"The payment is already confirmed: {money(stored.paid or 0)} {stored.currency} with "
            f"the reference {stored.reference}. Nothing was credited now. To credit other money, "
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

    Args:
        who: the operator who refuses it; None: its provider reports that it was not paid, and a
            credited one stays as it is too.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is credited.
    """
    current = payment(conn, payment_id)
    if current.state is PaymentState.CONFIRMED and who is not None:
        raise Conflict("The payment is confirmed and credited. Correct it with an adjustment.")
    if not current.is_open:
        return current
    writable(conn, _TABLE).update(
        payment_id,
        _row(
            {
                "state": PaymentState.REFUSED.value,
                "cause": cause,
                "why": why,
                "asks": (),
                "decided_by": who,
                "decided_at": at,
                "poll_at": None,
            }
        ),
    )
    if who is not None:  # a provider's refusal is shown on the page
        organization_id, details = current.organization_id, {"payment": payment_id}
        mails.owe_owners(conn, organization_id, MailKind.PAYMENT_REFUSED, details, at)
    return payment(conn, payment_id)


# -- over all organizations, for operators and metrics

_STATES: Final = {
    WAITING: _CLAIMED,
    "open": f"state IN ('begun', 'waiting') AND NOT ({_CLAIMED})",
    "confirmed": "state = 'confirmed'",
    "refused": "state = 'refused'",
    "all": "1",
}
_DECIDED: Final = ("confirmed", "refused", "all")
"""States that grow for ever: searched in the whole table, a bounded part of it."""
_BEGINNING: Final = ("",)
"""Sorts before every id."""


def _way(payment_filter: PaymentFilter) -> Walk:
    """The index by which they are read, and what is then looked for in each."""
    conditions: list[str] = []
    hits: list[str] = []
    values: list[object] = []
    hit_given: list[object] = []
    (hits if payment_filter.state in _DECIDED else conditions).append(_STATES[payment_filter.state])
    for column, value in (("id", payment_filter.payment_id), ("reference_key", payment_filter.key)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if payment_filter.search is not None:
        named = (
            "organization_id IN (SELECT id FROM organizations"
            " WHERE organizations.name LIKE ? ESCAPE '\\')"
        )
        spelled = [part(each) for each in spellings(payment_filter.search)]
        ways = ["organization_id LIKE ? ESCAPE '\\'", *(named for _ in spelled)]
        hits.append(f"({' OR '.join(ways)})")
        hit_given += [part(payment_filter.search), *spelled]
    where, hit = (" AND ".join(each) or "1" for each in (conditions, hits))
    return Walk("payments", where, tuple(values), hit, tuple(hit_given), ("id",))


def listed(
    conn: sqlite3.Connection, payment_filter: PaymentFilter, steps: Steps
) -> CursorPage[StoredPayment]:
    """One page of the wanted ones, the newest first."""
    return page_by_time(conn, _ROWS, _way(payment_filter), steps, _place_of)


def queued(
    conn: sqlite3.Connection, payment_filter: PaymentFilter, steps: Steps
) -> CursorPage[StoredPayment]:
    """One page of the payments of a filter, the oldest first: ``older`` leads on, ``newer`` back to
    the beginning."""
    if steps.after is None:
        page = listed(conn, payment_filter, Steps(steps.limit, after=steps.before or _BEGINNING))
    else:
        page = listed(conn, payment_filter, Steps(steps.limit, before=steps.after))
    is_first = steps.before is None and steps.after is None
    back = None if is_first else page.older
    return CursorPage(tuple(reversed(page.items)), back, page.newer, page.looked_to)


def _place_of(payment: StoredPayment) -> Place:
    return (payment.id,)


def is_entered(conn: sqlite3.Connection, key: str) -> bool:
    """Whether a payment has this reference."""
    row = value_of(conn, "SELECT 1 FROM payments WHERE reference_key = ? LIMIT 1", (key,))
    return row is not None


def count_claimed(conn: sqlite3.Connection, _: int = 0) -> int:
    """Payments that are reported as paid and wait for an operator, counted up to a limit; whatever
    the time is."""
    return len([*table(conn, _TABLE).rows_where(_CLAIMED, select="1", limit=DECIDING_MAX)])


def first_claimed_at(conn: sqlite3.Connection) -> int | None:
    """Since when the first claimed one waits, UTC epoch milliseconds."""
    statement = f"SELECT claimed_at FROM payments WHERE {_CLAIMED} ORDER BY id LIMIT 1"  # noqa: S608 -- a constant
    claimed_at: int | None = value_of(conn, statement)
    return claimed_at


def open_payments(conn: sqlite3.Connection) -> Mapping[str, int]:
    """Undecided payments, by their state."""
    rows = conn.execute(
        "SELECT state, count(*) FROM (SELECT state FROM payments INDEXED BY payments_open"
        " WHERE state IN ('begun', 'waiting') LIMIT ?) GROUP BY state",
        (_COUNTED_MAX,),
    )
    return dict(rows.fetchall())


def payments_of_day(conn: sqlite3.Connection, now_ms: int) -> Mapping[str, int]:
    """Payments begun in the last 24 hours, by their present state."""
    rows = conn.execute(
        "SELECT state, count(*) FROM (SELECT state FROM payments WHERE id >= ?"
        " ORDER BY id DESC LIMIT ?) GROUP BY state",
        (first_id("pay", max(0, now_ms - DAY_MS)), _COUNTED_MAX),
    )
    return dict(rows.fetchall())


# -- for the books, and for an owner's file

BOOKS: Final = (
    """SELECT 'payment ' || p.id || ': confirmed over ' || p.paid || ' minor units, and its ledger'
       || ' entry ' || p.entry || CASE WHEN e.seq IS NULL THEN ' is missing'
         ELSE ' is one of ' || e.amount || ' to organization number ' || e.organization END
       FROM payments p LEFT JOIN entry e ON e.seq = p.entry AND e.kind = 2
       LEFT JOIN organizations o ON o.no = e.organization
       WHERE p.state = 'confirmed' AND (e.amount IS NOT p.paid OR o.id IS NOT p.organization_id)""",
    """SELECT 'payments ' || group_concat(id, ', ') || ': credited by one reference of '
       || provider FROM payments WHERE state = 'confirmed'
       GROUP BY provider, reference_key HAVING count(*) > 1""",
    """SELECT 'payment ' || p.id || ': its reference is not among those that are credited for ever'
       FROM payments p LEFT JOIN credited c ON c.key = p.reference_key AND c.provider = p.provider
       WHERE p.state = 'confirmed' AND c.entry IS NOT p.entry""",
    """SELECT 'text ' || t.id || ' of a bank: credited, and payment ' || t.payment_id || ' is not'
       FROM bank_texts t LEFT JOIN payments p ON p.id = t.payment_id
       WHERE t.state = 'credited' AND t.payment_id IS NOT NULL
         AND p.state IS NOT 'confirmed'""",
)
"""Queries of payments that disagree with the ledger, with credited references, or with texts."""


def of_entry(conn: sqlite3.Connection, entry: int) -> str | None:
    """The payment that a ledger entry credits; None: it credits another thing."""
    payment_id: str | None = value_of(conn, "SELECT id FROM payments WHERE entry = ?", (entry,))
    return payment_id


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
    payments = [
        _EXPORTED.of(each)
        for each in conn.execute(
            f"SELECT {_EXPORTED.columns} FROM payments WHERE organization_id = ? AND id > ?"  # noqa: S608 -- constants
            " ORDER BY id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    rows = [to_json(each) for each in payments]
    return AccountPart(rows, payments[-1].id if len(payments) == limit else None)
