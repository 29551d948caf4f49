"""Who pays, as the transaction itself has it: what was drafted may be overtaken."""

from __future__ import annotations

import pytest

from risala.engine.journal.accounts import payers
from risala.engine.journal.messages.acceptance import accept_one
from risala.engine.model.errors import Forbidden, RateLimited
from risala.engine.model.records.ledger import CUSTOMERS, SELF, DayAllowance, StoredPayer


def drafted(book, payer):
    """A message of an organization with money, drafted while this was who pays."""
    allowance = DayAllowance(10, book.now_ms + 1000) if payer == SELF else None
    return book.new_message(book.organization(100), allowance=allowance)


@pytest.mark.parametrize(("before", "now"), [(CUSTOMERS, SELF), (SELF, CUSTOMERS)])
def test_what_was_drafted_for_another_payer_is_not_accepted(book, before, now):
    new = drafted(book, before)
    book.unit(lambda conn: payers.put_payer(conn, StoredPayer(now, 10, book.now_ms)))
    with pytest.raises(RateLimited) as refused:
        accept_one(book.conn, new, None)
    assert refused.value.retry_after_s == 1
    book.unit(lambda conn: payers.put_payer(conn, StoredPayer(before, 10, book.now_ms)))
    accept_one(book.conn, new, None)


@pytest.mark.parametrize("payer", [CUSTOMERS, SELF])
def test_a_suspended_organization_sends_nothing_whoever_pays(book, payer):
    new = drafted(book, payer)
    book.conn.execute("UPDATE organizations SET status = 'suspended'")
    with pytest.raises(Forbidden):
        accept_one(book.conn, new, None)
    assert book.one("SELECT count(*) FROM messages") == 0
