"""Pages of messages: which are on them, what the next ones are, and that their cost is bounded."""

import re

import pytest

from risala.engine.journal.pages import lists
from risala.engine.model.records.message_lists import MessageFilter
from risala.sms.numbering.plan import DEFAULT

MINUTE_MS = 60_000


@pytest.fixture
def town(book):
    """An organization with messages a minute apart, beside another with as many."""
    organization_id, other = book.organization(), book.organization()
    made = []
    for number in range(9):
        book.now_ms += MINUTE_MS
        book.accept(other)
        made.append(
            book.accept(
                organization_id,
                mode="test" if number == 8 else "live",
                recipient="+22236000001" if number % 2 else "+22246000002",
                sender="Shop" if number < 4 else "Bank",
            )
        )
    return organization_id, made


def ids(page):
    return [each.id for each in page.messages]


def pages(book, wanted, limit, **bounds):
    """All pages to the end, and each one's way back."""
    found, before = [], None
    while True:
        page = lists.page(book.conn, wanted, before=before, limit=limit, **bounds)
        if before is not None:
            assert page.newer is not None
            if not bounds:
                back = lists.page(book.conn, wanted, after=page.newer, limit=limit)
                assert ids(back) == ids(found[-1])
        found.append(page)
        if page.older is None:
            return found
        before = page.older


@pytest.mark.parametrize("limit", [1, 3, 8, 50])
def test_all_pages_together_are_all_messages(book, town, limit):
    organization_id, made = town
    found = pages(book, MessageFilter(organization_id, "live"), limit)
    assert [each for page in found for each in ids(page)] == made[7::-1]
    assert {page.looked_to for page in found} == {None}


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        ({"mode": "test"}, [8]),
        ({"recipient": "+22236000001"}, [7, 5, 3, 1]),
        ({"recipient": "+22236000009"}, []),
        ({"sender": "Shop"}, [3, 2, 1, 0]),
        ({"sender": "Nobody"}, []),
        ({"status": "failed"}, [6, 2]),
        ({"status": "uncertain"}, [5]),
        ({"status": "processing"}, [5]),
        ({"status": "delivered"}, [0]),
        ({"status": "failed", "sender": "Shop"}, [2]),
        ({"cause": "UNKNOWN_NUMBER"}, [2]),
        ({"cause": "ESME_RINVDSTADR"}, [2]),
        ({"cause": "esme_rthrottled"}, [6, 4]),
        ({"contains": "4600 00"}, [6, 4, 2, 0]),
        ({"contains": "00222 (46)"}, [6, 4, 2, 0]),
        ({"contains": "٤٦٠٠"}, [6, 4, 2, 0]),
        ({"contains": "esme_rthrottled"}, [6, 4]),
        ({"contains": "EST PRÊTE"}, []),  # of letters beyond ASCII the case counts
        ({"contains": "100% prête"}, [3]),
        ({"contains": "100% prête", "searches_texts": False}, []),
        ({"contains": "10_"}, []),
        ({"api_key": "key_shop"}, [3]),
        ({"api_key": "key_none"}, []),
    ],
)
def test_each_filter(book, town, wanted, places):
    organization_id, made = town
    change(book, made[2], status=5, error_code="UNKNOWN_NUMBER", carrier_code="ESME_RINVDSTADR")
    change(book, made[4], status=4, error_code="REJECTED", carrier_code="ESME_RTHROTTLED")
    change(book, made[6], status=5, error_code="REJECTED", carrier_code="ESME_RTHROTTLED")
    change(book, made[5], status=1, part_state=2)
    change(book, made[0], status=3)
    change(book, made[3], body="Votre commande est 100% prête")
    change(book, made[7], body="Est 100% prête", pruned=1)
    book.conn.execute("INSERT INTO names (name) VALUES ('key_shop')")
    book.conn.execute(
        "UPDATE message SET api_key = (SELECT no FROM names WHERE name = 'key_shop') WHERE id = ?",
        (made[3],),
    )
    digits = DEFAULT.digits_of(wanted.get("contains", ""))
    whole = {"mode": "live", "digits": digits, **wanted}
    page = lists.page(book.conn, MessageFilter(**whole, organization_id=organization_id), limit=50)
    assert ids(page) == [made[place] for place in places]


def change(book, message_id, **values):
    columns = ", ".join(f"{name} = ?" for name in values)
    book.conn.execute(f"UPDATE message SET {columns} WHERE id = ?", (*values.values(), message_id))


