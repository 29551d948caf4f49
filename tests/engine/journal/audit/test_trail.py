"""Pages of the audit trail: which lines are on them, and that a look at them is bounded."""

from dataclasses import replace

import pytest

from risala.engine.gateway.table import OPERATIONS
from risala.engine.journal.audit import trail
from risala.engine.journal.store.audited import audited
from risala.engine.model.audit import AuditEntry, TrailFilter
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.records.asks import Steps
from risala.engine.operations.trail import views

AMINA = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)
OMAR = Caller("omar", CallerKind.CLI, Role.OPERATOR)
ACTIONS = ("org.set", "carriers.pause", "topup", "carriers.resume")


def sign(book, number, at=None):
    """A line; what stands in it follows from its number."""
    hand = AuditEntry(
        caller=(AMINA, OMAR)[number % 2],
        action=ACTIONS[number % 4],
        at=number * 10 if at is None else at,
        subject=f"thing_{number % 3}",
        organization_id=f"org_{number % 2}" if number % 4 in (0, 2) else None,
        details={"number": number},
        always=True,
    )
    book.unit(audited(hand, lambda conn: None))


@pytest.fixture
def lines(book):
    for number in range(12):
        sign(book, number)
    return book


def numbers(page):
    return [line.after["number"] for line in page.items]


def everything(book, wanted, limit):
    found, before = [], None
    while True:
        page = trail.page(book.conn, wanted, Steps(limit, before=before))
        if before is not None:
            back = trail.page(book.conn, wanted, Steps(limit, after=page.newer))
            assert numbers(back) == found[-1]
        found.append(numbers(page))
        if page.older is None:
            return [each for some in found for each in some]
        before = page.older


@pytest.mark.parametrize("limit", [1, 3, 50])
@pytest.mark.parametrize(
    ("wanted", "accept"),
    [
        ({}, lambda n: True),
        ({"action": "topup"}, lambda n: n % 4 == 2),
        ({"action": "carriers."}, lambda n: n % 2 == 1),
        ({"action": "carriers"}, lambda n: False),
        ({"who": "amina"}, lambda n: n % 2 == 0),
        ({"face": "cli"}, lambda n: n % 2 == 1),
        ({"organization_id": "org_0"}, lambda n: n % 2 == 0),
        ({"organization_id": "org_1"}, lambda n: False),
        ({"subject": "thing_1"}, lambda n: n % 3 == 1),
        ({"since": 30, "until": 90}, lambda n: 3 <= n < 9),
        ({"since": 30, "until": 90, "action": "topup"}, lambda n: n == 6),
        ({"since": 30, "until": 90, "subject": "thing_1"}, lambda n: n in (4, 7)),
        ({"since": 31, "organization_id": "org_0"}, lambda n: n % 2 == 0 and n >= 4),
        ({"action": "topup", "who": "omar"}, lambda n: False),
    ],
)
def test_all_pages_together_are_the_lines_that_fit(lines, wanted, accept, limit):
    fitting = [number for number in range(11, -1, -1) if accept(number)]
    assert everything(lines, TrailFilter(**wanted), limit) == fitting


def test_a_clock_that_was_set_back_loses_no_line(lines):
    sign(lines, 12, at=15)
    sign(lines, 13, at=15)
    assert everything(lines, TrailFilter(), 1) == [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 13, 12, 1, 0]
    assert everything(lines, TrailFilter(since=12, until=25), 1) == [2, 13, 12]


def test_every_look_is_by_an_index_in_its_order(lines):
    run: list[str] = []
    lines.conn.set_trace_callback(run.append)
    for wanted in (
        {},
        {"action": "topup"},
        {"action": "carriers."},
        {"organization_id": "org_0"},
        {"subject": "thing_1"},
        {"who": "amina", "face": "cli", "since": 1, "until": 9},
    ):
        for bounds in ({}, {"before": (5, 5)}, {"after": (5, 5)}):
            trail.page(lines.conn, TrailFilter(**wanted), Steps(3, **bounds))
    lines.conn.set_trace_callback(None)
    steps = [step for sql in run for *_, step in lines.conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert len(run) > 18
    whole = "SCAN audit_log USING INDEX audit_log_by_subject"
    assert not [step for step in steps if step.startswith("SCAN audit_log") and step != whole]
    assert not [step for step in steps if "TEMP B-TREE" in step]


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_what_was_only_read_is_left_out_where_changes_are_wanted(lines, limit):
    for action in ("audit.list", "message.body"):
        look = AuditEntry(caller=AMINA, action=action, at=55, details={"number": action})
        lines.unit(audited(replace(look, always=True), lambda conn: None))
    changes = everything(lines, TrailFilter(left_out=views()), limit)
    assert changes == [11, 10, 9, 8, 7, 6, "message.body", 5, 4, 3, 2, 1, 0]
    assert "audit.list" in everything(lines, TrailFilter(), limit)
    assert everything(lines, TrailFilter(left_out=views(), action="topup"), limit) == [10, 6, 2]


def test_each_operation_that_reads_all_organizations_is_a_view():
    reads = {each.name for each in OPERATIONS.values() if each.reads_all_organizations}
    assert reads <= {*views()} <= {*OPERATIONS}
