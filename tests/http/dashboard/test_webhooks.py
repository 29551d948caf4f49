"""The page of webhooks."""

import re
from pathlib import Path

import pytest
from markupsafe import escape

import risala
from risala.engine.features.answers.records import FAULT_SENTENCES, AnswerFault
from risala.engine.features.answers.replying import ReplyOutcome
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, EditConflict, Invalid, NotFound
from risala.engine.model.people import Language
from risala.engine.model.times import iso
from risala.http.dashboard.webhook_health import NO_ANSWERS
from risala.http.dashboard.webhook_replies import HELD_BACK, SENTENCES
from risala.http.dashboard.webhooks import TABS
from risala.http.web.languages import load_words
from web_people import AT_MS, WEBHOOK_SECRET, delivery, endpoint, failures

PAGE = "/app/org_1/webhooks"
ONE = f"{PAGE}/whe_1"
SETTINGS = f"{ONE}?tab={TABS[0]}"
SOURCE = Path(risala.__file__).parent


@pytest.fixture(autouse=True)
def _endpoints(gateway):
    gateway.endpoints["whe_1"] = endpoint()
    arrived = delivery(2, state="delivered", status=200, type="sms.sent")
    gateway.deliveries += [delivery(1), arrived]


def asked(gateway, name):
    return [arguments for done, arguments in gateway.done if done == name]


async def test_a_secret_is_shown_once(owner, gateway):
    form = await owner.get(f"{PAGE}/new")
    fields = {"url": "https://a.example/x", "types": "sms.sent"}
    page = await owner.submit(form, PAGE, fields)
    assert (page.status, page.text.count(WEBHOOK_SECRET)) == (200, 1)
    assert "content-encoding" not in page.headers
    page = await owner.submit(form, PAGE, fields)
    assert (page.status, len(asked(gateway, "webhook.create"))) == (303, 1)
    assert WEBHOOK_SECRET not in (await owner.get(ONE)).text


async def test_a_refused_form_comes_back_as_it_was_typed(owner, gateway):
    form = await owner.get(f"{PAGE}/new")
    gateway.refuse = Invalid("url", "invalid_url", "No.")
    page = await owner.submit(form, PAGE, {"url": "ftp://<b>", "types": "balance.low"})
    assert page.status == 422
    assert "begins with https://" in page.text
    assert 'value="ftp://&lt;b&gt;"' in page.text
    ticked = [
        each["value"] for _, each in page.tags if each.get("name") == "types" and "checked" in each
    ]
    assert ticked == ["balance.low"]


async def test_deliveries_are_listed_by_state_and_paged(owner, gateway):
    page = await owner.get(ONE)
    assert "sms.failed" in page.text
    assert f"{ONE}?before=7" in page.text
    page = await owner.get(f"{ONE}?state=failed&before=7")
    wanted = asked(gateway, "webhook.deliveries")[-1]
    assert {"state": "failed", "before": 7}.items() <= wanted.items()
    assert "evt_2" not in page.text
    assert f"{ONE}?state=failed&amp;after=7" in page.text
    await owner.get(f"{ONE}?after=9")
    assert asked(gateway, "webhook.deliveries")[-1]["after"] == 9


async def test_how_the_last_days_went_is_told(owner, gateway):
    gateway.deliveries = [
        delivery(1, state="delivered", status=200, deliveredAt=iso(AT_MS - 60_000 + 1500))
    ]
    page = await owner.get(ONE)
    assert "75.0%" in page.text
    assert "Half of them within" in page.text
    assert ">0.4<" in page.text
    assert "1.5" in page.text


async def test_headers_are_written_and_never_shown(owner, gateway):
    form = await owner.get("/app/org_1/webhooks/new")
    fields = {"url": "https://a.example", "types": "sms.sent"}
    secret = {"headers": "Authorization: Bearer s3cret\r\nX-Shop:1"}
    await owner.submit(form, "/app/org_1/webhooks", {**fields, **secret})
    (made,) = asked(gateway, "webhook.create")
    assert made["headers"] == {"Authorization": "Bearer s3cret", "X-Shop": "1"}
    gateway.endpoints["whe_1"]["headers"] = {"Authorization": "***"}
    form = await owner.get(SETTINGS)
    assert '<code dir="auto">Authorization</code>' in form.text
    await owner.submit(form, ONE, fields)
    await owner.submit(form, ONE, {**fields, "no_headers": "yes"})
    kept, gone = asked(gateway, "webhook.update")
    assert "headers" not in kept
    assert gone["headers"] == {}