def test_since_and_until(book, town):
    organization_id, made = town
    start = (
        lists.page(book.conn, MessageFilter(organization_id, "live"), limit=50)
        .messages[-1]
        .created_at
    )
    span = {"since": start + MINUTE_MS, "until": start + 3 * MINUTE_MS}
    page = lists.page(book.conn, MessageFilter(organization_id, "live", **span), limit=50)
    assert ids(page) == [made[2], made[1]]


def test_where_few_are_wanted_the_look_is_bounded_and_says_so(book, town):
    organization_id, made = town
    change(book, made[0], status=3)
    wanted = MessageFilter(organization_id, "live", status="delivered")
    first = lists.page(book.conn, wanted, limit=50, looked_max=4)
    assert (ids(first), first.older) == ([], key(book, made[5]))
    assert first.looked_to == first.older >> 15
    second = lists.page(book.conn, wanted, before=first.older, limit=50, looked_max=4)
    third = lists.page(book.conn, wanted, before=second.older, limit=50, looked_max=4)
    assert (ids(second), ids(third), third.older) == ([], [made[0]], None)
    # Two ways are told of only as far as both were looked along.
    for place in (0, 1, 2, 3, 4, 7):
        change(book, made[place], status=4, carrier_code="X")
    for place in (5, 6):
        change(book, made[place], status=5, carrier_code="X")
    wanted = MessageFilter(organization_id, "live", cause="X")
    found = pages(book, wanted, 50, looked_max=3)
    assert [each for page in found for each in ids(page)] == made[7::-1]


def key(book, message_id):
    (found,) = book.conn.execute("SELECT key FROM message WHERE id = ?", (message_id,)).fetchone()
    return found


HOSTILE = "\"}],'\\\\ \\u0000 \u2028\u202e😀 مرحبا\n\t[1, null"


def test_texts_come_as_they_were_written(book):
    organization_id = book.organization()
    message_id = book.accept(organization_id)
    change(book, message_id, body=HOSTILE, carrier_code=HOSTILE, metadata='{"a": "\\"b"}')
    [message] = lists.page(book.conn, MessageFilter(organization_id, "live"), limit=1).messages
    assert (message.body, message.carrier_code) == (HOSTILE, HOSTILE)
    assert message.metadata == {"a": '"b'}
    assert message.key == key(book, message_id) > 2**53


def test_a_code_has_no_text_in_a_list(book):
    organization_id = book.organization()
    message_id = book.accept(organization_id)
    change(book, message_id, kind=1)
    [message] = lists.page(book.conn, MessageFilter(organization_id, "live"), limit=1).messages
    assert (message.kind, message.body) == ("code", None)


@pytest.mark.parametrize(
    "wanted",
    [
        *({}, {"recipient": "+22236000001"}, {"status": "failed"}, {"status": "uncertain"}),
        *({"status": "delivered"}, {"sender": "Shop"}, {"cause": "X"}, {"api_key": "key_x"}),
        {"contains": "23"},
        {"since": 1, "until": 2},
    ],
)
def test_no_page_walks_through_the_messages(book, town, wanted):
    run = []
    book.conn.set_trace_callback(run.append)
    for cursor in ({}, {"before": 7}, {"after": 7}):
        lists.page(book.conn, MessageFilter(town[0], "live", **wanted), limit=3, **cursor)
    book.conn.set_trace_callback(None)
    steps = [step for sql in run for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    # What is looked at is bounded, whoever reads on from there.
    assert [
        step
        for step in steps
        if re.match(r"SCAN (?!CONSTANT|looked|\(subquery)|USE TEMP B-TREE", step)
    ] == []
    assert any("message_by_" in step for step in steps)


def test_what_is_newer_is_counted_as_far_as_it_is_told(book, town):
    organization_id, made = town
    wanted = MessageFilter(organization_id, "live")
    since = key(book, made[2])
    assert lists.count_newer(book.conn, wanted, since, 100) == 5
    assert lists.count_newer(book.conn, wanted, since, 3) == 3
    change(book, made[6], status=5, error_code="REJECTED")
    change(book, made[4], status=4, error_code="REJECTED")
    failed = MessageFilter(organization_id, "live", cause="REJECTED")
    assert lists.count_newer(book.conn, failed, since, 100) == 2
    assert lists.count_newer(book.conn, failed, key(book, made[6]), 100) == 0
