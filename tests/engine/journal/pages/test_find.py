"""Messages of all organizations: to one number, or by a carrier's id."""

import pytest

from risala.engine.journal.pages import find
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.asks import TooManyNumbersError
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.records.message_lists import Sought
from risala.engine.model.states import SegmentState
from risala.sms.numbering.plan import DEFAULT

TO = "+22236000001"
LINE = Line(Kind.SENT)


@pytest.fixture
def town(book):
    """Three organizations that write to one number in turns, and to another one."""
    organizations = [book.organization() for _ in range(3)]
    made = []
    for number in range(10):
        book.now_ms += 1000
        book.accept(organizations[number % 3], recipient="+22246000002")
        mode = "test" if number == 4 else "live"
        made.append(book.accept(organizations[number % 3], recipient=TO, mode=mode))
    return made


def ids(page):
    return [each.id for each in page.messages]


@pytest.mark.parametrize("limit", [1, 3, 4, 10, 50])
def test_all_organizations_messages_to_a_number_are_in_one_order(book, town, limit):
    found, before = [], None
    while True:
        page = find.page(book.conn, Sought(recipient=TO), before=before, limit=limit)
        if before is not None:
            back = find.page(book.conn, Sought(recipient=TO), after=page.newer, limit=limit)
            assert ids(back) == found[-1]
        found.append(ids(page))
        if page.older is None:
            break
        before = page.older
    assert [each for some in found for each in some] == town[::-1]


def sent(book, organization_id, carrier_id, carrier="mattel", segments=1):
    message_id = book.accept(organization_id, segments=segments)
    for number in range(1, segments + 1):
        book.begin(message_id, number, carrier, opens=number == 1)
        decision = Decision(
            Step.ADVANCE, SegmentState.ACCEPTED, LINE, "OK", carrier_id=f"{carrier_id}{number - 1}"
        )
        book.finish(Attempt(message_id, number, 1, carrier), decision)
    return message_id


def by(book, carrier_id):
    return set(ids(find.page(book.conn, Sought(carrier_id=carrier_id), limit=50)))


def test_a_carriers_id_is_found_in_any_form_and_at_any_carrier(book):
    mine, other = book.organization(), book.organization()
    one = sent(book, mine, "00AB1")
    two = sent(book, other, "ab1", carrier="mauritel")
    parts = sent(book, mine, "77", segments=2)
    assert by(book, "ab10") == {one, two}
    assert by(book, "00AB10") == {one, two}
    assert by(book, str(0xAB10)) == {one, two}
    assert by(book, "770") == by(book, "771") == {parts}
    assert by(book, "772") == set()
    assert by(book, "") == set()


def test_a_message_is_found_by_its_own_id(book, town):
    (found,) = find.page(book.conn, Sought(message_id=town[4]), limit=5).messages
    assert (found.id, found.mode) == (town[4], "test")
    assert ids(find.page(book.conn, Sought(message_id="sms_none"), limit=5)) == []


def test_every_look_is_by_an_index(book, town):
    run: list[str] = []
    book.conn.set_trace_callback(run.append)
    for wanted in (
        *(Sought(recipient=TO), Sought(carrier_id="12"), Sought(message_id=town[0])),
        Sought(ranges=DEFAULT.ranges_of("0001")),
    ):
        find.page(book.conn, wanted, limit=3)
        find.page(book.conn, wanted, before=1, limit=3)
        find.page(book.conn, wanted, after=1, limit=3)
    book.conn.set_trace_callback(None)
    steps = [step for sql in run for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert len(run) > 20
    steps = [step for step in steps if not step.startswith("SCAN json_each")]  # an argument
    assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step]


@pytest.mark.parametrize(
    ("digits", "found"),
    [
        ("0001", [0, 3]),
        ("3600", [0, 3]),
        ("2224", [1]),
        ("22236", [0, 3]),
        ("000001", [0, 3]),
        ("00000", [0, 1, 3]),
        ("22236000001", [0, 3]),
        ("222360000010", []),
        ("5000", []),
        ("9999", []),
    ],
)
def test_a_part_of_a_number_is_found_wherever_it_stands(book, digits, found):
    organization_id, other = book.organization(), book.organization()
    made = [
        book.accept(organization_id, recipient="+22236000001"),
        book.accept(organization_id, recipient="+22246000002"),
        book.accept(organization_id, recipient="+22227171717"),
        book.accept(other, recipient="+22236000001"),
    ]
    page = find.page(book.conn, Sought(ranges=DEFAULT.ranges_of(digits)), limit=50)
    assert ids(page) == [made[each] for each in reversed(found)]


def test_pages_of_a_part_of_a_number_are_in_one_order(book, town):
    found, before = [], None
    while True:
        page = find.page(
            book.conn, Sought(ranges=DEFAULT.ranges_of("60000")), before=before, limit=3
        )
        found += ids(page)
        if page.older is None:
            break
        before = page.older
    assert len(found) == 20
    assert found[::2] == town[::-1]


def test_digits_that_may_be_a_carriers_id_are_found_as_either(book):
    organization_id = book.organization()
    by_id = sent(book, organization_id, "12345")
    by_number = book.accept(organization_id, recipient="+22236123450")
    page = find.page(
        book.conn, Sought(ranges=DEFAULT.ranges_of("123450"), carrier_id="123450"), limit=50
    )
    assert ids(page) == [by_number, by_id]


def test_too_many_numbers_with_some_digits_are_told(book, monkeypatch):
    monkeypatch.setattr(find, "WALKS_MAX", 2)
    organization_id = book.organization()
    for last in range(3):
        book.accept(organization_id, recipient=f"+2223600000{last}")
    assert ids(find.page(book.conn, Sought(ranges=DEFAULT.ranges_of("00002")), limit=5))
    with pytest.raises(TooManyNumbersError):
        find.page(book.conn, Sought(ranges=DEFAULT.ranges_of("36000")), limit=5)
