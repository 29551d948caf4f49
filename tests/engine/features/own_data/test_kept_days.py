"""Owners keep things for a shorter time than the operator: theirs go, and nobody else's."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from risala.config.model import RetentionSection
from risala.engine.features.own_data.records import RetentionDays, holding, offered
from risala.engine.features.own_data.retention import DAY_MS, all_rules, chosen_rules
from risala.engine.features.own_data.stored import retention
from risala.engine.features.own_data.stored.retention import RetentionRepository, walk_on
from risala.engine.journal.messages import endings
from risala.engine.journal.store.repository import Store
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.events import EventType
from risala.engine.model.feature_work import Forgot
from risala.engine.model.ids import first_id

LONG = RetentionSection(texts_days=90, events_days=0, inbound_days=30)


def test_an_owner_may_only_choose_less_than_the_operator():
    assert offered(90) == (1, 7, 30)
    assert offered(0) == (1, 7, 30, 90, 180, 365)
    assert offered(1) == ()
    assert [holding(*each) for each in ((None, 90), (7, 90), (180, 90), (7, 0))] == [90, 7, 90, 7]


def test_choices_that_are_not_shorter_make_no_rule():
    chosen = {
        "org_1": RetentionDays(90, 7, 30),
        "org_2": RetentionDays(1, 7, 1),
        "org_3": RetentionDays(),
    }
    found = [(rule.name, rule.days, len(rule.walks)) for rule in chosen_rules(LONG, chosen)]
    assert found == [("texts", 1, 2), ("inbound", 1, 4), ("events", 7, 2)]


def walk(book, section=LONG):
    """What one pass of all rules takes out, by rule."""
    gone: Counter[str] = Counter()
    for rule in all_rules(section, RetentionRepository(Store(None, book.conn, None))):
        for each in rule.walks:
            done = Forgot(0, "", done=rule.days == 0)
            while not done.done:
                done = book.unit(partial(walk_on, walk=each, now_ms=book.now_ms, after=done.after))
                gone[rule.name] += done.rows
    return +gone


def choose(book, organization_id, *days):
    book.unit(lambda conn: retention.choose(conn, organization_id, RetentionDays(*days)))


def texts(book):
    return [row for (row,) in book.conn.execute("SELECT body FROM message ORDER BY key")]


def over(book, organization_id):
    """A message that is over."""
    message_id, stamp = book.accept(organization_id), book.stamp()
    book.unit(lambda conn: endings.cancel(conn, message_id, stamp))
    return message_id


def test_texts_of_that_organization_go_and_those_of_others_stay(book):
    short, long = book.organization(), book.organization()
    for organization_id in (short, long, short):
        over(book, organization_id)
    choose(book, short, 7)
    book.now_ms += 6 * DAY_MS
    assert walk(book) == {}
    book.now_ms += 2 * DAY_MS
    assert walk(book) == {"texts": 2}
    assert texts(book) == ["", "hello", ""]
    over(book, short)
    assert walk(book) == {}
    book.now_ms += 8 * DAY_MS
    assert walk(book) == {"texts": 1}


def event(book, organization_id):
    new = outbox.NewEvent(EventType.SMS_SENT, book.now_ms, organization_id, "live", "sms_x", None)
    return book.unit(lambda conn: outbox.write_all(conn, (new,)))


def events(book):
    return [key for (key,) in book.conn.execute("SELECT key FROM event ORDER BY key")]


def test_events_of_those_who_chose_so_many_days_go(book, monkeypatch):
    short, long, late = (book.organization() for _ in range(3))
    kept = [event(book, each) for each in (long, short, late, short)]
    choose(book, short, None, 7)
    book.now_ms += 8 * DAY_MS
    assert walk(book) == {"events": 2}
    assert events(book) == [kept[0], kept[2]]
    # Who joins them has older events, too: the walk begins anew.
    choose(book, late, None, 7)
    assert walk(book) == {"events": 1}
    assert events(book) == kept[:1]


def test_a_unit_is_small_and_the_next_goes_on_where_it_stopped(book):
    organization_id = book.organization()
    for _ in range(12):
        event(book, organization_id)
    rows = []
    done = Forgot(0, "", done=False)
    while not done.done:
        done = book.unit(
            lambda conn: retention.chosen_events(
                conn, "events.7", [organization_id], book.now_ms + 1, 2, book.now_ms
            )
        )
        rows.append(done.rows)
    assert rows[:6] == [2] * 6
    assert events(book) == []


def test_what_came_in_goes_for_that_organization(book):
    short, long = book.organization(), book.organization()
    for number, organization_id in enumerate((short, long)):
        book.conn.execute(
            "INSERT INTO inbound VALUES (?, 'c', '+222', '1', 'hi', '', ?, ?, NULL, NULL)",
            (f"{first_id('mo', book.now_ms)[:-1]}{number}", book.now_ms, organization_id),
        )
    choose(book, short, None, None, 1)
    book.now_ms += 2 * DAY_MS
    assert walk(book) == {"inbound": 1}
    assert book.one("SELECT organization_id FROM inbound") == long


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house(retention=RetentionSection(texts_days=30)) as opened:
        yield opened


async def test_a_choice_is_shown_checked_versioned_and_taken_back(house, autojump_clock):
    mine = {"organization_id": house.principal.organization_id}
    perform = house.gateway.perform
    before = await perform("kept.show", mine)
    assert before["kept"][0] == {
        "name": "texts",
        "days": 30,
        "chosen": None,
        "operatorDays": 30,
        "offered": [1, 7],
    }
    with pytest.raises(Invalid) as refused:
        await perform("kept.set", {**mine, "texts_days": 90, "events_days": 8})
    assert [each.path for each in refused.value.faults] == ["texts_days", "events_days"]
    told = await perform("kept.set", {**mine, "texts_days": 7, "version": before["version"]})
    assert [each["days"] for each in told["kept"]] == [7, 90, 90]
    with pytest.raises(Conflict, match="changed in the meantime"):
        await perform("kept.set", {**mine, "version": before["version"]})
    told = await perform("kept.set", {**mine, "version": told["version"]})
    assert [each["chosen"] for each in told["kept"]] == [None] * 3
