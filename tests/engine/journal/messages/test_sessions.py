"""Pages of verification sessions: which are on them, what the next ones are, by which index."""

import re

import pytest

from risala.engine.journal.messages import sessions
from risala.engine.model.records.asks import Steps
from risala.engine.model.records.message_lists import SessionFilter
from risala.engine.model.records.verify.sessions import Funnel

NOW = 10_000
STATES = ("approved", "expired", "pending", "canceled")
PHONE = "+22236000001"


@pytest.fixture
def shop(book):
    """Ten sessions, two of each moment, beside those of another organization and mode."""
    organization_id, other = book.organization(), book.organization()
    for number in range(10):
        for whose, mode in ((organization_id, "live"), (organization_id, "test"), (other, "live")):
            book.conn.execute(
                "INSERT INTO verifications (id, organization_id, mode, recipient, status, attempts,"
                " attempts_max, code_length, message_id, expires_at, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, 0, 5, 6, 'sms_x', ?, ?, 0)",
                (
                    *(f"ver_{whose == other}{mode}{number}", whose, mode),
                    *(PHONE if number % 2 else "+22246000002", STATES[number % 4]),
                    *(NOW + number - 5, 100 + number // 2),
                ),
            )
    return organization_id


def numbers(page):
    return [int(each.id[-1]) for each in page.items]


def pages(book, wanted, limit):
    """All pages to the end, and each one's way back."""
    found, before = [], None
    while True:
        page = sessions.page(book.conn, wanted, Steps(limit, before=before))
        if before is not None:
            back = sessions.page(book.conn, wanted, Steps(limit, after=page.newer))
            assert numbers(back) == numbers(found[-1])
        found.append(page)
        if page.older is None:
            return found
        before = page.older


@pytest.mark.parametrize("limit", [1, 3, 9, 10, 50])
def test_all_pages_together_are_all_sessions_also_those_of_one_moment(book, shop, limit):
    found = pages(book, SessionFilter(shop, "live", NOW), limit)
    assert [each for page in found for each in numbers(page)] == [*range(9, -1, -1)]


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"recipient": PHONE}, [9, 7, 5, 3, 1]),
        ({"status": "approved"}, [8, 4, 0]),
        ({"status": "pending"}, [6]),
        ({"status": "expired"}, [9, 5, 2, 1]),
        ({"recipient": PHONE, "status": "canceled"}, [7, 3]),
        ({"since": 102, "until": 104}, [7, 6, 5, 4]),
    ],
)
def test_a_filter_is_kept_on_every_page(book, shop, filters, wanted):
    for limit in (1, 2, 50):
        found = pages(book, SessionFilter(shop, "live", NOW, **filters), limit)
        assert [each for page in found for each in numbers(page)] == wanted


def test_a_page_looks_at_so_many_and_says_how_far(book, shop):
    wanted = SessionFilter(shop, "live", NOW, status="pending")
    page = sessions.page(book.conn, wanted, Steps(5, looked_max=3))
    assert (numbers(page), page.looked_to.created_at) == ([], 103)
    page = sessions.page(book.conn, wanted, Steps(5, before=page.older, looked_max=3))
    assert (numbers(page), page.older) == ([6], (102, "ver_Falselive4"))
    # And back from where there was nothing.
    page = sessions.page(book.conn, wanted, Steps(5, before=page.older, looked_max=3))
    assert numbers(page) == []
    page = sessions.page(book.conn, wanted, Steps(5, after=page.newer))
    assert numbers(page) == [6]


@pytest.mark.parametrize(
    ("recipient", "index"),
    [(None, "verification_by_organization"), (PHONE, "verification_by_phone")],
)
@pytest.mark.parametrize("steps", [Steps(2), Steps(2, before=(104, "x")), Steps(2, after=(1, ""))])
def test_a_page_is_found_by_an_index_in_its_order(book, shop, recipient, index, steps):
    run = []
    book.conn.set_trace_callback(run.append)
    sessions.page(book.conn, SessionFilter(shop, "live", NOW, recipient=recipient), steps)
    book.conn.set_trace_callback(None)
    found = (
        rf"SEARCH verifications USING (COVERING )?INDEX {index} .*created_at>\? AND created_at<\?\)"
    )
    for sql in run:
        plan = [step for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
        assert [step for step in plan if re.match(found, step)]
        assert sql.count("created_at <=") == sql.count("created_at >=") == 1
        # Only those of one millisecond are put in order.
        sorts = [step for step in plan if "B-TREE" in step]
        assert all(re.search("(LAST TERM|RIGHT PART) OF ORDER BY", step) for step in sorts)


def session(book, organization_id, number, status, attempts, at):
    book.conn.execute(
        "INSERT INTO verifications (id, organization_id, mode, recipient, status, attempts,"
        " attempts_max, code_length, message_id, expires_at, created_at, updated_at)"
        " VALUES (?, ?, 'live', '+22236000001', ?, ?, 5, 6, 'sms_x', 0, ?, 0)",
        (f"ver_{number}", organization_id, status, attempts, at),
    )


def test_the_funnel_of_sessions(book):
    organization_id = book.organization()
    states = [("approved", 1), ("approved", 0), ("expired", 2), ("expired", 0), ("pending", 0)]
    for number, (status, attempts) in enumerate(states):
        session(book, organization_id, number, status, attempts, 100 + number)
    session(book, organization_id, 99, "approved", 1, 5)
    found = sessions.funnel(book.conn, organization_id, "live", 100, 200)
    assert found == Funnel(5, 3, 2, 2, 1, is_cut=False)
    assert sessions.funnel(book.conn, organization_id, "live", 100, 200, sessions_max=2).is_cut
