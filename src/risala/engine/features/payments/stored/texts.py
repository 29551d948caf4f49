"""A bank's texts as rows, and the balance in them.

They come to a SIM of the operator. They are in no table of customers' messages: they belong to no
organization, and cause no events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final

from risala.engine.features.payments.text_records import (
    AccountBalance,
    BankText,
    TextState,
    TextWhy,
)
from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.feature_work import Forgot, RetentionWalk
from risala.sms.message import Inbound

_TABLE: Final = "bank_texts"
_BALANCES: Final = "bank_balances"
_TEXTS: Final = Rows(BankText, state=TextState, continues=bool)
_ACCOUNTS: Final = Rows(AccountBalance)
_OPEN: Final = "state IN ('unread', 'waiting', 'unmatched')"
"""Texts that may need an operator: the term of the partial index, word for word, since the planner
recognises it by that."""


def store(conn: sqlite3.Connection, text_id: str, carrier: str, message: Inbound) -> bool:
    """Store one; False if the carrier had brought it before."""
    ids = " ".join(message.carrier_ids)
    if ids and table(conn, _TABLE).count_where("carrier = ? AND carrier_ids = ?", (carrier, ids)):
        return False
    writable(conn, _TABLE).insert(
        {
            "id": text_id,
            "carrier": carrier,
            "sender": message.sender,
            "service_centre": message.service_centre,
            "body": message.text,
            "carrier_ids": ids,
            "received_at": message.received_at_ms,
            "sent_at": message.believed_sent_ms,
            "state": TextState.UNREAD.value,
        }
    )
    return True


def text(conn: sqlite3.Connection, text_id: str) -> BankText:
    """One text.

    Raises:
        NotFound: the id is unknown.
    """
    return _TEXTS.one(table(conn, _TABLE), text_id, "There is no such text.")


def unread(conn: sqlite3.Connection, count: int) -> list[BankText]:
    """Unread texts in the order in which they were written, so that each balance continues the one
    before it."""
    where, unread_rows = f"state = 'unread' AND {_OPEN}", table(conn, _TABLE)
    order = "coalesce(sent_at, received_at), seq"
    return _TEXTS.find(unread_rows, where, order_by=order, limit=count)


def waiting(conn: sqlite3.Connection, why: Collection[str], count: int) -> list[BankText]:
    """Texts of payments that are not credited for one of these reasons, the newest first."""
    holes = ", ".join("?" for _ in why)
    where = f"state = 'waiting' AND why IN ({holes}) AND {_OPEN}"
    waiting_rows = table(conn, _TABLE)
    return _TEXTS.find(waiting_rows, where, [*why], order_by="seq DESC", limit=count)


def page(
    conn: sqlite3.Connection,
    count: int,
    *,
    before: int | None = None,
    method: str | None = None,
    is_open: bool = False,
    key: str | None = None,
) -> list[BankText]:
    """The newest first.

    Args:
        before: the number of a text: only older ones.
        method: only those in which this method has read something.
        is_open: only those that may need an operator.
        key: only those with this reference, in comparable form.
    """
    terms: list[str] = ["seq < :before"]
    values: dict[str, Any] = {"before": _LAST if before is None else max(0, min(before, _LAST))}
    if method is not None:
        terms.append("method = :method")
        values["method"] = method
    if is_open:
        terms.append(_OPEN)
    if key is not None:
        terms.append("reference_key = :key")
        values["key"] = key
    where = " AND ".join(terms)
    return _TEXTS.find(table(conn, _TABLE), where, values, order_by="seq DESC", limit=count)


_LAST: Final = (1 << 62) - 1
"""More texts than there will ever be."""


def count_open(conn: sqlite3.Connection, method: str | None) -> int:
    """How many wait for the operator: of a method, or those without a known method."""
    return table(conn, _TABLE).count_where(f"method IS ? AND {_OPEN}", (method,))


def newest(conn: sqlite3.Connection, method: str) -> BankText | None:
    """The last text in which a method has read something."""
    texts = page(conn, 1, method=method)
    return texts[0] if texts else None


def last_moved(conn: sqlite3.Connection, method: str) -> BankText | None:
    """The last text with an amount and the balance after it."""
    where = "method = ? AND balance IS NOT NULL"
    rows = _TEXTS.find(table(conn, _TABLE), where, (method,), order_by="seq DESC", limit=1)
    return rows[0] if rows else None


def is_repeated(conn: sqlite3.Connection, method: str, key: str, seq: int) -> bool:
    """Whether an earlier trusted text had the same reference."""
    where = "reference_key = ? AND method = ? AND seq < ? AND (continues = 1 OR state = 'credited')"
    return table(conn, _TABLE).count_where(where, (key, method, seq)) > 0


def change(conn: sqlite3.Connection, text_id: str, values: Mapping[str, Any]) -> BankText:
    """Change a text that is not credited yet; a credited one stays as it is."""
    current = text(conn, text_id)
    if current.state is not TextState.CREDITED:
        writable(conn, _TABLE).update(current.seq, dict(values))
    return text(conn, text_id)


def settle(
    conn: sqlite3.Connection,
    key: str,
    method: str | None,
    payment_id: str | None,
    by: str,
    at: int,
    *,
    text_id: str | None = None,
) -> None:
    """A reference was credited: the texts with it no longer wait.

    Args:
        method: whose texts; None: the reference was entered by hand, and may be of any method.
        by: who confirmed it, or its provider.
        text_id: the text by which alone it was credited, so that the operator still sees others.
    """
    where, parameters = "reference_key = ? AND state = 'waiting'", [key]
    if method is not None:
        where, parameters = f"{where} AND method = ?", [key, method]
    for each in _TEXTS.find(table(conn, _TABLE), where, parameters):
        values: dict[str, Any] = {"state": TextState.CREDITED.value, "why": None}
        values |= {"payment_id": payment_id, "decided_at": at}
        values["decided_by"] = None if each.id == text_id else by
        if text_id is not None and each.id != text_id:
            values = {"why": TextWhy.REPEATED.value}
        writable(conn, _TABLE).update(each.seq, values)


def credited_by_itself(
    conn: sqlite3.Connection, method: str, since: int, organization_id: str | None = None
) -> int:
    """Minor units credited by texts alone since a time: to one organization, or to all."""
    sums = "coalesce(sum(amount), 0) AS total"
    where = "method = ? AND state = 'credited' AND decided_by IS NULL AND decided_at > ?"
    values: list[Any] = [method, since]
    if organization_id is not None:
        where += " AND payment_id IN (SELECT id FROM payments WHERE organization_id = ?)"
        values.append(organization_id)
    for row in table(conn, _TABLE).rows_where(where, values, select=sums):
        return int(row["total"])
    return 0


BY_HAND: Final = "topup"
"""The settler of a text whose reference an operator entered by hand."""


def settle_by_hand(conn: sqlite3.Connection, key: str, at: int) -> None:
    """An operator credited a reference by hand: the texts with it no longer wait."""
    settle(conn, key, None, None, BY_HAND, at)


# -- balances --------------------------------------------------------------------------------------


def balance(conn: sqlite3.Connection, method: str) -> AccountBalance | None:
    """A method's account balance; None: not known yet."""
    rows = _ACCOUNTS.find(table(conn, _BALANCES), "method = ?", (method,))
    return rows[0] if rows else None


def set_balance(
    conn: sqlite3.Connection, method: str, amount: int, at: int, said_by: str | None
) -> AccountBalance:
    """Set the present account balance."""
    row = {"method": method, "balance": amount, "at": at, "said_by": said_by}
    writable(conn, _BALANCES).upsert(row, pk="method")
    return AccountBalance(method, amount, at, said_by)


def forget_words(
    conn: sqlite3.Connection, walk: RetentionWalk, before_ms: int, limit: int
) -> Forgot:
    """Retention's walk through banks' old texts: their words go, what was read in them stays with
    the ledger."""
    key = f"retention.{walk.name}"
    rows = conn.execute(
        "SELECT seq, received_at FROM bank_texts WHERE seq > ? ORDER BY seq LIMIT ?",
        (int(meta.get(conn, key) or 0), limit),
    ).fetchall()
    old = [(seq,) for seq, received_at in rows if received_at < before_ms]
    conn.executemany("UPDATE bank_texts SET body = '' WHERE seq = ?", old)
    if old:
        (last,) = old[-1]
        meta.put(conn, key, str(last))
    return Forgot(len(old), "", len(old) < limit)
