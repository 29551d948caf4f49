"""What pages and sign-ins ask of the tables of people is found by an index, however many there are.

Every statement that is run is shown to SQLite's planner, but for those of every hour, which forget
what is over and may look at each row for it.
"""

from __future__ import annotations

import re

import pytest

from risala.engine.journal.people import (
    mails,
    members,
    sign_in_tokens,
    user_changes,
    users,
    web_sessions,
)
from risala.engine.journal.store import audit_log
from risala.engine.model.callers import Role
from risala.engine.model.people import (
    Device,
    Language,
    Membership,
    SessionKind,
    User,
)
from risala.engine.model.people_records import (
    CodeRequest,
    MailKind,
    NewMail,
    SignInLink,
    UserFilter,
)
from risala.engine.model.records.people.members import Invitation

GROWING = ("users", "members", "invitations", "web_sessions", "sign_in_requests", "mails")
KIND = SessionKind.CUSTOMER


def a_day_of_people(book) -> None:
    """Each read and each write at least once."""
    conn, now_ms, shop = book.conn, book.now_ms, book.organization()
    owner, other = (
        User(each, f"{each}@x.example", "", Language.FRENCH, False, now_ms, now_ms, None)
        for each in ("usr_a", "usr_b")
    )
    device = Device("web_a", owner.id, KIND, "a", "b", now_ms, now_ms, now_ms + 10**9)
    asked = CodeRequest("sgn", b"b", KIND, owner.email, Language.FRENCH, 0, 1, now_ms + 10, 1)
    invited = Invitation("inv", shop, "Shop", "c@x.example", Role.VIEWER, "x", now_ms, now_ms + 10)
    for work in (
        lambda conn: users.add(conn, owner),
        lambda conn: users.add(conn, other),
        lambda conn: users.change(conn, owner.id, {"email": "a@y.example"}, now_ms),
        lambda conn: users.seen(conn, owner.id, now_ms),
        lambda conn: members.add(conn, Membership(shop, owner.id, Role.OWNER, 1, 1)),
        lambda conn: members.add(conn, Membership(shop, other.id, Role.VIEWER, 1, 1)),
        lambda conn: members.set_role(conn, shop, other.id, Role.OWNER, 2),
        lambda conn: members.remove(conn, shop, other.id),
        lambda conn: members.invite(conn, invited),
        lambda conn: web_sessions.add(conn, device, b"h"),
        lambda conn: web_sessions.rotate(conn, b"h", KIND, b"i", now_ms),
        lambda conn: web_sessions.make_stale(conn, owner.id),
        lambda conn: web_sessions.touch(conn, {device.id: now_ms}),
        lambda conn: sign_in_tokens.ask(conn, asked),
        lambda conn: sign_in_tokens.change_request(conn, asked.id, {"attempts": 1}),
        lambda conn: sign_in_tokens.add_link(conn, b"l", SignInLink(owner.id, KIND, now_ms + 10)),
        lambda conn: mails.owe(
            conn, NewMail(MailKind.LOW_BALANCE, "a", Language.FRENCH, {}), now_ms
        ),
        lambda conn: mails.put_off(conn, 1, now_ms, 1),
        lambda conn: mails.forget_settled(conn, now_ms),
        lambda conn: web_sessions.end(conn, owner.id),
        lambda conn: sign_in_tokens.end_request(conn, asked.id),
    ):
        book.unit(work)
    users.page(conn, UserFilter(), after="a", before=None, limit=10)
    users.page(conn, UserFilter("x", True), after="", before="z", limit=10)
    users.count_organizations(conn, "usr_1")
    users.by_email(conn, "x")
    members.of_user(conn, owner.id)
    members.of_organization(conn, shop)
    members.invitations_to(conn, "x", now_ms)
    members.invitations_of(conn, shop, now_ms)
    web_sessions.by_hash(conn, b"h", KIND, now_ms)
    web_sessions.of_user(conn, owner.id, now_ms)
    sign_in_tokens.request_of(conn, b"b")
    sign_in_tokens.peek_link(conn, b"l", now_ms)
    user_changes.email_change_of(conn, owner.id)
    mails.first(conn, 4, 0)
    audit_log.version_of(conn, owner.id, "user")


@pytest.mark.slow
def test_nobody_is_looked_for_row_by_row(book):
    said: set[str] = set()
    book.conn.set_trace_callback(said.add)
    a_day_of_people(book)
    book.conn.set_trace_callback(None)
    looks = [each for each in said if re.match(r"\s*(select|update|delete|insert)", each, re.I)]
    assert len(looks) > 40
    scans = []
    for statement in looks:
        for *_, plan in book.conn.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall():
            if re.match(rf"SCAN ({'|'.join((*GROWING, 'audit_log'))})\b", plan) and (
                "USING" not in plan
            ):
                scans.append((plan, statement))
    assert scans == []
