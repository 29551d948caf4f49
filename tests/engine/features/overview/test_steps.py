"""How far a new organization has come, from what its steps leave behind."""

import re

import pytest

from risala.engine.features.overview import stored as figures


def first_steps(book, organization_id):
    return figures.first_steps(book.conn, organization_id)


def listen(book, organization_id):
    book.conn.execute(
        "INSERT INTO webhook_endpoints (id, organization_id, mode, url, types, secret, created_at,"
        " updated_at) VALUES ('whe_1', ?, 'live', 'https://a.example', '[]', 'whsec_', 1, 1)",
        (organization_id,),
    )


def test_of_a_new_organization_there_is_nothing(book):
    organization_id = book.organization(0)
    book.accept(book.organization())
    found = first_steps(book, organization_id)
    assert (found.key, found.message, found.session, found.webhook) == (None, None, None, None)
    assert not found.delivered
    assert not found.paid


@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_message_is_told_before_it_arrives_and_after(book, mode):
    organization_id = book.organization()
    message_id = book.accept(organization_id, mode=mode)
    found = first_steps(book, organization_id)
    assert (found.delivered, found.message.id, found.message.status) == (
        *(False, message_id),
        "pending",
    )
    assert found.paid
    number = {"live": 0, "test": 1}[mode]
    book.conn.execute("UPDATE message SET status = 3 WHERE id = ?", (message_id,))
    book.conn.execute(
        "INSERT INTO hour_count SELECT no, 3, 1, ?, 0, 'mattel', 1, 1 FROM organizations"
        " WHERE id = ?",
        (number, organization_id),
    )
    book.now_ms += 60_000
    book.accept(organization_id)
    found = first_steps(book, organization_id)
    assert (found.delivered, found.message.id) == (True, message_id)


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        (["expired", "canceled"], None),
        (["pending", "expired"], "pending"),
        (["approved", "pending"], "approved"),
        (["pending", "approved", "expired"], "approved"),
    ],
)
def test_a_session_counts_once_it_was_approved(book, statuses, told):
    organization_id = book.organization()
    for number, status in enumerate(statuses):
        book.conn.execute(
            "INSERT INTO verifications (id, organization_id, mode, recipient, status,"
            " attempts_max, code_length, message_id, expires_at, created_at, updated_at)"
            " VALUES (?, ?, 'test', '+22236123400', ?, 5, 6, 'sms_x', 9, ?, ?)",
            (f"ver_{number}", organization_id, status, number, number),
        )
    found = first_steps(book, organization_id).session
    assert (None if found is None else found.status) == told


def test_a_webhook_counts_once_something_arrived(book):
    organization_id = book.organization()
    listen(book, organization_id)
    assert first_steps(book, organization_id).webhook.delivered_at is None
    for seq, state, at in ((1, "delivered", 77), (2, "failed", None)):
        book.conn.execute(
            "INSERT INTO webhook_delivery (seq, endpoint_id, event, state, due_at, created_at,"
            " updated_at, delivered_at) VALUES (?, 'whe_1', ?, ?, 1, 1, 1, ?)",
            (seq, seq, state, at),
        )
    assert first_steps(book, organization_id).webhook.delivered_at == 77


def test_no_step_walks_through_a_table_that_grows(book):
    organization_id = book.organization()
    listen(book, organization_id)
    run = []
    book.conn.set_trace_callback(run.append)
    first_steps(book, organization_id)
    book.conn.set_trace_callback(None)
    plans = [
        line
        for statement in run
        if not re.search(r"webhook_endpoints|api_keys", statement)  # an organization has a few
        for *_, line in book.conn.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    ]
    small = ("organizations", "(subquery", "sqlite_master")
    scans = [each for each in plans if each.startswith("SCAN")]
    assert [each for each in scans if not any(name in each for name in small)] == []
    assert any("entry_by_hand" in each for each in plans)
    assert not [each for each in plans if "TEMP B-TREE" in each]