async def test_the_header_of_a_second_signature(owner, gateway):
    form = await owner.get(f"{PAGE}/new")
    fields = {"url": "https://a.example", "types": "sms.sent"}
    await owner.submit(form, PAGE, {**fields, "signature_header": "X-Shop-Signature"})
    (made,) = asked(gateway, "webhook.create")
    assert made["signature_header"] == "X-Shop-Signature"
    assert made["signature_key"] == "text"
    form = await owner.get(f"{PAGE}/new")
    decoded = {**fields, "signature_header": "X-Shop-Signature", "signature_decoded": "yes"}
    await owner.submit(form, PAGE, decoded)
    assert asked(gateway, "webhook.create")[1]["signature_key"] == "decoded"
    gateway.endpoints["whe_1"]["signatureHeader"] = "X-Shop-Signature"
    form = await owner.get(SETTINGS)
    assert 'value="X-Shop-Signature"' in form.text
    assert "<details" in form.text.partition('name="signature_header"')[0]
    form = await owner.get(f"{PAGE}/new")
    gateway.refuse = Invalid("signature_header", "invalid_header", "No.")
    page = await owner.submit(form, PAGE, {**fields, "signature_header": "host"})
    assert page.status == 422
    assert "The name of a header looks like" in page.text
    assert 'value="host"' in page.text


@pytest.mark.parametrize(
    ("headers", "told"),
    [("no colon", "A header looks like"), ("X-Key: s3cret", "the headers again")],
)
async def test_a_refused_form_says_what_becomes_of_its_headers(owner, gateway, headers, told):
    form = await owner.get(SETTINGS)

    async def perform(name, arguments, caller, perform=gateway.perform):
        if name == "webhook.update":
            raise Invalid("url", "invalid_url", "No.")
        return await perform(name, arguments, caller)

    gateway.perform = perform
    fields = {"url": "ftp://x", "types": "sms.sent", "headers": headers}
    page = await owner.submit(form, ONE, fields)
    assert page.status == 422
    assert 'id="headers-fault"' in page.text
    assert told in page.text
    assert headers not in page.text.partition("<main")[2]


async def test_one_delivery_is_opened_and_made_again(owner, gateway):
    page = await owner.get(f"{ONE}?event=evt_1")
    assert "&lt;h1&gt;502 Bad Gateway" in page.text
    assert "webhook-id: evt_1" in page.text
    page = await owner.submit(page, f"{ONE}/replay", {"event": "evt_1"})
    assert page.location == f"{ONE}?event=evt_1"
    assert [each["event_id"] for each in asked(gateway, "webhook.replay")] == ["evt_1"]
    assert (await owner.get(f"{ONE}?event=nope")).status == 404


async def test_what_failed_is_made_again_and_its_progress_is_seen(owner, gateway):
    gateway.to_replay = 2000
    page = await owner.get(ONE)
    page = await owner.submit(page, f"{ONE}/replay-failed", {"since": "2026-11-21T08:12"})
    assert page.status == 200
    assert '<progress value="1000" max="2400"' in page.text
    assert asked(gateway, "webhook.replay_failed")[0]["since"] == "2026-11-21T08:12:00+00:00"
    fields = {name: page.field(name) for name in ("since", "until", "done", "total")}
    page = await owner.submit(page, f"{ONE}/replay-failed", fields)
    assert (page.status, page.location) == (303, ONE)
    assert len(asked(gateway, "webhook.replay_failed")) == 10


async def test_since_when_failures_are_replayed_is_by_the_organization_s_clock(owner, gateway):
    """A field for times has no zone: a day ago at 17:41 in Tokyo is 08:41 UTC."""
    gateway.organization["timeZone"] = "Asia/Tokyo"
    page = await owner.get(ONE)
    [since] = [each for tag, each in page.tags if each.get("id") == "since"]
    assert since["value"] == "2026-11-20T17:41"
    gateway.to_replay = 2000
    page = await owner.submit(page, f"{ONE}/replay-failed", {"since": "2026-11-21T08:12"})
    assert "Since 21 Nov 2026, 08:12:00" in page.text


