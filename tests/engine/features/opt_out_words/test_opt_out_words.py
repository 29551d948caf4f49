"""Opt-outs that speak: words, one confirmation, HELP, who comes back, lists, and networks."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count

import pytest
import trio

from mailing_book import ON_LOOP
from risala.engine.features.answers.service import AnswerSending
from risala.engine.features.lists.stored import clear_lists
from risala.engine.features.mailings.mailing_sending import RowFault
from risala.engine.features.own_data.stored.account_export import _tables
from risala.engine.features.own_data.stored.account_export import settings as exported_settings
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import (
    Draining,
    Invalid,
    NotFound,
    Overloaded,
    RecipientOptedOut,
)
from risala.sms.message import Inbound

PHONE, OTHER, ABROAD = "+22236123456", "+22222999888", "+22246000001"
_ids = count()


class Line:
    """An organization that writes to people, who answer it. No route leads to it."""

    def __init__(self, house, principal=None):
        self.house = house
        self.principal = principal or house.principal
        self.whose = {"organization_id": self.principal.organization_id}

    async def do(self, name, /, **arguments):
        return await self.house.gateway.perform(name, {**self.whose, **arguments})

    async def one(self, name, /, **arguments):
        """Of what is named by its own id."""
        return await self.house.gateway.perform(name, arguments)

    async def write(self, *numbers):
        for number in numbers or (PHONE,):
            command = SendMessage(to=number, body="news")
            await self.house.gateway.send_message(self.principal, command)
            await trio.sleep(1)

    async def hear(self, text, sender=PHONE):
        """A text comes in, and is answered or not; returns what left for its sender since."""
        before = len(self.house.driver.submitted)
        message = Inbound(sender, "1234", text, self.house.clock.now_ms(), (f"mo{next(_ids)}",))
        await self.house.driver.context.inbound(message)
        await trio.sleep(1)
        sent = self.house.driver.submitted[before:]
        assert all(each.recipient == sender for each in sent)
        return [each.text for each in sent]

    async def out(self):
        return {each["number"] for each in (await self.do("inbound.opt_outs"))["numbers"]}

    async def new_list(self, *numbers, name="News"):
        people = {"numbers": "\n".join(numbers)} if numbers else {}
        made = await self.do("list.create", name=name, **people)
        return made["list"]["id"]

    async def out_of(self, list_id):
        people = (await self.one("list.show", list_id=list_id))["people"]
        return {each["number"] for each in people if each["optedOutHere"]}


@pytest.fixture
async def line(open_house, quick):
    async with open_house(parts=ON_LOOP) as house:
        opened = Line(house)
        await opened.do("inbound.opt_outs", heeds=True)
        await opened.write(PHONE, OTHER)
        yield opened


NAME = "Shop"


async def test_the_usual_words_count_without_an_answer_until_somebody_chooses(line, quick):
    assert await line.hear("Arrêt svp") == []
    assert await line.out() == {PHONE}
    assert await line.hear("start") == []
    assert await line.hear("UNSUBSCRIBE") == []
    assert await line.hear("HELP") == []
    assert await line.out() == set()


@pytest.mark.parametrize(
    ("sets", "text", "said"),
    [
        (["en"], "Unsubscribe", "you get no more messages from us"),
        (["fr", "en"], "stop", "vous ne recevez plus nos messages"),
        (["en", "fr"], "STOP", "you get no more messages from us"),
        (["en"], "arrêt", "vous ne recevez plus nos messages"),
        (["ar"], "إيقاف", "لن تصلك رسائلنا"),
        ([], "توقف", "لن تصلك رسائلنا"),
    ],
)
async def test_one_confirmation_in_the_language_of_the_word(line, quick, sets, text, said):
    await line.do("opt_outs.words", sets=sets, answered=["stop"])
    (sent,) = await line.hear(text)
    assert said in sent
    assert "START" in sent
    assert await line.out() == {PHONE}


async def test_who_repeats_stop_is_told_once_and_nothing_else_reaches_them(line, quick):
    await line.do("opt_outs.words", sets=["fr"], answered=["stop", "help", "start"])
    assert len(await line.hear("stop")) == 1
    assert await line.hear("stop") == []
    assert await line.hear("fin") == []
    assert await line.hear("aide") == []  # it would be one more message to who wants none
    with pytest.raises(RecipientOptedOut):
        await line.house.gateway.send_message(line.principal, SendMessage(to=PHONE, body="more"))


async def test_help_and_a_return_are_answered_where_that_is_chosen(line, quick):
    await line.do("opt_outs.words", sets=["fr"], answered=["help", "start"])
    (told,) = await line.hear("CONTACT")
    assert "envoyez STOP" in told
    assert await line.hear("stop") == []
    (back,) = await line.hear("OUI", PHONE)
    assert "de nouveau" in back
    assert await line.hear("oui") == []  # who is not out comes back to nothing
    assert await line.out() == set()


async def test_an_answer_is_a_message_that_is_charged_and_shown(line, quick):
    await line.do("opt_outs.words", sets=["en"], answered=["stop"])
    before = await line.house.balance()
    await line.hear("quit")
    assert await line.house.balance() != before
    listed = await line.do("message.list", to=PHONE)
    assert listed["messages"][0]["keyId"] is None
    part = dict(_tables())["automatic-answers"](
        line.house.gateway.services.repositories._store.reader,
        line.principal.organization_id,
        "",
        10,
    )
    (row,) = part.rows
    assert (row["kind"], row["number"]) == ("opt_out", PHONE)


async def test_a_crash_between_stop_and_its_confirmation_sends_it_once(
    open_house, quick, monkeypatch
):
    async with open_house() as house:
        line = Line(house)
        await line.do("inbound.opt_outs", heeds=True)
        await line.do("opt_outs.words", sets=["en"], answered=["stop"])
        await line.write()
        with monkeypatch.context() as patched:
            patched.setattr(type(house.gateway.services.intake), "send", _ends_at_once)
            assert await line.hear("stop") == []
        assert await line.out() == {PHONE}
    async with open_house() as house:
        await trio.sleep(60)
        assert len(house.driver.submitted) == 1
    async with open_house() as house:
        await trio.sleep(60)
        assert house.driver.submitted == []


async def _ends_at_once(*_, **__):
    raise Draining


async def test_a_stop_whose_answer_cannot_be_stored_is_not_stored_either(line, quick, monkeypatch):
    from risala.engine.features.opt_out_words.stored import heeding

    await line.do("opt_outs.words", sets=["en"], answered=["stop"])

    def fails(*_, **__):
        raise RuntimeError("cut")

    with monkeypatch.context() as patched:
        patched.setattr(heeding, "put_in", fails)
        with pytest.raises(Exception, match="could not be stored"):
            await line.hear("stop")
    assert await line.out() == set()
    assert len(await line.hear("stop")) == 1


async def test_an_own_text_with_the_name_of_the_organization(line, quick):
    await line.do("opt_outs.words", sets=["fr"], answered=["stop"])
    text = "{{organization}} : fini. {{start}} pour revenir."
    shown = await line.do("opt_outs.answer", role="stop", language="fr", text=text, preview=True)
    (sent,) = [
        each for each in shown["answers"] if (each["role"], each["language"]) == ("stop", "fr")
    ]
    name = sent["text"].partition(" :")[0]
    assert (sent["parts"], sent["own"], sent["isSent"]) == (1, True, True)
    assert (await line.do("opt_outs.words"))["settings"]["texts"] == []  # it was only looked at
    await line.do("opt_outs.answer", role="stop", language="fr", text=text)
    assert await line.hear("stop") == [f"{name} : fini. START pour revenir."]
    shown = await line.do("opt_outs.answer", role="stop", language="fr", text="")
    assert shown["settings"]["texts"] == []
    with pytest.raises(Invalid, match="nobody"):
        await line.do("opt_outs.answer", role="stop", language="fr", text="{{nobody}}")
    with pytest.raises(Invalid, match="320"):
        await line.do("opt_outs.answer", role="stop", language="fr", text="a" * 321)


async def test_own_words_of_any_script(line, quick):
    await line.do("opt_outs.words", answered=["stop", "help"])
    await line.do("opt_outs.add_word", word="Терминé", role="stop", language="fr")
    await line.do("opt_outs.add_word", word="帮助", role="help", language="en")
    assert "STOP" in (await line.hear("帮助!"))[0]
    assert len(await line.hear("терминe")) == 1
    assert await line.out() == {PHONE}
    await line.do("opt_outs.remove_word", word="Терминé")
    assert await line.hear("терминe", OTHER) == []
    with pytest.raises(NotFound):
        await line.do("opt_outs.remove_word", word="Терминé")


async def test_no_word_does_two_things(line, quick):
    await line.do("opt_outs.words", sets=["en"])
    for word, role in (("STOP", "help"), ("quit", "start"), ("arrêt", "list")):
        of_list = {"list_id": await line.new_list(name=word)} if role == "list" else {}
        with pytest.raises(Invalid, match="counts as a word of"):
            await line.do("opt_outs.add_word", word=word, role=role, language="en", **of_list)
    await line.do("opt_outs.add_word", word="oui", role="stop", language="fr")
    with pytest.raises(Invalid, match="counts as a word of"):
        await line.do("opt_outs.add_word", word="OUI", role="help", language="fr")
    with pytest.raises(Invalid, match="counts as a word of START"):
        await line.do("opt_outs.words", sets=["fr"])
    for wrong in ("two words", "", "x" * 21):
        with pytest.raises(Invalid):
            await line.do("opt_outs.add_word", word=wrong, role="stop", language="fr")


async def test_a_word_that_a_route_takes_too_is_said(line, quick):
    await line.house.gateway.perform("inbound.route", {**line.whose, "keyword": "adieu"})
    shown = await line.do("opt_outs.add_word", word="adieu", role="stop", language="fr")
    routed = {each["word"] for each in shown["words"] if each["routed"]}
    assert routed == {"adieu"}


async def test_start_takes_back_what_it_may(line, quick):
    await line.do("opt_outs.words", back="own")
    await line.do("inbound.opt_out", number=OTHER)
    await line.hear("stop")
    await line.hear("start")
    await line.hear("start", OTHER)
    assert await line.out() == {OTHER}  # noted by hand, it is taken back by hand
    await line.do("inbound.opt_in", number=OTHER)
    await line.do("opt_outs.words", sets=["en"], answered=["stop", "start"], back="hand")
    (said,) = await line.hear("stop")
    assert "START" not in said
    assert await line.hear("start") == []
    assert await line.out() == {PHONE}
    with pytest.raises(Invalid, match="note"):
        await line.do("inbound.opt_in", number=PHONE)
    await line.do("inbound.opt_in", number=PHONE, note="By telephone, 30 November")
    assert await line.out() == set()
    trail = await line.one("audit.list", **line.whose)
    assert "By telephone" in str(trail)  # "By telephone, 30 November"


async def test_a_list_is_left_alone_with_its_word(line, quick):
    news, other = await line.new_list(PHONE, OTHER), await line.new_list(PHONE, name="Other")
    await line.do("opt_outs.words", sets=["fr"], answered=["stop", "start"])
    await line.do("opt_outs.add_word", word="news", role="list", language="fr", list_id=news)
    assert await line.hear("news") == []
    assert await line.hear("stop weather") == []
    (said,) = await line.hear("Stop NEWS, merci")
    assert "les messages de News. Envoyez START NEWS" in said
    assert await line.hear("stop news") == []
    assert (await line.out(), await line.out_of(news)) == (set(), {PHONE})
    assert await line.out_of(other) == set()
    await line.write(PHONE)  # messages that are no mailing of this list reach them
    (back,) = await line.hear("start news")
    assert "STOP NEWS" in back
    assert await line.out_of(news) == set()


async def test_a_mailing_of_a_list_leaves_out_who_left_it(line, quick):
    news = await line.new_list(PHONE, OTHER, ABROAD)
    await line.do("opt_outs.list_out", list_id=news, number=PHONE)
    made = await line.do("mailing.create", list_id=news, text="Hello")
    await line.one("mailing.set", mailing_id=made["id"], from_hour=0, to_hour=24)
    await trio.sleep(5)
    mailing = await line.one("mailing.show", mailing_id=made["id"])
    mailing = mailing["mailing"]
    assert (mailing["ready"], mailing["bad"]) == (2, 1)
    await line.do("opt_outs.list_out", list_id=news, number=OTHER)  # after the rows were checked
    before = len(line.house.driver.submitted)
    await line.one("mailing.start", mailing_id=made["id"])
    await trio.sleep(20)
    assert [each.recipient for each in line.house.driver.submitted[before:]] == [ABROAD]
    rows = (await line.one("mailing.rows", mailing_id=made["id"]))["rows"]
    assert [each["fault"] for each in rows] == [RowFault.OPTED_OUT.value] * 2 + [None]


async def test_who_left_a_list_is_shown_with_it_and_taken_back_by_hand(line, quick):
    news = await line.new_list(PHONE, OTHER)
    await line.do("opt_outs.list_out", list_id=news, number=PHONE)
    shown = await line.one("list.show", list_id=news)
    assert shown["optedOut"] == 1
    assert [each["optedOut"] for each in shown["people"]] == [False, True]
    await line.do("inbound.opt_out", number=PHONE)
    assert (await line.one("list.show", list_id=news))["optedOut"] == 1
    await line.do("opt_outs.words", back="hand")
    with pytest.raises(Invalid, match="note"):
        await line.do("opt_outs.list_back", list_id=news, number=PHONE)
    await line.do("opt_outs.list_back", list_id=news, number=PHONE, note="asked")
    with pytest.raises(NotFound):
        await line.do("opt_outs.list_back", list_id=news, number=PHONE, note="asked")


async def test_another_organizations_list_is_unknown(line, quick):
    news = await line.new_list(PHONE)
    other = Line(line.house, await line.house.organization())
    for name, more in (
        ("opt_outs.list_out", {"number": PHONE}),
        ("opt_outs.add_word", {"word": "news", "role": "list", "language": "fr"}),
    ):
        with pytest.raises(NotFound):
            await other.do(name, list_id=news, **more)


async def test_what_a_network_asks_for_stands_above_the_settings(line, quick):
    demands = line.house.gateway.perform
    await demands(
        "opt_outs.demand", {"prefix": "+2223", "confirmation": "required", "sets": ["ar"]}
    )
    (said,) = await line.hear("إلغاء")
    assert "لن تصلك" in said
    assert await line.hear("إلغاء", OTHER) == []  # of another network
    assert await line.out() == {PHONE}
    await line.hear("start")
    await demands("opt_outs.demand", {"prefix": "+22236", "confirmation": "forbidden"})
    await line.do("opt_outs.words", sets=["en"], answered=["stop"])
    assert await line.hear("stop") == []
    assert await line.out() == {PHONE}
    shown = await line.do("opt_outs.words")
    assert [each["prefix"] for each in shown["demands"]] == ["+2223", "+22236"]
    left = await demands("opt_outs.demand", {"prefix": "+22236"})
    assert [each["prefix"] for each in left["demands"]] == ["+2223"]
    with pytest.raises(Invalid):
        await demands("opt_outs.demand", {"prefix": "33"})


async def test_a_stop_is_for_the_organization_that_wrote_wherever_the_number_leads(line, quick):
    other = await line.house.organization()
    await line.house.gateway.perform("inbound.route", {"organization_id": other.organization_id})
    await line.do("opt_outs.words", sets=["en"], answered=["stop"])
    assert len(await line.hear("stop")) == 1
    assert await line.out() == {PHONE}


async def test_the_settings_go_with_the_organization_and_are_in_its_file(line, quick):
    news = await line.new_list(PHONE)
    await line.do("opt_outs.words", sets=["fr"], answered=["stop"])
    await line.do("opt_outs.list_out", list_id=news, number=PHONE)
    services = line.house.gateway.services
    reader, mine = services.repositories._store.reader, line.principal.organization_id
    assert exported_settings(reader, mine)["optOutWords"]["sets"] == ["fr"]
    part = dict(_tables())["list-opt-outs"](reader, mine, "", 10)
    assert [each["number"] for each in part.rows] == [PHONE]
    with closing(sqlite3.connect(":memory:")) as conn:
        reader.backup(conn)
        conn.execute("UPDATE recipient_lists SET deleted_at = 1")
        while not clear_lists(conn, 1).done:
            pass
        assert not conn.execute("SELECT 1 FROM list_opt_outs").fetchall()
        assert not conn.execute("SELECT 1 FROM recipient_lists").fetchall()


async def test_the_tab_of_who_opted_out_is_found_by_an_index(line, quick):
    await line.house.gateway.perform("inbound.route", line.whose)
    await line.hear("stop")
    await line.hear("hello", OTHER)
    listed = await line.do("conversation.list", opted_out=True)
    assert [each["number"] for each in listed["conversations"]] == [PHONE]
    await line.do("inbound.opt_in", number=PHONE)
    await line.do("inbound.opt_out", number=OTHER)
    listed = await line.do("conversation.list", opted_out=True)
    assert [each["number"] for each in listed["conversations"]] == [OTHER]
    await line.hear("hello", ABROAD)
    await line.do("inbound.opt_out", number=ABROAD)
    listed = await line.do("conversation.list", opted_out=True)
    assert [each["number"] for each in listed["conversations"]] == [ABROAD, OTHER]
    assert listed["lookedTo"] is None


async def test_a_conversation_that_a_word_ends_is_done(line, quick):
    await line.house.gateway.perform("inbound.route", line.whose)
    await line.do("opt_outs.words", sets=["en"])
    await line.hear("quit")
    (one,) = (await line.do("conversation.list"))["conversations"]
    assert one["state"] == "done"
    assert line.house.gateway.services.part(AnswerSending) is not None


async def test_a_conversation_goes_on_for_who_leaves_one_list(line, quick):
    news = await line.new_list(PHONE)
    await line.house.gateway.perform("inbound.route", line.whose)
    await line.do("opt_outs.words", sets=["en"])
    await line.do("opt_outs.add_word", word="news", role="list", language="en", list_id=news)
    await line.hear("stop news")
    assert await line.out_of(news) == {PHONE}
    (one,) = (await line.do("conversation.list"))["conversations"]
    assert one["state"] == "open"


async def test_an_erased_number_stays_out_of_lists_and_leaves_no_confirmation(line, quick):
    """Also where the text that was answered led to nobody; the wish stays, as that for all."""
    news = await line.new_list(PHONE)
    await line.do("opt_outs.words", sets=["en"], answered=["stop"])
    await line.do("opt_outs.add_word", word="news", role="list", language="en", list_id=news)
    assert len(await line.hear("stop news")) == 1
    reader = line.house.gateway.services.repositories._store.reader
    assert reader.execute("SELECT number FROM answers").fetchall() == [(PHONE,)]
    await line.do("number.forget", number=PHONE)
    await trio.sleep(4000)
    assert reader.execute("SELECT number FROM answers").fetchall() == []
    kept = reader.execute("SELECT recipient, keyword FROM list_opt_outs").fetchall()
    assert kept == [(PHONE, "stop news")]


async def test_a_yes_to_somebody_else_takes_no_opt_out_back(line, quick):
    """*Oui* answers who wrote last; START says whom it means, whoever wrote since."""
    await line.do("opt_outs.words", sets=["fr"])
    await line.hear("stop")
    clinic = Line(line.house, await line.house.organization())
    await clinic.write(PHONE)  # "Do you come tomorrow?"
    await line.hear("Oui")
    assert await line.out() == {PHONE}
    await line.hear("START")
    assert await line.out() == set()


@pytest.mark.parametrize("is_routed", [False, True])
async def test_a_confirmation_that_waits_goes_with_an_erased_number(
    line, quick, monkeypatch, is_routed
):
    """Whether its text led to the organization, or to nobody."""
    if is_routed:
        await line.house.gateway.perform("inbound.route", line.whose)
    await line.do("opt_outs.words", sets=["en"], answered=["stop"])
    with monkeypatch.context() as now:

        async def full(*_, **__):
            raise Overloaded

        now.setattr(line.house.gateway.services.intake, "send", full)
        assert await line.hear("stop") == []
        reader = line.house.gateway.services.repositories._store.reader
        assert reader.execute("SELECT due_at IS NOT NULL FROM answers").fetchall() == [(1,)]
        asked = await line.do("number.forget", number=PHONE)
        # From now on it does not leave, whichever step of the erasure comes when its turn does.
        assert reader.execute("SELECT 1 FROM answers WHERE due_at IS NOT NULL").fetchall() == []
        await line.one("erasure.run", erasure_id=asked["id"])
        await trio.sleep(60)
    before = len(line.house.driver.submitted)
    await trio.sleep(600)
    assert len(line.house.driver.submitted) == before
    assert reader.execute("SELECT 1 FROM answers").fetchall() == []
    assert await line.out() == {PHONE}


async def test_rules_leave_an_organizations_own_words_to_its_opt_outs(line, quick):
    """Words of STOP, START and HELP; any other text is the rules', though it begins with one."""
    await line.house.gateway.perform("inbound.route", line.whose)
    await line.do("opt_outs.words", sets=["en"], answered=["stop", "start", "help"])
    for word, role in (("genug", "stop"), ("wieder", "start"), ("wer", "help")):
        await line.do("opt_outs.add_word", word=word, role=role, language="en")
    await line.do("answer.create", name="Any", text_en="Hello!")
    (help_text,) = await line.hear("Wer?")
    (stop_text,) = await line.hear("GENUG")
    (start_text,) = await line.hear("wieder", OTHER) or [""]
    assert "Hello!" not in (help_text, stop_text, start_text)
    assert await line.hear("Genug davon", OTHER) == ["Hello!"]
