"""The page of conversations: who wrote, one thread, and what is done in it."""

import re

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, FieldFault, Invalid
from risala.engine.model.people import Language
from risala.engine.model.records.conversations import WENT_ON
from risala.http.web.languages import load_words
from web_browser import assert_nothing_inline
from web_conversations import ASKED, MESSAGES, NO_PHONE
from web_lists import recipient_list
from web_people import key, member

PAGE = "/app/org_1/conversations"
ONE, TWO = f"{PAGE}/cnv_1", f"{PAGE}/cnv_2"


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == f"conversation.{name}"]


def refusing(gateway, name, error):
    async def perform(wanted, arguments, caller, perform=gateway.perform):
        if wanted == f"conversation.{name}":
            raise error
        return await perform(wanted, arguments, caller)

    gateway.perform = perform


def links(page, start):
    found = [each.get("href", "") for tag, each in page.tags if tag == "a"]
    return [each for each in found if each.startswith(start)]


async def test_people_stand_with_their_last_line(owner):
    page = await owner.get(PAGE)
    assert page.status == 200
    assert_nothing_inline(page)
    assert ASKED in page.text
    assert "Oumar &lt;Ba&gt;" in page.text
    assert "You: <bdi>Oui, jusqu&#39;à 19 h.</bdi>" in page.text
    assert re.findall(rf'href="{PAGE}/(cnv_\w+)" data-row', page.text) == [
        *("cnv_1", "cnv_2", "cnv_name", "cnv_stop")
    ]
    assert 'Unread <span class="count"><bdi class="num">3</bdi></span></a>' in page.text


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("show=open", {"state": "open"}),
        ("show=done", {"state": "done"}),
        ("show=unread", {"unread": True}),
        ("show=mine", {"assigned_to": "usr_1"}),
        ("show=stopped", {"opted_out": True}),
        ("q=26+55+44+33", {"number": "+22226554433"}),
        ("q=4433", {"digits": "4433"}),
        ("q=salam&show=open", {"contains": "salam", "state": "open"}),
    ],
)
async def test_each_filter_is_one_of_the_operation(owner, gateway, query, wanted):
    page = await owner.get(f"{PAGE}?{query}&before=x")
    (arguments,) = asked(gateway, "list")
    whole = {"organization_id": "org_1", "limit": 30, "before": "x", **wanted}
    assert arguments == whole
    assert f"{ONE}?{query}".replace("&", "&amp;") in page.text or len(query.split("&")) > 1
    assert (await owner.get(f"{PAGE}?show=none")).status == 422


async def test_a_thread_has_both_ways_and_no_code(owner, gateway):
    page = await owner.get(ONE)
    assert page.status == 200
    assert_nothing_inline(page)
    kinds = re.findall(r'<li class="(day|in|out)">', page.text)
    assert kinds == ["day", "out", "day", "out", "out", "out", "day", "in"]
    assert ">Yesterday<" in page.text
    assert ">Today<" in page.text
    assert "A one-time code" in page.text
    assert "The text is no longer kept." in page.text
    assert "/app/org_1/mailings/mlg_1" in links(page, "/app/org_1/mailings/")
    assert f"{ONE}?upto=77" in links(page, ONE)
    (got,) = asked(gateway, "get")
    assert got == {"organization_id": "org_1", "conversation_id": "cnv_1", "limit": 50}


@pytest.mark.parametrize("language", Language)
async def test_a_thread_says_where_a_text_was_forwarded(reader_as, language):
    page, words = await reader_as(language=language).get(ONE), load_words(language)
    for sentence, target in (
        ("Forwarded to {target}", "+22236120009"),
        ("Waits to be forwarded to {target}", "duty.example.com"),
        ("Could not be forwarded to {target}.", "@duty_room"),
    ):
        assert str(words(sentence)).partition("{")[0] in page.text
        assert target in page.text
    assert (
        str(words("It was not forwarded: Telegram does not know the token of the bot."))
        in page.text
    )


async def test_older_messages_are_a_page_without_an_answer(owner, gateway):
    page = await owner.get(f"{ONE}?upto=77")
    assert asked(gateway, "get")[0]["before"] == "77"
    assert "The newest messages" in page.text
    assert 'name="body"' not in page.text
    assert f"{ONE}/live?upto=77" in page.text


async def test_the_person_is_beside_the_thread(owner):
    text = (await owner.get(ONE)).text.replace("\u00a0", " ")
    assert "Parents &lt;6e&gt;" in text
    assert 'href="/app/org_1/lists/lst_1?q=%2B22226554433"' in text
    assert "6.50" in text
    assert 'href="/app/org_1/messages?q=%2B22226554433"' in text


