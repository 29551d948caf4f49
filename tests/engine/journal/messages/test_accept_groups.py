"""Sends that are written together come to the same as one after the other, statement by statement
fewer."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import examples
from risala.engine.journal.audit.books import audit
from risala.engine.journal.messages.acceptance import SendRequest, accept_each, accept_group
from risala.engine.journal.store.transaction import Done, Piece, run_batch
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Failed, Refusal
from risala.engine.model.records.messages import Stamp

TABLES = ("message", "entry", "spending", "hour_count", "names", "senders", "organizations")
DAY = 20_454
KEYS = (None, "key-0001", "key-0002")

ORGANIZATION = st.fixed_dictionaries(
    {
        "balance": st.sampled_from([0, 50, 120, 400, 100_000]),
        "spend_cap": st.sampled_from([None, None, 0, 60, 150]),
        "owner_spend_cap": st.sampled_from([None, None, 100]),
        "status": st.sampled_from(["active", "active", "active", "suspended"]),
    }
)
MESSAGE = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["live", "live", "live", "test"]),
        "key": st.sampled_from(KEYS),
        "segments": st.sampled_from([0, 1, 1, 2]),
        "low_balance": st.sampled_from([0, 100, 300]),
        "day": st.sampled_from([DAY, DAY, DAY + 1]),
        "body": st.sampled_from(["hello", "hello again"]),
    }
)
REQUEST = st.tuples(
    st.integers(min_value=0, max_value=2),
    st.one_of(MESSAGE.map(lambda one: [one]), st.lists(MESSAGE, min_size=1, max_size=3)),
    st.booleans(),
)


def drafted(book, organizations, requests):
    """The requests as rows that are to be written, every organization's mode apart."""
    drafts = []
    for n, items, stamped in requests:
        news = []
        for item in items:
            fields = {name: item[name] for name in ("segments", "low_balance", "day", "body")}
            key = item["key"]
            named = {"key_is_ours": True} if key is None else {"idempotency_key": key}
            mode = items[0]["mode"]
            price = 50 * item["segments"] if mode == "live" else 0
            news.append(
                book.new_message(organizations[n], mode=mode, price=price, **fields, **named)
            )
        stamp = Stamp(book.now_ms) if stamped else None
        work = accept_each if len(news) == 1 else accept_group
        drafts.append(Piece(work, SendRequest(news, stamp)))
    return drafts


def founded(book, organizations):
    ids = []
    for each in organizations:
        ids.append(book.organization(each["balance"]))
        changes = [each[name] for name in ("spend_cap", "owner_spend_cap", "status")]
        book.conn.execute(
            "UPDATE organizations SET spend_cap = ?, owner_spend_cap = ?, status = ? WHERE id = ?",
            (*changes, ids[-1]),
        )
    return ids


def told(done: Done):
    return [
        repr(answer.error) if isinstance(answer, Failed) else _accepted(answer)
        for answer in done.answers
    ]


def _accepted(answer):
    results = [repr(each) if isinstance(each, Refusal) else each for each in answer.results]
    return results, answer.entered, answer.id


def dump(book):
    rows = {
        name: sorted(book.conn.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
        for name in TABLES
    }
    return rows, [(e.organization_id, e.body) for e in outbox.after(book.conn, 0, 1000)]


@pytest.mark.slow
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    organizations=st.lists(ORGANIZATION, min_size=3, max_size=3),
    requests=st.lists(REQUEST, min_size=1, max_size=12),
)
def test_a_group_comes_to_the_same_as_its_sends_one_by_one(open_book, organizations, requests):
    together, one_by_one = open_book(), open_book()
    units = drafted(together, founded(together, organizations), requests)
    at_once = told(run_batch(together.conn, units))
    units = drafted(one_by_one, founded(one_by_one, organizations), requests)
    each = [told(run_batch(one_by_one.conn, [unit]))[0] for unit in units]
    assert at_once == each
    assert dump(together) == dump(one_by_one)
    assert audit(together.conn).clean


def test_a_send_that_is_a_bug_leaves_its_neighbours(book):
    organization = book.organization(1000)
    news = [book.new_message(organization) for _ in range(3)]
    news[1] = book.new_message("org_nobody")
    done = run_batch(book.conn, [Piece(accept_each, SendRequest((new,))) for new in news])
    assert [isinstance(answer, Failed) for answer in done.answers] == [False, True, False]
    assert [book.status(news[n].id) for n in (0, 2)] == ["pending", "pending"]
    assert book.one("SELECT balance FROM organizations WHERE id = ?", organization) == 900


def test_a_key_that_comes_twice_in_a_group_is_one_message(book):
    organization = book.organization(1000)
    news = [book.new_message(organization, idempotency_key="key-0001") for _ in range(3)]
    done = run_batch(book.conn, [Piece(accept_each, SendRequest((new,))) for new in news])
    assert [answer.results for answer in done.answers] == [[news[0].response]] * 3
    assert [answer.id for answer in done.answers] == [news[0].id, None, None]
    assert book.one("SELECT balance FROM organizations WHERE id = ?", organization) == 950


def test_what_is_a_test_takes_nothing_from_its_live_neighbours(book):
    """Not even where its row had a price."""
    organization = book.organization(1000)
    news = [book.new_message(organization, mode=mode, price=50) for mode in ("test", "live")]
    done = run_batch(book.conn, [Piece(accept_each, SendRequest((new,))) for new in news])
    assert not any(isinstance(answer, Failed) for answer in done.answers)
    assert book.one("SELECT balance FROM organizations WHERE id = ?", organization) == 950


@pytest.mark.parametrize("is_ours", [True, False])
def test_the_statements_of_a_group_do_not_grow_with_it(book, is_ours):
    organizations = [book.organization(100_000) for _ in range(2)]

    def statements(count):
        whose = itertools.cycle(organizations)
        news = [book.new_message(next(whose), key_is_ours=is_ours) for _ in range(count)]
        seen = []
        book.conn.set_trace_callback(seen.append)
        run_batch(book.conn, [Piece(accept_each, SendRequest((new,))) for new in news])
        book.conn.set_trace_callback(None)
        return len(seen)

    statements(2)  # gives the names their numbers
    assert statements(64) == statements(4)
