"""Which parts are of one message that a customer cut, what its text is, and what a search finds."""

from __future__ import annotations

import re

import pytest

from risala.engine.journal.pages import cut_messages, lists
from risala.engine.journal.pages.cut_messages import LOOKED_MAX, cut_message
from risala.engine.model.numbers import part_number
from risala.engine.model.records.message_lists import APART_MAX_MS, MessageFilter
from risala.sms.message import Concatenation

SECOND_MS = 1000
TEXTS = ("Votre commande est pr", "ête, passez à la bou", "tique 😀")


@pytest.fixture
def organization_id(book):
    return book.organization()


def put(book, organization_id, number, total=3, *, reference=7, halves=("", ""), **fields):
    """A part that a customer submitted a second later; its id."""
    book.now_ms += SECOND_MS
    place = Concatenation(reference, total, number, 8)
    fields = {"body": TEXTS[number - 1], "part": part_number(place, halves), **fields}
    return book.accept(organization_id, **fields)


def whole(book, message_id):
    """The text of the message that one is a part of, and where its parts are."""
    found = cut_message(book.conn, message_id)
    return found.text, {number: each.id for number, each in found.parts.items()}


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
def test_each_part_has_the_text_of_all(book, organization_id, order):
    made = {number: put(book, organization_id, number) for number in order}
    for each in made.values():
        assert whole(book, each) == ("".join(TEXTS), made)


def test_a_message_that_is_no_part_is_of_none(book, organization_id):
    assert cut_message(book.conn, book.accept(organization_id)) is None
    assert cut_message(book.conn, "sms_none") is None


def test_halves_of_a_character_meet_again(book, organization_id):
    first = put(book, organization_id, 1, 2, body="ab", halves=("", "\ud83d"))
    assert whole(book, first)[0] == "ab…"
    second = put(book, organization_id, 2, 2, body="cd", halves=("\ude00", ""))
    assert whole(book, first)[0] == whole(book, second)[0] == "ab😀cd"


@pytest.mark.parametrize(
    "other",
    [
        {"reference": 8},
        {"total": 4},
        {"recipient": "+22246000002"},
        {"sender": "Bank"},
        {"api_key": "crd_other"},
        {"mode": "test"},
        {"encoding": "ucs2"},
    ],
)
def test_what_differs_is_of_another_message(book, organization_id, other):
    first = put(book, organization_id, 1)
    put(book, organization_id, 2, **other)
    put(book, book.organization(), 2)
    assert whole(book, first) == (f"{TEXTS[0]}…", {1: first})


def test_a_reference_that_comes_again_is_another_message(book, organization_id):
    made = [put(book, organization_id, number, 2) for number in (1, 2, 1, 2)]
    assert whole(book, made[1])[1] == {1: made[0], 2: made[1]}
    assert whole(book, made[2])[1] == {1: made[2], 2: made[3]}
    book.now_ms += APART_MAX_MS
    late = put(book, organization_id, 1, 2)
    assert whole(book, late) == (f"{TEXTS[0]}…", {1: late})


def test_a_page_that_begins_inside_a_message_joins_it_with_none_of_another(book, organization_id):
    """Software that has one reference for all of its messages."""
    made = [put(book, organization_id, number, 2) for number in (1, 2) * 3]
    keys = [
        each.key
        for each in lists.page(book.conn, MessageFilter(organization_id, "live"), limit=5).messages
    ]
    for each in cut_messages.cut_messages(book.conn, keys).values():
        first, second = each.parts[1].id, each.parts[2].id
        assert made.index(second) == made.index(first) + 1


def test_a_text_that_is_no_longer_kept_is_a_gap(book, organization_id):
    made = [put(book, organization_id, number) for number in (1, 2, 3)]
    book.conn.execute("UPDATE message SET pruned = 1, body = '' WHERE id = ?", (made[1],))
    assert whole(book, made[0])[0] == f"{TEXTS[0]}…{TEXTS[2]}"


def test_the_look_for_parts_is_bounded(book, organization_id):
    first = put(book, organization_id, 1)
    for _ in range(LOOKED_MAX):
        book.accept(organization_id)
    last = put(book, organization_id, 3)
    assert whole(book, first)[1] == {1: first}
    assert whole(book, last)[1] == {3: last}


def found(book, organization_id, text, **more):
    wanted = MessageFilter(organization_id, "live", contains=text, **more)
    return [each.id for each in lists.page(book.conn, wanted, limit=50).messages]


@pytest.mark.parametrize("text", ["prête", "PRêTE", "boutique", "est prête, passez à la boutique"])
def test_a_search_finds_a_word_across_a_cut(book, organization_id, text):
    book.accept(organization_id, body="Votre commande")
    made = [put(book, organization_id, number) for number in (1, 2, 3)]
    assert found(book, organization_id, text) == made[::-1]
    assert found(book, organization_id, text, searches_texts=False) == []
    assert found(book, organization_id, "prêtes") == []
    assert found(book, organization_id, text, sender="Nobody") == []


def test_a_search_joins_with_parts_that_are_not_on_its_way(book, organization_id):
    made = [put(book, organization_id, number) for number in (1, 2, 3)]
    book.conn.execute("UPDATE message SET status = 5 WHERE id = ?", (made[1],))
    assert found(book, organization_id, "boutique", status="failed") == [made[1]]
    wanted = MessageFilter(organization_id, "live", contains="prête")
    first = lists.page(book.conn, wanted, limit=1)
    second = lists.page(book.conn, wanted, before=first.older, limit=50)
    assert [each.id for each in second.messages] == [made[1], made[0]]


def test_a_search_looks_elsewhere_for_so_many_messages_at_most(book, organization_id, monkeypatch):
    monkeypatch.setattr(cut_messages, "LOOKUPS_MAX", 2)
    for reference in range(4):
        for number in (1, 2, 3):
            put(book, organization_id, number, reference=reference)
    book.conn.execute("UPDATE message SET status = 5 WHERE part >> 1 & 255 = 2")
    assert len(found(book, organization_id, "prête", status="failed")) == 2


def test_a_search_that_meets_too_many_parts_goes_on_with_the_next_page(
    book, organization_id, monkeypatch
):
    monkeypatch.setattr(cut_messages, "JOINED_MAX", 4)
    made = [put(book, organization_id, number) for _ in range(3) for number in (1, 2, 3)]
    wanted = MessageFilter(organization_id, "live", contains="boutique")
    ids, before, after = [], None, 0
    while before is not None or not ids:
        page = lists.page(book.conn, wanted, before=before, limit=50)
        ids += [each.id for each in page.messages]
        before = page.older
        assert (page.looked_to is None) == (before is None)
    assert ids == made[::-1]
    while after is not None and ids:
        page = lists.page(book.conn, wanted, after=after, limit=50)
        ids = [each for each in ids if each not in {one.id for one in page.messages}]
        after = page.newer
    assert ids == []


def test_no_look_walks_through_the_messages(book, organization_id):
    made = [put(book, organization_id, number) for number in (1, 2)]
    run = []
    book.conn.set_trace_callback(run.append)
    cut_message(book.conn, made[0])
    found(book, organization_id, "prête")
    book.conn.set_trace_callback(None)
    steps = [step for sql in run for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert [each for each in steps if re.match(r"SCAN (?!CONSTANT|looked|\(subquery)", each)] == []
    assert any("message_by_recipient (recipient=? AND organization=?" in each for each in steps)