async def test_who_may_answer_reads_it_by_a_form_and_a_viewer_has_none(reader_as, gateway):
    page = await reader_as(Role.VIEWER).get(ONE)
    assert page.status == 200
    assert asked(gateway, "mark") == []
    assert 'method="post" action="/app/org_1/conversations' not in page.text
    assert 'name="body"' not in page.text
    assert ASKED in page.text
    developer = reader_as(Role.DEVELOPER)
    page = await developer.get(ONE)
    assert asked(gateway, "mark") == []  # whatever looks at an address changes nothing
    assert 'name="body"' in page.text
    marks = {"form_token": page.field("form_token"), "read": "yes"}
    drawn = await developer.post(f"{ONE}/mark", marks, hx_request="true")
    assert drawn.status == 200
    assert 'id="people" hx-swap-oob="outerMorph"' in drawn.text
    (marked,) = asked(gateway, "mark")
    assert marked == {"organization_id": "org_1", "conversation_id": "cnv_1", "read": True}
    assert "hx-trigger" not in (await developer.get(TWO)).text  # which is read


async def test_who_is_assigned_is_told_to_a_viewer(reader_as, gateway):
    gateway.members = {"usr_1": member(1, name="Aïcha <A>")}
    page = await reader_as(Role.VIEWER).get(TWO)
    assert "<dt>Who answers</dt><dd><bdi>Aïcha &lt;A&gt;</bdi></dd>" in page.text


async def test_a_row_names_who_answers(owner, gateway):
    page = await owner.get(PAGE)
    assert "</bdi> answers" not in page.text  # the member is unknown
    gateway.members = {"usr_1": member(1, name="Aïcha <A>")}
    page = await owner.get(PAGE)
    assert page.text.count("<bdi>Aïcha &lt;A&gt;</bdi> answers") == 1
    drawn = await owner.get(f"{TWO}/mark")
    assert drawn.status == 405


async def test_the_program_that_wrote_is_named_by_its_key(owner, reader_as, gateway):
    gateway.keys = {"key_1": key(1, name="Shop <1>")}
    for reader in (owner, reader_as(Role.VIEWER)):
        page = await reader.get(ONE)
        named = re.search(r'href="/app/org_1/keys/key_1">([^/]*)<bdi>([^<]+)<', page.text)
        assert named is not None
        assert (named[1], named[2]) == ("by ", "Shop &lt;1&gt;")


async def test_a_program_whose_key_is_gone_is_a_program(owner, gateway):
    gateway.keys = {}
    page = await owner.get(ONE)
    assert "by a program" in page.text
    assert links(page, "/app/org_1/keys/") == []


@pytest.fixture
def more_lists(gateway):
    """A list that nobody is on."""
    lists = [recipient_list("lst_1"), recipient_list("lst_3", name="VIP")]
    gateway.answers["list.list"] = {"lists": lists}


async def test_the_number_is_put_on_a_list(owner, gateway, more_lists):
    form = await owner.get(f"{ONE}?show=open")
    choices = re.findall(r'<option value="(lst_\w+)"', form.text)
    assert choices == ["lst_3"]  # they are on the other
    page = await owner.submit(form, f"{ONE}/list", {"list_id": "lst_3", "show": "open"})
    assert (page.status, page.location) == (303, f"{ONE}?show=open")
    put = [arguments for name, arguments in gateway.done if name == "list.add"]
    assert put == [{"list_id": "lst_3", "number": "+22226554433"}]
    assert "The number is on the list." in (await owner.get(ONE)).text


@pytest.mark.parametrize("list_id", ["", "lst_of_others"])
async def test_only_an_own_list_takes_the_number(owner, gateway, more_lists, list_id):
    page = await owner.submit(await owner.get(ONE), f"{ONE}/list", {"list_id": list_id})
    assert page.status == 422
    assert 'id="list_id-fault"' in page.text
    assert [name for name, _ in gateway.done if name == "list.add"] == []


async def test_who_reads_and_a_name_have_no_form_for_lists(owner, reader_as, more_lists):
    assert 'name="list_id"' not in (await reader_as(Role.VIEWER).get(ONE)).text
    assert 'name="list_id"' not in (await owner.get(f"{PAGE}/cnv_name")).text


@pytest.mark.parametrize(
    ("language", "tab", "row"),
    [("fr", "Traitées", "Traitée"), ("ar", "منتهية", "منتهية"), ("en", "Done", "Done")],
)
async def test_a_tab_is_of_many_and_a_row_of_one(reader_as, language, tab, row):
    page = await reader_as(language=language).get(PAGE)
    assert f'show=done">{tab}</a>' in page.text
    assert f'<span class="tiny dim">{row}</span>' in page.text


async def test_an_answer_is_sent_once(owner, gateway):
    form = await owner.get(f"{ONE}?show=open")
    for _ in range(2):
        page = await owner.submit(
            form, ONE, {"body": "Oui.\r\nÀ 19 h.", "show": "open", "seen": "12"}
        )
        assert (page.status, page.location) == (303, f"{ONE}?show=open")
    (sent,) = asked(gateway, "reply")
    assert sent == {
        "organization_id": "org_1",
        "conversation_id": "cnv_1",
        "body": "Oui.\nÀ 19 h.",
        "seen": "12",
    }
    assert "The answer is accepted." in (await owner.get(ONE)).text