async def test_it_is_switched_changed_tested_and_deleted(owner, gateway):
    page = await owner.get(SETTINGS)
    await owner.submit(page, f"{ONE}/disable")
    page = await owner.get(ONE)
    assert "The endpoint is disabled." in page.text
    await owner.submit(page, f"{ONE}/enable")
    page = await owner.get(SETTINGS)
    fields = {"version": page.field("version"), "url": "https://b.example", "types": "sms.sent"}
    await owner.submit(page, ONE, fields)
    assert asked(gateway, "webhook.update")[0]["types"] == ["sms.sent"]
    assert asked(gateway, "webhook.update")[0]["version"] == 7
    page = await owner.get(ONE)
    for _ in range(2):
        await owner.submit(page, f"{ONE}/test")
    assert len(asked(gateway, "webhook.test")) == 1
    page = await owner.get(f"{ONE}/delete")
    assert "1 waiting delivery" in page.text.replace('<bdi class="num">', "").replace("</bdi>", "")
    assert (await owner.submit(page, f"{ONE}/delete")).location == PAGE
    assert len(asked(gateway, "webhook.delete")) == 1


async def test_a_new_secret(owner, gateway):
    page = await owner.get(SETTINGS)
    page = await owner.submit(page, f"{ONE}/rotate", {"at_once": "yes"})
    assert page.text.count(WEBHOOK_SECRET) == 1
    assert asked(gateway, "webhook.rotate")[0]["at_once"] is True


async def test_why_it_is_disabled_is_told(owner, gateway):
    gateway.endpoints["whe_1"] |= {"enabled": False, "disabledReason": "failing"}
    assert "Your server failed for five days." in (await owner.get(ONE)).text


async def test_a_refusal_without_a_field_is_told(owner, gateway):
    page = await owner.get(ONE)
    gateway.refuse = Conflict("The endpoint is disabled. Enable it first.")
    assert (await owner.submit(page, f"{ONE}/test")).status == 409


async def test_what_another_changed_stands_above_what_was_typed(owner, gateway):
    form = await owner.get(SETTINGS)
    one = gateway.endpoints["whe_1"]

    async def perform(name, arguments, caller, perform=gateway.perform):
        if name == "webhook.update":
            one["description"] = "<b>theirs</b>"
            raise EditConflict("sidi@baraka.example")
        return await perform(name, arguments, caller)

    gateway.perform = perform
    fields = {"url": one["url"], "types": one["types"][0], "description": "mine", "version": "5"}
    page = await owner.submit(form, "/app/org_1/webhooks/whe_1", fields)
    assert page.status == 422
    assert '<dt>What it is for</dt><dd dir="auto">&lt;b&gt;theirs&lt;/b&gt;</dd>' in page.text
    assert 'value="mine"' in page.text
    assert page.field("version") == "7"


async def test_a_viewer_sees_and_does_not_do(reader_as):
    for path in (PAGE, ONE, f"{ONE}?event=evt_1"):
        page = await reader_as(Role.VIEWER).get(path)
        assert page.status == 200
        actions = [each.get("action") for tag, each in page.tags if tag == "form"]
        assert {*actions} == {"/language", "/theme", "/sign-out", "/app/org_1/search"}


async def test_owners_alone_let_an_endpoint_reply(owner, reader_as, gateway):
    fields = {"url": "https://a.example/x", "types": "sms.received"}
    for where, path in ((f"{PAGE}/new", PAGE), (f"{ONE}?tab=settings", ONE)):
        await owner.submit(await owner.get(where), path, {**fields, "may_reply": "yes"})
        await owner.submit(await owner.get(where), path, fields)
    made, not_made = asked(gateway, "webhook.create")
    changed, ended = asked(gateway, "webhook.update")
    assert [each["may_reply"] for each in (made, not_made, changed, ended)] == [True, False] * 2
    developer = reader_as(Role.DEVELOPER)
    form = await developer.get(f"{ONE}?tab=settings")
    assert 'name="may_reply"' not in form.text
    # Whatever is sent: the operation refuses everybody who gives it and is no owner.
    await developer.submit(form, ONE, {**fields, "may_reply": "yes"})
    assert "may_reply" not in asked(gateway, "webhook.update")[-1]
    gateway.endpoints["whe_1"]["mayReply"] = True
    assert "An owner set this." in (await developer.get(f"{ONE}?tab=settings")).text
    ticked = [
        each
        for _, each in (await owner.get(f"{ONE}?tab=settings")).tags
        if each.get("name") == "may_reply"
    ]
    assert "checked" in ticked[0]


