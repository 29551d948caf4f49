"""Rules in a house: made, ordered, tried, and answering texts that come in."""

from __future__ import annotations

from contextlib import asynccontextmanager
from itertools import count

import pytest
import trio

from risala.engine.features.answers.rule_records import KEYWORDS_MAX, RULE_TEXT_MAX, RULES_MAX
from risala.engine.features.answers.stored import rules as stored_rules
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound
from risala.engine.model.ids import first_id
from risala.sms.message import Inbound

PHONE, OTHER, OURS = "+22236123456", "+22222999888", "1234"
_ids = count()


class Shop:
    """An organization with rules."""

    def __init__(self, house):
        self.house = house
        self.whose = {"organization_id": house.principal.organization_id}

    async def do(self, name, caller=None, /, **arguments):
        perform = self.house.gateway.perform
        if name in ("create", "list", "try", "resume"):
            arguments = {**self.whose, **arguments}
        if caller is None:
            return await perform(f"answer.{name}", arguments)
        return await perform(f"answer.{name}", arguments, caller)

    async def rule(self, name="Hours", text="From 8 to 19.", **more):
        return await self.do("create", name=name, text_en=text, **more)

    async def come_in(self, text, sender=PHONE):
        """A text comes in; returns what left since."""
        sent = len(self.house.driver.submitted)
        message = Inbound(sender, OURS, text, self.house.clock.now_ms(), (f"mo{next(_ids)}",))
        await self.house.driver.context.inbound(message)
        await trio.sleep(1)
        return [each.text for each in self.house.driver.submitted[sent:]]

    async def names(self):
        return [each["name"] for each in (await self.do("list"))["rules"]]

    async def thread(self, number=PHONE):
        return await self.house.gateway.perform(
            "conversation.get", {**self.whose, "number": number}
        )


@pytest.fixture
def open_shop(open_house):
    @asynccontextmanager
    async def opened(*carriers, **more):
        async with open_house(*carriers, **more) as house:
            shop = Shop(house)
            await house.gateway.perform("inbound.route", shop.whose)
            yield shop

    return opened


@pytest.fixture
async def shop(open_shop, quick):
    async with open_shop() as opened:
        yield opened


async def test_a_text_is_answered_by_the_rule_that_it_meets(shop, quick):
    await shop.rule(keywords=["hours"], text_fr="De 8 h à 19 h.", language="en")
    assert await shop.come_in("Hours?") == ["From 8 to 19."]
    assert await shop.come_in("anything else", OTHER) == []
    thread = await shop.thread()
    by = {each["by"]: each for each in thread["messages"]}
    assert by["answer"]["answerName"] == by["number"]["answerName"] == "Hours"
    assert by["answer"]["answerKind"] == "rule"
    assert by["number"]["answerRefused"] is None


async def test_the_thread_says_why_a_text_was_not_answered(shop, quick):
    await shop.rule()
    for _ in range(2):
        assert await shop.come_in("hello") == ["From 8 to 19."]
    assert await shop.come_in("hello") == []
    said = [each["answerRefused"] for each in (await shop.thread())["messages"]]
    assert [each for each in said if each] == [
        "It was not answered by itself: two automatic answers to this number left within an hour,"
        " and it may be a machine. No more leave for a day."
    ]
    told = [each for each in await shop.house.events() if each["type"] == "conversation.paused"]
    assert [each["number"] for each in told] == [PHONE]
    (paused,) = (await shop.do("list"))["paused"]
    assert paused["number"] == PHONE
    await shop.do("resume", number=PHONE)
    assert (await shop.do("list"))["paused"] == []
    assert await shop.come_in("hello") == ["From 8 to 19."]


async def test_two_services_that_answer_each_other_stop_after_two_answers_each(shop, quick):
    """The other one answers whatever it gets, some time later."""
    await shop.rule()
    for apart_s in (1, 20, 300):
        number, answers = f"+222369{apart_s:05d}", 0
        texts = ["hello"]
        while texts:
            shop.house.pass_s(apart_s)
            texts = await shop.come_in(texts[0], number)
            answers += len(texts)
        assert answers == 2, apart_s


async def left_of(shop, sender, recipient, text):
    """What left since a text came in: from whom and to whom."""
    sent = len(shop.house.driver.submitted)
    now_ms = shop.house.clock.now_ms()
    message = Inbound(sender, recipient, text, now_ms, (f"mo{next(_ids)}",))
    await shop.house.driver.context.inbound(message)
    await trio.sleep(1)
    return [(each.sender, each.recipient) for each in shop.house.driver.submitted[sent:]]


