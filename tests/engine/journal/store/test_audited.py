"""The audit trail: a line holds with the change that it tells of, or neither does."""

import json
import sqlite3

import pytest

from risala.engine.journal.accounts import accounts
from risala.engine.journal.store import audit_log
from risala.engine.journal.store.audited import audited, seen_of
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import NotFound

AMINA = Caller("amina", CallerKind.CLI, Role.OPERATOR)


@pytest.mark.parametrize("image", AuditImage)
def test_of_what_is_not_there_nothing_is_shown(book, organization, image):
    nowhere = "alm_9" if image in (AuditImage.ALERT, AuditImage.ALERT_MUTE) else "x_none"
    entry = AuditEntry(
        caller=AMINA, action="a.b", at=1, subject=nowhere, image=image, organization_id=organization
    )
    seen = seen_of(book.conn, entry, nowhere)
    of_settings = (
        *(AuditImage.OVERRIDE, AuditImage.OPT_OUT_POLICY),
        *(AuditImage.RETENTION_DAYS, AuditImage.COUNTRIES, AuditImage.INVOICE_CUSTOMER),
    )
    assert (seen is None) == (image not in of_settings)


@pytest.fixture
def by(book, organization):
    return AuditEntry(
        caller=AMINA,
        action="org.suspend",
        at=book.now_ms,
        subject=organization,
        image=AuditImage.ORGANIZATION,
    )


@pytest.fixture
def organization(book):
    return book.organization()


def suspend(organization_id):
    return lambda conn: accounts.set_organization_status(conn, organization_id, "suspended")


def test_a_line_tells_who_did_what_and_how_it_stood_before_and_after(book, organization, by):
    book.unit(audited(by, suspend(organization)))
    (line,) = audit_log.lines(book.conn, 10)
    assert (line.who, line.face, line.role) == ("amina", "cli", "operator")
    assert (line.action, line.subject, line.at) == ("org.suspend", organization, book.now_ms)
    assert line.organization_id == organization
    assert (line.before["status"], line.after["status"]) == ("active", "suspended")
    assert line.before | {"status": "suspended"} == line.after


def test_a_unit_that_nobody_signs_leaves_no_line(book, organization):
    book.unit(audited(None, suspend(organization)))
    assert audit_log.lines(book.conn, 10) == []


def test_what_is_refused_leaves_no_line(book, by):
    with pytest.raises(NotFound):
        book.unit(audited(by, suspend("org_x")))
    assert audit_log.lines(book.conn, 10) == []


def test_a_unit_that_wrote_nothing_leaves_no_line_unless_it_must(book, organization, by):
    book.unit(audited(by, lambda conn: None))
    assert audit_log.lines(book.conn, 10) == []
    always = AuditEntry(caller=AMINA, action="carriers.pause", at=1, subject="loop", always=True)
    book.unit(audited(always, lambda conn: None))
    assert [line.action for line in audit_log.lines(book.conn, 10)] == ["carriers.pause"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET who = 'nobody'",
        "UPDATE OR REPLACE audit_log SET seq = seq + 1",
        "DELETE FROM audit_log",
        "DELETE FROM audit_log WHERE seq = 1",
        "INSERT OR REPLACE INTO audit_log (seq, at, who, face, role, action)"
        " VALUES (1, 1, 'nobody', 'cli', 'operator', 'org.list')",
        "REPLACE INTO audit_log (seq, at, who, face, role, action)"
        " VALUES (1, 1, 'nobody', 'cli', 'operator', 'org.list')",
        "INSERT INTO audit_log (seq, at, who, face, role, action) VALUES (1, 1, 'a', 'b', 'c', 'd')"
        " ON CONFLICT (seq) DO UPDATE SET who = 'nobody'",
    ],
)
def test_a_line_is_never_changed_nor_taken_away(book, organization, by, statement):
    book.unit(audited(by, suspend(organization)))
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        book.conn.execute(statement)
    assert len(audit_log.lines(book.conn, 10)) == 1


def test_the_trail_is_read_backwards_from_a_line_and_by_what_is_asked_for(book, organization):
    for number in range(5):
        entry = AuditEntry(
            caller=AMINA,
            action=("org.set", "topup")[number % 2],
            at=number,
            organization_id=organization,
            details={"number": number},
            always=True,
        )
        book.unit(audited(entry, lambda conn: None))
    newest = audit_log.lines(book.conn, 2)
    assert [line.at for line in newest] == [4, 3]
    assert [line.at for line in audit_log.lines(book.conn, 9, before=newest[-1].seq)] == [2, 1, 0]
    assert [line.at for line in audit_log.lines(book.conn, 9, action="topup")] == [3, 1]
    assert audit_log.lines(book.conn, 9, organization_id="org_x") == []
    assert audit_log.lines(book.conn, 9, who="nobody") == []
    assert audit_log.lines(book.conn, 9, before=-(2**70)) == []
    (after,) = book.conn.execute("SELECT after FROM audit_log WHERE at = 3").fetchone()
    assert json.loads(after) == {"number": 3}