@pytest.mark.parametrize("outcome", ReplyOutcome)
@pytest.mark.parametrize("language", Language)
async def test_a_delivery_says_what_became_of_its_reply(reader_as, gateway, outcome, language):
    gateway.reply = outcome.value
    page = await reader_as(language=language).get(f"{ONE}?event=evt_1")
    said = str(load_words(language)(SENTENCES[outcome])).partition("{")[0]
    assert said in page.text
    assert said.startswith("The reply was") is (language is Language.ENGLISH)


@pytest.mark.parametrize("language", Language)
async def test_a_delivery_quotes_why_a_reply_does_not_leave(reader_as, gateway, language):
    reason = FAULT_SENTENCES[AnswerFault.PER_HOUR]
    gateway.reply, gateway.reply_refused = ReplyOutcome.TAKEN.value, reason
    page = await reader_as(language=language).get(f"{ONE}?event=evt_1")
    words = load_words(language)
    assert str(words(reason)) in page.text
    assert str(words(HELD_BACK)).partition("{")[0] in page.text
    assert str(words(SENTENCES[ReplyOutcome.TAKEN])) not in page.text


async def test_what_another_version_wrote_of_a_reply_is_left_out(owner, gateway):
    gateway.reply = "a word of another version"
    page = await owner.get(f"{ONE}?event=evt_1")
    assert (page.status, gateway.reply in page.text) == (200, False)


async def test_test_and_live_are_apart(owner):
    assert "There is no endpoint yet" in (await owner.get(f"{PAGE}?mode=test")).text


async def test_stored_text_is_text(owner, gateway):
    nasty = "<script>alert(1)</script>{{ 7 * 7 }}"
    gateway.endpoints["whe_1"] |= {"description": nasty, "types": [nasty]}
    gateway.deliveries[0] |= {"type": nasty, "excerpt": nasty}
    for path in (PAGE, ONE, f"{ONE}?event=evt_1"):
        page = await owner.get(path)
        assert page.status == 200
        assert "<script>alert" not in page.text


async def test_a_trial_is_seen_to_arrive(owner, short_streams):
    """The newest deliveries follow by themselves; a page further back stays as it is."""
    page = await owner.get(ONE)
    assert f'hx-sse:connect="{ONE}/live?state="' in page.text
    page = await owner.get(f"{ONE}/live?state=")
    assert 'id="deliveries" hx-swap-oob="outerMorph"' in page.text
    assert "evt_2" in page.text
    assert "hx-sse:connect" not in (await owner.get(f"{ONE}?before=2")).text


async def test_no_stream_of_an_endpoint_that_is_not_there(owner, gateway):
    gateway.refuse = NotFound("There is no such endpoint.")
    assert (await owner.get(f"{PAGE}/whe_9/live")).status == 404


async def test_the_shape_of_received_messages(owner, gateway):
    form = await owner.get(f"{PAGE}/new")
    assert 'only <code dir="auto">sms.received</code>' in form.text
    fields = {"url": "https://a.example", "types": "sms.sent", "shape": "form"}
    await owner.submit(form, PAGE, {**fields, "template": "text={{text}}\r\nfrom={{from}}"})
    (made,) = asked(gateway, "webhook.create")
    assert (made["shape"], made["types"]) == ("form", ["sms.received"])
    assert made["template"] == "text={{text}}\nfrom={{from}}"
    gateway.endpoints["whe_1"] |= {"shape": "form", "template": "text={{text}}"}
    form = await owner.get(SETTINGS)
    assert ">text={{text}}</textarea>" in form.text
    await owner.submit(form, ONE, {"url": "https://a.example", "types": "sms.sent"})
    (changed,) = asked(gateway, "webhook.update")
    assert (changed["shape"], changed["types"]) == ("event", ["sms.sent"])


