"""The list of messages and one message's page, over a gateway that tells one of each state."""

import re

import pytest

import web_messages
from filter_sweep import refuse_place
from risala.engine.model.callers import Role
from risala.engine.model.errors import InsufficientBalance, Invalid, NotFound
from risala.engine.model.ids import key_of
from risala.engine.model.people import Language
from risala.engine.model.times import iso
from web_people import FakeWebGateway, sender

LIST = "/app/org_1/messages"


def asked(gateway: FakeWebGateway, name: str):
    return [arguments for each, arguments in gateway.done if each == name]


async def test_the_list_shows_states_texts_and_causes(owner):
    page = await owner.get(LIST)
    assert page.status == 200
    for word in ("Delivered", "Uncertain", "Undelivered", "Canceled", "This number is not in use."):
        assert word in page.text
    assert web_messages.ARABIC in page.text
    assert 'href="/app/org_1/messages?before=7"' in page.text


async def test_filters_stand_in_the_address_and_go_by_their_chips(owner, gateway):
    query = "q=36+12+34+56&status=failed&from=Shop&key=key_1&since=2026-11-20&until=2026-11-21"
    page = await owner.get(f"{LIST}?{query}")
    [given] = asked(gateway, "message.list")
    assert given["to"] == "+22236123456"
    assert (given["status"], given["from"], given["key_id"]) == ("failed", "Shop", "key_1")
    assert (given["since"][:10], given["until"][:10]) == ("2026-11-20", "2026-11-22")
    chips = [each["href"] for tag, each in page.tags if each.get("class") == "chip"]
    assert len(chips) == 6
    assert "status=" not in next(each for each in chips if "status" not in each)


@pytest.mark.parametrize(("typed", "cause"), [("absent", "ABSENT"), ("ESME_X", "ESME_X")])
async def test_what_is_written_as_a_cause_is_one(owner, gateway, typed, cause):
    await owner.get(f"{LIST}?q={typed}")
    assert asked(gateway, "message.list")[0]["cause"] == cause


@pytest.mark.parametrize("typed", ["3612", "36 12", "commande", "BONJOUR"])
async def test_a_part_of_a_number_or_of_a_text_is_looked_for(owner, gateway, typed):
    page = await owner.get(f"{LIST}?q={typed}")
    [given] = asked(gateway, "message.list")
    assert given["contains"] == typed
    assert "cause" not in given
    assert f"With “<bdi>{typed}</bdi>”" in page.text


async def test_an_id_leads_to_its_message(owner):
    page = await owner.get(f"{LIST}?q={web_messages.MESSAGE_ID}&mode=test")
    assert page.location == f"{LIST}/{web_messages.MESSAGE_ID}?mode=test"


async def test_what_nobody_could_mean_is_refused(owner, gateway):
    page = await owner.get(f"{LIST}?status=nope&since=yesterday&until=9999-12-31&q=salam")
    assert page.status == 422
    assert page.text.count('class="error"') == 3
    assert not asked(gateway, "message.list")
    assert '<input type="hidden" name="q" value="salam">' in page.text
    refuse_place(gateway, "message.list")
    assert (await owner.get(f"{LIST}?before=x")).status == 422
    assert (await owner.get(f"{LIST}/export?status=nope")).status == 422


async def test_test_data_are_asked_for_and_kept(owner, gateway):
    page = await owner.get(f"{LIST}?mode=test&status=sent")
    assert asked(gateway, "message.list")[0]["mode"] == "test"
    assert '<input type="hidden" name="mode" value="test">' in page.text


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "{{ 7 * 7 }}", "%E2%80%AEevil"])
async def test_what_is_typed_is_text(owner, text):
    page = await owner.get(f"{LIST}?q={text}&from={text}")
    assert page.status == 200
    assert "<script>alert" not in page.text


@pytest.mark.parametrize("state", web_messages.STATES)
async def test_a_message_of_each_state(owner, state):
    page = await owner.get(f"{LIST}/sms_{state}")
    assert page.status == 200
    assert ("What we do not know yet" in page.text) == (state == "uncertain")
    assert ("Cancel the message" in page.text) == (state == "pending")
    assert "The engine&#39;s own words" not in page.text


async def test_a_receipt_that_was_not_read_as_labelled_says_so(gateway, reader_as):
    """In a sentence of the reader, and not beside the carrier's word."""
    story = web_messages.story("delivered")
    story["timeline"][-1]["raw"] = "DELIVRD err:000 (labelled ucs2, read as ascii)"
    gateway.answers = {"message.show": story}
    page = await reader_as(language="fr").get(f"{LIST}/sms_delivered")
    assert "<code>DELIVRD err:000</code>" in page.text
    told = page.text.replace("\u00a0", " ")
    assert "a annoncé cet accusé comme : UCS-2. Il a été lu comme : ASCII" in told