async def test_an_answer_that_came_second_is_still_there(owner, gateway):
    form = await owner.get(ONE)
    sentence = (
        "The conversation has gone on since you read it. Read what is new, then send your answer"
        " again."
    )
    refusing(gateway, "reply", Conflict(sentence, WENT_ON))
    page = await owner.submit(form, ONE, {"body": "Oui <3", "seen": "12"})
    assert page.status == 422
    assert sentence in page.text
    assert "Oui &lt;3</textarea>" in page.text
    assert page.field("form_token")


async def test_a_text_that_cannot_be_sent_has_its_fault(owner, gateway):
    form = await owner.get(ONE)
    fault = FieldFault("body", "empty", "The text is empty.")
    refusing(gateway, "reply", Invalid.of([fault]))
    page = await owner.submit(form, ONE, {"body": ""})
    assert page.status == 422
    assert 'id="body-fault"' in page.text


@pytest.mark.parametrize(
    ("form", "wanted", "back"),
    [
        ({"state": "done"}, {"state": "done"}, TWO),
        ({"state": "open", "show": "done"}, {"state": "open"}, f"{TWO}?show=done"),
        ({"read": "no"}, {"read": False}, PAGE),
        ({"read": "yes"}, {"read": True}, TWO),
        ({"read": "no", "q": "salam"}, {"read": False}, f"{PAGE}?q=salam"),
        ({"assigned_to": "usr_1"}, {"assigned_to": "usr_1"}, TWO),
        ({"assigned_to": ""}, {"assigned_to": ""}, TWO),
    ],
)
async def test_a_conversation_is_marked(owner, gateway, form, wanted, back):
    page = await owner.submit(await owner.get(TWO), f"{TWO}/mark", form)
    assert (page.status, page.location) == (303, back)
    whole = {"organization_id": "org_1", "conversation_id": "cnv_2", **wanted}
    assert asked(gateway, "mark") == [whole]


async def test_who_is_no_member_is_not_assigned(owner, gateway):
    form = await owner.get(TWO)
    fault = FieldFault("assigned_to", "no_member", "`assigned_to` is no member's id.")
    refusing(gateway, "mark", Invalid.of([fault]))
    page = await owner.submit(form, f"{TWO}/mark", {"assigned_to": "usr_9"})
    assert page.status == 422
    assert 'id="assigned_to-fault"' in page.text


async def test_without_script_the_server_counts_and_inserts(owner, gateway):
    form = await owner.get(ONE)
    page = await owner.submit(form, f"{ONE}/count", {"body": "Salam", "saved": ""})
    assert page.status == 200
    assert "Salam</textarea>" in page.text
    assert "GSM-7" in page.text
    fields = {"body": "Salam", "saved": "txt_1", "insert": "yes"}
    page = await owner.submit(form, f"{ONE}/count", fields)
    assert "Salam\nBonjour, votre enfant était absent aujourd&#39;hui.</textarea>" in page.text
    assert asked(gateway, "reply") == []


async def test_who_cannot_be_answered_is_told_before_one_writes(owner):
    page = await owner.get(f"{PAGE}/cnv_name")
    assert NO_PHONE.replace("'", "&#39;") in page.text
    assert 'name="body"' not in page.text
    page = await owner.get(f"{PAGE}/cnv_stop")
    assert "This person wants no messages from you any more." in page.text
    assert 'name="body"' not in page.text


async def test_conversations_are_with_real_phones_in_test_mode_too(owner):
    assert "an answer is a real message" in (await owner.get(f"{PAGE}?mode=test")).text
    assert "an answer is a real message" not in (await owner.get(PAGE)).text


async def test_what_came_in_leads_to_the_conversation(owner):
    page = await owner.get("/app/org_1/inbound?q=26+55+44+33")
    assert f"{PAGE}?q=26+55+44+33" in links(page, PAGE)


async def test_nothing_is_told(owner, gateway):
    gateway.answers["conversation.list"] = {
        "conversations": [],
        "newer": None,
        "older": None,
        "lookedTo": None,
    }
    assert "Nobody has written yet" in (await owner.get(PAGE)).text
    assert "No conversation fits this" in (await owner.get(f"{PAGE}?show=open")).text


@pytest.mark.parametrize("language", ["fr", "ar"])
async def test_names_and_numbers_stand_apart(reader_as, language):
    page = await reader_as(language=language).get(ONE)
    assert "<bdi>آمنة بنت محمد</bdi>" in page.text
    assert '<bdi class="tel">+222\u00a026\u00a055\u00a044\u00a033</bdi>' in page.text
    assert 'class="bubble" dir="auto"' in page.text
    assert len(re.findall('class="bubble"', page.text)) == len(MESSAGES)