@pytest.mark.parametrize(
    ("path", "code", "told"),
    [
        ("template", "invalid_placeholder", '<code dir="auto">{{id}}, {{from}}'),
        ("template", "invalid_json", "This must be JSON"),
        ("template", "invalid_fields", "one field a line"),
        ("template", "needless_template", "Leave this empty"),
        (
            "url",
            "invalid_words",
            '<code dir="auto">https://shop.example/sms?sender=%p&amp;text=%a</code>',
        ),
    ],
)
async def test_what_is_wrong_with_a_shape_is_said_beside_its_field(
    owner, gateway, path, code, told
):
    form = await owner.get(f"{PAGE}/new")
    gateway.refuse = Invalid(path, code, "No.")
    fields = {"url": "https://a.example", "shape": "json", "template": "<b>{{body}}"}
    page = await owner.submit(form, PAGE, fields)
    assert page.status == 422
    assert told in page.text.partition(f'id="{path}-fault"')[2].partition("</p>")[0]
    assert "&lt;b&gt;{{body}}</textarea>" in page.text


async def test_a_delivery_that_was_never_tried_is_not_called_unanswered(owner, gateway):
    cut = {"status": None, "error": "The endpoint is disabled.", "excerpt": None}
    gateway.endpoints["whe_1"] |= {"enabled": False}
    gateway.deliveries = [
        delivery(1, attempts=0, **cut),
        delivery(2, attempts=3, **cut),
        delivery(3, attempts=1, status=None, error="ConnectTimeout", excerpt=None),
    ]
    page = await owner.get(ONE)
    never, tried, silent = re.findall(r'<tr role="row">.*?</tr>', page.text, re.DOTALL)[1:4]
    assert "Not sent" in never
    assert "The endpoint was disabled first." in never
    assert "No answer" not in never
    assert "No answer" in tried
    assert "Then the endpoint was disabled." in tried
    assert "disabled" not in silent
    opened = await owner.get(f"{ONE}?event=evt_1")
    assert "Nothing was sent: the endpoint was disabled first." in opened.text
    opened = await owner.get(f"{ONE}?event=evt_2")
    assert "Then the endpoint was disabled." in opened.text.partition("What your server")[2]


@pytest.mark.parametrize("code", NO_ANSWERS)
async def test_why_no_answer_came_is_said_in_the_readers_words(owner, gateway, code):
    silent = {"status": None, "error": f"{code}: <Name> not known.", "excerpt": None}
    gateway.deliveries = [delivery(1, attempts=1, **silent)]
    page = await owner.get(f"{ONE}?event=evt_1")
    told = str(escape(NO_ANSWERS[code]))
    assert f'Try <bdi class="num">1</bdi>: {told}' in page.text
    assert f"<p>{told}</p>" in page.text
    assert f"{code}: &lt;Name&gt; not known.</pre>" in page.text  # as it was, for who mends it


def test_each_fault_of_a_call_has_its_words():
    """The codes are those that the source gives."""
    given = re.compile(r'(?:ReceiverFault\(\s*|: \(\s*)"([A-Z_]+)"')
    found = {
        code
        for room in (SOURCE / "http/outbound", SOURCE / "engine/webhooks")
        for path in room.rglob("*.py")
        for code in given.findall(path.read_text("utf-8"))
    }
    assert found == {*NO_ANSWERS}


@pytest.mark.parametrize(
    ("who", "told"),
    [
        ("aicha@baraka.example", "<bdi>aicha@baraka.example</bdi> disabled it."),
        ("operator", "The operator of this service disabled it."),
        (None, "A member, or the operator of this service, did this."),
    ],
)
async def test_who_disabled_an_endpoint_is_told(owner, gateway, who, told):
    gateway.endpoints["whe_1"] |= {"enabled": False, "disabledReason": "owner"}
    gateway.disabled_by = who
    assert told in (await owner.get(ONE)).text