async def test_a_message_names_the_rule_that_sent_it(owner, gateway):
    async def shown(state, key=None):
        made = web_messages.story(state, keyId=key, id=f"sms_{state}")
        gateway.answers = {"message.show": made}
        return (await owner.get(f"{LIST}/sms_{state}")).text

    page = await shown("delivered")
    assert '<a href="/app/org_1/answers/rul_1"><bdi>Prix &lt;b&gt;</bdi></a>' in page
    assert "it forwarded a text that came in" in page
    gone = await shown("failed")
    assert "<bdi>Prix &lt;b&gt;</bdi>" in gone
    assert "it answered a text that came in" in gone
    assert "/answers/rul_1" not in gone
    assert "Prix" not in await shown("pending")
    assert "Prix" not in await shown("delivered", "key_1")


async def test_a_message_that_is_not_there(owner):
    assert (await owner.get(f"{LIST}/sms_none")).status == 404


def action_of(page, name):
    """Where the form leads that does this to the message of the page."""
    actions = [each["action"] for tag, each in page.tags if tag == "form"]
    return next(each for each in actions if each.endswith(f"/{name}"))


async def test_a_viewer_reads_and_does_nothing(reader_as):
    page = await reader_as(Role.VIEWER).get(f"{LIST}/sms_pending")
    actions = {each.get("action") for tag, each in page.tags if tag == "form"}
    assert actions == {"/language", "/theme", "/sign-out", "/app/org_1/search"}


async def test_a_message_is_sent_again_once(owner, gateway):
    form = await owner.get(f"{LIST}/sms_failed/again")
    page = await owner.submit(form, action_of(form, "again"))
    assert page.location == f"{LIST}/{web_messages.MESSAGE_ID}"
    await owner.submit(form, action_of(form, "again"))
    [sent] = asked(gateway, "send")
    assert (sent["body"], sent["from"]) == (web_messages.ARABIC, "Baraka Shop")


async def test_a_message_is_canceled(owner, gateway):
    page = await owner.get(f"{LIST}/sms_pending")
    action = action_of(page, "cancel")
    page = await owner.submit(page, action)
    assert page.location == action.removesuffix("/cancel")
    [canceled] = asked(gateway, "message.cancel")
    assert action == f"{LIST}/{canceled['message_id']}/cancel"


async def test_too_little_money_is_told(owner, gateway):
    form = await owner.get(f"{LIST}/sms_failed/again")
    gateway.refuse = InsufficientBalance()
    page = await owner.submit(form, action_of(form, "again"))
    assert page.status in (402, 409, 422)


@pytest.mark.parametrize("period", ["", "?period=week", "?period=month"])
async def test_the_overview(owner, period):
    page = await owner.get(f"/app/org_1/overview{period}")
    assert page.status == 200
    for word in ("Messages accepted", "1 message is uncertain", "Mauritel", "81.9%", "11 days"):
        assert word in page.text.replace('<bdi class="num">', "").replace("</bdi>", "")


