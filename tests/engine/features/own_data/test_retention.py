"""What is old goes; money, idempotency and what is under way stay, and the books agree."""

from __future__ import annotations

import json
import re

import pytest
import trio

from risala.config.model import RetentionSection
from risala.engine.features.own_data.records import LATE_MS
from risala.engine.features.own_data.retention import DAY_MS
from risala.engine.features.own_data.stored import retention
from risala.engine.features.own_data.stored.retention import TEXT_GONE, TIMELINE_GONE
from risala.engine.journal.audit.books import audit
from risala.engine.journal.inbound import inbound
from risala.engine.journal.messages import endings, held, reads
from risala.engine.journal.messages.answers import known_answer
from risala.engine.journal.state import load
from risala.engine.journal.webhooks import outbox
from risala.engine.model.commands import SendMessage
from risala.engine.model.events import EventType
from risala.engine.model.ids import IdSource, event_id, first_id
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.attempts import Attempt, Decision, Step
from risala.engine.model.states import SegmentState
from risala.engine.model.times import iso
from risala.sms.cause import Cause
from risala.sms.message import Inbound
from risala.sms.numbering.plan import DEFAULT
from risala.sms.receipt import Receipt, ReceiptState

YES = Decision(Step.ADVANCE, SegmentState.ACCEPTED, Line(Kind.PART_ACCEPTED), "OK", carrier_id="c1")
KEPT = ("ledger", "idempotency", "organizations", "accepted_hours", "verifications")


def submit(book, message_id, carrier_id=None):
    book.begin(message_id)
    if carrier_id is not None:
        yes = Decision(
            Step.ADVANCE,
            SegmentState.ACCEPTED,
            Line(Kind.PART_ACCEPTED),
            "OK",
            carrier_id=carrier_id,
        )
        book.finish(Attempt(message_id, 1, 1, "mattel"), yes)


def receipt(book, carrier_id):
    book.record(Receipt(carrier_id, ReceiptState.DELIVERED, "id:1 stat:DELIVRD text:hello"))


@pytest.fixture
def lives(book):
    """One message of each kind of end, and one of each that has none yet."""
    organization_id = book.organization()
    found = {name: book.accept(organization_id) for name in (
        "delivered", "sent", "failed", "canceled", "pending", "processing",
    )}  # fmt: skip
    submit(book, found["delivered"], "c1")
    receipt(book, "c1")
    submit(book, found["sent"], "c2")
    stamp = book.stamp()
    book.unit(lambda conn: endings.fail(conn, load(conn, found["failed"]), Cause.REJECTED, stamp))
    book.unit(lambda conn: endings.cancel(conn, found["canceled"], stamp))
    submit(book, found["processing"])
    return found


def work(book, unit, *arguments, limit=2):
    """Unit after unit until all is done; how many rows went."""
    rows = 0
    while True:
        done = book.unit(lambda conn: unit(conn, *arguments, limit))
        assert done.rows <= limit
        rows += done.rows
        if done.done:
            return rows


def dump(book, *tables):
    return {name: book.conn.execute(f"SELECT * FROM {name}").fetchall() for name in tables}


def state(book, message_id):
    count = "SELECT count(*) FROM {} WHERE message_id = ?"
    return (
        book.one("SELECT body FROM messages WHERE id = ?", message_id),
        book.one("SELECT pruned FROM messages WHERE id = ?", message_id),
        book.one(count.format("timeline"), message_id) > 0,
        book.one(count.format("segments"), message_id) > 0,
    )


def test_texts_go_and_what_carriers_repeated_of_them(book, lives):
    before = dump(book, *KEPT)
    assert work(book, retention.texts, "texts", book.now_ms + 1) == 4
    for name in ("delivered", "sent", "failed", "canceled"):
        body, pruned, has_timeline, _ = state(book, lives[name])
        assert (body, pruned, has_timeline) == ("", TEXT_GONE, True)
        raw = "SELECT count(*) FROM timeline WHERE message_id = ? AND raw IS NOT NULL"
        assert book.one(raw, lives[name]) == 0
        assert reads.view(book.conn, lives[name]).body is None
    for name in ("pending", "processing"):
        assert state(book, lives[name])[:2] == ("hello", 0)
    assert dump(book, *KEPT) == before
    assert audit(book.conn).clean
    assert "hello" not in str(dump(book, "timeline"))


def test_timelines_go_with_the_segments(book, lives):
    before = dump(book, *KEPT)
    assert work(book, retention.timelines, "timelines", book.now_ms + 1) == 4
    assert state(book, lives["delivered"]) == ("hello", TIMELINE_GONE, False, False)
    assert state(book, lives["processing"]) == ("hello", 0, True, True)
    assert dump(book, *KEPT) == before
    assert audit(book.conn).clean
    receipt(book, "c2")  # too late: it is held, and forgotten like any that matches nothing
    assert book.status(lives["sent"]) == "sent"
    book.unit(lambda conn: held.forget(conn, book.now_ms + 1, book.now_ms))
    work(book, retention.texts, "texts", book.now_ms + 1)
    assert state(book, lives["delivered"]) == ("", TEXT_GONE | TIMELINE_GONE, False, False)


