"""What the console lists and counts is found by indexes, in their order, however much there is."""

import re

from risala.engine.journal.accounts import accounts, senders
from risala.engine.journal.people import mails, users
from risala.engine.journal.webhooks import history
from risala.engine.model.people_records import UserFilter
from risala.engine.model.records.accounts import OrganizationFilter, SenderRequestFilter
from risala.engine.model.records.asks import Steps

GROWING = re.compile(r"SCAN (message|webhook_delivery|mails|members|m|u)\b")
BOUNDED = re.compile(r"FROM (members|senders)\b")
"""Sorted: of members an organization has a bounded number, and is asked for three; of senders
two hundred at most. Newer SQLites (3.53) walk through these rather than through their index."""
ALL_STEPS = (Steps(9), Steps(9, before=("x",)), Steps(9, after=("x",)))


def look(book):
    conn, organization_id = book.conn, book.organization()
    for steps in ALL_STEPS:
        for wanted in (OrganizationFilter(), OrganizationFilter("a@b", "active")):
            found = accounts.page(conn, wanted, steps).items
            for each in found:
                accounts.facts(conn, each, book.now_ms)
        for state in ("cleared", "approved", "denied"):
            senders.page(conn, SenderRequestFilter(state, "x"), steps)
    senders.waiting(conn, SenderRequestFilter("waiting", "x"))
    senders.undecided(conn)
    users.page(conn, UserFilter("x", operators=True), after="", before=None, limit=9)
    users.page(conn, UserFilter(), after="a", before="z", limit=9)
    users.count_organizations(conn, "usr_1")
    history.behind(conn, book.now_ms)
    mails.waiting(conn)
    accounts.page(conn, OrganizationFilter(organization_id), Steps(1))


def test_no_look_of_the_console_walks_through_what_grows_or_sorts_it(book):
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    look(book)
    book.conn.set_trace_callback(None)
    assert len(run) > 25
    found = [
        (step, sql)
        for sql in run
        if not sql.startswith("--")  # a statement within one, which is no text of SQL
        for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")
        if GROWING.match(step) or (step.endswith("FOR ORDER BY") and not BOUNDED.search(sql))
    ]
    partial = "USING INDEX webhook_delivery_due", "USING INDEX mails_due"
    assert [each for each in found if not any(one in each[0] for one in partial)] == []