@pytest.mark.parametrize("period", ["", "?period=week", "?period=month"])
async def test_each_figure_of_the_overview_has_its_line(owner, gateway, period):
    shown = web_messages.overview()
    day_before = iso(web_messages.AT_MS // 86_400_000 * 86_400_000 - 3_600_000)
    yesterday = {**shown["hours"][1], "at": day_before}
    gateway.answers = {"overview.show": {**shown, "hours": [yesterday, *shown["hours"]]}}
    page = await owner.get(f"/app/org_1/overview{period}")
    figures = page.text.partition('<dl class="stats"')[2].partition("</dl>")[0]
    assert figures.count("<dt>") == figures.count('class="spark"') == 4


async def test_a_growth_of_many_times_is_a_multiple(owner, gateway):
    shown = web_messages.overview()
    few = [{**each, "accepted": 1} for each in shown["before"][:1]]
    gateway.answers = {"overview.show": {**shown, "before": few}}
    page = await owner.get("/app/org_1/overview")
    growth = re.search(r'<bdi class="num up">(.*?)</bdi>', page.text)[1]
    assert growth.startswith("×&nbsp;")
    assert "%" not in growth
    funnel = page.text.partition('id="h-ver"')[2].partition("</section>")[0]
    assert funnel.count("%") == 2  # of the codes that were sent, not of themselves


async def test_the_overview_says_why_messages_failed_and_how_long_they_took(owner, gateway):
    page = await owner.get("/app/org_1/overview")
    failed = page.text.partition('id="h-fail"')[2]
    assert 'href="/app/org_1/messages?q=UNKNOWN_NUMBER">This number is not in use.</a>' in failed
    assert failed.index("not in use") < failed.index("No cause is known.")
    times = page.text.partition("Time to the phone")[2].partition("</section>")[0]
    assert times.count('class="times"') == 2, "of a network that delivered nothing there is none"
    assert "95 of 100 within" in times
    gateway.answers = {"overview.show": {**web_messages.overview(), "failures": []}}
    page = await owner.get("/app/org_1/overview")
    assert 'id="h-fail"' not in page.text
    assert '<div id="failures"></div>' in page.text


async def test_the_overview_of_nothing(owner, gateway):
    empty = {**web_messages.overview(), "hours": [], "before": [], "networks": [], "feed": []}
    empty |= {"medianMs": None, "spent": "0.00", "spentADay": "0.00", "uncertain": []}
    empty |= {"approvedHours": [], "spentByDay": ["0.00"] * 7}
    empty["verifications"] = {**dict.fromkeys(empty["verifications"], 0), "latestOnly": False}
    gateway.answers = {"overview.show": empty}
    page = await owner.get("/app/org_1/overview")
    assert "nothing delivered yet" in page.text
    assert "No message in this period." in page.text
    spent = page.text.partition("Spent")[2].partition("</dl>")[0]
    assert 'class="spark"' not in spent


async def test_a_message_is_written_and_sent_once(owner, gateway):
    form = await owner.get(f"{LIST}/new")
    fields = {"to": "36 12 34 56", "body": "Bonjour", "send_at": "2026-11-22T09:30"}
    page = await owner.submit(form, f"{LIST}/new", fields)
    assert page.location == f"{LIST}/{web_messages.MESSAGE_ID}"
    await owner.submit(form, f"{LIST}/new", fields)
    [sent] = asked(gateway, "send")
    assert (sent["to"], sent["send_at"][:16]) == ("36 12 34 56", "2026-11-22T09:30")


async def test_a_test_message_is_written_in_test_mode_and_has_no_price(owner, gateway):
    form = await owner.get(f"{LIST}/new?mode=test")
    assert "The last two digits choose the outcome" in form.text
    assert "a part." not in form.text
    fields = {"to": "36 12 34 00", "body": "Bonjour"}
    page = await owner.submit(form, f"{LIST}/new?mode=test", fields)
    assert page.location == f"{LIST}/{web_messages.MESSAGE_ID}?mode=test"
    [sent] = asked(gateway, "send")
    assert sent["mode"] == "test"


async def test_who_has_no_script_has_the_text_counted_by_us(owner, gateway):
    form = await owner.get(f"{LIST}/new")
    page = await owner.submit(form, f"{LIST}/new/count", {"to": "36", "body": "Fenêtre"})
    assert page.status == 200
    assert "“<bdi>ê</bdi>” makes it Unicode; “<bdi>e</bdi>” would not" in page.text
    assert ">Fenêtre</textarea>" in page.text
    assert asked(gateway, "send") == []
    plain = await owner.submit(form, f"{LIST}/new/count", {"to": "36", "body": "Bonjour"})
    assert plain.status == 200
    assert "<b>GSM-7</b>" in plain.text
    sent = await owner.submit(page, f"{LIST}/new", {"to": "36123456", "body": "Fenêtre"})
    assert sent.location


async def test_when_a_later_message_leaves_is_told_in_the_page_s_words(
    reader_as, gateway, monkeypatch
):
    """What the field shows is the browser's: its own language and order."""
    gateway.organization["timeZone"] = "Asia/Tokyo"
    reader = reader_as(language=Language.ARABIC)
    form = await reader.get(f"{LIST}/new")
    assert "بتوقيت <bdi>طوكيو</bdi>." in form.text
    fields = {"to": "36123456", "body": "Bonjour", "send_at": "2026-11-22T09:30"}
    page = await reader.submit(form, f"{LIST}/new/count", fields)
    assert "موعد إرسالها 22 نوفمبر 2026، 09:30، بتوقيت <bdi>طوكيو</bdi>." in page.text
    perform = gateway.perform

    async def refuse(name, *given, **more):
        if name == "send":
            raise Invalid(
                "send_at", "too_late", "A message can be scheduled at most 30 days ahead."
            )
        return await perform(name, *given, **more)

    monkeypatch.setattr(gateway, "perform", refuse)
    page = await reader.submit(form, f"{LIST}/new", {**fields, "send_at": "2027-01-01T00:00"})
    assert page.status == 422
    assert "أقصاها بالأيام: <bdi>30</bdi>" in page.text


@pytest.mark.parametrize("typed", ["tomorrow", "9999-12-31T23:59", "0001-01-01T00:00"])
async def test_what_is_no_time_is_not_told_as_one(owner, typed):
    form = await owner.get(f"{LIST}/new")
    fields = {"to": "36123456", "body": "Bonjour", "send_at": typed}
    page = await owner.submit(form, f"{LIST}/new/count", fields)
    assert page.status == 200


async def test_a_message_of_a_test_is_seen_among_tests(owner, gateway):
    story = web_messages.story("delivered", mode="test")
    gateway.answers = {"message.show": story}
    assert (await owner.get(f"{LIST}/sms_delivered")).location == f"{LIST}/sms_delivered?mode=test"
    page = await owner.get(f"{LIST}/sms_delivered?mode=test")
    assert page.status == 200
    form = await owner.get(f"{LIST}/sms_delivered/again?mode=test")
    await owner.submit(form, action_of(form, "again?mode=test"))
    assert asked(gateway, "send")[0]["mode"] == "test"


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("delivered", ["sms.sent", "sms.delivered", "whe_1?event=evt_1"]),
        ("failed", ["sms.failed", "502"]),
        ("processing", ["None yet."]),
        ("canceled", ["They are no longer kept."]),
    ],
)
async def test_what_was_told_of_a_message_and_what_became_of_that(owner, state, told):
    page = await owner.get(f"{LIST}/sms_{state}")
    assert [each for each in told if each not in page.text] == []