def test_what_was_under_way_goes_by_the_late_walk(book, lives):
    work(book, retention.texts, "texts", book.now_ms + 1)
    submit(book, lives["pending"], "c3")
    assert work(book, retention.texts, "texts", book.now_ms + 1) == 0
    assert work(book, retention.texts, "texts.late", book.now_ms + 1) == 1
    assert state(book, lives["pending"])[:2] == ("", TEXT_GONE)


def test_what_is_younger_stays_and_a_walk_goes_on_where_it_was(book):
    organization_id = book.organization()
    old = [book.accept(organization_id) for _ in range(5)]
    book.now_ms += DAY_MS
    young = [book.accept(organization_id) for _ in range(5)]
    for number, message_id in enumerate((*old, *young)):
        submit(book, message_id, f"c{number}")
    assert work(book, retention.texts, "texts", book.now_ms) == 5
    assert {state(book, each)[0] for each in young} == {"hello"}
    assert retention.oldest_message(book.conn, "texts") == book.now_ms
    assert work(book, retention.texts, "texts", book.now_ms) == 0
    assert work(book, retention.texts, "texts", book.now_ms + 1) == 5
    assert retention.oldest_message(book.conn, "texts") is None


def test_the_same_key_gives_the_same_answer_for_ever(book):
    organization_id = book.organization()
    new = book.new_message(organization_id, idempotency_key="k")
    from risala.engine.journal.messages.acceptance import accept_one

    book.unit(lambda conn: accept_one(conn, new, None))
    submit(book, new.id, "c1")
    work(book, retention.texts, "texts", book.now_ms + 1)
    work(book, retention.timelines, "timelines", book.now_ms + 1)
    again = book.new_message(organization_id, idempotency_key="k")
    assert book.unit(lambda conn: accept_one(conn, again, None)).results == [new.response]
    assert known_answer(book.conn, organization_id, "live", "k") == new.response
    assert book.one("SELECT count(*) FROM messages") == 1


def test_no_unit_walks_through_a_table_that_grows(book, lives):
    run: dict[str, None] = {}
    book.conn.set_trace_callback(lambda sql: run.setdefault(sql))
    for name in ("texts", "timelines"):
        work(book, getattr(retention, name), name, book.now_ms + 1)
        retention.oldest_message(book.conn, name)
    forget_events(book, book.now_ms + 1)
    work(book, retention.inbound, "mo_Z")
    retention.oldest_event(book.conn)
    retention.oldest_inbound(book.conn)
    book.conn.set_trace_callback(None)
    growing = r"SCAN (messages|timeline|segments|events|webhook_\w+|ledger|idempotency|inbound)\b"
    walks = []
    for sql in run:
        if sql.split(None, 1)[0].upper() in ("SELECT", "UPDATE", "DELETE"):
            for *_, step in book.conn.execute(f"EXPLAIN QUERY PLAN {sql}"):
                # In the order of an index, up to a limit, is no walk.
                if re.match(growing, step) and "LIMIT" not in sql:
                    walks.append((step, sql))
    assert walks == []
    assert len(run) > 20


# -- events ------------------------------------------------------------------------------------


def forget_events(book, before_ms, limit=2):
    after, rows = "", 0
    while True:
        done = book.unit(
            lambda conn, after=after: retention.events(conn, after, before_ms, limit, 0)
        )
        after, rows = done.after, rows + done.rows
        if done.done:
            return rows


def event(book, organization_id, *states):
    """An event, and its delivery to an endpoint for each state."""
    told = outbox.NewEvent(
        EventType.SENDER_DENIED, book.now_ms, organization_id, "live", organization_id, "[1,2,3]"
    )

    def unit(conn):
        key = outbox.write_all(conn, (told,))
        for number, each in enumerate(states):
            conn.execute(
                "INSERT OR IGNORE INTO webhook_endpoints (id, organization_id, mode, url, types,"
                " secret, created_at, updated_at) VALUES (?, ?, 'live', 'u', '[]', '', 0, 0)",
                (f"whe_{number}", organization_id),
            )
            made = conn.execute(
                "INSERT INTO webhook_delivery (endpoint_id, event, state, due_at, created_at,"
                " updated_at) VALUES (?, ?, ?, 0, 0, 0)",
                (f"whe_{number}", key, each),
            )
            conn.execute(
                "INSERT INTO webhook_attempts (delivery, n, started_at) VALUES (?, 1, 0)",
                (made.lastrowid,),
            )
        return event_id(key, organization_id)

    return book.unit(unit)