async def test_who_forges_the_organizations_own_number_makes_no_endless_loop(shop, quick):
    """The answer comes back as a text, from the number to itself."""
    await shop.rule()
    own = "+22236000001"
    ways = await left_of(shop, own, own, "hello")
    rounds = 0
    while ways:
        assert ways == [(own, own)]
        rounds += 1
        ways = await left_of(shop, own, own, "From 8 to 19.")
    assert rounds == 2


async def test_two_organizations_of_one_service_that_answer_each_other_stop(shop, quick):
    here, there = "+22236000001", "+22236000002"
    other = Shop(shop.house)
    other.whose = {"organization_id": (await shop.house.organization()).organization_id}
    await shop.house.gateway.perform("inbound.route", {**other.whose, "number": there})
    for each in (shop, other):
        await each.rule()
    ways, seen = await left_of(shop, there, here, "hello"), []
    while ways:
        ((sender, recipient),) = ways
        seen.append(sender)
        ways = await left_of(shop, sender, recipient, "hello")
    assert seen == [here, there] * 2


async def test_a_first_text_is_looked_for_among_the_newest_of_its_sender(shop, quick, monkeypatch):
    """However many texts a name has sent to others."""
    monkeypatch.setattr(stored_rules, "BEFORE_LOOKED", 2)
    await shop.rule("Welcome", "Welcome!", first_contact=True)
    other = await shop.house.organization()
    news = {"organization_id": other.organization_id, "keyword": "news"}
    await shop.house.gateway.perform("inbound.route", news)
    assert await shop.come_in("hello") == ["Welcome!"]
    await shop.come_in("news")
    assert await shop.come_in("hello again") == []
    for _ in range(2):
        await shop.come_in("news")
    assert await shop.come_in("hello") == ["Welcome!"]


async def test_the_first_text_of_a_number_is_greeted_once(shop, quick):
    await shop.rule("Welcome", "Welcome!", first_contact=True)
    assert await shop.come_in("hello") == ["Welcome!"]
    assert await shop.come_in("hello again") == []
    assert await shop.come_in("hello", OTHER) == ["Welcome!"]


async def test_the_name_comes_from_the_lists(shop, quick):
    perform = shop.house.gateway.perform
    made = await perform("list.create", {**shop.whose, "name": "Parents"})
    person = {"number": PHONE, "cells": {"Nom": "Aïcha"}}
    await perform("list.add", {"list_id": made["list"]["id"], **person})
    await shop.rule(text="{{name}}, from 8 to 19.")
    assert await shop.come_in("hello") == ["Aïcha, from 8 to 19."]
    assert await shop.come_in("hello", OTHER) == [", from 8 to 19."]


async def test_a_rule_that_answers_nothing_stops_the_others(shop, quick):
    await shop.rule("Silence", "", keywords=["ok"])
    await shop.rule()
    assert await shop.come_in("OK") == []
    assert await shop.come_in("hello") == ["From 8 to 19."]


async def test_stop_and_start_are_left_to_the_opt_outs_where_they_are_heeded(shop, quick):
    await shop.rule(keywords=["stop"])
    assert await shop.come_in("STOP") == ["From 8 to 19."]
    await shop.house.gateway.perform("inbound.opt_outs", {**shop.whose, "heeds": True})
    assert await shop.come_in("STOP", OTHER) == []
    assert await shop.come_in("START", OTHER) == []


async def test_a_text_that_a_carrier_repeats_is_answered_once(shop, quick):
    await shop.rule()
    now_ms = shop.house.clock.now_ms()
    for _ in range(3):
        await shop.house.driver.context.inbound(Inbound(PHONE, OURS, "hello", now_ms, ("same",)))
        await trio.sleep(1)
    assert len(shop.house.driver.submitted) == 1


async def test_rules_stand_in_an_order_that_can_be_changed(shop, quick):
    for name in ("a", "b", "c"):
        await shop.rule(name)
    first = await shop.rule("d", place=1)
    assert await shop.names() == ["d", "a", "b", "c"]
    await shop.do("set", rule_id=first["ruleId"], place=3)
    assert await shop.names() == ["a", "b", "d", "c"]
    await shop.do("set", rule_id=first["ruleId"], place=RULES_MAX)
    assert await shop.names() == ["a", "b", "c", "d"]
    await shop.do("delete", rule_id=first["ruleId"])
    assert [each["place"] for each in (await shop.do("list"))["rules"]] == [1, 2, 3]