async def test_what_cannot_be_replayed_is_enabled_first(owner, gateway):
    gateway.endpoints["whe_1"] |= {"enabled": False}
    page = await owner.get(f"{ONE}?event=evt_1")
    assert "Enable and replay" in page.text
    answer = await owner.submit(page, f"{ONE}/replay", {"event": "evt_1", "enable": "yes"})
    assert (answer.status, answer.location) == (303, f"{ONE}?event=evt_1")
    done = [name for name, _ in gateway.done if name in ("webhook.enable", "webhook.replay")]
    assert done == ["webhook.enable", "webhook.replay"]
    assert "Enable and replay" not in (await owner.get(f"{ONE}?event=evt_1")).text


async def test_a_refused_replay_stays_with_its_delivery(owner, gateway):
    page = await owner.get(f"{ONE}?event=evt_1")
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "webhook.replay":
            raise Conflict("The endpoint is disabled. Enable it first.")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
    answer = await owner.submit(page, f"{ONE}/replay", {"event": "evt_1"})
    assert answer.status == 422
    assert "The endpoint is disabled. Enable it first." in answer.text
    assert 'id="h-a"' in answer.text


async def test_the_list_says_what_arrived_lately(owner, gateway):
    page = await owner.get(PAGE)
    assert "Arrived lately" in page.text


async def test_deliveries_that_failed_alike_are_one_row(owner, gateway):
    gone = [delivery(number, status=None, error=f"TIMEOUT: {number} s") for number in range(1, 6)]
    broken = [delivery(number, status=500, error="HTTP 500") for number in (6, 7)]
    arrived = delivery(8, state="delivered", status=200)
    gateway.deliveries = [*gone, *broken, arrived]
    rows = re.findall(r'<tr role="row">.*?</tr>', (await owner.get(ONE)).text, re.DOTALL)
    shown = [row for row in rows if "sms.failed" in row or "failed alike" in row]
    assert len(shown) == 4
    assert '<bdi class="num">5</bdi> that failed alike' in shown[0]
    assert f'href="{ONE}?state=failed"' in shown[0]
    page = await owner.get(f"{ONE}?state=failed")
    assert page.text.count('<td role="cell" class="first"><a class="rowlink"') == 7


async def test_the_last_failure_is_told_in_words_with_what_to_do(owner, gateway):
    gateway.failures = [
        failures(status=None, error="TIMEOUT: 10 s", count=210),
        failures(count=3, firstAt=iso(AT_MS - 9 * 86_400_000)),
    ]
    page = await owner.get(ONE)
    assert "<strong>Your server did not answer in time.</strong>" in page.text
    assert "Your server answered 502." in page.text
    assert 'aria-label="30 days: 180 arrived, 1 failed"' in page.text
    assert page.field("since") == "2026-11-12T08:41"
    await owner.submit(page, f"{ONE}/replay-failed", {"since": page.field("since")})
    assert asked(gateway, "webhook.replay_failed")[0]["since"].startswith("2026-11-12T08:41")
    gateway.endpoints["whe_1"] |= {"enabled": False}
    page = await owner.get(ONE)
    assert f'action="{ONE}/enable"' in page.text
    assert "Enable, and replay what failed" in page.text
    again = {"since": page.field("since"), "enable": "yes"}
    await owner.submit(page, f"{ONE}/replay-failed", again)
    assert len(asked(gateway, "webhook.enable")) == 1
    assert len(asked(gateway, "webhook.replay_failed")) == 2
    gateway.endpoints["whe_1"] |= {"enabled": True}
    gateway.failures = []
    assert "replay-failed" not in (await owner.get(ONE)).text.partition('id="h-d"')[0]


async def test_the_settings_have_a_tab_with_the_events_in_groups(owner, gateway):
    page = await owner.get(SETTINGS)
    assert "Deliveries</h2>" not in page.text
    assert re.findall(r'<legend class="small dim">(.*?)</legend>', page.text) == [
        "Messages",
        "Codes",
        "Account",
    ]
    examples = [each for _, each in page.tags if each.get("name") == "example"]
    assert len(examples) == page.text.count('name="types"') == 17
    assert len([each for each in examples if "checked" in each]) == 1
    assert "Address and events" not in (await owner.get(ONE)).text