def test_events_go_with_their_deliveries_unless_one_is_pending(book):
    organization_id = book.organization()
    gone = [event(book, organization_id, "delivered", "failed", "dropped") for _ in range(5)]
    owed = event(book, organization_id, "delivered", "pending")
    gone += [event(book, organization_id) for _ in range(2)]
    book.now_ms += DAY_MS
    young = event(book, organization_id, "delivered")
    assert forget_events(book, book.now_ms) == len(gone)
    kept = {row[0] for row in book.conn.execute("SELECT id FROM events")}
    assert kept == {owed, young}
    assert book.one("SELECT count(*) FROM webhook_deliveries") == 3
    assert book.one("SELECT count(*) FROM webhook_attempts") == 3
    assert book.conn.execute("PRAGMA foreign_key_check").fetchall() == []


def test_the_newest_delivery_keeps_its_number(book):
    organization_id = book.organization()
    for _ in range(3):
        last = event(book, organization_id, "delivered")
    seq = book.one("SELECT max(seq) FROM webhook_deliveries")
    assert forget_events(book, book.now_ms + 1) == 2
    assert [row[0] for row in book.conn.execute("SELECT id FROM events")] == [last]
    event(book, organization_id, "delivered")
    assert book.one("SELECT max(seq) FROM webhook_deliveries") == seq + 1
    assert forget_events(book, book.now_ms + 1) == 1


def test_inbound_messages_go_by_when_they_were_stored(book):
    class Clock:
        def now_ms(self):
            return book.now_ms

    ids = IdSource(Clock())
    for number in range(6):
        if number == 3:
            book.now_ms += DAY_MS
        wrong = Inbound("+22236123456", "1234", "Vote", 9_999_999_999_999, (f"m{number}",))
        message_id, stamp = ids.new("mo"), book.stamp()
        book.unit(
            lambda conn, i=message_id, m=wrong, s=stamp: inbound.receive(
                conn, i, "mattel", m, DEFAULT.ways_to_write("1234"), s
            )
        )
    assert work(book, retention.inbound, first_id("mo", book.now_ms)) == 3
    assert book.one("SELECT count(*) FROM inbound") == 3


# -- the service -------------------------------------------------------------------------------


async def pass_days(clock, days):
    """At once: what looks at something twice a minute need not do so for years."""
    clock.jump(days * 86_400)
    await trio.sleep(60)


async def test_the_service_forgets_by_itself_and_the_books_agree(open_house, quick):
    policy = RetentionSection(texts_days=10, timelines_days=20, events_days=10, inbound_days=5)
    async with open_house(retention=policy) as house:
        send = SendMessage(to="+22236123456", body="secret text", idempotency_key="k")
        first = await house.gateway.send_message(house.principal, send)
        message_id = json.loads(first)["messageId"]
        await trio.sleep(1)
        await pass_days(quick, 9)
        assert house.gateway.get_message(house.principal, message_id).body == "secret text"
        await pass_days(quick, 2)
        view, timeline = house.gateway.show_message(message_id)
        assert (view.body, view.status) == (None, "sent")
        assert timeline
        shown = await house.gateway.perform("retention.show", {})
        rules = [tuple(each.values()) for each in shown["rules"]]
        assert rules == [
            ("texts", 10, None, False),
            ("timelines", 20, iso(view.created_at), False),
            ("events", 10, None, False),
            ("inbound", 5, None, False),
            ("mailings", 30, None, False),
        ]  # fmt: skip
        await pass_days(quick, 10)
        assert house.gateway.show_message(message_id)[1] == ()
        assert await house.gateway.send_message(house.principal, send) == first
        assert (await house.gateway.perform("audit", {}))["clean"]
        # And it goes on: what comes is sent, told and found.
        second = json.loads(
            await house.gateway.send_message(
                house.principal, SendMessage(to="+22236123456", body="x")
            )
        )["messageId"]
        await trio.sleep(1)
        assert house.gateway.get_message(house.principal, second).status == "sent"


async def test_nothing_goes_where_it_is_kept_for_ever(open_house, quick):
    policy = RetentionSection(**dict.fromkeys(RetentionSection.model_fields, 0))
    async with open_house(retention=policy) as house:
        await house.gateway.send_message(
            house.principal, SendMessage(to="+22236123456", body="kept")
        )
        await trio.sleep(1)
        await pass_days(quick, 1000)
        reader = house.gateway.services.repositories._store.reader
        assert reader.execute("SELECT body, pruned FROM messages").fetchall() == [("kept", 0)]
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,)
        step = await house.gateway.perform("retention.run", {})
        assert step["rows"] == 0
        shown = await house.gateway.perform("retention.show", {})
        assert {each["days"] for each in shown["rules"]} == {None}
        assert not any(each["overdue"] for each in shown["rules"])


def test_nothing_is_under_way_when_the_late_walk_comes():
    ahead_ms, validity_ms = 30 * DAY_MS, 259_200_000
    assert ahead_ms + validity_ms < LATE_MS
