"""Processes banks' texts in units of work: read once, and credited at most once.

Each unit decides by the rows of that moment: of two at the same time, or when one is repeated after
a crash, the second sees the first one's result.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from risala.engine.features.payments import rules as bank_texts
from risala.engine.features.payments.records import PaymentCredit
from risala.engine.features.payments.rules import DAY_MS, ReportedPayment, over_caps
from risala.engine.features.payments.stored import payments, texts
from risala.engine.features.payments.text_records import (
    BankText,
    Read,
    TextState,
    TextWhy,
    Withheld,
)
from risala.engine.journal.accounts import references
from risala.engine.model.errors import Conflict
from risala.engine.model.records.ledger import LedgerEntry
from risala.plugins.payment_texts import CreditCaps, TextKind

_UNMATCHED: Final = {
    TextKind.NO_PATTERN: TextWhy.NO_PATTERN,
    TextKind.FOREIGN_CENTRE: TextWhy.FOREIGN_CENTRE,
    TextKind.FOREIGN_SENDER: TextWhy.FOREIGN_SENDER,
}


def leave(conn: sqlite3.Connection, text_id: str, why: TextWhy) -> BankText:
    """A text that no method reads."""
    values = {"state": TextState.UNMATCHED.value, "why": why.value}
    return texts.change(conn, text_id, values)


def read(conn: sqlite3.Connection, text_id: str, read_text: Read, at: int) -> BankText:
    """Store what was read in a text, and follow the balance of its account."""
    stored = texts.text(conn, text_id)
    if stored.state is not TextState.UNREAD:
        return stored
    reading = read_text.reading
    if reading.kind in _UNMATCHED:
        # A stranger's text has no known account.
        method = read_text.method if reading.kind is not TextKind.FOREIGN_SENDER else None
        values: dict[str, Any] = {"method": method, "why": _UNMATCHED[reading.kind].value}
        return texts.change(conn, text_id, {**values, "state": TextState.UNMATCHED.value})
    values = {"method": read_text.method, "balance": reading.balance}
    if reading.kind is TextKind.NOTICE:
        return texts.change(conn, text_id, {**values, "state": TextState.NOTED.value})
    settled = reading.settled if reading.kind is TextKind.CREDIT else None
    if settled is not None:
        values |= {"reference": settled.reference, "reference_key": read_text.key}
        values |= {"amount": settled.amount, "payer": settled.payer}
    continues = _continues(conn, read_text)
    if continues:
        # Even if it credits nothing: the account has moved, and the next text continues from here.
        assert reading.balance is not None
        values["continues"] = 1
        texts.set_balance(conn, read_text.method, reading.balance, at, None)
    why = _known(conn, stored, read_text) or _unbelieved(conn, read_text, continues=continues)
    is_done = why is None and settled is None
    if why is TextWhy.CREDITED_BEFORE and settled is not None:
        first = references.entry_of(conn, settled.provider, read_text.key or "")
        is_done = first is not None and first.amount == settled.amount
    state = TextState.NOTED if is_done else TextState.WAITING
    if why is None and settled is not None:
        why = TextWhy.UNCLAIMED
    values |= {"state": state.value, "why": None if why is None else why.value}
    return texts.change(conn, text_id, values)


def _continues(conn: sqlite3.Connection, read_text: Read) -> bool:
    before = texts.balance(conn, read_text.method)
    return before is not None and bank_texts.continues(
        before.balance, read_text.reading.moved, read_text.reading.balance
    )


def _known(conn: sqlite3.Connection, stored: BankText, read_text: Read) -> TextWhy | None:
    """Why a text has nothing new."""
    settled = read_text.reading.settled
    if read_text.key is None or settled is None:
        return None
    if references.is_credited(conn, settled.provider, read_text.key):
        return TextWhy.CREDITED_BEFORE
    if texts.is_repeated(conn, read_text.method, read_text.key, stored.seq):
        return TextWhy.REPEATED
    return None


def _unbelieved(conn: sqlite3.Connection, read_text: Read, *, continues: bool) -> TextWhy | None:
    if continues:
        return None
    unknown = read_text.reading.balance is None or texts.balance(conn, read_text.method) is None
    return TextWhy.NO_BALANCE if unknown else TextWhy.BALANCE


def whose(conn: sqlite3.Connection, stored: BankText) -> str:
    """The payment of a text, or a word for why it has none (see ``rules.bank_texts``)."""
    assert stored.method is not None
    assert stored.reference_key is not None
    assert stored.amount is not None
    fitting = payments.matching(conn, stored.method, stored.reference_key)
    if stored.payer is not None:
        fitting += payments.of_payer(conn, stored.method, stored.payer)
    reported = ReportedPayment(stored.reference_key, stored.amount, stored.payer)
    return bank_texts.owner_of(reported, list({each.id: each for each in fitting}.values()))


def dismiss(conn: sqlite3.Connection, text_id: str, by: str, at: int) -> BankText:
    """An operator closes a text without action.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is credited.
    """
    if texts.text(conn, text_id).state is TextState.CREDITED:
        raise Conflict("The text is already credited.")
    values = {"state": TextState.DISMISSED.value, "decided_by": by, "decided_at": at}
    return texts.change(conn, text_id, values)


def put_off(conn: sqlite3.Connection, text_id: str, why: str) -> BankText:
    """A text waits for this reason from now on."""
    stored = texts.text(conn, text_id)
    if stored.state is not TextState.WAITING or stored.why == why:
        return stored
    return texts.change(conn, text_id, {"why": why})


def credit(conn: sqlite3.Connection, text_id: str, caps: CreditCaps, at: int) -> LedgerEntry:
    """Credit a text's payment, by the text alone.

    Raises:
        Withheld: it does not fit in every respect, or exceeds a cap.
    """
    stored = texts.text(conn, text_id)
    if stored.state is not TextState.WAITING or not stored.continues:
        raise Withheld(stored.why or TextWhy.BALANCE.value)
    payment_id = whose(conn, stored)
    if not payment_id.startswith("pay_"):
        raise Withheld(payment_id)
    assert stored.method is not None
    assert stored.reference is not None
    assert stored.reference_key is not None
    assert stored.amount is not None
    organization_id = payments.payment(conn, payment_id).organization_id
    since = at - DAY_MS
    over = over_caps(
        caps,
        stored.amount,
        texts.credited_by_itself(conn, stored.method, since, organization_id),
        texts.credited_by_itself(conn, stored.method, since),
    )
    if over is not None:
        raise Withheld(over)
    credited = PaymentCredit(
        payment_id=payment_id,
        provider=stored.method,
        reference=stored.reference,
        key=stored.reference_key,
        amount=stored.amount,
        payer=stored.payer,
        by=None,
        at=at,
    )
    try:
        return payments.credit(conn, credited, text_id=text_id)
    except Conflict:
        raise Withheld(TextWhy.CREDITED_BEFORE.value) from None
