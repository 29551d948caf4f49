"""Conversations: what a number wrote, what it was answered, who answers, and what stays."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count

import pytest
import trio

from risala.config.numbers import NumbersSection
from risala.engine.features.conversations.rules import text_id, writer_of
from risala.engine.features.conversations.stored import conversations, threads
from risala.engine.features.conversations.stored.conversations import (
    SEARCHED_MAX,
    ConversationFilter,
)
from risala.engine.features.own_data.stored.account_export import _tables
from risala.engine.features.tables.rules.rendering import name_in
from risala.engine.journal.inbound import inbound
from risala.engine.journal.store.schema.inbound import begin_conversations
from risala.engine.model.callers import Caller, CallerKind, Role, key_holder
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import (
    Conflict,
    CountryNotOpen,
    Forbidden,
    Invalid,
    NotFound,
    RecipientOptedOut,
)
from risala.engine.model.feature_work import RetentionWalk, WalkKind
from risala.engine.model.ids import first_id, key_of
from risala.engine.model.records.asks import NumberPart, Steps
from risala.engine.model.records.conversations import GET, LIST, Known
from risala.engine.model.records.ledger import PRICE
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import Inbound
from risala.sms.numbering.plan import DEFAULT

PHONE, OTHER, OURS = "+22236123456", "+22222999888", "1234"
_ids = count()


@dataclass
class Talk:
    """An organization to which texts are routed."""

    house: object
    whose: dict = field(default_factory=dict)

    async def do(self, name, caller=None, **arguments):
        given = {**self.whose, **arguments}
        if caller is None:
            return await self.house.gateway.perform(f"conversation.{name}", given)
        return await self.house.gateway.perform(f"conversation.{name}", given, caller)

    async def come_in(self, text, sender=PHONE, *, carrier=None, recipient=OURS):
        driver = self.house.driver if carrier is None else self.house.drivers[carrier]
        now_ms = self.house.clock.now_ms()
        message = Inbound(sender, recipient, text, now_ms, (f"mo{next(_ids)}",))
        await driver.context.inbound(message)
        await trio.sleep(0.1)

    async def thread(self, **arguments):
        return await self.do("get", **{"number": PHONE, **arguments})

    async def lines(self, **arguments):
        return [(each["by"], each["body"]) for each in (await self.thread(**arguments))["messages"]]

    async def numbers(self, **arguments):
        listed = await self.do("list", **arguments)
        return [each["number"] for each in listed["conversations"]]


@pytest.fixture
def open_talk(open_house):
    @asynccontextmanager
    async def opened(*carriers, **more):
        async with open_house(*carriers, **more) as house:
            talk = Talk(house, {"organization_id": house.principal.organization_id})
            await house.gateway.perform("inbound.route", talk.whose)
            yield talk

    return opened


@pytest.fixture
async def talk(open_talk, quick):
    async with open_talk() as opened:
        yield opened


async def member(talk, role="developer", email="fatou@example.com"):
    services = talk.house.gateway.services
    await talk.house.gateway.perform("member.add", {**talk.whose, "email": email, "role": role})
    reader = services.repositories._store.reader
    (user_id,) = reader.execute("SELECT id FROM users WHERE email = ?", (email,)).fetchone()
    mine = talk.whose["organization_id"]
    return user_id, Caller(email, CallerKind.DASHBOARD, Role(role), mine)


async def test_a_text_begins_a_conversation_that_has_both_ways_in_order(talk, quick):
    sent = await talk.house.send("Your order is ready", PHONE)
    await talk.house.wait_status(sent, "sent")
    with pytest.raises(NotFound):  # who did not write has none
        await talk.thread()
    await talk.come_in("Is it open today?")
    await talk.do("reply", number=PHONE, body="Until 19 h.")
    await talk.come_in("شكرا")
    assert await talk.lines() == [
        ("person", "Your order is ready"),
        ("number", "Is it open today?"),
        ("person", "Until 19 h."),
        ("number", "شكرا"),
    ]
    (one,) = (await talk.do("list"))["conversations"]
    assert (one["state"], one["unread"], one["last"]["body"]) == ("open", True, "شكرا")
    by_id = await talk.do("get", conversation_id=one["conversationId"])
    assert by_id["conversation"] == one


async def test_who_wrote_is_told_and_a_code_has_no_text(talk, quick):
    house, mine = talk.house, talk.whose
    await talk.come_in("hello")
    made = await house.gateway.perform("key.create", {**mine, "name": "Shop", "type": "secret"})
    program = key_holder(made["key"]["id"], mine["organization_id"])
    await talk.do("reply", program, number=PHONE, body="by the shop")
    session = await house.gateway.send_code(house.principal, SendCode(to=PHONE))
    view = house.gateway.get_verification(house.principal, session)
    await house.wait_status(view.message_id, "sent")
    messages = (await talk.thread())["messages"]
    assert [each["by"] for each in messages] == ["number", "program", "code"]
    assert messages[1]["keyId"] == made["key"]["id"]
    assert messages[2]["body"] is None
    assert (await talk.do("list"))["conversations"][0]["last"]["body"] is None


def test_who_sent_a_message_follows_from_its_row():
    mailing = f"{first_id('mlg', 1)}:7"
    assert writer_of("sms", None, mailing) == ("mailing", first_id("mlg", 1))
    assert writer_of("sms", "key_1", mailing) == ("program", None)
    assert writer_of("sms", None, "mlg_x:7") == ("person", None)
    assert writer_of("code", "key_1", None) == ("code", None)


def test_a_name_is_in_a_column_of_that_name():
    assert name_in(("Ville", "Nom"), ("Atar", " Aïcha ")) == "Aïcha"
    assert name_in(("الاسم",), ("آمنة",)) == "آمنة"
    assert name_in(("Nom", "Name"), ("Aïcha", "")) == "Aïcha"
    assert name_in(("Nom",), ()) is None
    assert name_in(("Montant",), ("7",)) is None


def test_a_place_is_the_least_id_of_a_text():
    for at in (0, 1, 1_795_231_187_670):
        assert key_of(text_id(at << 15)) == at << 15
        assert text_id(at << 15) == first_id("mo", at)


async def test_an_answer_leaves_as_the_last_text_came(open_talk, quick, carrier):
    """By its carrier, though another one serves the number; from our number that it came to."""
    carriers = carrier("main", prefixes=["+222"]), carrier("sim")
    async with open_talk(*carriers, drivers={"main": FakeDriver(), "sim": FakeDriver()}) as talk:
        await talk.come_in("first", carrier="main", recipient="1717")
        await talk.come_in("then", carrier="sim", recipient="+22226000000")
        thread = await talk.thread()
        assert (thread["answersFrom"], thread["answersBy"]) == ("+22226000000", "sim")
        sent = await talk.do("reply", number=PHONE, body="hello")
        assert sent["from"] == "+22226000000"
        await talk.house.drivers["sim"].wait_submitted(1)
        (segment,) = talk.house.drivers["sim"].submitted
        assert (segment.sender, segment.recipient) == ("+22226000000", PHONE)
        assert not talk.house.drivers["main"].submitted


async def test_a_carrier_that_tells_no_number_answers_from_the_default_sender(talk, quick):
    await talk.come_in("hello", recipient=None)
    assert (await talk.thread())["answersFrom"] == "RISALA"
    assert (await talk.do("reply", number=PHONE, body="hello"))["from"] == "RISALA"


@pytest.mark.parametrize("sender", ["Mattel", "1717", "+33612345678"])
async def test_what_is_no_phone_that_is_served_says_so_before_one_writes(talk, quick, sender):
    await talk.come_in("Recharge!", sender)
    thread = await talk.do("get", number=sender)
    assert not thread["answerable"]
    assert "no phone" in thread["whyNot"]
    with pytest.raises(Conflict) as refused:
        await talk.do("reply", number=sender, body="thanks")
    assert refused.value.code == "NOT_ANSWERABLE"


async def test_a_carrier_that_only_receives_answers_nothing(open_talk, quick, carrier):
    carriers = carrier("main"), carrier("ears", receives_only=True)
    async with open_talk(*carriers, drivers={"main": FakeDriver(), "ears": FakeDriver()}) as talk:
        await talk.come_in("hello", carrier="ears")
        assert "carrier" in (await talk.thread())["whyNot"]
        with pytest.raises(Conflict, match="carrier"):
            await talk.do("reply", number=PHONE, body="hello")


async def test_an_answer_is_sent_once_and_charged_as_any_message(talk, quick):
    await talk.come_in("hello")
    before = await talk.house.balance()
    first = await talk.do("reply", number=PHONE, body="once", idempotency_key="answer-1")
    paid = await talk.house.balance()
    assert paid != before
    again = await talk.do("reply", number=PHONE, body="other words", idempotency_key="answer-1")
    assert again == first
    assert await talk.house.balance() == paid
    assert await talk.lines() == [("number", "hello"), ("person", "once")]


async def test_a_known_key_is_answered_though_nothing_can_be_sent_now(
    open_talk, open_house, quick, carrier
):
    async with open_talk(carrier()) as talk:
        await talk.come_in("hello")
        first = await talk.do("reply", number=PHONE, body="once", idempotency_key="answer-1")
    async with open_house(carrier("another")) as house:
        again = {"number": PHONE, "body": "other words", "idempotency_key": "answer-1"}
        assert await Talk(house, talk.whose).do("reply", **again) == first
        with pytest.raises(Conflict, match="carrier"):
            await Talk(house, talk.whose).do("reply", **{**again, "idempotency_key": "answer-2"})


async def test_rules_of_any_message_hold(talk, quick):
    await talk.house.gateway.perform("inbound.opt_outs", {**talk.whose, "heeds": True})
    sent = await talk.house.send("Your order is ready", PHONE)
    await talk.house.wait_status(sent, "sent")
    await talk.come_in("STOP")
    with pytest.raises(RecipientOptedOut):
        await talk.do("reply", number=PHONE, body="please stay")
    with pytest.raises(Invalid):
        await talk.do("reply", number=PHONE, body="")


async def test_stop_closes_a_conversation_where_it_is_heeded(talk, quick):
    await talk.come_in("STOP")
    assert (await talk.do("list"))["conversations"][0]["state"] == "open"
    await talk.house.gateway.perform("inbound.opt_outs", {**talk.whose, "heeds": True})
    await talk.come_in("stop")
    assert (await talk.do("list"))["conversations"][0]["state"] == "done"


async def test_of_two_who_answer_at_once_one_is_told(talk, quick):
    """Whoever has not seen the newest message is refused, in the transaction of the other."""
    await talk.come_in("hello")
    repository = talk.house.gateway.services.repositories
    one = conversations.with_number(repository._store.reader, talk.whose["organization_id"], PHONE)
    seen = str(threads.page(repository._store.reader, one, 1).messages[0].place)
    results = []

    async def answer(text):
        try:
            await talk.do("reply", number=PHONE, body=text, seen=seen)
            results.append("sent")
        except Conflict as error:
            results.append(error.code)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer, "one")
        nursery.start_soon(answer, "two")
    assert sorted(results) == ["WENT_ON", "sent"]
    assert len(await talk.lines()) == 2


async def test_a_code_in_between_refuses_no_answer(talk, quick):
    await talk.come_in("hello")
    reader = talk.house.gateway.services.repositories._store.reader
    one = conversations.with_number(reader, talk.whose["organization_id"], PHONE)
    seen = str(threads.page(reader, one, 1).messages[0].place)
    await talk.house.gateway.send_code(talk.house.principal, SendCode(to=PHONE))
    await talk.do("reply", number=PHONE, body="hello", seen=seen)


async def test_state_read_and_assignment_are_marked(talk, quick):
    user_id, _ = await member(talk)
    await talk.come_in("hello")
    marked = await talk.do("mark", number=PHONE, state="done", read=True, assigned_to=user_id)
    assert (marked["state"], marked["unread"], marked["assignedTo"]) == ("done", False, user_id)
    assert await talk.do("mark", number=PHONE) == marked
    await talk.come_in("again")
    (one,) = (await talk.do("list"))["conversations"]
    assert (one["state"], one["unread"], one["assignedTo"]) == ("open", True, user_id)
    await talk.do("reply", number=PHONE, body="answered")
    (one,) = (await talk.do("list"))["conversations"]
    assert not one["unread"]
    marked = await talk.do("mark", number=PHONE, read=False, assigned_to="")
    assert (marked["unread"], marked["assignedTo"]) == (True, None)


async def test_only_members_are_assigned(talk, quick):
    await talk.come_in("hello")
    with pytest.raises(Invalid, match="no member"):
        await talk.do("mark", number=PHONE, assigned_to="usr_nobody")
    with pytest.raises(Invalid, match="must be one of"):
        await talk.do("mark", number=PHONE, state="closed")
    with pytest.raises(Invalid, match="one of the two"):
        await talk.do("mark", state="done")


async def test_who_is_no_member_any_more_leaves_conversations_to_the_others(talk, quick):
    user_id, _ = await member(talk)
    await talk.come_in("hello")
    await talk.do("mark", number=PHONE, assigned_to=user_id)
    assert await talk.numbers(assigned_to="") == []
    removed = {**talk.whose, "user_id": user_id}
    await talk.house.gateway.perform("member.remove", removed)
    (one,) = (await talk.do("list"))["conversations"]
    assert one["assignedTo"] is None
    assert await talk.numbers(assigned_to="") == [PHONE]
    assert await talk.numbers(assigned_to=user_id) == []
    assert (await talk.do("mark", number=PHONE, state="done"))["assignedTo"] is None


async def test_events_have_no_text(talk, quick):
    user_id, _ = await member(talk)
    await talk.come_in("a secret")
    await talk.do("mark", number=PHONE, assigned_to=user_id)
    await talk.do("mark", number=PHONE, assigned_to=user_id)
    events = [each for each in await talk.house.events() if each["type"].startswith("conv")]
    received, assigned = events
    assert received["type"] == "conversation.received"
    assert (received["number"], received["assignedTo"]) == (PHONE, None)
    assert received["messageId"].startswith("mo_")
    assert assigned["type"] == "conversation.assigned"
    assert (assigned["messageId"], assigned["assignedTo"]) == (None, user_id)
    assert assigned["conversationId"] == received["conversationId"]
    assert "a secret" not in json.dumps(events)


async def test_lists_are_filtered(talk, quick):
    user_id, _ = await member(talk)
    await talk.come_in("the blue one", PHONE)
    await talk.come_in("the red one", OTHER)
    await talk.come_in("Promo", "Mattel")
    assert await talk.numbers() == ["Mattel", OTHER, PHONE]
    await talk.do("mark", number=PHONE, state="done", read=True)
    await talk.do("mark", number=OTHER, assigned_to=user_id)
    assert await talk.numbers(state="open") == ["Mattel", OTHER]
    assert await talk.numbers(state="done") == [PHONE]
    assert await talk.numbers(unread=True) == ["Mattel", OTHER]
    assert await talk.numbers(unread=False) == [PHONE]
    assert await talk.numbers(assigned_to=user_id) == [OTHER]
    assert await talk.numbers(assigned_to="") == ["Mattel", PHONE]
    assert await talk.numbers(contains="blue") == [PHONE]
    assert await talk.numbers(contains="matt") == ["Mattel"]
    assert await talk.numbers(digits="2999") == [OTHER]
    assert await talk.numbers(digits="2999", state="done") == []
    assert await talk.numbers(number="36 12 34 56") == [PHONE]
    await talk.do("reply", number=PHONE, body="It was green")
    assert await talk.numbers(contains="GREEN") == [PHONE]


async def test_a_person_is_named_as_a_list_says(talk, quick):
    await talk.come_in("hello")
    made = await talk.house.gateway.perform(
        "list.create",
        {**talk.whose, "name": "People"},
    )
    await talk.house.gateway.perform(
        "list.add",
        {"list_id": made["list"]["id"], "number": PHONE, "cells": {"Nom": "Aïcha"}},
    )
    assert (await talk.do("list"))["conversations"][0]["name"] == "Aïcha"
    assert await talk.numbers(contains="aïcha") == [PHONE]


async def test_pages_see_what_else_is_known_of_a_person(talk, quick):
    """Their lists, what messages to them cost without those paid back, and their opt-out."""
    gateway, mine = talk.house.gateway, talk.whose
    await talk.come_in("hello")

    async def known():
        return (await gateway.ask(GET, {**mine, "number": PHONE})).value.known

    assert await known() == Known()
    for name in ("B", "A"):
        made = await gateway.perform("list.create", {**mine, "name": name})
        await gateway.perform("list.add", {"list_id": made["list"]["id"], "number": PHONE})
    assert [each.name for each in (await known()).lists] == ["A", "B"]
    await gateway.perform("list.delete", {"list_id": made["list"]["id"]})
    assert [each.name for each in (await known()).lists] == ["B"]
    price = (await gateway.ask(PRICE, {})).value.per_segment
    sent = await talk.house.send("It is open", PHONE)
    await talk.house.wait_status(sent, "sent")
    assert (await known()).cost == price
    later = await talk.house.send("x", PHONE, send_at=talk.house.clock.now_ms() + 10**8)
    assert (await known()).cost == 2 * price
    await gateway.perform("message.cancel", {"message_id": later})
    assert (await known()).cost == price
    await gateway.perform("inbound.opt_outs", {**mine, "heeds": True})
    assert not (await known()).opted_out
    await gateway.perform("inbound.opt_out", {**mine, "number": PHONE})
    assert (await known()).opted_out
    await gateway.perform("inbound.opt_outs", {**mine, "heeds": False})
    assert not (await known()).opted_out


async def test_who_opted_out_is_found_and_the_unread_are_counted(talk, quick):
    for sender in (PHONE, OTHER):
        await talk.come_in("hello", sender)
    await talk.house.gateway.perform("inbound.opt_out", {**talk.whose, "number": OTHER})
    assert await talk.numbers(opted_out=True) == [OTHER]
    assert await talk.numbers(opted_out=False) == [PHONE]
    assert (await talk.house.gateway.ask(LIST, talk.whose)).value.waiting == 2
    await talk.do("mark", number=OTHER, read=True)
    assert (await talk.house.gateway.ask(LIST, {**talk.whose, "state": "done"})).value.waiting == 1


async def test_pages_go_on_both_ways(talk, quick):
    for number in range(5):
        await talk.come_in(f"text {number}")
    newest = await talk.thread(limit=2)
    assert [each["body"] for each in newest["messages"]] == ["text 3", "text 4"]
    assert newest["newer"] is None
    older = await talk.thread(limit=2, before=newest["older"])
    assert [each["body"] for each in older["messages"]] == ["text 1", "text 2"]
    back = await talk.thread(limit=2, after=older["newer"])
    assert [each["body"] for each in back["messages"]] == ["text 3", "text 4"]
    last = await talk.thread(limit=2, before=older["older"])
    assert [each["body"] for each in last["messages"]] == ["text 0"]
    assert last["older"] is None


async def test_who_may(talk, quick):
    other = await talk.house.organization()
    await talk.come_in("hello")
    _, viewer = await member(talk, "viewer", "vue@example.com")
    _, developer = await member(talk)
    assert await talk.thread() is not None
    assert (await talk.do("get", viewer, number=PHONE))["messages"]
    for name, arguments in (("reply", {"body": "x"}), ("mark", {"state": "done"})):
        with pytest.raises(Forbidden):
            await talk.do(name, viewer, number=PHONE, **arguments)
        await talk.do(name, developer, number=PHONE, **arguments)
    (one,) = (await talk.do("list"))["conversations"]
    stranger = Caller("x@example.com", CallerKind.DASHBOARD, Role.OWNER, other.organization_id)
    whose = {"organization_id": other.organization_id}
    for name in ("get", "mark"):
        with pytest.raises(NotFound):
            await talk.do(name, stranger, number=PHONE)
        with pytest.raises(NotFound):
            await talk.do(name, stranger, conversation_id=one["conversationId"], **whose)
        with pytest.raises(NotFound):
            await talk.do(name, stranger, number=PHONE, **whose)


async def test_an_operator_in_the_console_sees_no_text(talk, quick):
    await talk.come_in("hello")
    operator = Caller("root", CallerKind.CONSOLE, Role.OPERATOR)
    thread = await talk.do("get", operator, number=PHONE)
    assert [each["body"] for each in thread["messages"]] == [None]
    (one,) = (await talk.do("list", operator))["conversations"]
    assert one["last"]["body"] is None
    assert (await talk.do("list", operator, contains="hello"))["conversations"] == []


async def test_a_country_that_is_not_open_is_refused(open_talk, quick):
    async with open_talk(numbers=NumbersSection(countries=["MR", "SN"])) as talk:
        await talk.come_in("hello", "+221771234567")
        with pytest.raises(CountryNotOpen):
            await talk.do("reply", number="+221771234567", body="x")


# -- what stays, and what goes


def words(house, *wanted):
    """Tables in which one of some words stands."""
    reader = house.gateway.services.repositories._store.reader
    names = reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    rows = {name: reader.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in names}
    return {
        name for name, each in rows.items() if any(w in repr(row) for w in wanted for row in each)
    }


async def test_erasing_a_number_leaves_nothing_of_its_conversation(talk, quick, tmp_path):
    """The database file itself is searched; the price stays, without the number."""
    user_id, _ = await member(talk)
    await talk.come_in("their own secret")
    await talk.do("reply", number=PHONE, body="our own secret")
    await talk.do("mark", number=PHONE, assigned_to=user_id)
    await trio.sleep(5)
    gateway = talk.house.gateway
    begun = await gateway.perform("number.forget", {**talk.whose, "number": PHONE})
    for _ in range(100):
        done = await gateway.perform("erasure.run", {"erasure_id": begun["id"]})
        if done["erasure"]["state"] == "done":
            break
        await trio.sleep(1)
    assert done["erasure"]["state"] == "done"
    left = words(talk.house, "own secret", PHONE, PHONE[1:])
    assert left <= {"audit_log", "opt_outs"}, left
    assert await talk.numbers() == []


async def test_a_text_that_comes_after_an_erasure_has_its_conversation(talk, quick):
    await talk.come_in("before")
    store = talk.house.gateway.services.repositories._store
    mine = talk.whose["organization_id"]
    gone = await store.commit(lambda conn: conversations.erase(conn, mine, PHONE, 100))
    assert gone == {"conversations": 0}
    await store.commit(lambda conn: conn.execute("DELETE FROM inbound").rowcount)
    gone = await store.commit(lambda conn: conversations.erase(conn, mine, PHONE, 100))
    assert gone == {"conversations": 1}


async def test_a_conversation_goes_with_its_last_text(talk, quick):
    await talk.come_in("old", OTHER)
    talk.house.pass_s(86_400)
    await talk.come_in("new", PHONE)
    store, now_ms = talk.house.gateway.services.repositories._store, talk.house.clock.now_ms()
    mine = talk.whose["organization_id"]
    for whose, left in (("org_x",), 2), ((mine,), 1):
        walk = RetentionWalk(WalkKind.CONVERSATIONS, 3600_000, organizations=whose)
        done = await store.commit(
            lambda conn, w=walk: conversations.walk_old(conn, w, now_ms - 3600_000, 100)
        )
        assert done.done
        assert len(await talk.numbers()) == left


async def test_an_export_has_conversations_and_a_deletion_takes_them(talk, quick):
    await talk.come_in("hello", OTHER)
    await talk.come_in("hello")
    store, mine = talk.house.gateway.services.repositories._store, talk.whose["organization_id"]
    read = dict(_tables())["conversations"]
    part = read(store.reader, mine, "", 1)
    assert [each["number"] for each in part.rows] == [OTHER]
    part = read(store.reader, mine, part.last, 1)
    assert [each["number"] for each in part.rows] == [PHONE]
    assert (await store.commit(lambda conn: conversations.clear(conn, 1, mine))).done is False
    assert (await store.commit(lambda conn: conversations.clear(conn, 2, mine))).done
    assert await talk.numbers() == []


async def test_texts_of_before_have_conversations_that_are_read(talk, quick):
    await talk.come_in("hello")

    def unit(conn):
        conn.execute("DELETE FROM conversations")
        begin_conversations(conn)

    await talk.house.gateway.services.repositories._store.commit(unit)
    (one,) = (await talk.do("list"))["conversations"]
    assert (one["number"], one["unread"], one["state"]) == (PHONE, False, "open")
    await talk.come_in("again")
    assert (await talk.do("list"))["conversations"][0]["unread"]


# -- among a million


def plans(conn, work):
    """The steps of all statements that some work runs."""
    run = []
    conn.set_trace_callback(run.append)
    work()
    conn.set_trace_callback(None)
    asked = [each for each in run if each.lstrip().upper().startswith(("SELECT", "WITH"))]
    return [step for sql in asked for *_, step in conn.execute(f"EXPLAIN QUERY PLAN {sql}")]


GROWING = ("conversations", "message", "inbound", "list_people")


def test_every_read_is_by_an_index(book):
    """No statement scans a table that grows, and none sorts: a page costs the same among a
    million. Of a search's rows only a named number is read."""
    mine = book.organization()

    def receive(conn):
        message = Inbound(PHONE, OURS, "hello", 1, ("m1",))
        inbound.receive(
            conn, first_id("mo", 5), "fake", message, DEFAULT.ways_to_write(OURS), book.stamp()
        )

    book.conn.execute("INSERT INTO inbound_routes VALUES ('inr_1', ?, '', '', 1)", (mine,))
    book.unit(receive)
    one = conversations.with_number(book.conn, mine, PHONE)
    steps = Steps(50)
    part = NumberPart("3612", tuple(DEFAULT.ranges_of("3612")))
    filters = [
        ConversationFilter(mine),
        ConversationFilter(mine, "open"),
        ConversationFilter(mine, "open", unread=True),
        ConversationFilter(mine, assigned_to="usr_1"),
        ConversationFilter(mine, contains="hello"),
        ConversationFilter(mine, part=part),
        ConversationFilter(mine, opted_out=True),
    ]
    for each in filters:
        seen = plans(book.conn, lambda f=each: conversations.page(book.conn, f, steps))
        assert seen
        assert not [step for step in seen if scans(step) or "TEMP B-TREE" in step], (each, seen)
    seen = plans(book.conn, lambda: threads.page(book.conn, one, 50))
    seen += plans(book.conn, lambda: threads.page(book.conn, one, 50, after=7))
    seen += plans(book.conn, lambda: conversations.count_unread(book.conn, mine, 9))
    seen += plans(book.conn, lambda: threads.known(book.conn, one))
    assert not [step for step in seen if scans(step) or "TEMP B-TREE" in step], seen
    seen = plans(book.conn, lambda: threads.summaries(book.conn, [one]))
    assert not [step for step in seen if scans(step)], seen


def scans(step):
    return step.startswith("SCAN") and any(f" {name}" in step for name in GROWING)


def test_a_search_reads_a_bounded_number_and_says_how_far(book):
    mine = book.organization()

    def unit(conn):
        for number in range(SEARCHED_MAX + 5):
            at = first_id("mo", number + 1)
            conn.execute(
                "INSERT INTO inbound (id, carrier, sender, body, carrier_ids, received_at,"
                " organization_id) VALUES (?, 'c', ?, ?, '', ?, ?)",
                (at, f"+2223600{number:04}", "needle" if not number else "hay", number, mine),
            )
            conn.execute(
                "INSERT INTO conversations VALUES (?, ?, ?, ?, '', 'open', NULL, 0)",
                (f"cnv_{number}", mine, f"+2223600{number:04}", at),
            )

    book.unit(unit)
    filters = ConversationFilter(mine, contains="needle")
    first = conversations.page(book.conn, filters, Steps(50))
    assert (first.items, first.looked_to is not None) == ((), True)
    then = conversations.page(book.conn, filters, Steps(50, before=first.older))
    assert [each.number for each in then.items] == ["+22236000000"]