async def test_without_an_endpoint_the_way_to_one_is_shown(owner, gateway, reader_as):
    assert "No endpoint is subscribed." in (await owner.get(f"{LIST}/sms_delivered")).text
    viewer = await reader_as(Role.VIEWER).get(f"{LIST}/sms_delivered")
    assert "No endpoint is subscribed." not in viewer.text


@pytest.mark.parametrize(
    ("key_id", "told"),
    [
        ("key_1", "Shop server"),
        ("key_9", "deleted"),
        ("crd_1", "<bdi>shop</bdi>"),
        (None, "no program sent it"),
    ],
)
async def test_the_key_by_which_it_came(owner, gateway, key_id, told):
    gateway.answers = {"message.show": web_messages.story("delivered", keyId=key_id)}
    assert told in (await owner.get(f"{LIST}/sms_delivered")).text


async def test_new_messages_are_told_above_the_list(owner, gateway, short_streams):
    page = await owner.get(f"{LIST}?status=failed")
    assert "connection lost" in page.text
    [live] = [each["hx-sse:connect"] for _, each in page.tags if "hx-sse:connect" in each]
    assert (
        live
        == f"{LIST}/live?status=failed&after={key_of(web_messages.listed(0, 'x')['messageId'])}"
    )
    told = await owner.get(live)
    assert "3 new messages: show them" in told.text.replace('<bdi class="num">3</bdi>', "3")
    assert f'href="{LIST}?status=failed"' in told.text
    [asked_for] = asked(gateway, "message.newer")
    assert (asked_for["status"], asked_for["mode"]) == ("failed", "live")


async def test_who_looks_at_older_ones_is_told_of_what_comes_from_now_on(owner, gateway):
    found = [web_messages.listed(1, "sent")]
    gateway.answers = {
        "message.list": {"messages": found, "newer": "9", "older": None, "lookedTo": None}
    }
    page = await owner.get(f"{LIST}?before=7")
    assert f"after={web_messages.AT_MS << 15}" in page.text


async def test_the_way_out_is_on_every_page(owner):
    page = await owner.get(LIST)
    assert 'href="/app/org_1/leave"' in page.text
    assert 'action="/sign-out"' in page.text


async def test_a_message_under_way_draws_its_parts_anew(owner, short_streams):
    page = await owner.get(f"{LIST}/sms_processing/live")
    for piece in ("state", "acts", "why", "facts", "where", "happened", "about"):
        assert f'id="{piece}" hx-swap-oob="true"' in page.text


@pytest.mark.parametrize("path", ["messages/sms_none/live", "keys/key_none/live"])
async def test_what_is_not_there_opens_no_stream(owner, gateway, short_streams, path):
    gateway.refuse = NotFound("There is no such thing.")
    page = await owner.get(f"/app/org_1/{path}")
    assert page.status == 404
    assert page.headers["content-type"].startswith("text/html")


