"""The events about a message, found by the moments at which it changed."""

import json

import pytest

from risala.engine.journal.messages import live, reads
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.states import SegmentState
from risala.sms.receipt import Receipt, ReceiptState

YES = SegmentState.ACCEPTED
MOMENT = Line(Kind.HELD_BACK)


def deliver(book, message_id, carrier_id="c1"):
    book.begin(message_id)
    book.now_ms += 40
    yes = Decision(Step.ADVANCE, YES, MOMENT, "OK", carrier_id=carrier_id)
    book.finish(Attempt(message_id, 1, 1, "mattel"), yes)
    book.now_ms += 3900
    book.record(Receipt(carrier_id, ReceiptState.DELIVERED, "DELIVRD"))


def listen(book, organization_id):
    types = json.dumps(["sms.sent", "sms.delivered", "sms.failed"], separators=(",", ":"))
    for number in (1, 2):
        book.conn.execute(
            "INSERT INTO webhook_endpoints (id, organization_id, mode, url, types, secret,"
            " created_at, updated_at) VALUES (?, ?, 'live', 'https://a.example', ?, 's', 1, 1)",
            (f"whe_{number}", organization_id, types),
        )


def events_about(book, message_id):
    return live.events_about(book.conn, reads.view(book.conn, message_id))


def test_what_was_told_of_a_message_and_where(book):
    organization_id = book.organization()
    listen(book, organization_id)
    waiting, other = book.accept(organization_id), book.accept(organization_id)
    message_id = book.accept(organization_id)
    deliver(book, message_id)
    deliver(book, other, "c2")
    found = events_about(book, message_id)
    assert [each.type for each in found] == ["sms.sent", "sms.delivered"]
    assert [[each.endpoint_id for each in event.deliveries] for event in found] == [
        ["whe_1", "whe_2"]
    ] * 2
    assert all(each.event_id == found[0].id for each in found[0].deliveries)
    assert events_about(book, waiting) == ()


def test_of_a_message_that_failed_there_is_the_one(book):
    organization_id = book.organization()
    message_id = book.accept(organization_id)
    book.begin(message_id)
    book.now_ms += 40
    no = Decision(Step.FAIL, SegmentState.REFUSED, MOMENT, "ESME_RINVDSTADR")
    book.finish(Attempt(message_id, 1, 1, "mattel"), no)
    assert [each.type for each in events_about(book, message_id)] == ["sms.failed"]


def test_events_that_are_no_longer_kept_are_not_there(book):
    message_id = book.accept(book.organization())
    deliver(book, message_id)
    book.conn.execute("DELETE FROM event")
    assert events_about(book, message_id) == ()


def test_a_clock_that_was_set_back_hides_none(book):
    organization_id = book.organization()
    first = book.accept(organization_id)
    deliver(book, first)
    book.now_ms -= 500
    second = book.accept(organization_id)
    deliver(book, second, "c2")
    assert [each.type for each in events_about(book, second)] == ["sms.sent", "sms.delivered"]


@pytest.mark.parametrize("after", [0, 50_000])
def test_the_look_is_by_the_key_alone_and_bounded(book, monkeypatch, after):
    organization_id = book.organization()
    message_id = book.accept(organization_id)
    deliver(book, message_id)
    monkeypatch.setattr(live, "LOOKED_MAX", 3)
    sent_at = reads.view(book.conn, message_id).sent_at
    book.conn.executemany(
        "INSERT OR IGNORE INTO event (key, type, organization, mode, subject)"
        " VALUES (?, 1, 1, 0, 'x')",
        [((sent_at << 15) + number + 1,) for number in range(after)],
    )
    run = []
    book.conn.set_trace_callback(run.append)
    assert [each.type for each in events_about(book, message_id)] == ["sms.sent", "sms.delivered"]
    book.conn.set_trace_callback(None)
    plans = [
        line
        for statement in run
        for *_, line in book.conn.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    ]
    tables = ("event", "e", "webhook_delivery", "message", "m")
    assert not [each for each in plans if walks(each, tables)]


def walks(line: str, tables) -> bool:
    return line.split()[0] == "SCAN" and line.split()[1] in tables
