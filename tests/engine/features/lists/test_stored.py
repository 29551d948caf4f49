"""Recipient lists as rows: columns are united, numbers are there once, and the count is right."""

import json

import pytest

from risala.engine.features.lists import stored
from risala.engine.features.lists.records import (
    LISTS_MAX,
    ListedPerson,
    PeopleFilter,
    RecipientList,
)
from risala.engine.features.tables.records import COLUMNS_MAX, ROWS_MAX
from risala.engine.journal.inbound import opt_outs
from risala.engine.model.errors import Conflict, Invalid, NotFound

ONE, TWO, THREE = "+22236000001", "+22236000002", "+22236000003"


@pytest.fixture
def organization_id(book):
    return book.organization()


@pytest.fixture
def make(book, organization_id):
    def make_one(name="Parents", columns=(), people=(), owner=None):
        new = RecipientList(
            book.id("lst"),
            owner or organization_id,
            name,
            (),
            0,
            book.now_ms,
            "amina",
            book.now_ms,
        )
        return book.unit(lambda conn: stored.create(conn, new, columns, people)).list

    return make_one


@pytest.fixture
def grow(book):
    def grow_one(found, columns, people):
        return book.unit(lambda conn: stored.grow(conn, found.id, columns, people, book.now_ms + 1))

    return grow_one


@pytest.fixture
def people_of(book):
    def read(found, after=None, limit=100):
        return stored.page(book.conn, found.id, PeopleFilter(), after, limit)

    return read


def test_columns_are_united_and_those_that_came_later_are_empty(make, grow, people_of):
    made = make(columns=("Name", "Class"), people=[(TWO, ("Ali", "3")), (ONE, ("Amina", "4"))])
    grown = grow(made, (" class", "الاسم"), [(THREE, ("5", "علي"))])
    assert grown.list.columns == ("Name", "Class", "الاسم")
    assert (grown.places, grown.added, grown.changed) == ((1, 2), 1, 0)
    found = people_of(made)
    assert found.list.people == 3
    assert found.people == (
        ListedPerson(ONE, ("Amina", "4", ""), opted_out=False),
        ListedPerson(TWO, ("Ali", "3", ""), opted_out=False),
        ListedPerson(THREE, ("", "5", "علي"), opted_out=False),
    )


def test_a_number_that_is_there_gets_the_new_values_and_keeps_the_others(make, grow, people_of):
    made = make(columns=("name", "class"), people=[(ONE, ("Amina", "4"))])
    grown = grow(made, ("class",), [(ONE, ("5",)), (TWO, ("5",)), (TWO, ("6",))])
    assert (grown.added, grown.changed, grown.list.people) == (1, 1, 2)
    assert [each.cells for each in people_of(made).people] == [("Amina", "5"), ("", "6")]


def test_pages_go_on_behind_the_last_number(make, people_of):
    made = make(people=[(each, ()) for each in (ONE, TWO, THREE)])
    first = people_of(made, limit=2)
    assert ([each.number for each in first.people], first.after) == ([ONE, TWO], TWO)
    last = people_of(made, after=first.after, limit=2)
    assert ([each.number for each in last.people], last.after) == ([THREE], None)


def test_who_opted_out_is_shown_and_counted(book, organization_id, make, people_of):
    made = make(people=[(ONE, ()), (TWO, ())])
    other = book.organization()
    for owner, number in ((organization_id, TWO), (organization_id, THREE), (other, ONE)):
        book.unit(
            lambda conn, owner=owner, number=number: opt_outs.note(
                conn, owner, number, "amina", book.now_ms
            )
        )
    found = people_of(made, limit=1)
    assert ([each.opted_out for each in found.people], found.opted_out) == ([False], 1)
    assert [each.opted_out for each in people_of(made).people] == [False, True]


def test_a_full_list_takes_no_more(book, make, grow):
    made = make(people=[(ONE, ())])
    book.unit(lambda conn: conn.execute("UPDATE recipient_lists SET people = ?", (ROWS_MAX,)) and 0)
    assert grow(made, ("name",), [(ONE, ("Amina",))]).changed == 1, "who is there already may"
    with pytest.raises(Conflict, match="at most 100000 people"):
        grow(made, (), [(TWO, ())])


def test_a_list_has_no_more_columns_than_a_table(make, grow):
    made = make(columns=[f"c{number}" for number in range(COLUMNS_MAX)])
    assert grow(made, ("C1",), []).list.columns == made.columns
    with pytest.raises(Conflict, match="at most 100 columns"):
        grow(made, ("new",), [])


def test_an_organization_has_so_many_lists_and_each_name_once(book, make):
    first = make("Parents")
    with pytest.raises(Invalid, match="of this name"):
        make("Parents")
    make("Parents", owner=book.organization())
    other = make("Teachers")
    with pytest.raises(Invalid, match="of this name"):
        book.unit(lambda conn: stored.change(conn, other.id, {"name": "Parents"}))
    for number in range(LISTS_MAX - 2):
        make(f"List {number}")
    with pytest.raises(Conflict, match="at most 200 lists"):
        make("One more")
    book.unit(lambda conn: stored.delete(conn, first.id, book.now_ms))
    assert make("Parents").id != first.id


def test_lists_are_in_the_order_of_their_names(book, organization_id, make):
    for name in ("b", "C", "a"):
        make(name)
    found = stored.of_organization(book.conn, organization_id)
    assert [each.name for each in found] == ["a", "b", "C"]


def test_a_removed_number_is_gone_and_counted(book, make, people_of):
    made = make(people=[(ONE, ()), (TWO, ())])

    def remove(conn):
        return stored.remove(conn, made.id, ONE, book.now_ms + 5)

    left = book.unit(remove)
    assert (left.people, left.changed_at) == (1, book.now_ms + 5)
    assert [each.number for each in people_of(made).people] == [TWO]
    with pytest.raises(NotFound, match="does not have this number"):
        book.unit(remove)


def test_nobody_sees_a_deleted_list(book, organization_id, make, grow, people_of):
    made = make(people=[(ONE, ())])
    gone = book.unit(lambda conn: stored.delete(conn, made.id, book.now_ms))
    assert gone.id == made.id
    assert stored.of_organization(book.conn, organization_id) == []
    for look in (
        lambda: stored.recipient_list(book.conn, made.id),
        lambda: people_of(made),
        lambda: grow(made, (), [(TWO, ())]),
        lambda: book.unit(lambda conn: stored.delete(conn, made.id, book.now_ms)),
        lambda: stored.people_after(book.conn, made.id, "", 5),
    ):
        with pytest.raises(NotFound):
            look()


def test_half_a_character_is_stored_as_a_mark(book, make, people_of):
    made = make(columns=("name",), people=[(ONE, ("A\ud800",))])
    assert people_of(made).people[0].cells == ("A?",)
    cells = book.one("SELECT cells FROM list_people")
    assert json.loads(cells) == ["A?"]


def test_how_many_of_some_numbers_are_there(book, make):
    made = make(people=[(ONE, ()), (TWO, ())])
    assert stored.count_known(book.conn, made.id, [TWO, THREE]) == 1
    assert stored.count_known(book.conn, "lst_new", [TWO]) == 0