async def test_a_stream_without_a_place_tells_of_what_comes_from_now_on(
    owner, gateway, short_streams
):
    page = await owner.get(f"{LIST}/live")
    assert page.status == 200
    [given] = asked(gateway, "message.newer")
    assert given["after"] == str(web_messages.AT_MS << 15)


async def test_tests_behind_many_live_messages_are_a_page_away(owner, gateway):
    """The list looks so far back and no farther; it does not say that the rest is missing."""
    looked_to = "2026-11-20T08:41:16.123Z"
    nothing = {"messages": [], "newer": None, "older": "7", "lookedTo": looked_to}
    gateway.answers = {"message.list": nothing}
    page = await owner.get(f"{LIST}?mode=test")
    assert "No message yet" not in page.text
    assert "We looked back to" in page.text
    assert f'href="{LIST}?mode=test&amp;before=7"' in page.text


async def test_the_way_on_without_a_balance(owner, gateway):
    top_up, trial = 'href="/app/org_1/billing"', f'href="{LIST}/new?mode=test"'
    said = "The balance does not cover a message."
    assert said not in (await owner.get(f"{LIST}/new")).text
    gateway.organization["balance"] = "0.00"
    page = await owner.get(f"{LIST}/new")
    assert said in page.text
    assert top_up in page.text[page.text.index(said) :][:200]
    assert trial in page.text
    assert said not in (await owner.get(f"{LIST}/new?mode=test")).text


async def test_a_name_of_ones_own_is_chosen_for_a_new_message(owner, gateway):
    names = [("Waiting", "pending"), ("Baraka Shop", "approved")]
    gateway.senders = [sender(1, name=name, status=status) for name, status in names]
    form = await owner.get(f"{LIST}/new")
    assert '<option value="Baraka Shop" selected>' in form.text
    page = await owner.submit(form, f"{LIST}/new/count", {"to": "36", "body": "x", "from": ""})
    assert '<option value="" selected>' in page.text


PART = {"number": 2, "total": 3, "text": "Votre commande est prête 😀"}


async def test_a_part_is_shown_with_the_text_of_all_and_the_way_to_the_others(owner, gateway):
    story = web_messages.story("delivered", body="est pr")
    others = [{"number": number, "messageId": f"sms_{number}"} for number in (1, 2)]
    gateway.answers = {"message.show": {**story, "part": {**PART, "messages": others}}}
    page = await owner.get(f"{LIST}/sms_2")
    assert f">{PART['text']}</p>" in page.text
    plain = page.text.replace('<bdi class="num">', "").replace("</bdi>", "")
    assert "This is part 2 of 3." in plain
    links = [each["href"] for tag, each in page.tags if tag == "a"]
    assert f"{LIST}/sms_1" in links
    assert f"{LIST}/sms_2" not in links


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The usual line sim-1 cannot send now. Attempt 1 through mattel."),
        ("fr", "La ligne habituelle sim-1 ne peut pas envoyer pour le moment."),
        ("ar", "الخط المعتاد sim-1 لا يستطيع الإرسال الآن."),
    ],
)
async def test_the_timeline_says_that_another_line_took_over(reader_as, gateway, language, said):
    story = web_messages.story("delivered")
    story["timeline"][1] = web_messages.line("ATTEMPT", "processing", 17, values={"usual": "sim-1"})
    gateway.answers = {"message.show": story}
    page = await reader_as(language=language).get(f"{LIST}/sms_delivered")
    assert said in re.sub("</?bdi[^>]*>", "", page.text)


async def test_a_part_is_not_sent_again_by_itself(owner, gateway):
    form = await owner.get(f"{LIST}/sms_failed/again")
    story = web_messages.story("failed")
    gateway.answers = {"message.show": {**story, "part": {**PART, "messages": []}}}
    page = await owner.get(f"{LIST}/sms_failed")
    assert "Send again" not in page.text
    assert "data-copy" not in page.text
    page = await owner.submit(form, action_of(form, "again"))
    assert page.location == f"{LIST}/{story['message']['messageId']}"
    assert asked(gateway, "send") == []


@pytest.mark.parametrize(("text", "shown"), [(PART["text"], PART["text"]), (None, "est pr")])
async def test_the_list_says_which_part_and_shows_the_text_of_all(owner, gateway, text, shown):
    message = web_messages.listed(1, "sent", body="est pr", part={**PART, "text": text})
    page = {"messages": [message], "newer": None, "older": None, "lookedTo": None}
    gateway.answers = {"message.list": page}
    page = await owner.get(LIST)
    plain = page.text.replace('<bdi class="num">', "").replace("</bdi>", "")
    assert f'<div class="tiny dim">Part 2 of 3</div><div class="clip" dir="auto">{shown}<' in plain