async def test_a_rule_is_changed_field_by_field(shop, quick):
    made = await shop.rule(keywords=["hours"], from_time="08:00", days=["sun", "mon"])
    assert (made["days"], made["enabled"], made["language"]) == (["mon", "sun"], True, "fr")
    changed = await shop.do("set", rule_id=made["ruleId"], enabled=False)
    assert {**made, "enabled": False, "version": changed["version"]} == changed
    cleared = await shop.do("set", rule_id=made["ruleId"], from_time="", keywords=[], days=[])
    assert (cleared["fromTime"], cleared["keywords"], cleared["days"]) == (None, [], [])
    assert await shop.come_in("hello") == []


async def test_there_are_at_most_fifty(shop, quick):
    for each in range(RULES_MAX):
        await shop.rule(str(each))
    with pytest.raises(Conflict, match="50"):
        await shop.rule("one more")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("keywords", ["two words"]),
        ("keywords", ["..."]),
        ("keywords", ["x" * 31]),
        ("keywords", ["\ufdfa" * 2]),  # thirty-six letters, folded
        ("keywords", ["\u202e\u200b"]),
        ("keywords", [f"w{each}" for each in range(KEYWORDS_MAX + 1)]),
        ("days", ["someday"]),
        ("from_time", "8:00"),
        ("to_time", "24:00"),
        ("language", "de"),
        ("place", 0),
        ("place", RULES_MAX + 1),
        ("text_fr", "x" * (RULE_TEXT_MAX + 1)),
        ("text_ar", "{{password}}"),
        ("name", ""),
        ("name", "x" * 41),
    ],
)
async def test_what_no_rule_can_have(shop, quick, field, value):
    with pytest.raises(Invalid):
        await shop.do("create", **{"name": "Hours", field: value})


async def test_a_text_is_tried_without_sending(shop, quick):
    assert await shop.do("try", text="hours") == {
        "rule": None,
        "answer": None,
        "forwards": [],
    }
    made = await shop.rule(keywords=["hours"])
    tried = await shop.do("try", text="Hours, please")
    assert (tried["rule"], tried["answer"]) == (made, "From 8 to 19.")
    await shop.rule("Silence", "")
    tried = await shop.do("try", text="whatever")
    assert (tried["rule"]["name"], tried["answer"]) == ("Silence", None)
    assert not shop.house.driver.submitted


async def test_a_number_that_wrote_is_tried_as_such(shop, quick):
    await shop.rule(first_contact=True)
    await shop.come_in("hello", OTHER)
    assert (await shop.do("try", text="hi"))["answer"] is not None
    assert (await shop.do("try", text="hi", number=OTHER))["answer"] is None


async def test_a_viewer_reads_and_a_developer_writes(shop, quick):
    made = await shop.rule()
    mine = shop.whose["organization_id"]
    viewer = Caller("aicha@example.com", CallerKind.DASHBOARD, Role.VIEWER, mine)
    developer = Caller("fatou@example.com", CallerKind.DASHBOARD, Role.DEVELOPER, mine)
    other = await shop.house.organization()
    stranger = Caller("sidi@example.com", CallerKind.DASHBOARD, Role.OWNER, other.organization_id)
    this = {"rule_id": made["ruleId"]}
    assert (await shop.do("list", viewer))["rules"] == [made]
    assert (await shop.do("try", viewer, text="hello"))["rule"] == made
    for name, more in (("create", {"name": "x"}), ("set", this), ("delete", this)):
        with pytest.raises(Forbidden):
            await shop.do(name, viewer, **more)
    await shop.do("set", developer, **this, name="Opening")
    for name, more in (("show", this), ("set", this), ("delete", this), ("list", {})):
        with pytest.raises((Forbidden, NotFound)):
            await shop.do(name, stranger, **more)


async def test_an_unknown_rule_is_not_found(shop, quick):
    for name in ("show", "set", "delete"):
        with pytest.raises(NotFound):
            await shop.do(name, rule_id=first_id("rul", 0))
    with pytest.raises(NotFound):
        await shop.do("resume", number=PHONE)


async def test_a_crash_between_queueing_and_sending_answers_once(open_shop, open_house, quick):
    """The text and its answer are in one transaction; the next service lets it leave."""
    async with open_shop() as shop:
        await shop.rule()
        message = Inbound(PHONE, OURS, "hello", shop.house.clock.now_ms(), ("mo-crash",))
        await shop.house.driver.context.inbound(message)  # and the process ends at once
        early = [each.text for each in shop.house.driver.submitted]
    async with open_house() as house:
        await trio.sleep(60)
        late = [each.text for each in house.driver.submitted]
    assert early + late == ["From 8 to 19."]
