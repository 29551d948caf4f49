"""Pages of what has some digits in its number: found by an index, whatever else there is."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.lists import stored as list_people
from risala.engine.features.lists.records import PeopleFilter
from risala.engine.journal.inbound import inbound
from risala.engine.journal.messages import sessions
from risala.engine.journal.store.searching import NUMBERS_MAX, NumberIndex, numbers_with
from risala.engine.model.records.asks import NumberPart, Steps, TooManyNumbersError
from risala.engine.model.records.inbound import OptOutFilter, ReceivedFilter
from risala.engine.model.records.message_lists import SessionFilter
from risala.sms.numbering.plan import DEFAULT

NOW = 10_000
NUMBERS = ("+22236004220", "+22242201111", "+22224220999", "+22236001234", "+22236004221")
WITH_4220 = sorted([*NUMBERS[:3]])
STEPS = Steps(50)


def part(digits):
    return NumberPart(digits, DEFAULT.ranges_of(digits))


def add_session(book, organization_id, name, number, at=100):
    book.conn.execute(
        "INSERT INTO verifications (id, organization_id, mode, recipient, status, attempts,"
        " attempts_max, code_length, message_id, expires_at, created_at, updated_at)"
        " VALUES (?, ?, 'live', ?, 'approved', 0, 5, 6, 'sms_x', ?, ?, 0)",
        (f"ver_{name}", organization_id, number, NOW, at),
    )


def add_inbound(book, organization_id, name, number, body="salam"):
    book.conn.execute(
        "INSERT INTO inbound (id, carrier, sender, recipient, body, carrier_ids, received_at,"
        " organization_id) VALUES (?, 'sim', ?, NULL, ?, '', 100, ?)",
        (f"mo_{name}", number, body, organization_id),
    )


def add_opt_out(book, organization_id, number, keyword="stop", at=100):
    book.conn.execute(
        "INSERT INTO opt_outs (organization_id, recipient, carrier, at, keyword)"
        " VALUES (?, ?, 'sim', ?, ?)",
        (organization_id, number, at, keyword),
    )


@pytest.fixture
def shops(book):
    """What two organizations have with the same numbers."""
    mine, other = book.organization(), book.organization()
    for whose in (mine, other):
        for place, number in enumerate(NUMBERS):
            add_session(book, whose, f"{whose == other}{place}", number, at=100 + place)
            add_inbound(book, whose, f"{whose == other}{place}", number)
            add_opt_out(book, whose, number)
    return mine, other


def test_sessions_are_found_by_digits_anywhere_in_the_number(book, shops):
    page = sessions.page(book.conn, SessionFilter(shops[0], "live", NOW, part=part("4220")), STEPS)
    assert [each.recipient for each in page.items] == [NUMBERS[2], NUMBERS[1], NUMBERS[0]]
    assert {each.organization_id for each in page.items} == {shops[0]}


def test_received_messages_are_found_by_digits_of_the_sender(book, shops):
    page = inbound.received(book.conn, ReceivedFilter(shops[0], part=part("4220")), STEPS)
    assert sorted(each.sender for each in page.items) == WITH_4220
    assert {each.organization_id for each in page.items} == {shops[0]}


def test_opt_outs_are_found_by_digits(book, shops):
    page = inbound.opted_out(book.conn, shops[0], OptOutFilter(part=part("4220")), STEPS)
    assert sorted(each.number for each in page.items) == WITH_4220


def test_words_are_found_in_texts_in_keywords_and_in_senders_that_are_names(book, shops):
    mine = shops[0]
    add_inbound(book, mine, "w1", "BANKILY", "Votre CODE")
    add_inbound(book, mine, "w2", "+22236009999", "Écrivez 100%_sûr")

    def found(text, **more):
        wanted = ReceivedFilter(mine, contains=text, **more)
        return [each.id for each in inbound.received(book.conn, wanted, STEPS).items]

    assert found("code") == found("bankily") == ["mo_w1"]
    assert found("écrivez") == found("%_") == ["mo_w2"]
    assert found("0_") == []
    assert found("bankily", searches_texts=False) == ["mo_w1"]
    assert found("salam", searches_texts=False) == []
    add_opt_out(book, mine, "+22236005555", "ARRET")
    page = inbound.opted_out(book.conn, mine, OptOutFilter(contains="arret"), STEPS)
    assert [each.number for each in page.items] == ["+22236005555"]


def test_a_foreign_number_is_found_by_its_beginning(book, shops):
    add_inbound(book, shops[0], "de", "+491701234567")
    page = inbound.received(book.conn, ReceivedFilter(shops[0], part=part("49170")), STEPS)
    assert [each.sender for each in page.items] == ["+491701234567"]


def test_people_of_a_list_are_found_by_digits_and_by_words(book):
    organization_id = book.organization()
    book.conn.execute(
        "INSERT INTO recipient_lists (key, id, organization_id, name, columns, created_at,"
        " created_by, changed_at) VALUES (7, 'lst_1', ?, 'Clients', '[\"Nom\"]', 0, 'x', 0)",
        (organization_id,),
    )
    names = ("Fatou", "Aïcha", "Mohamed", "Sidi", 'Le "Grand"')
    book.conn.executemany(
        "INSERT INTO list_people (list, number, cells) VALUES (7, ?, ?)",
        [
            (number, json.dumps([name], ensure_ascii=False))
            for number, name in zip(NUMBERS, names, strict=True)
        ],
    )

    def found(limit=50, after=None, **wanted):
        page = list_people.page(book.conn, "lst_1", PeopleFilter(**wanted), after, limit)
        return [each.number for each in page.people], page.after

    assert found(part=part("4220")) == (WITH_4220, None)
    assert found(number=NUMBERS[3]) == ([NUMBERS[3]], None)
    assert found(contains="AÏCHA") == ([NUMBERS[1]], None)
    assert found(contains='"Grand"') == ([NUMBERS[4]], None)
    assert found(contains='","') == ([], None)
    assert found(1, part=part("4220")) == (WITH_4220[:1], WITH_4220[0])
    assert found(1, WITH_4220[0], part=part("4220")) == (WITH_4220[1:2], WITH_4220[1])


@pytest.mark.parametrize("limit", [1, 2, 7, 50])
def test_pages_of_several_numbers_are_one_list_in_both_directions(book, limit):
    mine = book.organization()
    for place in range(40):
        add_session(book, mine, f"{place:02}", NUMBERS[place % 5], at=100 + place // 3)
    wanted = SessionFilter(mine, "live", NOW, part=part("4220"))
    seen, pages, before = [], [], None
    while True:
        page = sessions.page(book.conn, wanted, Steps(limit, before=before))
        pages.append(page)
        seen += [each.id for each in page.items]
        if (before := page.older) is None:
            break
    expected = [f"ver_{place:02}" for place in range(40) if place % 5 < 3]
    assert seen == expected[::-1]
    for earlier, later in pairwise(pages):
        back = sessions.page(book.conn, wanted, Steps(limit, after=later.newer))
        assert back.items == earlier.items


def test_a_page_says_how_far_all_of_its_numbers_were_searched(book):
    mine = book.organization()
    for place in range(30):
        add_session(book, mine, f"{place:02}", NUMBERS[place % 2], at=100 + place)
    wanted = SessionFilter(mine, "live", NOW, status="canceled", part=part("4220"))
    page = sessions.page(book.conn, wanted, Steps(5, looked_max=4))
    assert page.items == ()
    assert page.looked_to is not None
    assert page.looked_to.created_at == 123  # of the two numbers, the one that was left sooner
    assert page.older == sessions.place_of(page.looked_to)


def test_too_many_numbers_are_refused(book):
    mine = book.organization()
    for place in range(NUMBERS_MAX + 1):
        add_opt_out(book, mine, f"+2223600{place:04}")
    with pytest.raises(TooManyNumbersError):
        inbound.opted_out(book.conn, mine, OptOutFilter(part=part("3600")), STEPS)


def test_the_search_reads_an_index_and_no_table(book):
    statements = []
    book.conn.set_trace_callback(statements.append)
    mine = book.organization()
    add_session(book, mine, "1", NUMBERS[0])
    statements.clear()
    source = "verifications INDEXED BY verification_by_phone"
    index = NumberIndex(source, "recipient", "organization_id = ? AND mode = ?", (mine, "live"))
    assert numbers_with(book.conn, index, part("4220")) == [NUMBERS[0]]
    book.conn.set_trace_callback(None)
    assert statements
    for each in statements:
        plan = " ".join(row[3] for row in book.conn.execute(f"EXPLAIN QUERY PLAN {each}"))
        assert "COVERING INDEX verification_by_phone (organization_id=? AND mode=? AND rec" in plan
        assert "SCAN verifications" not in plan


@given(digits=st.text("0123456789", min_size=4, max_size=8))
def test_the_ranges_have_exactly_the_numbers_with_the_digits(digits):
    found = part(digits)
    for number in NUMBERS:
        is_within = any(low <= int(number[1:]) <= high for low, high in found.ranges)
        assert is_within == (digits in number)
